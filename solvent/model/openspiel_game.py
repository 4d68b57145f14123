"""Games of OpenSpiel as games of this project: those in which both players see everything.

OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453) defines a game by its histories. Here a game is
defined by its states, so an adapter has to say which histories are one state. A state here is a
:class:`Position`: the text of OpenSpiel's state and whose move it is.

**What is refused.** With hidden information a player does not know the state, and the best policy
per state is none that can be played: Kuhn poker would be solved to 0, without a word; its value is
-1/18. So OpenSpiel's own declaration decides, the type's ``information``. Games for more than two,
those that are not zero-sum for two, and those with sampled chance are refused as well.

**What is checked.** A text need not say everything. Every history that leads to a known position is
compared with the one that led there first: who moves, what is legal, whether it is over. Once all
positions are known, :data:`PLAYOUTS` random episodes of OpenSpiel's are followed move by move, and
each step has to have the positions, probabilities and rewards of the game here. A game that ends
after a number of moves which its text does not show would pass: there positions come again, which
no complete description of a finite game can do. That is refused as well, unless the caller asks
for the game without its limit. What remains is a text that leaves out something that has never
mattered in any of these; ``state="history"`` takes each history for a state of its own, which is
always right, and only for small games.
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

from solvent.model.game import GameInfo, JointAction, Outcome
from solvent.model.parameters import brief, check_choice, shown
from solvent.model.tabular import TabularGame
from solvent.model.transforms import repeatable_state
from solvent.model.walk import MOST_STATES, rationals, walk

PLAYOUTS = 200
"""Number of random episodes in which the game is compared with OpenSpiel's."""

STATES = ("text", "history")
"""The ways to tell the states of an OpenSpiel game apart."""

TOGETHER = -1
"""The player of a position in which both choose at the same time, or which ends the game."""


class Position(NamedTuple):
    """A state: the player who moves, or -1, and OpenSpiel's text of the state or its history."""

    player: int
    text: str


def game_from_openspiel(
    name: str, *, state: str = "text", limit: bool = True, **parameters: Any
) -> OpenSpielGame:
    """A game of OpenSpiel without hidden information, for one player or for two.

    Args:
        name: The name in OpenSpiel, such as ``"tic_tac_toe"`` or ``"pig(winscore=20)"``.
        state: Meaning of a state: ``"text"``, the text that OpenSpiel has for it, so that histories
            with one text are one state; or ``"history"``, every history for itself.
        limit: Whether a game in which positions come again is refused. If not, it is read
            without the limit on moves that ends it in OpenSpiel, and what comes again is the same.
        parameters: Parameters of the game, by OpenSpiel's names; not together with those in `name`.

    Raises:
        ValueError: If OpenSpiel has no such game or refuses a parameter, or the game is none of
            those above.
        ModuleNotFoundError: If OpenSpiel is not installed (``pip install 'solvent[openspiel]'``).
    """
    import pyspiel

    check_choice(state, "state", STATES)
    short = _game_type(name).short_name
    try:
        source = pyspiel.load_game(name, parameters) if parameters else pyspiel.load_game(name)
    except (pyspiel.SpielError, TypeError) as error:
        raise ValueError(f"openspiel:{name} cannot be loaded: {brief(str(error))}") from error
    kind = source.get_type()
    types = pyspiel.GameType
    players = source.num_players()
    simultaneous = kind.dynamics == types.Dynamics.SIMULTANEOUS
    seen = (types.Information.PERFECT_INFORMATION, types.Information.ONE_SHOT)
    for refused, reason in (
        (
            kind.information not in seen,
            f"it has {_words(kind.information)}; allowed are games in which every player sees the "
            f"state, as the best policy per state cannot be played otherwise",
        ),
        (players not in (1, 2), f"it has {players} players; allowed are 1 and 2"),
        (
            players == 2 and kind.utility != types.Utility.ZERO_SUM,
            f"its utility is {_words(kind.utility)}; allowed for two players is zero sum",
        ),
        (
            kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC,
            f"its chance is {_words(kind.chance_mode)}; allowed is explicit chance",
        ),
        (
            not simultaneous and kind.dynamics != types.Dynamics.SEQUENTIAL,
            f"its dynamics are {_words(kind.dynamics)}; allowed are sequential and simultaneous",
        ),
    ):
        if refused:
            raise ValueError(f"openspiel:{short}: {reason}")
    in_turn = players == 2 and not simultaneous
    return (_TakingTurns if in_turn else OpenSpielGame)(source, state, limit)


def _words(value: Any) -> str:
    """A value of an enumeration of OpenSpiel's as words."""
    return str(value.name).lower().replace("_", " ")


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
    make.__doc__ = f"""{kind.long_name} of OpenSpiel.

Args:
    state: What a state is: text, OpenSpiel's text of it, or history.
    limit: Whether a game in which positions come again is refused; else it has no limit on moves.
"""
    own = [
        inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, default=default)
        for parameter, default in sorted(kind.parameter_specification.items())
        if isinstance(default, (bool, int, float, str))
    ]
    first = [p for p in inspect.signature(make).parameters.values() if p.kind != p.VAR_KEYWORD]
    make.__signature__ = inspect.Signature([*first, *own])  # type: ignore[attr-defined]
    return make


def _game_type(name: str) -> Any:
    """Return OpenSpiel's description of a game before it is loaded."""
    import pyspiel

    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    return kinds[check_choice(name.partition("(")[0].strip(), "game of OpenSpiel", kinds)]


@dataclass(frozen=True, eq=False)
class OpenSpielGame:
    """A game of OpenSpiel; :func:`game_from_openspiel` makes it, and says what it takes.

    Observations are OpenSpiel's tensors as they are, which need not tell all states apart.

    Args:
        source: OpenSpiel's game, a ``pyspiel.Game``.
        state: The property that distinguishes states, ``"text"`` or ``"history"``.
        limit: Whether positions may not come again.
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
        """OpenSpiel's names, where they do not depend on the state; else numbers."""
        import pyspiel

        for action in range(self.source.num_distinct_actions()):
            try:
                name = str(self.source.action_to_string(player, action))
            except pyspiel.SpielError:
                name = ""
            yield str(action) if not name or name.startswith("Action(") else name

    @cached_property
    def _shown(self) -> str | None:
        """The tensor of OpenSpiel's that is observed."""
        kind = self.source.get_type()
        for tensor in ("observation_tensor", "information_state_tensor"):
            if getattr(kind, f"provides_{tensor}"):
                return tensor
        return None

    @cached_property
    def _width(self) -> int:
        """The entries of an observation; one, which is 0, if OpenSpiel shows nothing."""
        return int(getattr(self.source, f"{self._shown}_size")()) if self._shown else 1

    def initial(self) -> tuple[Outcome, ...]:
        """The positions after all chance that comes first.

        Raises:
            ValueError: If that chance gives rewards, which no episode here could.
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
        """OpenSpiel's legal actions, or the first action alone if a player has no choice."""
        return _legal(self._source_of(state))

    def transition(self, state: Position, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The positions that follow, after all chance in between."""
        return tuple(
            Outcome(p, position, reward)
            for (position, reward), p in self._after(self._source_of(state), joint_action).items()
        )

    def is_terminal(self, state: Position) -> bool:
        """Return whether OpenSpiel's game has ended."""
        return bool(self._source_of(state).is_terminal())

    def observe(self, state: Position, player: int) -> NDArray[np.float32]:
        """OpenSpiel's tensor; a zero if it has none."""
        if self._shown is None:
            return np.zeros(1, np.float32)
        return np.array(getattr(self._source_of(state), self._shown)(player), np.float32)

    def draw(self, state: Position) -> str:
        """OpenSpiel's text of the state."""
        return str(self._source_of(state)).rstrip("\n")

    def tabulate(self) -> TabularGame:
        """The table, after random episodes of OpenSpiel's were compared with it.

        Raises:
            ValueError: If a position comes again in an episode and the game is read with its
                limit, or one text stands for states that differ.
        """
        table = TabularGame(info=self.info, **walk(self, MOST_STATES, None))
        again = repeatable_state(table) if self.limit else None
        if again is not None:
            raise ValueError(
                f"{self.info.name}: the position {shown(table.states[again])} can come again in "
                f"one episode, so its text does not show how long a game of OpenSpiel still "
                f"lasts; limit=False reads the game without its limit on moves, and "
                f"state='history' tells all histories apart"
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
            if self._after(here, joint) != there:
                self._differ(position, here)
            here = self._drawn(_child(here, joint), dice)

    @staticmethod
    def _drawn(state: Any, dice: random.Random) -> Any:
        """A state of OpenSpiel after all chance, which is drawn."""
        while state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state = state.child(dice.choices(actions, weights)[0])
        return state

    def _source_of(self, position: Position) -> Any:
        """OpenSpiel's state that first led to a position."""
        try:
            return self._known[position]
        except (KeyError, TypeError):
            raise ValueError(
                f"{self.info.name}: nothing has led to the position {shown(position)}; allowed are "
                f"those that initial() and transition() have given"
            ) from None

    def _position(self, state: Any) -> Position:
        """The position of a state in which no chance is due."""
        player = state.current_player()
        text = str(state) if self.state == "text" else state.history_str()
        return Position(player if player >= 0 else TOGETHER, text)

    def _after(
        self, state: Any, joint_action: JointAction
    ) -> dict[tuple[Position, Fraction], Fraction]:
        """The probability of each position and reward after a joint action."""
        return self._reached(_child(state, joint_action), state)

    def _reached(self, state: Any, before: Any) -> dict[tuple[Position, Fraction], Fraction]:
        """The same after all chance that is due in a state; rewards are counted from `before`."""
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
        if known is not state and not _alike(known, state):
            self._differ(position, state)
        reward = Fraction(str(state.returns()[0])) - Fraction(str(before.returns()[0]))
        return {(position, reward): Fraction(1)}

    def _differ(self, position: Position, state: Any) -> None:
        raise ValueError(
            f"{self.info.name}: the text {shown(position.text)} stands for different states after "
            f"the histories {brief(self._known[position].history_str())} and "
            f"{brief(state.history_str())}; state='history' tells them apart"
        )


class _TakingTurns(OpenSpielGame):
    """One for two who move in turn."""

    def turn(self, state: Position) -> int:
        """The player who moves; 0 at the end."""
        return max(state.player, 0)


def _legal(state: Any) -> tuple[tuple[int, ...], ...]:
    """The legal actions of each player in a state of OpenSpiel's."""
    players = range(state.num_players())
    if state.is_simultaneous_node():
        return tuple(tuple(state.legal_actions(p)) or (0,) for p in players)
    mover = state.current_player()
    return tuple(tuple(state.legal_actions()) if p == mover else (0,) for p in players)


def _child(state: Any, joint_action: JointAction) -> Any:
    """OpenSpiel's state after the players' actions."""
    after = state.clone()
    if state.is_simultaneous_node():
        after.apply_actions(list(joint_action))
    else:
        after.apply_action(joint_action[state.current_player()])
    return after


def _alike(one: Any, other: Any) -> bool:
    """Whether two states of OpenSpiel's with one position can be one, as far as a look tells."""
    if one.is_terminal() or other.is_terminal():
        return bool(one.is_terminal() == other.is_terminal())
    return _legal(one) == _legal(other)
