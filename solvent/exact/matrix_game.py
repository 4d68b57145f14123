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
