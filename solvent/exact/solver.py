"""The optimum of any finite zero-sum game, with a certificate.

:func:`solve` returns a :class:`SolvedGame` for every game, whether it was solved as a table, by a
kernel of its own or as a folder of layers.

Values and policies of a table come from :mod:`solvent.exact.decomposition`, component by
component; the bracket around the value at the start is proved by
:mod:`solvent.exact.certificate`, which trusts neither of them. Solutions that took long are cached
on disk by the hash of the table (:mod:`solvent.model.cache`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

import numpy as np

from solvent.exact.certificate import NARROW, bracket
from solvent.exact.components import components, reached
from solvent.exact.decomposition import optimum
from solvent.exact.solution import ByState, CertificateError, ImproperGameError, Solution
from solvent.model import Game, TabularGame, cached_table
from solvent.model.arrays import Floats
from solvent.model.cache import Packed, kept
from solvent.model.parameters import is_number, plain, shown
from solvent.model.progress import OnProgress, ProgressReporter
from solvent.model.registry import game_of, load, spec_of

if TYPE_CHECKING:
    from solvent.exact.layered.game import LayeredGame
    from solvent.exact.layered.solve import LayeredSolution

SHARE = 0.01
"""A bound is not improved if it is closer to the value than this share of the tolerance."""


def solve_table(
    game: TabularGame, *, tolerance: float = 1e-9, progress: OnProgress | None = None
) -> Solution:
    """Solve a table, with a certificate.

    Args:
        game: Any game for one player or two, with or without cycles.
        tolerance: Largest width of the bracket, in units of the largest value or reward that play
            from the start can meet, or of 1 if that is larger. If it is exceeded, large cycles are
            solved again more precisely. With 0 they always are, and any width is accepted: it is as
            small as floats allow.
        progress: Called with the states solved so far, and then with those of the proof
            (:class:`~solvent.model.Progress`, phases ``"solving"`` and ``"proving"``).

    Raises:
        ImproperGameError: If from some state no end can be reached, or a player does best by never
            ending play.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
        ValueError: If `tolerance` is not a number from 0.
    """
    if not (is_number(plain(tolerance)) and tolerance >= 0):
        raise ValueError(f"tolerance is {shown(tolerance)}; allowed are numbers from 0")
    cyclic = bool(components(game).cyclic.any())
    both = cyclic and all((count > 1).any() for count in game.action_count)
    refusals: list[CertificateError | ImproperGameError] = []
    # Sweeps and Newton's method may converge to a wrong result where values are far larger than
    # their differences, and rounding may hide from one player's side what the other one shows.
    nears = ((True, False) if tolerance else (False,)) if cyclic else (True,)
    for near, swap in product(nears, (False, True) if both else (False,)):
        try:
            return _solve(game, tolerance, progress, near=near, swap=swap)
        except (CertificateError, ImproperGameError) as refused:
            refusals.append(refused)
    raise refusals[0]


def _solve(
    game: TabularGame, tolerance: float, progress: OnProgress | None, *, near: bool, swap: bool
) -> Solution:
    """Solve a table with the given options of :func:`~solvent.exact.decomposition.optimum`."""
    values, policies, method = optimum(
        game, near=near, swap=swap, report=ProgressReporter(progress, "solving", game.n_states)
    )
    narrow = min(NARROW, SHARE * tolerance)
    lower, upper = bracket(game, values, policies, narrow=narrow, progress=progress)
    if lower > upper:
        # Both bounds assume that the responding player ends play, which neither wants to.
        raise ImproperGameError(
            f"{game.info.name}: both players do best by never ending (ending, player 0 can be sure "
            f"of {lower:.6g}, and player 1 of {upper:.6g})"
        )
    if tolerance and not upper - lower <= tolerance:
        widest = tolerance * _scale(game, values)
        if not upper - lower <= widest:
            raise CertificateError(
                f"{game.info.name}: the value lies in [{lower!r}, {upper!r}], which is wider than "
                f"{widest:.1e}; a larger tolerance= accepts it"
            )
    return Solution(
        # The proof can be more accurate than the iteration: a value outside the bracket is wrong.
        value=min(max(float(game.initial @ values), lower), upper),
        values=values,
        action_values=game.expectation(values),
        policies=policies,
        lower=lower,
        upper=upper,
        method=method,
        model_hash=game.model_hash,
    )


def _scale(game: TabularGame, values: Floats) -> float:
    """Return the largest value or reward that play from the start can meet, at least 1."""
    met = reached(game)
    rewards = np.abs(game.outcome_reward[met[game.row_state[game.outcome_row]]]).max(initial=0)
    return max(1.0, float(rewards), float(np.abs(values[met]).max()))


def cached_solution(
    game: TabularGame, *, tolerance: float = 1e-9, progress: OnProgress | None = None
) -> Solution:
    """Return the solution of a table from the cache, or solve the table.

    Args:
        game: The table.
        tolerance: Largest width of the bracket, as for :func:`solve`.
        progress: Called with the progress of solving, as by :func:`solve`.

    Raises:
        ImproperGameError: As :func:`solve`.
        CertificateError: As :func:`solve`.
    """
    return kept(
        {"what": "solution", "model": game.model_hash, "tolerance": plain(tolerance)},
        lambda: solve_table(game, tolerance=tolerance, progress=progress),
        lambda solution: Packed(*solution.packed()),
        lambda packed: Solution.unpacked(*packed),
    )


@runtime_checkable
class SolvedGame(Protocol):
    """A game, its value, and an optimal strategy of each player in every state."""

    @property
    def game(self) -> Game:
        """The rules."""

    @property
    def value(self) -> float:
        """The value to player 0 at the start."""

    @property
    def lower(self) -> float:
        """A proved lower bound of the value at the start."""

    @property
    def upper(self) -> float:
        """A proved upper bound of the value at the start."""

    @property
    def method(self) -> str:
        """The method by which the optimum was found."""

    def value_of(self, state: Any) -> float:
        """Return the value of a state, to player 0; raise ValueError if there is no such state."""

    def action_values(self, state: Any, player: int) -> Mapping[int, float]:
        """Return the value of each legal action of a player against optimal play of the other.

        Args:
            state: A state that is not terminal.
            player: 0 or 1.

        Returns:
            Values to player 0, by action.
        """

    def policy(self, state: Any, player: int) -> Mapping[int, float]:
        """Return an optimal strategy of a player in a state.

        Args:
            state: A state that is not terminal.
            player: 0 or 1.

        Returns:
            The probability of every legal action.
        """


@dataclass(frozen=True, eq=False)
class SolvedTable(ByState):
    """A :class:`SolvedGame` that has a table.

    Attributes:
        game: The rules.
        table: The game as arrays.
        solution: The solution of the table.
    """

    game: Game
    table: TabularGame
    solution: Solution

    @property
    def value(self) -> float:
        """The value to player 0 at the start."""
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
    def by_state(self) -> tuple[TabularGame, Solution]:
        """The table of the game, and its solution."""
        return self.table, self.solution

    @property
    def method(self) -> str:
        """The method by which the optimum was found."""
        return self.solution.method

    def value_of(self, state: Any) -> float:
        """Return the value of a state, to player 0."""
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
        """Return the probability of every legal action in an optimal strategy of a player."""
        index = self._index(state)
        legal = self.table.mask_of(player)[index].nonzero()[0]
        chances = self.solution.policies[player].probabilities[index, legal]
        return dict(zip(legal.tolist(), chances.tolist(), strict=True))

    def _index(self, state: Any) -> int:
        """Return the index of a state; raise ValueError if there is no such state."""
        try:
            return self.table.index[state]
        except (KeyError, TypeError):
            raise ValueError(
                f"{shown(state)} is not a state of {self.game.info.name}; a state looks like "
                f"{shown(self.table.states[0])}"
            ) from None


def with_table(solved: SolvedGame) -> SolvedTable | None:
    """Return the solution of a game's table; None if the game is too large for one.

    Args:
        solved: The solved game. If it was solved without its table, the table is solved when its
            attribute `tabled` is first read.
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
    """Find the value of every state and an optimal strategy of each player, with a proved bracket.

    Only strategies that end the game with certainty are compared. If rewards cancel in a loop (+1,
    then -1), staying in it for ever has no value.

    Args:
        game: A name or an environment's id, an environment, rules, or a table, as for
            :func:`solvent.make_game` and :func:`solvent.model.registry.game_of`. Rules are solved
            by the game's own solver if it has one; a table is always solved component by component
            (:mod:`solvent.exact.solver`). The table and the solution of rules are cached on disk if
            they took long (:mod:`solvent.model.cache`), the solution of a table is not.
        tolerance: Largest width of the bracket of a table, in units of the largest value or reward
            that play from the start can meet, or of 1 if that is larger. With 0 any width is
            accepted; it is as small as floats allow, which takes longer.
        progress: Called with a :class:`~solvent.model.Progress` when a phase begins, at most ten
            times a second while it lasts, and at its end. The phases of a table are
            ``"compiling"``, whose total is unknown, ``"solving"`` and ``"proving"``; a phase that
            takes no time is left out. An exception that it raises ends the computation.

    Returns:
        For a table its solution as arrays, for rules a :class:`SolvedGame`. Mixed strategies are
        optimal up to the accuracy of the matrix games.

    Raises:
        ValueError: If `game` is not a game in one of these forms.
        ImproperGameError: If from some state no end can be reached, or a player does best by
            never ending play; the message names a state.
        CertificateError: If the bracket is wider than `tolerance`, or none could be proved.
        TooManyStatesError: If there are too many states for a table, and the game has no solver of
            its own.
    """
    game = game_of(game)
    if isinstance(game, TabularGame):
        return replace(solve_table(game, tolerance=tolerance, progress=progress), table=game)
    spec = spec_of(game)
    if spec is not None and spec.solver is not None:
        solver = load(spec.solver)
        reports = "progress" in signature(solver).parameters
        solved: SolvedGame | None = solver(game, progress=progress) if reports else solver(game)
        if solved is not None:  # Otherwise the game is solved as a table.
            return solved
    table = cached_table(game, progress=progress)
    return SolvedTable(game, table, cached_solution(table, tolerance=tolerance, progress=progress))


def layers_of(game: Any) -> LayeredGame | None:
    """Return the layers of a game whose spec says that it has some; otherwise None.

    Args:
        game: The rules.
    """
    spec = spec_of(game)
    if spec is None or spec.layered is None:
        return None
    kind: type[LayeredSolution] = load(spec.layered)
    return kind.layered_game.of(game)
