"""One zero-sum matrix game: von Neumann's theorem by linear programming.

The row player receives A[i, j], the column player pays it. The value is

    v = max over x of min over j of (x A)_j  =  min over y of max over i of (A y)_i

with mixed strategies x and y. A saddle point in pure strategies is looked for first; otherwise
x is the solution of  max v  subject to  (x A)_j >= v,  x >= 0,  sum x = 1,  and y comes from the
dual multipliers of the same program (von Neumann and Morgenstern 1944; Dantzig 1951).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from solvent.model.arrays import Floats


@dataclass(frozen=True, eq=False)
class MatrixGameSolution:
    """Optimal mixes of a matrix game.

    Attributes:
        value: What the row mix is sure of, ``min(x A)``.
        row_mix: [m] probabilities of the row player.
        column_mix: [n] probabilities of the column player.
        duality_gap: ``max(A y) - min(x A)``, at least 0; the true value lies within it.
    """

    value: float
    row_mix: Floats
    column_mix: Floats
    duality_gap: float


def solve_matrix_game(payoff: Floats) -> MatrixGameSolution:
    """Solve a zero-sum game given by its payoff matrix.

    Args:
        payoff: [m, n] finite payoffs to the row player.

    Raises:
        ValueError: If the matrix is empty or has an entry that is not finite.
        ArithmeticError: If the linear program was not solved to optimality.
    """
    a = np.asarray(payoff, float)
    if a.ndim != 2 or a.size == 0 or not np.isfinite(a).all():
        raise ValueError(f"a matrix game needs a finite matrix [m, n]; got shape {a.shape}")
    rows, columns = a.shape
    row, column = int(a.min(axis=1).argmax()), int(a.max(axis=0).argmin())
    if a[row].min() == a[:, column].max():
        return _mixes(a, np.eye(rows)[row], np.eye(columns)[column])

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
    return _mixes(a, program.x[:rows], -program.ineqlin.marginals)


def _mixes(a: Floats, x: Floats, y: Floats) -> MatrixGameSolution:
    x, y = np.maximum(x, 0), np.maximum(y, 0)
    x, y = x / x.sum(), y / y.sum()
    value = float((x @ a).min())
    return MatrixGameSolution(value, x, y, float((a @ y).max()) - value)
