"""A game with its optimum, however that was found: what all that shows or uses an optimum asks.

:func:`solve_game` gives one for every game. A table's solution, a kernel's, and a folder of layers
are all a :class:`SolvedGame`; whoever asks does not know which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from solvent.exact.solution import Solution
from solvent.exact.solve import solve
from solvent.model import Game, TabularGame, compile_game
from solvent.model.registry import spec_of


@runtime_checkable
class SolvedGame(Protocol):
    """A game, its value, and an optimal strategy of each player in every state."""

    @property
    def game(self) -> Game:
        """The rules."""
        ...

    @property
    def value(self) -> float:
        """To player 0, at the start."""
        ...

    @property
    def lower(self) -> float:
        """A proved lower bound of the value at the start."""
        ...

    @property
    def upper(self) -> float:
        """A proved upper bound of the value at the start."""
        ...

    @property
    def method(self) -> str:
        """How the optimum was found."""
        ...

    def value_of(self, state: Any) -> float:
        """The value of a state, to player 0."""
        ...

    def action_values(self, state: Any, player: int) -> Mapping[int, float]:
        """What each legal action of a player leads to against optimal play of the other.

        Args:
            state: One in which play has not ended.
            player: 0 or 1.

        Returns:
            Values to player 0, by action.
        """
        ...

    def policy(self, state: Any, player: int) -> Mapping[int, float]:
        """An optimal strategy of a player in a state.

        Args:
            state: One in which play has not ended.
            player: 0 or 1.

        Returns:
            The probability of every legal action.
        """
        ...


@dataclass(frozen=True, eq=False)
class SolvedTable:
    """A :class:`SolvedGame` that has a table.

    Attributes:
        game: The rules.
        table: The same as arrays.
        solution: Of the table.
    """

    game: Game
    table: TabularGame
    solution: Solution

    @property
    def value(self) -> float:
        """To player 0, at the start."""
        return self.solution.value

    @property
    def lower(self) -> float:
        """A proved lower bound of the value at the start."""
        return self.solution.lower

    @property
    def upper(self) -> float:
        """A proved upper bound of the value at the start."""
        return self.solution.upper

    @property
    def method(self) -> str:
        """How the optimum was found."""
        return self.solution.method

    def value_of(self, state: Any) -> float:
        return float(self.solution.values[self.table.index[state]])

    def action_values(self, state: Any, player: int) -> Mapping[int, float]:
        index = self.table.index[state]
        others = self.solution.policies[1 - player].probabilities[index]
        values: dict[int, float] = {}
        for row in range(*self.table.row_start[index : index + 2].tolist()):
            action, other = (int(self.table.row_action[p][row]) for p in (player, 1 - player))
            term = float(others[other]) * float(self.solution.action_values[row])
            values[action] = values.get(action, 0.0) + term
        return values

    def policy(self, state: Any, player: int) -> Mapping[int, float]:
        index = self.table.index[state]
        legal = self.table.mask[player][index].nonzero()[0]
        chances = self.solution.policies[player].probabilities[index, legal]
        return dict(zip(legal.tolist(), chances.tolist(), strict=True))


def solve_game(game: Game, *, tolerance: float = 1e-9) -> SolvedGame:
    """Solve a game in the way that suits it.

    Args:
        game: The rules.
        tolerance: Widest bracket accepted, as for :func:`solvent.exact.solve`.

    Returns:
        What the game's own solver found, if it has one for this form of the game; otherwise the
        solution of its table.

    Raises:
        ImproperGameError: If play need not end; the message names a state.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
        TooManyStatesError: If there are too many states for a table, and no other way.
    """
    spec = spec_of(game)
    solved: SolvedGame | None = None if spec is None else spec.ask("solver", game)
    if solved is not None:
        return solved
    table = compile_game(game)
    return SolvedTable(game, table, solve(table, tolerance=tolerance))
