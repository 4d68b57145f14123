"""Small zero-sum matrix games in a few microseconds each, every solution with its duality gap.

The row player receives A[i, j]. In units in which the entries lie in [1, 2] the game is the linear
program

    maximize  sum p   subject to   B p <= 1,  p >= 0,       B[j, i] = (max A - A[i, j]) / range + 1

whose solution is x = p / sum p, and whose dual multipliers are y times the same sum (Dantzig 1951).
With fewer rows than columns the roles are exchanged, so that there are at most as many constraints
as variables. The simplex method starts from p = 0 without a first phase.

The steps, each tried only where those before it did not do:

1. A saddle point in pure strategies.
2. The supports of given strategies, of a neighbouring state or of the same one a sweep ago: if both
   have k actions, k equations for each, by one elimination.
3. The simplex method from p = 0: Dantzig's rule, with reduced costs in units of the columns'
   lengths at the start, which saves a quarter of the steps; Harris's ratio test. Again in units in
   which what lies between 1 and 2 is not all entries but the value, which pure strategies bracket:
   where a few entries are large, the others differ by too little otherwise. At last again so with
   a wider slack.

Whatever a step returns is accepted only if its duality gap max(A y) - min(x A), computed from A
itself, is at rounding. If no attempt of step 3 comes to that, the best of them is returned as it
is, for the caller to see from its gap: pivoting with a tolerance can go wrong without noticing,
most of all on games with ties.

Multiplication and addition are not fused, so that machines agree in every bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvent.exact.compilation import inner, kernel
from solvent.model.arrays import Floats, Ints

SADDLE, SUPPORT, COLD, RETRIED = range(4)
"""The ways to solve a game, in the order of the module's steps; 3 is a later attempt of step 3."""

EXACT = 1e-13
"""Duality gaps up to this, in units of the range of payoffs, are rounding."""

ROUNDING = 1e-15
"""The same in units of the largest payoff, where payoffs are large and close to one another."""

ACCEPTED = 1e-12
"""The accuracy asked of the simplex method from p = 0."""

LEAST_PIVOT = 1e-9
OPTIMAL = 1e-12
"""Reduced costs and levels above minus this count as not negative."""

SLACKS = (1e-12, 1e-12, 1e-9)
"""The slacks of Harris's ratio test, attempt by attempt."""

BRACKETED = (False, True, True)
"""True where units are those of the value's bracket, not of the entries, attempt by attempt."""

LEAST_BRACKET = 1e-9
"""A bracket that is narrower than this, in units of the range of payoffs, is taken as so wide."""

STEPS_PER_LINE = 50
"""Steps of the simplex method, per row and column, after which an attempt is given up."""


class Work(NamedTuple):
    """Memory for games of up to m x n, to be used again and again.

    ===========  ====================  ============================================================
    ``tableau``  [l+1, width] float64  constraints and reduced costs; l is the greater of m and n,
                                       width >= l + 1
    ``turned``   [l, l] float64        the transposed payoffs
    ``weight``   [l] float64           what reduced costs are multiplied with to be compared
    ``level``    [l] float64           payoffs against a strategy
    ``pivot``    [width] float64       a row
    ``basic``    [l] int64             the variable of each constraint; l + i is the i-th slack
    ``free``     [l] int64             the variable of each column
    ``kernel``   [l, l+1] float64      of step 2
    ``own``      [l] int64             the support among the variables
    ``other``    [l] int64             the support among the constraints
    ===========  ====================  ============================================================
    """

    tableau: Floats
    turned: Floats
    weight: Floats
    level: Floats
    pivot: Floats
    basic: Ints
    free: Ints
    kernel: Floats
    own: Ints
    other: Ints


@inner
def work_for(m: int, n: int) -> Work:
    """Memory for games of up to m rows and n columns."""
    l = max(m, n)
    width = (l + 4) // 4 * 4
    return Work(
        np.zeros((l + 1, width)),
        np.zeros((l, l)),
        np.ones(l),
        np.zeros(l),
        np.zeros(width),
        np.zeros(l, np.int64),
        np.zeros(l, np.int64),
        np.zeros((l, l + 1)),
        np.zeros(l, np.int64),
        np.zeros(l, np.int64),
    )


@kernel(largest=500, allocates=True)
def solve_games(
    payoffs: Floats, row_strategy: Floats, column_strategy: Floats
) -> tuple[Floats, Floats, Ints]:
    """Solve G games [G, m, n]; strategies [G, m] and [G, n] are read and written one by one.

    Returns:
        Values, duality gaps, and how each game was solved, [G] each.
    """
    games, m, n = payoffs.shape
    work = work_for(m, n)
    values, gaps, how = np.zeros(games), np.zeros(games), np.zeros(games, np.int64)
    for g in range(games):
        values[g], gaps[g], how[g] = solve_in(work, payoffs[g], row_strategy[g], column_strategy[g])
    return values, gaps, how


@inner
def solve_in(work: Work, a: Floats, x: Floats, y: Floats) -> tuple[float, float, int]:
    """Solve a game.

    Args:
        work: Memory for a game of this size.
        a: [m, n] finite payoffs to the row player.
        x: [m] a strategy whose support to try, or zeros; the row player's is written here.
        y: [n] the same for the column player.

    Returns:
        What the row player's strategy secures, the duality gap, and how the game was solved.
    """
    low, high, row, column = _extremes(work.turned, work.weight, work.level, a)
    floor, ceiling = _bounds_of_pure(a, row, column)
    if floor >= ceiling:
        x[:] = 0.0
        y[:] = 0.0
        x[row] = 1.0
        y[column] = 1.0
        return floor, 0.0, SADDLE
    scale = high - low
    rounding = ROUNDING * max(abs(low), abs(high))
    enough = max(EXACT * scale, rounding)

    support = _supports(work, x, y)
    if support > 0 and _solve_support(work, support, a, high, scale, x, y):
        least, most = _bounds(work.turned, work.level, a, x, y)
        if most - least <= enough:
            return least, max(most - least, 0.0), SUPPORT
    closest, best = np.inf, 0
    for attempt in range(len(SLACKS)):
        least, most = _attempt(work, a, low, high, floor, ceiling, attempt, enough, x, y)
        if most - least < closest:
            closest, best = most - least, attempt
        if closest <= max(ACCEPTED * scale, rounding):
            break
    if best != attempt:
        least, most = _attempt(work, a, low, high, floor, ceiling, best, enough, x, y)
    return least, max(most - least, 0.0), COLD if attempt == 0 else RETRIED


@inner
def _attempt(
    work: Work,
    a: Floats,
    low: float,
    high: float,
    floor: float,
    ceiling: float,
    attempt: int,
    enough: float,
    x: Floats,
    y: Floats,
) -> tuple[float, float]:
    """One attempt of step 3: write both strategies, and return what they secure.

    Args:
        work: The memory to work in.
        a: [m, n] payoffs.
        low: The least of them.
        high: The largest.
        floor: The security level of a pure row.
        ceiling: The most that a pure column leaves to the row player.
        attempt: Index of the attempt.
        enough: The duality gap with which a solution is not improved further.
        x: [m], written.
        y: [n], written.
    """
    m, n = a.shape
    if BRACKETED[attempt]:
        scale = max(ceiling - floor, LEAST_BRACKET * (high - low))
        low, high = floor, ceiling
    else:
        scale = high - low
    _fill(work, a, low, high, scale)
    _primal(work, m, n, SLACKS[attempt])
    _read(work, x, y)
    least, most = _bounds(work.turned, work.level, a, x, y)
    if most - least > enough:
        # The basis may be right and the tableau blurred: solve its equations afresh.
        support = _supports(work, x, y)
        if support > 0 and _solve_support(work, support, a, high, scale, x, y):
            least, most = _bounds(work.turned, work.level, a, x, y)
        else:
            _read(work, x, y)
    return least, most


@inner
def _extremes(
    turned: Floats, least: Floats, largest: Floats, a: Floats
) -> tuple[float, float, int, int]:
    """The least and the largest entry, the row of best minimum, the column of best maximum.

    Also writes the transposed payoffs.
    """
    m, n = a.shape
    for j in range(n):
        largest[j] = a[0, j]
    for i in range(m):
        for j in range(n):
            turned[j, i] = a[i, j]
    for i in range(1, m):
        for j in range(n):
            largest[j] = max(largest[j], a[i, j])
    for i in range(m):
        least[i] = turned[0, i]
    for j in range(1, n):
        for i in range(m):
            least[i] = min(least[i], turned[j, i])
    low, best, row = least[0], least[0], 0
    for i in range(m):
        low = min(low, least[i])
        row = i if least[i] > best else row
        best = max(best, least[i])
    high, best, column = largest[0], largest[0], 0
    for j in range(n):
        high = max(high, largest[j])
        column = j if largest[j] < best else column
        best = min(best, largest[j])
    return low, high, row, column


@inner
def _bounds_of_pure(a: Floats, row: int, column: int) -> tuple[float, float]:
    """Return the least entry of a pure row, and the largest of a pure column."""
    least, most = np.inf, -np.inf
    for j in range(a.shape[1]):
        least = min(least, a[row, j])
    for i in range(a.shape[0]):
        most = max(most, a[i, column])
    return least, most


@inner
def _bounds(turned: Floats, total: Floats, a: Floats, x: Floats, y: Floats) -> tuple[float, float]:
    """min(x A) and max(A y)."""
    m, n = a.shape
    total[:n] = 0.0
    for i in range(m):
        for j in range(n):
            total[j] += x[i] * a[i, j]
    least = np.inf
    for j in range(n):
        least = min(least, total[j])
    total[:m] = 0.0
    for j in range(n):
        for i in range(m):
            total[i] += y[j] * turned[j, i]
    most = -np.inf
    for i in range(m):
        most = max(most, total[i])
    return least, most


@inner
def _supports(work: Work, x: Floats, y: Floats) -> int:
    """List the supports in the work's `own` and `other`; their size, or 0 if they differ in it."""
    variables, constraints = (x, y) if len(y) <= len(x) else (y, x)
    own, other = 0, 0
    for i in range(len(variables)):
        if variables[i] > 0:
            work.own[own] = i
            own += 1
    for j in range(len(constraints)):
        if constraints[j] > 0:
            work.other[other] = j
            other += 1
    return own if own == other else 0


@inner
def _solve_support(
    work: Work, k: int, a: Floats, high: float, scale: float, x: Floats, y: Floats
) -> bool:
    """Equalize on the supports; write both strategies and say whether none is negative."""
    m, n = a.shape
    rows, columns = (work.own, work.other) if n <= m else (work.other, work.own)
    kernel, rest = work.kernel, work.level
    # Payoffs in [1, 2]: a regular kernel's solution is the strategy times the same positive number.
    for i in range(k):
        for j in range(k):
            kernel[i, j] = (high - a[rows[i], columns[j]]) / scale + 1.0
        kernel[i, k] = 1.0
        rest[i] = 1.0
    if not _eliminate(kernel, k, rows, rest):
        return False
    column_total, row_total = 0.0, 0.0
    for i in range(k):
        if not (kernel[i, k] >= 0 and rest[i] >= 0):
            return False
        column_total += kernel[i, k]
        row_total += rest[i]
    x[:] = 0.0
    y[:] = 0.0
    for i in range(k):
        x[rows[i]] = rest[i] / row_total
        y[columns[i]] = kernel[i, k] / column_total
    return True


@inner
def _eliminate(kernel: Floats, k: int, rows: Ints, rest: Floats) -> bool:
    """Solve k equations and the transposed ones by one elimination; whether they are regular.

    Args:
        kernel: [k, k+1] the equations, and their right-hand side, overwritten by the solution.
        k: Number of equations.
        rows: [k] numbers of the equations, put into the order in which they are eliminated.
        rest: [k] the right-hand side of the transposed ones, overwritten by their solution, in the
            new order of `rows`.
    """
    for c in range(k):
        pivot = c
        for i in range(c + 1, k):
            if abs(kernel[i, c]) > abs(kernel[pivot, c]):
                pivot = i
        if abs(kernel[pivot, c]) < LEAST_PIVOT:
            return False
        if pivot != c:
            for j in range(k + 1):
                kernel[c, j], kernel[pivot, j] = kernel[pivot, j], kernel[c, j]
            rows[c], rows[pivot] = rows[pivot], rows[c]
        for i in range(c + 1, k):
            factor = kernel[i, c] / kernel[c, c]
            kernel[i, c] = factor
            for j in range(c + 1, k + 1):
                kernel[i, j] -= factor * kernel[c, j]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            kernel[i, k] -= kernel[i, j] * kernel[j, k]
        kernel[i, k] /= kernel[i, i]
    for i in range(k):
        rest[i] /= kernel[i, i]
        for j in range(i + 1, k):
            rest[j] -= rest[i] * kernel[i, j]
    for i in range(k - 1, 0, -1):
        for j in range(i):
            rest[j] -= rest[i] * kernel[i, j]
    return True


@inner
def _fill(work: Work, a: Floats, low: float, high: float, scale: float) -> None:
    """The tableau of p = 0."""
    m, n = a.shape
    tableau, weight = work.tableau, work.weight
    constraints, variables = min(m, n), max(m, n)
    payoffs = work.turned if n <= m else a
    # Signs and units in which the entries lie between 1 and 2 for either player.
    unit = -1.0 / scale if n <= m else 1.0 / scale
    base = high if n <= m else low
    weight[:variables] = 1.0
    for j in range(constraints):
        for i in range(variables):
            entry = (payoffs[j, i] - base) * unit + 1.0
            tableau[j, i] = entry
            weight[i] += entry * entry
    for i in range(variables):
        weight[i] = max(np.sqrt((4.0 * constraints + 1.0) / weight[i]), 1.0)
        tableau[constraints, i] = -1.0
        work.free[i] = i
    tableau[constraints, variables] = 0.0
    for j in range(constraints):
        tableau[j, variables] = 1.0
        work.basic[j] = variables + j


@inner
def _exchange(work: Work, r: int, c: int, constraints: int) -> None:
    """Let the variable of column c and that of constraint r change places."""
    tableau, pivot = work.tableau, work.pivot
    inverse = 1.0 / tableau[r, c]
    for j in range(len(pivot)):
        pivot[j] = tableau[r, j] * inverse
    for i in range(constraints + 1):
        factor = tableau[i, c]
        _subtract(pivot, factor, tableau[i])
        # After the row and not before it: vectors cannot be loaded while a part is being stored.
        tableau[i, c] = -factor * inverse
    for j in range(len(pivot)):
        tableau[r, j] = pivot[j]
    tableau[r, c] = inverse
    work.basic[r], work.free[c] = work.free[c], work.basic[r]


@kernel(forceinline=True)
def _subtract(part: Floats, factor: float, row: Floats) -> None:
    """``row -= factor * part``."""
    for j in range(len(part)):
        row[j] -= factor * part[j]


@inner
def _primal(work: Work, m: int, n: int, slack: float) -> bool:
    """Primal simplex from levels that are not negative; whether it came to an optimum.

    Written out, as calls count references to arrays, and without branches, as processors guess them
    wrong.
    """
    k, l = min(m, n), max(m, n)
    tableau, weight = work.tableau, work.weight
    for _ in range(STEPS_PER_LINE * (k + l)):
        # The column of least reduced cost by length enters; lengths are those of the first tableau,
        # which is nearly the steepest edge and costs nothing.
        c, least = -1, -OPTIMAL
        for j in range(l):
            cost = tableau[k, j] * weight[j]
            c = j if cost < least else c
            least = min(least, cost)
        if c < 0:
            return True
        # How far it can enter until a level falls below minus the slack; of the constraints within
        # the limit that of the largest pivot leaves (Harris).
        limit = np.inf
        for i in range(k):
            entry = tableau[i, c] if tableau[i, c] > LEAST_PIVOT else 0.0
            limit = min(limit, (max(tableau[i, l], 0.0) + slack) / np.float64(entry))
        r, largest = -1, LEAST_PIVOT
        for i in range(k):
            entry = tableau[i, c]
            pivot = entry if tableau[i, l] <= limit * entry else 0.0
            r = i if pivot > largest else r
            largest = max(largest, pivot)
        if r < 0:
            return False
        _exchange(work, r, c, k)
    return False


@inner
def _read(work: Work, x: Floats, y: Floats) -> None:
    """The strategies of a tableau: levels of the variables and reduced costs of the slacks."""
    m, n = len(x), len(y)
    k, l = min(m, n), max(m, n)
    variables, constraints = (x, y) if n <= m else (y, x)
    variables[:] = 0.0
    constraints[:] = 0.0
    total, dual = 0.0, 0.0
    for i in range(k):
        if work.basic[i] < l:
            level = max(work.tableau[i, l], 0.0)
            variables[work.basic[i]] = level
            total += level
    for j in range(l):
        if work.free[j] >= l:
            level = max(work.tableau[k, j], 0.0)
            constraints[work.free[j] - l] = level
            dual += level
    # A tableau that went wrong may hold nothing; its gap will show it.
    if total > 0:
        variables /= total
    else:
        variables[0] = 1.0
    if dual > 0:
        constraints /= dual
    else:
        constraints[0] = 1.0
