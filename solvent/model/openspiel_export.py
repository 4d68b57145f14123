"""Games of this project as games of OpenSpiel, and OpenSpiel's policies as policies here.

OpenSpiel's algorithms walk through histories, so a game has to be a finite tree: one in which a
state can come again is refused. A joint action is followed by a chance node wherever it has more
than one outcome, and so is the start.

Nothing is hidden, so what a player knows is the state: it is the information state, and histories
that lead to one state share it. Tabular algorithms then have a table of states, not of histories,
and what they find is a policy here (:func:`policy_from_openspiel`), to be scored exactly. The
rewards so far are no part of it; they change no decision.

A game in which both players act at the same time is a simultaneous game of OpenSpiel's. Algorithms
for games in turn take ``pyspiel.convert_to_turn_based(game)``, in which the second player does not
see what the first one chose.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from solvent.model.game import Game
from solvent.model.parameters import shown
from solvent.model.table_cache import compile_game
from solvent.model.tabular import TabularGame, TabularPolicy
from solvent.model.transforms import extreme_returns, repeatable_state


def to_openspiel(game: Game | TabularGame) -> Any:
    """A game as a ``pyspiel.Game``, whose observations are those of the table.

    It is registered under the name ``solvent_`` and the first 16 digits of the model's hash, for
    as long as the process lasts.

    Args:
        game: The rules or their table, without cycles.

    Returns:
        For one player a game of general sum, for two one of zero sum.

    Raises:
        ValueError: If a state can come again in one episode, as OpenSpiel's games are finite trees.
        ModuleNotFoundError: If OpenSpiel is not installed (``pip install 'solvent[openspiel]'``).
    """
    import pyspiel

    table = game if isinstance(game, TabularGame) else compile_game(game)
    again = repeatable_state(table)
    if again is not None:
        raise ValueError(
            f"{table.info.name}: the state {shown(table.states[again])} can come again in one "
            f"episode; allowed are games without cycles, as those of OpenSpiel are finite trees"
        )
    name = f"solvent_{table.model_hash[:16]}"
    if name not in pyspiel.registered_names():
        kind = _game_type(name, table)

        class Registered(_game_class()):  # type: ignore[misc]
            """The game under its name. A class, as OpenSpiel lets go of it after Python's end."""

            def __init__(self, parameters: Any = None) -> None:
                super().__init__(kind, table, parameters)

        pyspiel.register_game(kind, Registered)
    return pyspiel.load_game(name)


def policy_from_openspiel(
    table: TabularGame, policy: Any, *, player: int = 0, name: str = "OpenSpiel"
) -> TabularPolicy:
    """Return the action probabilities of an OpenSpiel policy in each state.

    Args:
        table: The game.
        policy: An ``open_spiel.python.policy.Policy`` for :func:`to_openspiel` of the game, or for
            its turn-based form. It has to be a function of the information state; of any other,
            what it does after the first history that leads to a state is taken.
        player: Player whose policy it is, 0 or 1.
        name: Name for tables and figures.

    Raises:
        ValueError: If the probabilities of a state are no distribution over the legal actions.
    """
    probabilities = np.zeros(table.mask[player].shape)
    root = policy.game.new_initial_state()
    starts = np.flatnonzero(table.initial)
    left = [(int(s), root.child(k) if len(starts) > 1 else root) for k, s in enumerate(starts)]
    seen = {s for s, _ in left}
    while left:
        s, node = left.pop()
        if table.terminal[s]:
            continue
        probabilities[s] = _probabilities(table, policy, s, node, player)
        for row in range(*table.row_start[s : s + 2].tolist()):
            first, end = table.outcome_start[row : row + 2].tolist()
            after = None
            for k, target in enumerate(table.next_state[first:end].tolist()):
                if target not in seen:
                    seen.add(target)
                    after = _applied(table, s, node, row) if after is None else after
                    left.append((target, after.child(k) if end - first > 1 else after))
    # States that cannot be reached have no histories; there any legal action does.
    unmet = ~table.terminal & ~np.isin(np.arange(table.n_states), list(seen))
    mask = table.mask[player]
    probabilities[unmet] = (mask / np.maximum(mask.sum(axis=1, keepdims=True), 1))[unmet]
    return TabularPolicy.of(table, probabilities, player=player, name=name)


def _probabilities(table: TabularGame, policy: Any, s: int, node: Any, player: int) -> Any:
    """[A] what a policy does in a state, whose node in OpenSpiel's game is given."""
    legal = table.mask[player][s]
    if node.is_simultaneous_node():
        found = policy.action_probabilities(node, player)
    elif node.current_player() == player:
        found = policy.action_probabilities(node)
    elif table.turn is None and player == 1 and table.info.players == 2:
        # The turn-based form of a simultaneous game: player 0 has to choose first, anything.
        node = node.child(node.legal_actions()[0])
        found = policy.action_probabilities(node)
    else:
        found = {int(np.argmax(legal)): 1.0}
    row = np.zeros(len(legal))
    for action, probability in found.items():
        row[action] = probability
    return row


def _applied(table: TabularGame, s: int, node: Any, row: int) -> Any:
    """The node after the joint action of a row."""
    actions = [int(of_player[row]) for of_player in table.row_action]
    after = node.clone()
    if node.is_simultaneous_node():
        after.apply_actions(actions[: table.info.players])
    elif table.turn is None and table.info.players == 2:
        for action in actions:
            after.apply_action(action)
    else:
        after.apply_action(actions[node.current_player()])
    return after


def _game_type(name: str, table: TabularGame) -> Any:
    """What OpenSpiel wants to know of a game beforehand."""
    import pyspiel

    kind = pyspiel.GameType
    players = table.info.players
    together = players == 2 and table.turn is None
    chances = np.diff(table.outcome_start).max(initial=1) > 1 or (table.initial > 0).sum() > 1
    return kind(
        short_name=name,
        long_name=f"{table.info.name} of Solvent",
        dynamics=kind.Dynamics.SIMULTANEOUS if together else kind.Dynamics.SEQUENTIAL,
        chance_mode=(
            kind.ChanceMode.EXPLICIT_STOCHASTIC if chances else kind.ChanceMode.DETERMINISTIC
        ),
        information=kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM if players == 2 else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.REWARDS,
        max_num_players=players,
        min_num_players=players,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )


@cache
def _game_class() -> Any:
    """The class of games, which inherits from OpenSpiel's."""
    import pyspiel

    class SolventGame(pyspiel.Game):  # type: ignore[misc]
        """A table as a game of OpenSpiel."""

        def __init__(self, kind: Any, table: TabularGame, parameters: Any = None) -> None:
            low, high, moves = extreme_returns(table)
            players = table.info.players
            chances = max(
                int(np.diff(table.outcome_start).max(initial=1)), int((table.initial > 0).sum())
            )
            super().__init__(
                kind,
                pyspiel.GameInfo(
                    num_distinct_actions=max(mask.shape[1] for mask in table.mask),
                    max_chance_outcomes=chances,
                    num_players=players,
                    min_utility=min(low, -high) if players == 2 else low,
                    max_utility=max(high, -low) if players == 2 else high,
                    utility_sum=0.0 if players == 2 else None,
                    max_game_length=max(moves, 1),
                ),
                parameters or {},
            )
            self.table = table
            self.starts = np.flatnonzero(table.initial)

        def new_initial_state(self) -> Any:
            return _state_class()(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            return Observer(self.table)

    return SolventGame


def _to_move(table: TabularGame, position: int) -> int:
    """Return the player to move in a state, by OpenSpiel's numbers; a negative one is chance."""
    import pyspiel

    if position < 0:
        return int(pyspiel.PlayerId.CHANCE)
    if table.terminal[position]:
        return int(pyspiel.PlayerId.TERMINAL)
    if table.info.players == 1:
        return 0
    if table.turn is None:
        return int(pyspiel.PlayerId.SIMULTANEOUS)
    return int(table.turn[position])


@cache
def _state_class() -> Any:
    """The class of states, which inherits from OpenSpiel's."""
    import pyspiel

    class SolventState(pyspiel.State):  # type: ignore[misc]
        """Where an episode is: in a state of the table, or at the chance after a row."""

        # Plain numbers only: OpenSpiel copies every attribute of a state that it clones.
        def __init__(self, game: Any) -> None:
            super().__init__(game)
            one = len(game.starts) == 1
            self.position = int(game.starts[0]) if one else -1
            self.row = -1
            self.total = 0.0
            self.last = 0.0

        def current_player(self) -> int:
            return _to_move(self.get_game().table, self.position)

        def _legal_actions(self, player: int) -> list[int]:
            mask = self.get_game().table.mask[player][self.position]
            return [int(action) for action in np.flatnonzero(mask)]

        def chance_outcomes(self) -> list[tuple[int, float]]:
            game = self.get_game()
            table = game.table
            if self.row < 0:
                weights = table.initial[game.starts]
            else:
                weights = table.probability[slice(*table.outcome_start[self.row : self.row + 2])]
            return [(k, float(p)) for k, p in enumerate(weights)]

        def _apply_action(self, action: int) -> None:
            game = self.get_game()
            if self.position >= 0:
                # The other player's one action need not have the number 0.
                joint = [int(np.argmax(mask[self.position])) for mask in game.table.mask]
                joint[self.current_player()] = action
                self._apply_actions(joint)
            elif self.row < 0:
                self.position = int(game.starts[action])
            else:
                self._arrive(int(game.table.outcome_start[self.row]) + action)

        def _apply_actions(self, actions: list[int]) -> None:
            table = self.get_game().table
            row = table.row(self.position, (actions[0], actions[1]))
            first, end = table.outcome_start[row : row + 2].tolist()
            if end - first == 1:
                self._arrive(first)
            else:
                self.position, self.row, self.last = -1, row, 0.0

        def _arrive(self, outcome: int) -> None:
            table = self.get_game().table
            self.position, self.row = int(table.next_state[outcome]), -1
            self.last = float(table.outcome_reward[outcome])
            self.total += self.last

        def _action_to_string(self, player: int, action: int) -> str:
            if player == pyspiel.PlayerId.CHANCE:
                return f"outcome {action}"
            names = self.get_game().table.info.actions[player]
            return str(names[action]) if action < len(names) else str(action)

        def is_terminal(self) -> bool:
            return self.position >= 0 and bool(self.get_game().table.terminal[self.position])

        def rewards(self) -> list[float]:
            return [self.last, -self.last][: self.num_players()]

        def returns(self) -> list[float]:
            return [self.total, -self.total][: self.num_players()]

        def __str__(self) -> str:
            if self.position < 0:
                return "start" if self.row < 0 else f"after row {self.row}"
            return repr(self.get_game().table.states[self.position])

    return SolventState


class Observer:
    """The view that a player has of a state: the table's observation, and the state as text."""

    def __init__(self, table: TabularGame) -> None:
        self.table = table
        width = table.observation[0].shape[1] if table.observation else table.n_states
        self.tensor = np.zeros(width, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: Any, player: int) -> None:
        self.tensor.fill(0)
        if state.position < 0:
            return
        if self.table.observation:
            self.tensor[:] = self.table.observation[player][state.position]
        else:
            self.tensor[state.position] = 1

    def string_from(self, state: Any, player: int) -> str:
        return str(state)
