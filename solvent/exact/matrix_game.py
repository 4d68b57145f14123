"""Zero-sum matrix games: von Neumann's theorem by linear programming.

The row player receives A[i, j], the column player -A[i, j]. The value is

    v = max over x of min over j of (x A)_j  =  min over y of max over i of (A y)_i

with mixed strategies x and y: x is the solution of  max v  subject to  (x A)_j >= v,  x >= 0,
sum x = 1,  and y comes from the dual multipliers of the same program (von Neumann and Morgenstern
1944; Dantzig 1951). For any x and y at all, min(x A) <= v <= max(A y). The difference of the two,
the *duality gap*, is computed from A itself, so a solution comes with a proof of how good it is.

:func:`solve_matrix_game` solves one game with HiGHS, :func:`solve_matrix_games` any number of small
ones with a compiled simplex method (:mod:`solvent.exact.kernels.matrix_game`), a thousand games in
the time of a few of HiGHS's.

**Dominance.** An action is *strictly dominated* if a mixed strategy of the player's other actions
gets more against every action of the other player. No equilibrium uses it, so it may be left out;
then more actions may be dominated in what is left, and so on. Where this ends does not depend on
the order. The question is a matrix game itself: in the matrix D of the other actions' advantages
over action i, the row player secures more than 0 exactly if i is strictly dominated, and an optimal
mixed strategy dominates it.

An action is *weakly dominated* if a mixed strategy never gets less and somewhere gets more. Leaving
it out keeps the value and at least one equilibrium, but may lose others, and where it ends may
depend on the order; here both players' dominated actions go at once, round by round (Osborne and
Rubinstein 1994, *A Course in Game Theory*, chapter 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvent.exact import kernels
from solvent.model.arrays import Floats, Ints

LARGEST_GAP = 1e-9
"""Largest duality gap accepted, in units of the range of the payoffs."""

ROUNDING = 1e-14
"""Duality gap accepted beyond that, in units of the largest payoff."""

STEPS = ("saddle point", "given supports", "simplex", "retried", "HiGHS")
"""The ways to solve a game, as :attr:`MatrixGames.solved_by` numbers them."""

HIGHS = len(STEPS) - 1

SURE = 1e-9
"""A mixed strategy has to dominate by this much of the payoffs' range; pure ones exactly."""


@dataclass(frozen=True, eq=False)
class MatrixGameSolution:
    """Optimal mixed strategies of a matrix game.

    Attributes:
        value: The security level of the row player's strategy, ``min(x A)``.
        row_strategy: [m] probabilities of the row player.
        column_strategy: [n] probabilities of the column player.
        duality_gap: ``max(A y) - min(x A)``, at least 0; the true value lies within it.
    """

    value: float
    row_strategy: Floats
    column_strategy: Floats
    duality_gap: float


@dataclass(frozen=True, eq=False)
class MatrixGames:
    """Optimal mixed strategies of G matrix games of one shape.

    Attributes:
        value: [G] what the row player's strategies secure.
        row_strategy: [G, m].
        column_strategy: [G, n].
        duality_gap: [G] at least 0.
        solved_by: [G] index into :data:`STEPS`.
    """

    value: Floats
    row_strategy: Floats
    column_strategy: Floats
    duality_gap: Floats
    solved_by: Ints

    def __len__(self) -> int:
        """G."""
        return len(self.value)

    def __getitem__(self, game: int) -> MatrixGameSolution:
        """The solution of one of the games."""
        return MatrixGameSolution(
            float(self.value[game]),
            self.row_strategy[game],
            self.column_strategy[game],
            float(self.duality_gap[game]),
        )

    def __repr__(self) -> str:
        """The number of games, their shape and the largest gap."""
        shape = f"{self.row_strategy.shape[1]} x {self.column_strategy.shape[1]}"
        return (
            f"<MatrixGames: {len(self)} of {shape}, "
            f"largest gap {self.duality_gap.max(initial=0.0):.1e}>"
        )


def solve_matrix_game(payoff: Floats) -> MatrixGameSolution:
    """Solve one game given by its payoff matrix, of any size.

    Args:
        payoff: [m, n] finite payoffs to the row player.

    Raises:
        ValueError: If the matrix is empty or has an entry that is not finite.
        ArithmeticError: If the linear program was not solved to optimality, or its solution has a
            duality gap of more than 1e-9 of the payoffs' range.
    """
    a = np.asarray(payoff, float)
    if a.ndim != 2 or a.size == 0 or not np.isfinite(a).all():
        raise ValueError(f"a matrix game needs a finite matrix [m, n]; got shape {a.shape}")
    _check_range(a[None])
    rows, columns = a.shape
    row, column = int(a.min(axis=1).argmax()), int(a.max(axis=0).argmin())
    if a[row].min() == a[:, column].max():
        return _measured(a, np.eye(rows)[row], np.eye(columns)[column])

    from scipy.optimize import linprog  # It takes a third of a second, and most games need none.

    # In units in which the entries lie in [0, 1], so that the solver's tolerances mean something.
    low, scale = a.min(), a.max() - a.min()
    unit = (a - low) / scale
    program = linprog(
        c=np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack((-unit.T, np.ones(columns))),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if program.status != 0:
        raise ArithmeticError(f"HiGHS did not solve a matrix game: {program.message}")
    solution = _measured(a, program.x[:rows], -program.ineqlin.marginals)
    if not solution.duality_gap <= _accepted_gap(a[None])[0]:
        solution = _polished(a, solution)
    if not solution.duality_gap <= _accepted_gap(a[None])[0]:
        raise ArithmeticError(
            f"HiGHS solved a matrix game with a duality gap of {solution.duality_gap:.1e}; its "
            f"payoffs range from {low:.6g} to {a.max():.6g}"
        )
    return solution


def solve_matrix_games(payoffs: Floats, *, start: MatrixGames | None = None) -> MatrixGames:
    """Solve many small games of one shape.

    A game that the compiled method does not solve to a duality gap of 1e-9 of its payoffs' range
    goes to :func:`solve_matrix_game`.

    Args:
        payoffs: [G, m, n] finite payoffs to the row player.
        start: Solutions of games that resemble these: of neighbouring states, or of the same
            states a moment ago. Their supports are tried first; any will do.

    Raises:
        ValueError: If the matrices are empty or have an entry that is not finite, or `start` has
            another shape.
        ArithmeticError: If a game could not be solved to that gap; the message gives its index.
    """
    a = np.ascontiguousarray(payoffs, float)
    if a.ndim != 3 or 0 in a.shape[1:] or not np.isfinite(a).all():
        raise ValueError(f"matrix games need finite matrices [G, m, n]; got shape {a.shape}")
    _check_range(a)
    games, rows, columns = a.shape
    row_strategy, column_strategy = np.zeros((games, rows)), np.zeros((games, columns))
    if start is not None:
        given = (*start.row_strategy.shape, start.column_strategy.shape[1])
        if given != a.shape:
            raise ValueError(f"start= holds games [G, m, n] = {given}; the payoffs are {a.shape}")
        row_strategy[:], column_strategy[:] = start.row_strategy, start.column_strategy

    value, gap, solved_by = kernels.matrix_game.solve_games(a, row_strategy, column_strategy)
    # Written so that a gap that is not a number counts as too large.
    for game in np.flatnonzero(~(gap <= _accepted_gap(a))).tolist():
        try:
            again = solve_matrix_game(a[game])
        except ArithmeticError as error:
            raise ArithmeticError(f"game {game} of {games}: {error}") from error
        value[game], gap[game], solved_by[game] = again.value, again.duality_gap, HIGHS
        row_strategy[game], column_strategy[game] = again.row_strategy, again.column_strategy
    return MatrixGames(value, row_strategy, column_strategy, gap, solved_by)


def _measured(a: Floats, x: Floats, y: Floats) -> MatrixGameSolution:
    x, y = np.maximum(x, 0), np.maximum(y, 0)
    x, y = x / x.sum(), y / y.sum()
    value = float((x @ a).min())
    return MatrixGameSolution(value, x, y, max(float((a @ y).max()) - value, 0.0))


def _polished(a: Floats, rough: MatrixGameSolution) -> MatrixGameSolution:
    """The better of a solution and of what its supports lead to."""
    row_strategy, column_strategy = (
        rough.row_strategy[None].copy(),
        rough.column_strategy[None].copy(),
    )
    kernels.matrix_game.solve_games(np.ascontiguousarray(a[None]), row_strategy, column_strategy)
    return min(
        rough, _measured(a, row_strategy[0], column_strategy[0]), key=lambda one: one.duality_gap
    )


def _check_range(payoffs: Floats) -> None:
    """Raise if payoffs [G, m, n] are so far apart that their differences are not numbers."""
    low, high = payoffs.min(axis=(1, 2), initial=0.0), payoffs.max(axis=(1, 2), initial=0.0)
    far = np.flatnonzero(high / 2 - low / 2 > np.finfo(float).max / 4)
    if len(far):
        raise ValueError(
            f"game {far[0]}: payoffs from {low[far[0]]:.3g} to {high[far[0]]:.3g} are too far "
            f"apart for floats"
        )


def _accepted_gap(payoffs: Floats) -> Floats:
    """The largest duality gap that is accepted of each game, [G, m, n] -> [G]."""
    low, high = payoffs.min(axis=(1, 2)), payoffs.max(axis=(1, 2))
    largest = np.maximum(np.abs(low), np.abs(high))
    return np.asarray(LARGEST_GAP * (high - low) + ROUNDING * largest)


@dataclass(frozen=True)
class Removal:
    """An action that was left out.

    Attributes:
        round: The round, from 1.
        player: 0 for the row player.
        action: Row or column of the original matrix.
        by: The mixed strategy that dominates it: actions and probabilities, which sum to 1.
    """

    round: int
    player: int
    action: int
    by: tuple[tuple[int, float], ...]

    def __str__(self) -> str:
        """One line."""
        by = " + ".join(f"{p:.3g} x {a}" if p < 1 else f"{a}" for a, p in self.by)
        return f"round {self.round}: {('row', 'column')[self.player]} {self.action} by {by}"


@dataclass(frozen=True)
class DominanceReport:
    """The result of iterated dominance.

    Attributes:
        rows: The remaining rows.
        columns: The remaining columns.
        removals: The removals in the order in which they were found.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    removals: tuple[Removal, ...]

    def __str__(self) -> str:
        """A line for each removal, and one for what is left."""
        left = f"left: rows {list(self.rows)}, columns {list(self.columns)}"
        return "\n".join([*map(str, self.removals), left])


def iterated_dominance(
    payoff: Floats, *, weak: bool = False, mixed: bool = True
) -> DominanceReport:
    """Leave out dominated actions of both players until none is left.

    Args:
        payoff: [m, n] finite payoffs to the row player; the column player gets minus them.
        weak: Whether weakly dominated actions go as well.
        mixed: Whether mixed strategies dominate, or only pure actions.

    Raises:
        ValueError: If the matrix is empty or has an entry that is not finite.
        ArithmeticError: If a linear program could not be solved.
    """
    a = np.asarray(payoff, float)
    if a.ndim != 2 or a.size == 0 or not np.isfinite(a).all():
        raise ValueError(f"a matrix game needs a finite matrix [m, n]; got shape {a.shape}")
    margin = SURE * float(a.max() - a.min())
    left = (list(range(a.shape[0])), list(range(a.shape[1])))
    removals: list[Removal] = []
    for number in range(1, sum(a.shape)):
        # Both players look at the same game; what the row player leaves out goes after the round.
        found = [
            Removal(number, player, left[player][action], _named(by, left[player]))
            for player, gains in enumerate((a[np.ix_(*left)], -a[np.ix_(*left)].T))
            for action, by in _dominated(gains, weak, mixed, margin)
        ]
        if not found:
            break
        for removal in found:
            left[removal.player].remove(removal.action)
        removals += found
    return DominanceReport(tuple(left[0]), tuple(left[1]), tuple(removals))


def _dominated(gains: Floats, weak: bool, mixed: bool, margin: float) -> list[tuple[int, Floats]]:
    """Dominated rows, each with the strategy [m] that dominates it, none of them removed."""
    found: list[tuple[int, Floats]] = []
    staying = np.ones(len(gains), bool)
    for action in range(len(gains)):
        others = np.flatnonzero(staying & (np.arange(len(gains)) != action))
        if not len(others):
            break
        strategy = _dominating(gains[others] - gains[action], weak, mixed, margin)
        if strategy is not None:
            by = np.zeros(len(gains))
            by[others] = strategy
            staying[action] = False
            # Those found before may have been dominated by this one; it gives way to what beat it.
            found = [(a, b + b[action] * (by - np.eye(len(gains))[action])) for a, b in found]
            found.append((action, by))
    return found


def _dominating(advantage: Floats, weak: bool, mixed: bool, margin: float) -> Floats | None:
    """A strategy over rows that secures an advantage, None if there is none."""
    beats = advantage.min(axis=1) >= 0 if weak else advantage.min(axis=1) > 0
    beats &= advantage.max(axis=1) > 0
    if beats.any():
        return np.asarray(np.arange(len(advantage)) == beats.argmax(), float)
    if not mixed:
        return None
    if not weak:
        game = solve_matrix_game(advantage)
        return game.row_strategy if game.value > margin else None
    from scipy.optimize import linprog

    program = linprog(
        c=-advantage.sum(axis=1),
        A_ub=-advantage.T,
        b_ub=np.zeros(advantage.shape[1]),
        A_eq=np.ones((1, len(advantage))),
        b_eq=[1.0],
        method="highs",
    )
    if program.status == 2:
        return None
    if program.status != 0:
        raise ArithmeticError(
            f"HiGHS did not find whether a mixed strategy dominates: {program.message}"
        )
    x = np.maximum(program.x, 0.0) / np.maximum(program.x, 0.0).sum()
    gain = x @ advantage
    return x if gain.min() >= -margin and gain.max() > margin else None


def _named(x: Floats, names: list[int]) -> tuple[tuple[int, float], ...]:
    return tuple((names[k], float(x[k])) for k in np.flatnonzero(x > 0).tolist())
