"""Conversion of games with perfect information from OpenSpiel, and to it.

OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453) defines a game by its histories. This project
defines it by its states, so an adapter has to decide which histories form one state. A state here
is a :class:`Position`: the text of OpenSpiel's state and the player to move.

**Refused** are games with hidden information, as OpenSpiel declares it in the type's
``information``. There a player does not know the state, so the best policy per state cannot be
played: Kuhn poker would be solved to 0 without a warning, but its value is -1/18. Games for more
than two players, two-player games that are not zero-sum, and games with sampled chance are refused
as well.

**Checks.** A text need not describe the state completely. Every history that leads to a known
position is compared with the first one that led there: who moves, what is legal, whether it is
over. Once all positions are known, :data:`PLAYOUTS` random episodes of OpenSpiel's are followed
move by move, and each step must have the positions, probabilities and rewards of the game here. A
game that ends after a number of moves which its text does not show would pass these checks. In such
a game positions come again, which a complete description of a finite game rules out, so it is
refused unless the caller asks for the game without its limit. Undetected are only texts that leave
out something which never mattered in these episodes. ``state="history"`` makes each history a
state, which is always right but only feasible in small games.

**The other way** (:func:`to_openspiel`, :func:`policy_from_openspiel`). OpenSpiel's algorithms walk
through histories, so a game has to be a finite tree: a game in which a state can come again is
refused. The start and every joint action with more than one outcome are followed by a chance node.

Nothing is hidden, so the information state is the state, and all histories that lead to a state
share it. Tabular algorithms then learn a table of states, not of histories, which becomes a policy
here (:func:`policy_from_openspiel`) and can be scored exactly. Rewards collected so far are not
part of the information state, since no decision depends on them.

A game in which both players act at the same time is a simultaneous game in OpenSpiel. Algorithms
for games in turn take ``pyspiel.convert_to_turn_based(game)``, in which the second player does not
see the first player's choice.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.model.game import Game, GameInfo, JointAction, Outcome
from solvent.model.parameters import brief, check_choice, described, shown
from solvent.model.tabular import TabularGame, TabularPolicy
from solvent.model.transforms import extreme_returns, repeatable_state
from solvent.model.walk import MOST_STATES, compile_rules, rationals, walk

PLAYOUTS = 200
"""Number of random episodes in which the game is compared with OpenSpiel's."""

STATES = ("text", "history")
"""The ways to tell the states of an OpenSpiel game apart."""

# The player of a position in which both players choose, or the game has ended.
_TOGETHER = -1


class Position(NamedTuple):
    """A state: the player who moves, or -1, and OpenSpiel's text of the state or its history."""

    player: int
    text: str


def game_from_openspiel(
    name: str, *, state: str = "text", limit: bool = True, **parameters: Any
) -> OpenSpielGame:
    """Return a game of OpenSpiel without hidden information, for one player or for two.

    Args:
        name: The name in OpenSpiel, such as ``"tic_tac_toe"`` or ``"pig(winscore=20)"``.
        state: Definition of a state: ``"text"``, all histories for which OpenSpiel has the same
            text; or ``"history"``, a single history.
        limit: Whether to refuse a game in which positions come again. Otherwise the game is read
            without OpenSpiel's limit on moves, and equal positions are one state.
        parameters: Parameters of the game, by OpenSpiel's names; not together with those in `name`.

    Raises:
        ValueError: If OpenSpiel has no such game or refuses a parameter, or the game is refused
            for a reason that the module lists.
        ModuleNotFoundError: If OpenSpiel is not installed (``pip install 'solvent[openspiel]'``).
    """
    import pyspiel

    check_choice(state, "state", STATES)
    short = _game_type(name).short_name
    try:
        source = pyspiel.load_game(name, parameters) if parameters else pyspiel.load_game(name)
    except (pyspiel.SpielError, TypeError) as error:
        raise ValueError(f"openspiel:{name} cannot be loaded: {brief(str(error))}") from error
    kind, players = source.get_type(), source.num_players()
    if players not in (1, 2):
        raise ValueError(f"openspiel:{short}: it has {players} players; allowed are 1 and 2")
    for found, allowed in (
        (kind.information, ("perfect information", "one shot")),
        (kind.utility, ("zero sum",) if players == 2 else ()),
        (kind.chance_mode, ("deterministic", "explicit stochastic")),
        (kind.dynamics, ("sequential", "simultaneous")),
    ):
        words = found.name.lower().replace("_", " ")
        if allowed and words not in allowed:
            raise ValueError(
                f"openspiel:{short}: it has {words}; allowed are games for {players} with "
                f"{' or '.join(allowed)}, since others have no best policy per state here"
            )
    in_turn = players == 2 and kind.dynamics.name == "SEQUENTIAL"
    return (_TakingTurns if in_turn else OpenSpielGame)(source, state, limit)


def maker(name: str) -> Callable[..., OpenSpielGame]:
    """Return a maker of a game of OpenSpiel, with OpenSpiel's parameters as its own.

    Args:
        name: The name in OpenSpiel.

    Raises:
        ValueError: If OpenSpiel has no such game.
        ModuleNotFoundError: If OpenSpiel is not installed.
    """

    def make(*, state: str = "text", limit: bool = True, **parameters: Any) -> OpenSpielGame:
        return game_from_openspiel(name, state=state, limit=limit, **parameters)

    kind = _game_type(name)
    text = f"""{kind.long_name} of OpenSpiel.

Args:
    state: Definition of a state: text, OpenSpiel's text of it, or history.
    limit: Whether a game in which positions come again is refused; else it has no limit on moves.
"""
    own = [
        inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, default=default)
        for parameter, default in sorted(kind.parameter_specification.items())
        if isinstance(default, (bool, int, float, str))
    ]
    return described(make, text, own)


def _game_type(name: str) -> Any:
    """Return OpenSpiel's description of a game before it is loaded."""
    import pyspiel

    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    return kinds[check_choice(name.partition("(")[0].strip(), "game of OpenSpiel", kinds)]


@dataclass(frozen=True, eq=False)
class OpenSpielGame:
    """A game of OpenSpiel; made by :func:`game_from_openspiel`.

    Observations are OpenSpiel's tensors, which need not tell all states apart.

    Args:
        source: OpenSpiel's game, a ``pyspiel.Game``.
        state: The property that distinguishes states, ``"text"`` or ``"history"``.
        limit: Whether a game in which positions come again is refused.
    """

    source: Any
    state: str = "text"
    limit: bool = True
    _known: dict[Position, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def info(self) -> GameInfo:
        """OpenSpiel's description of the game."""
        players = self.source.num_players()
        parameters = {**self.source.get_parameters(), "state": self.state, "limit": self.limit}
        return GameInfo(
            name=f"openspiel:{self.source.get_type().short_name}",
            players=players,
            actions=tuple(tuple(self._action_names(p)) for p in range(players)),
            acyclic=self.limit,
            reward_range=(
                (float(self.source.min_utility()), float(self.source.max_utility()))
                if self.limit
                else (-np.inf, np.inf)
            ),
            sources=("OpenSpiel, Lanctot et al. 2019, arXiv:1908.09453",),
            parameters=tuple(
                (name, value if isinstance(value, (bool, int, float, str)) else str(value))
                for name, value in sorted(parameters.items())
            ),
            observation_labels=tuple(map(str, range(self._width))),
        )

    def _action_names(self, player: int) -> Iterator[str]:
        """Yield OpenSpiel's names of actions, or numbers if the names depend on the state."""
        import pyspiel

        for action in range(self.source.num_distinct_actions()):
            try:
                name = str(self.source.action_to_string(player, action))
            except pyspiel.SpielError:
                name = ""
            yield str(action) if not name or name.startswith("Action(") else name

    @cached_property
    def _shown(self) -> str | None:
        """The name of the observed tensor; None if OpenSpiel has none."""
        kind = self.source.get_type()
        for tensor in ("observation_tensor", "information_state_tensor"):
            if getattr(kind, f"provides_{tensor}"):
                return tensor
        return None

    @cached_property
    def _width(self) -> int:
        """The length of an observation; a single 0 stands in if OpenSpiel has no tensor."""
        return int(getattr(self.source, f"{self._shown}_size")()) if self._shown else 1

    def initial(self) -> tuple[Outcome, ...]:
        """Return the positions after the initial moves of chance.

        Raises:
            ValueError: If these moves give rewards, since rewards here follow actions.
        """
        start = self.source.new_initial_state()
        reached = self._reached(start, start)
        for position, reward in reached:
            if reward:
                raise ValueError(
                    f"{self.info.name}: the chance that comes first gives the reward "
                    f"{float(reward):g} in {shown(position.text)}; allowed are games whose rewards "
                    f"follow an action"
                )
        return tuple(Outcome(p, position) for (position, _), p in reached.items())

    def legal_actions(self, state: Position) -> tuple[tuple[int, ...], ...]:
        """Return OpenSpiel's legal actions, or only the first one if a player has no choice."""
        return _legal(self._source_of(state))

    def transition(self, state: Position, joint_action: JointAction) -> tuple[Outcome, ...]:
        """Return the positions that follow, after all moves of chance."""
        source = self._source_of(state)
        reached = self._reached(_child(source, joint_action), source)
        return tuple(Outcome(p, position, reward) for (position, reward), p in reached.items())

    def is_terminal(self, state: Position) -> bool:
        """Return whether OpenSpiel's game has ended."""
        return bool(self._source_of(state).is_terminal())

    def observe(self, state: Position, player: int) -> NDArray[np.float32]:
        """Return OpenSpiel's tensor; a single zero if it has none."""
        if self._shown is None:
            return np.zeros(1, np.float32)
        return np.array(getattr(self._source_of(state), self._shown)(player), np.float32)

    def draw(self, state: Position) -> str:
        """Return OpenSpiel's text of the state."""
        return str(self._source_of(state)).rstrip("\n")

    def tabulate(self) -> TabularGame:
        """Return the table, after random episodes of OpenSpiel's were compared with it.

        Raises:
            ValueError: If a position comes again in an episode and the game is read with its
                limit, or one text stands for states that differ.
        """
        table = walk(self, MOST_STATES, None)
        again = repeatable_state(table) if self.limit else None
        if again is not None:
            position: Any = table.states[again]
            raise ValueError(
                f"{self.info.name}: the position {shown(position.text)} can come "
                f"again in one episode, so its text does not show how long a game of OpenSpiel "
                f"still lasts; limit=False (--limit false) reads the game without its limit on "
                f"moves, and state='history' (--state history) tells all histories apart"
            )
        dice = random.Random(0)
        for _ in range(PLAYOUTS if self.state == "text" and self.limit else 0):
            self._follow(dice)
        return table

    def _follow(self, dice: random.Random) -> None:
        """Play one episode of OpenSpiel's at random and compare each step with the game here."""
        here = self._drawn(self.source.new_initial_state(), dice)
        while not here.is_terminal():
            position = self._position(here)
            joint = tuple(dice.choice(actions) for actions in _legal(here))
            there = {
                (outcome.state, outcome.reward): outcome.probability
                for outcome in self.transition(position, joint)
            }
            after = _child(here, joint)
            if self._reached(after, here) != there:
                raise self._differs(position, here)
            here = self._drawn(after, dice)

    @staticmethod
    def _drawn(state: Any, dice: random.Random) -> Any:
        """Draw all moves of chance that are due in a state of OpenSpiel, and return the result."""
        while state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state = state.child(dice.choices(actions, weights)[0])
        return state

    def _source_of(self, position: Position) -> Any:
        """Return the first state of OpenSpiel that led to a position."""
        try:
            return self._known[position]
        except (KeyError, TypeError):
            raise ValueError(
                f"{self.info.name}: the position {shown(position)} is unknown; allowed are those "
                f"that initial() and transition() have returned"
            ) from None

    def _position(self, state: Any) -> Position:
        """Return the position of a state in which no move of chance is due."""
        player = state.current_player()
        text = str(state) if self.state == "text" else state.history_str()
        return Position(player if player >= 0 else _TOGETHER, text)

    def _reached(self, state: Any, before: Any) -> dict[tuple[Position, Fraction], Fraction]:
        """Return the probability of each position and reward after all chance due in a state.

        Rewards are counted from the state `before`.
        """
        if state.is_chance_node():
            found: dict[tuple[Position, Fraction], Fraction] = {}
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            for action, p in zip(actions, rationals(weights), strict=True):
                if p > 0:
                    for key, q in self._reached(state.child(action), before).items():
                        found[key] = found.get(key, Fraction(0)) + p * q
            return found
        position = self._position(state)
        known = self._known.setdefault(position, state)
        if known is not state and (known.is_terminal(), _legal(known)) != (
            state.is_terminal(),
            _legal(state),
        ):
            raise self._differs(position, state)
        reward = Fraction(str(state.returns()[0])) - Fraction(str(before.returns()[0]))
        return {(position, reward): Fraction(1)}

    def _differs(self, position: Position, state: Any) -> ValueError:
        return ValueError(
            f"{self.info.name}: the text {shown(position.text)} stands for different states after "
            f"the histories {brief(self._known[position].history_str())} and "
            f"{brief(state.history_str())}; state='history' tells them apart"
        )


class _TakingTurns(OpenSpielGame):
    """A game of OpenSpiel in which two players take turns."""

    def turn(self, state: Position) -> int:
        """Return the player to move; 0 at the end."""
        return max(state.player, 0)


def _legal(state: Any) -> tuple[tuple[int, ...], ...]:
    """Return the legal actions of each player in a state of OpenSpiel's."""
    players = range(state.num_players())
    if state.is_simultaneous_node():
        return tuple(tuple(state.legal_actions(p)) or (0,) for p in players)
    mover = state.current_player()
    return tuple(tuple(state.legal_actions()) if p == mover else (0,) for p in players)


def _child(state: Any, joint_action: JointAction) -> Any:
    """Return OpenSpiel's state after the players' actions."""
    after = state.clone()
    if state.is_simultaneous_node():
        after.apply_actions(list(joint_action))
    else:
        after.apply_action(joint_action[state.current_player()])
    return after


def to_openspiel(game: Game | TabularGame) -> Any:
    """Return a game as a ``pyspiel.Game``, with the observations of the table.

    Until the process ends it is registered as ``solvent_`` and the first 16 digits of the model's
    hash.

    Args:
        game: The rules or their table, without cycles.

    Returns:
        A general-sum game if it is for one player, a zero-sum game if it is for two.

    Raises:
        ValueError: If a state can come again in one episode, as OpenSpiel's games are finite trees.
        ModuleNotFoundError: If OpenSpiel is not installed (``pip install 'solvent[openspiel]'``).
    """
    import pyspiel

    table = compile_rules(game)
    again = repeatable_state(table)
    if again is not None:
        raise ValueError(
            f"{table.info.name}: the state {shown(table.states[again])} can come again in one "
            f"episode; allowed are games without cycles, as those of OpenSpiel are finite trees"
        )
    name = f"solvent_{table.model_hash[:16]}"
    if name not in pyspiel.registered_names():
        kind = _kind_of(name, table)
        pyspiel.register_game(kind, _game_class(kind, table))
    return pyspiel.load_game(name)


def policy_from_openspiel(table: TabularGame, policy: Any, *, player: int = 0) -> TabularPolicy:
    """Return the action probabilities of an OpenSpiel policy in each state.

    Args:
        table: The game.
        policy: An ``open_spiel.python.policy.Policy`` for :func:`to_openspiel` of the game, or for
            its turn-based form. It has to be a function of the information state. If it depends on
            the history, its choice after the first history that leads to a state is taken.
        player: Player whose policy it is, 0 or 1.

    Raises:
        ValueError: If the probabilities of a state are not a distribution over legal actions.
    """
    # Unreachable states have no histories, and play uniformly.
    probabilities = TabularPolicy.uniform(table, player=player).probabilities.copy()
    root, starts = policy.game.new_initial_state(), np.flatnonzero(table.initial).tolist()
    left = [(s, root.child(k) if len(starts) > 1 else root) for k, s in enumerate(starts)]
    seen = {*starts}
    while left:
        s, node = left.pop()
        if table.terminal[s]:
            continue
        in_turns = _acts_together(table) and not node.is_simultaneous_node()
        # In the turn-based form of a simultaneous game, player 0 has to choose some action first.
        asked = node.child(node.legal_actions()[0]) if in_turns and player == 1 else node
        if asked.is_simultaneous_node() or asked.current_player() == player:
            found = policy.action_probabilities(asked, player)
            probabilities[s] = [found.get(a, 0.0) for a in range(probabilities.shape[1])]
        for row in range(*table.row_start[s : s + 2].tolist()):
            first, end = table.outcome_start[row : row + 2].tolist()
            joint = tuple(int(actions[row]) for actions in table.row_action)
            for k, target in enumerate(table.next_state[first:end].tolist()):
                if target not in seen:
                    seen.add(target)
                    after = _child(node, joint[: table.info.players])
                    after = after.child(joint[1]) if in_turns else after
                    left.append((target, after.child(k) if end - first > 1 else after))
    return TabularPolicy.of(table, probabilities, player=player, name="OpenSpiel")


def _acts_together(table: TabularGame) -> bool:
    """Return whether both players of a table act at the same time."""
    return table.info.players == 2 and table.turn is None


def _kind_of(name: str, table: TabularGame) -> Any:
    """Return OpenSpiel's description of the type of a game."""
    import pyspiel

    kind, players = pyspiel.GameType, table.info.players
    dynamics, chance, utility = kind.Dynamics, kind.ChanceMode, kind.Utility
    return kind(
        short_name=name,
        long_name=f"{table.info.name} of Solvent",
        dynamics=dynamics.SIMULTANEOUS if _acts_together(table) else dynamics.SEQUENTIAL,
        chance_mode=chance.EXPLICIT_STOCHASTIC if _chances(table) > 1 else chance.DETERMINISTIC,
        information=kind.Information.PERFECT_INFORMATION,
        utility=utility.ZERO_SUM if players == 2 else utility.GENERAL_SUM,
        reward_model=kind.RewardModel.REWARDS,
        max_num_players=players,
        min_num_players=players,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )


def _chances(table: TabularGame) -> int:
    """Return the largest number of outcomes of a joint action, or of the start."""
    return max(int(np.diff(table.outcome_start).max(initial=1)), int((table.initial > 0).sum()))


def _game_class(kind: Any, table: TabularGame) -> Any:
    """Return the class of a game, which inherits from OpenSpiel's; its states are of another one.

    OpenSpiel releases what is registered only after Python has ended, so a class is registered and
    not an object.
    """
    import pyspiel

    starts = np.flatnonzero(table.initial).tolist()
    together, ids = _acts_together(table), pyspiel.PlayerId

    class SolventGame(pyspiel.Game):  # type: ignore[misc]
        """A table as a game of OpenSpiel."""

        def __init__(self, parameters: Any = None) -> None:
            low, high, moves = extreme_returns(table)
            two = table.info.players == 2
            super().__init__(
                kind,
                pyspiel.GameInfo(
                    num_distinct_actions=max(mask.shape[1] for mask in table.mask),
                    max_chance_outcomes=_chances(table),
                    num_players=table.info.players,
                    min_utility=min(low, -high) if two else low,
                    max_utility=max(high, -low) if two else high,
                    utility_sum=0.0 if two else None,
                    max_game_length=max(moves, 1),
                ),
                parameters or {},
            )

        def new_initial_state(self) -> Any:
            return SolventState(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            return Observer(table)

    class SolventState(pyspiel.State):  # type: ignore[misc]
        """A node of the tree: a state of the table, or the chance node after a row."""

        # Plain numbers only: OpenSpiel copies every attribute of a state that it clones.
        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.position = starts[0] if len(starts) == 1 else -1
            self.row, self.total, self.last = -1, 0.0, 0.0

        def current_player(self) -> int:
            if self.position < 0 or self.is_terminal():
                return int(ids.CHANCE if self.position < 0 else ids.TERMINAL)
            turn = 0 if table.turn is None else int(table.turn[self.position])
            return int(ids.SIMULTANEOUS) if together else turn

        def _legal_actions(self, player: int) -> list[int]:
            actions: list[int] = np.flatnonzero(table.mask[player][self.position]).tolist()
            return actions

        def chance_outcomes(self) -> list[tuple[int, float]]:
            if self.row < 0:
                return list(enumerate(table.initial[starts].tolist()))
            first, end = table.outcome_start[self.row : self.row + 2]
            return list(enumerate(table.probability[first:end].tolist()))

        def _apply_action(self, action: int) -> None:
            if self.position >= 0:
                # The only action of the other player need not be number 0.
                joint = [int(np.argmax(mask[self.position])) for mask in table.mask]
                joint[self.current_player()] = action
                self._apply_actions(joint)
            elif self.row < 0:
                self.position = starts[action]
            else:
                self._arrive(int(table.outcome_start[self.row]) + action)

        def _apply_actions(self, actions: list[int]) -> None:
            row = table.row(self.position, (actions[0], actions[1]))
            first, end = table.outcome_start[row : row + 2].tolist()
            if end - first == 1:
                self._arrive(first)
            else:
                self.position, self.row, self.last = -1, row, 0.0

        def _arrive(self, outcome: int) -> None:
            self.position, self.row = int(table.next_state[outcome]), -1
            self.last = float(table.outcome_reward[outcome])
            self.total += self.last

        def _action_to_string(self, player: int, action: int) -> str:
            if player == ids.CHANCE:
                return f"outcome {action}"
            return str(dict(enumerate(table.info.actions[player])).get(action, action))

        def is_terminal(self) -> bool:
            return self.position >= 0 and bool(table.terminal[self.position])

        def rewards(self) -> list[float]:
            return [self.last, -self.last][: self.num_players()]

        def returns(self) -> list[float]:
            return [self.total, -self.total][: self.num_players()]

        def __str__(self) -> str:
            if self.position < 0:
                return "start" if self.row < 0 else f"after row {self.row}"
            return repr(table.states[self.position])

    return SolventGame


class Observer:
    """A player's view of a state: the table's observation, and the state as text."""

    def __init__(self, table: TabularGame) -> None:
        self.seen = table.observation
        width = self.seen[0].shape[1] if self.seen else table.n_states
        self.tensor = np.zeros(width, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: Any, player: int) -> None:
        self.tensor.fill(0)
        if state.position >= 0 and self.seen:
            self.tensor[:] = self.seen[player][state.position]
        elif state.position >= 0:
            self.tensor[state.position] = 1

    def string_from(self, state: Any, player: int) -> str:
        return str(state)
