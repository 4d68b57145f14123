"""The result of a solver, and the errors that it raises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import check_integer, shown
from solvent.model.tabular import check_model, remembered
from solvent.model.text import choice_text

WAY_OUT = "solve it with a discount (solvent.discounted), under which play ends for certain"
"""Advice for a game in which play need not end."""


FIGURES = ("value", "lower", "upper", "method", "model_hash")
"""The attributes of a solution that are numbers or text."""


class ImproperGameError(ValueError):
    """An episode need not end: a state has no value, or attains it only by never ending.

    Args:
        message: The reason.
        state: A state from which play never ends, if one is known.

    Attributes:
        state: The same state, or None.
    """

    def __init__(self, message: str, state: Any = None) -> None:
        super().__init__(message)
        self.state = state


class CertificateError(ArithmeticError):
    """A solution was found but its error could not be bounded tightly enough."""


class ByState:
    """The optimum as arrays over the states of a table."""

    @property
    def by_state(self) -> tuple[TabularGame, Solution]:
        """The table of the game, and its solution.

        Raises:
            ValueError: If there is no table.
        """
        raise NotImplementedError

    @property
    def v(self) -> Floats:
        """[S] the optimal value of every state of the table, to player 0."""
        return self.by_state[1].values

    @property
    def q(self) -> Floats:
        """The optimal value of every action in every state, to player 0; NaN where illegal.

        [S, A] if one player acts in each state, for that player's actions; [S, A, B] for pairs of
        actions if both players choose at once.
        """
        table, solution = self.by_state
        values = solution.action_values
        widths = [mask.shape[1] for mask in table.mask]
        if table.info.players == 2 and table.turn is None:
            q = np.full((table.n_states, *widths), np.nan)
            q[table.row_state, table.row_action[0], table.row_action[1]] = values
            return q
        first = np.ones(table.n_states, bool) if table.turn is None else table.turn == 0
        q = np.full((table.n_states, max(widths[: table.info.players])), np.nan)
        q[table.row_state, np.where(first[table.row_state], *table.row_action)] = values
        return q

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
        *,
        player: int = 0,
    ) -> tuple[Any, None]:
        """Choose optimal actions, with the signature of a Stable-Baselines3 model.

        So ``evaluate_policy(solution, env)`` works as it does with a trained model.

        Args:
            observation: The environment's observation of a state, or a batch of them: vectors,
                one-hot vectors or state numbers.
            state: Not used; the state of a recurrent network.
            episode_start: Not used.
            deterministic: Whether to take the most probable action; otherwise one is drawn.
            player: The player who acts, 0 or 1.

        Returns:
            The action, or [n] actions, and None.

        Raises:
            ValueError: If no state has this observation, or the game has no such player.
        """
        table, solution = self.by_state
        check_integer(player, "player", 0, table.info.players - 1)
        seen = np.asarray(observation)
        numbered = seen.dtype.kind in "iu"
        if not numbered and (seen.dtype.kind not in "bf" or seen.ndim == 0):
            raise ValueError(f"observation is {shown(observation)}; allowed are arrays of numbers")
        rows = seen.ravel() if numbered else seen.reshape(-1, *seen.shape[-1:])
        known = _states_shown(table, player, 0 if numbered else rows.shape[1])
        states = [known.get(key, -1) for key in _keys(rows)]
        if -1 in states:
            raise ValueError(f"observation is {shown(seen)}, which no state of the game has")
        chances = solution.policies[player].probabilities[states]
        actions = chances.argmax(axis=1)
        if not deterministic:
            drawn = np.random.default_rng().random((len(chances), 1))
            below = drawn * chances.sum(axis=1, keepdims=True)
            actions = (chances.cumsum(axis=1) > below).argmax(axis=1)
        return actions[0] if seen.ndim == (not numbered) else actions, None

    def to_dict(self, player: int = 0) -> dict[Any, dict[str, float]]:
        """Return an optimal strategy: for each state, the action probabilities by name.

        Only states in which the player acts are included.

        Args:
            player: The player whose strategy it is, 0 or 1.

        Raises:
            ValueError: If the game has no such player.
        """
        table, solution = self.by_state
        check_integer(player, "player", 0, table.info.players - 1)
        names, mask = table.info.actions[player], table.mask[player]
        chances = solution.policies[player].probabilities
        return {
            table.states[s]: {names[a]: float(chances[s, a]) for a in np.flatnonzero(mask[s])}
            for s in np.flatnonzero(table.on_turn(player)).tolist()
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each state.

        The columns are the state, its value, the value of each action, and the best choice of the
        player who acts. Values are to player 0.

        Raises:
            ModuleNotFoundError: If pandas is not installed.
        """
        import pandas as pd

        (table, solution), q = self.by_state, self.q
        frame = pd.DataFrame({"state": list(table.states), "value": self.v})
        names = zip_longest(*table.info.actions) if q.ndim == 2 else ()
        for number, both in enumerate(names):
            # An action's number may have another name for the other player, or none.
            frame[" / ".join(dict.fromkeys(filter(None, both)))] = q[:, number]
        acting = np.zeros(table.n_states, int) if table.turn is None else table.turn
        frame["best"] = [
            "" if ended else choice_text(table, solution.policies[acting[s]], s)
            for s, ended in enumerate(table.terminal.tolist())
        ]
        return frame


@dataclass(frozen=True, eq=False)
class Solution(ByState):
    """An optimum, with a bracket that was proved independently of the solver's iteration.

    Attributes:
        value: The value to player 0, at the start distribution.
        values: [S] value of every state to player 0.
        action_values: [K] expected value of every row, to player 0.
        policies: An optimal policy of each player (a single action where there is no choice).
        lower: Proved lower bound of the value at the start.
        upper: Proved upper bound of the value at the start.
        method: The method by which it was found.
        model_hash: The hash of the game that was solved.
        table: The table that was solved, if :func:`solvent.exact.solve` solved it; otherwise None.
    """

    value: float
    values: Floats
    action_values: Floats
    policies: tuple[TabularPolicy, TabularPolicy]
    lower: float
    upper: float
    method: str
    model_hash: str
    table: TabularGame | None = None

    @property
    def by_state(self) -> tuple[TabularGame, Solution]:
        """The table that was solved, and this solution.

        Raises:
            ValueError: If the solution has no table, such as one that was read from a file.
        """
        if self.table is None:
            raise ValueError("the solution is without its table; solve the table again")
        return self.table, self

    def packed(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Return the solution in a form for files: JSON-able figures, and arrays by name."""
        figures = {name: getattr(self, name) for name in FIGURES}
        of_players = {f"policy_{player}": p.probabilities for player, p in enumerate(self.policies)}
        return figures, {"values": self.values, "action_values": self.action_values, **of_players}

    @classmethod
    def unpacked(cls, figures: Mapping[str, Any], arrays: Mapping[str, Any]) -> Solution:
        """Make a solution from the form that :meth:`packed` returned.

        Args:
            figures: The figures; others are ignored.
            arrays: The arrays by name.
        """
        first, second = (
            TabularPolicy(arrays[f"policy_{player}"], figures["model_hash"], player, "optimal")
            for player in (0, 1)
        )
        return cls(
            **{name: figures[name] for name in FIGURES},
            values=arrays["values"],
            action_values=arrays["action_values"],
            policies=(first, second),
        )

    def __repr__(self) -> str:
        """The value and its bracket."""
        return f"<Solution {self.value:.12g} in [{self.lower:.15g}, {self.upper:.15g}]>"


@remembered
def _states_shown(table: TabularGame, player: int, width: int) -> dict[Any, int]:
    """Return the state of each observation of a player.

    Of several states with one observation it is the first in which the player acts: an end by the
    discount looks like an initial state.

    Args:
        table: The table.
        player: The observing player.
        width: Length of the observations, vectors or one-hot ones; 0 for numbers.
    """
    from solvent.model.gymnasium_table import numbers_of
    from solvent.model.transforms import one_hot

    rows: NDArray[Any] = table.observation[player] if table.observation else table.mask[0][:, :0]
    if width == 0:
        numbers = numbers_of(table)
        rows = np.arange(table.n_states) if numbers is None else numbers
    elif table.observation and rows.shape[1] != width:
        rows = one_hot(table).observation[player]
    order = np.lexsort((-np.arange(table.n_states), table.on_turn(player)))
    return dict(zip(_keys(rows[order]), order.tolist(), strict=True))


def _keys(rows: NDArray[Any]) -> Iterable[Any]:
    """Return a key of each observation: a number, or the bytes of a vector in single precision."""
    if rows.ndim == 1:
        return map(int, rows)
    return (row.tobytes() for row in np.ascontiguousarray(rows, np.float32) + np.float32(0))


def check_solution(solution: object, game: TabularGame | None = None) -> None:
    """Raise unless something is a Solution.

    Args:
        solution: The object given as a solution.
        game: The table that it must be for. Default: any.

    Raises:
        ValueError: If `solution` is not a Solution, or is for another game.
    """
    if not isinstance(solution, Solution):
        raise ValueError(
            f"solution is {shown(solution)}; expected is a Solution, such as solvent.solve(table) "
            f"or solvent.solve(name).solution"
        )
    if game is not None:
        check_model(solution.model_hash, game, "the solution")
