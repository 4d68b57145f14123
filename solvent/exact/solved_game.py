"""A game with its optimum, however that was found: what all that shows or uses an optimum asks.

:func:`solve` gives one for every game. A table's solution, a kernel's, and a folder of layers
are all a :class:`SolvedGame`; whoever asks does not know which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

from solvent.exact.solution import ByState, Solution
from solvent.exact.solution_cache import cached_solution
from solvent.exact.solver import solve_table
from solvent.model import Game, TabularGame, cached_table
from solvent.model.parameters import shown
from solvent.model.progress import OnProgress
from solvent.model.registry import GameSpec, game_of, load, spec_of

if TYPE_CHECKING:
    from solvent.exact.layered.game import LayeredGame


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
        """The method by which the optimum was found."""
        ...

    def value_of(self, state: Any) -> float:
        """The value of a state, to player 0; raises ValueError for what is no state."""
        ...

    def action_values(self, state: Any, player: int) -> Mapping[int, float]:
        """Return the value of each legal action of a player against optimal play of the other.

        Args:
            state: One in which the episode has not ended.
            player: 0 or 1.

        Returns:
            Values to player 0, by action.
        """
        ...

    def policy(self, state: Any, player: int) -> Mapping[int, float]:
        """An optimal strategy of a player in a state.

        Args:
            state: One in which the episode has not ended.
            player: 0 or 1.

        Returns:
            The probability of every legal action.
        """
        ...


class BySolution(ByState):
    """The figures and the arrays of a :class:`SolvedGame` that has a solution.

    Attributes:
        solution: The solution of a table, or any other with the same three figures.
    """

    solution: Any

    @property
    def value(self) -> float:
        """To player 0, at the start."""
        return float(self.solution.value)

    @property
    def lower(self) -> float:
        """A proved lower bound of the value at the start."""
        return float(self.solution.lower)

    @property
    def upper(self) -> float:
        """A proved upper bound of the value at the start."""
        return float(self.solution.upper)

    @property
    def by_state(self) -> tuple[TabularGame, Solution]:
        """The table of the game, and its solution.

        Raises:
            ValueError: If the game has too many states for a table.
        """
        found = with_table(self)  # type: ignore[arg-type]
        if found is None:
            raise ValueError("the game has too many states for arrays; use value_of(state)")
        return found.table, found.solution


@dataclass(frozen=True, eq=False)
class SolvedTable(BySolution):
    """A :class:`SolvedGame` that has a table.

    Attributes:
        game: The rules.
        table: The same as arrays.
        solution: The solution of the table.
    """

    game: Game
    table: TabularGame
    solution: Solution

    @property
    def method(self) -> str:
        """The method by which the optimum was found."""
        return self.solution.method

    def value_of(self, state: Any) -> float:
        """The value of a state, to player 0."""
        return float(self.solution.values[self._index(state)])

    def action_values(self, state: Any, player: int) -> Mapping[int, float]:
        """Return the value of each legal action of a player, to player 0, by action."""
        index = self._index(state)
        others = self.solution.policies[1 - player].probabilities[index]
        values: dict[int, float] = {}
        for row in range(*self.table.row_start[index : index + 2].tolist()):
            action, other = (int(self.table.row_action[p][row]) for p in (player, 1 - player))
            term = float(others[other]) * float(self.solution.action_values[row])
            values[action] = values.get(action, 0.0) + term
        return values

    def policy(self, state: Any, player: int) -> Mapping[int, float]:
        """The probability of every legal action in an optimal strategy of a player."""
        index = self._index(state)
        legal = self.table.mask[player][index].nonzero()[0]
        chances = self.solution.policies[player].probabilities[index, legal]
        return dict(zip(legal.tolist(), chances.tolist(), strict=True))

    def _index(self, state: Any) -> int:
        """The number of a state; raises ValueError if there is none."""
        try:
            return self.table.index[state]
        except (KeyError, TypeError):
            raise ValueError(
                f"{shown(state)} is no state of {self.game.info.name}; a state is such as "
                f"{shown(self.table.states[0])}"
            ) from None


def with_table(solved: SolvedGame) -> SolvedTable | None:
    """Return the solution of a game's table; None if the game is too large for one.

    Args:
        solved: The solved game. One that was solved without its table has it as `tabled`, which is
            found when it is first asked for.
    """
    if isinstance(solved, SolvedTable):
        return solved
    tabled: SolvedTable | None = getattr(solved, "tabled", None)
    return tabled


@overload
def solve(
    game: TabularGame, *, tolerance: float = 1e-9, progress: OnProgress | None = None
) -> Solution: ...


@overload
def solve(
    game: Game | str | Any, *, tolerance: float = 1e-9, progress: OnProgress | None = None
) -> SolvedGame: ...


def solve(
    game: Any, *, tolerance: float = 1e-9, progress: OnProgress | None = None
) -> SolvedGame | Solution:
    """Find the value of every state and an optimal strategy of each player, and prove it.

    Strategies that end the game for certain are compared. Where rewards cancel in a loop (+1, then
    -1) going round for ever has no value, so it is not among them.

    Args:
        game: A name or an environment's id, an environment, rules, or a table, as for
            :func:`solvent.make_game` and :func:`solvent.model.registry.game_of`. A game may have a
            solver of its own, which is used for the rules; a table is always solved as it is,
            component by component (:mod:`solvent.exact.solver`). The table and the solution of
            rules are kept on disk if they took long (:mod:`solvent.model.cache`), those of a table
            are not.
        tolerance: Widest bracket accepted for a table, in units of the largest value or reward
            that can be met from the start, or of 1 if that is larger. With 0 any is accepted, and
            it is as narrow as floats allow, which takes longer.
        progress: Called with a :class:`~solvent.model.Progress` when a phase begins, at most ten
            times a second while it lasts, and at its end. The phases of a table are
            ``"compiling"``, of which no total is known, ``"solving"`` and ``"proving"``; one that
            has nothing to wait for is left out. What it raises ends the solving.

    Returns:
        Of a table its solution as arrays, of rules a :class:`SolvedGame`. Where both players have
        mixed strategies, these are optimal up to the accuracy of the matrix games.

    Raises:
        ValueError: If `game` stands for no game.
        ImproperGameError: If from some state no end can be reached, or a player does best by
            never ending; the message names a state.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
        TooManyStatesError: If there are too many states for a table, and no other way.
    """
    game = game_of(game)
    if isinstance(game, TabularGame):
        return replace(solve_table(game, tolerance=tolerance, progress=progress), table=game)
    spec = spec_of(game)
    solved = None if spec is None else _by_own_solver(spec, game, progress)
    if solved is not None:
        return solved
    table = cached_table(game, progress=progress)
    solution = cached_solution(table, tolerance=tolerance, progress=progress)
    return SolvedTable(game, table, solution)


def _by_own_solver(spec: GameSpec, game: Game, progress: OnProgress | None) -> SolvedGame | None:
    """Run a game's own solver; None if it has none, or leaves it to the table."""
    if spec.solver is None:
        return None
    solver = load(spec.solver)
    tells = "progress" in signature(solver).parameters

    def found() -> SolvedGame | None:
        solved: SolvedGame | None = solver(game, progress=progress) if tells else solver(game)
        return solved

    layered: LayeredGame | None = spec.ask("layered", game)
    if layered is None:
        return found()
    # Hardly any game has layers.
    from solvent.exact.layered.cached import cached_layers

    return cached_layers(game, layered, spec, found)
