"""Zero-sum matrix games: von Neumann's theorem by linear programming.

The row player receives A[i, j], the column player -A[i, j]. The value is

    v = max over x of min over j of (x A)_j  =  min over y of max over i of (A y)_i

for mixed strategies x and y. A linear program finds x:  max v  subject to  (x A)_j >= v,  x >= 0,
sum x = 1.  Its dual multipliers are y (von Neumann and Morgenstern 1944; Dantzig 1951). For any x
and y, min(x A) <= v <= max(A y). The difference between the two bounds, the *duality gap*, is
computed from A itself, so it proves how far a solution can be from the value.

:func:`solve_matrix_game` solves one game with HiGHS. :func:`solve_matrix_games` solves many small
games with a compiled simplex method.

**Dominance.** An action is *strictly dominated* if some mixed strategy over the player's other
actions gets more against every action of the other player. No equilibrium uses such an action, so
it can be removed. Other actions may then be dominated in the smaller game; the order of removals
does not change what is left at the end. Finding the mixed strategy is a matrix game itself: let D
hold the advantages of the other actions over action i. Then i is strictly dominated if and only if
the value of D is positive, and an optimal strategy of D's row player dominates it (Osborne and
Rubinstein 1994, *A Course in Game Theory*, chapter 4).

**Small games** take a few microseconds each. After the entries are scaled to lie in [1, 2], the
game is the linear program

    maximize  sum p   subject to   B p <= 1,  p >= 0,       B[j, i] = (max A - A[i, j]) / range + 1

Its solution gives x = p / sum p, and its dual multipliers are y times the same sum (Dantzig 1951).
If there are fewer rows than columns, the roles are exchanged, so that there are never more
constraints than variables. The simplex method starts from p = 0 without a first phase.

Each of these steps is tried only if the ones before it fail:

1. Look for a saddle point in pure strategies.
2. Try the supports of given strategies: those of a neighbouring state, or of the same state one
   sweep ago. If both have k actions, one elimination solves k equations for each player.
3. Run the simplex method from p = 0, with Dantzig's rule and Harris's ratio test. Reduced costs are
   in units of the initial lengths of the columns, which saves a quarter of the steps. The first
   retry scales the entries by the bounds that pure strategies set to the value, since a few large
   entries can leave too little difference between the others. The second also widens the slack.
   The third returns to the original units and accepts smaller pivots.

A result is accepted only if its duality gap, computed from A itself, is within rounding. If no
attempt of step 3 achieves that, the best attempt is returned, and its gap tells the caller:
pivoting with a tolerance can fail unnoticed, above all in games with ties.

Multiplication and addition are not fused, so that all machines agree in every bit.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from solvent.exact.compilation import inner, kernel
from solvent.model.arrays import Floats, Ints

LARGEST_GAP = 1e-9
"""Largest duality gap accepted, in units of the range of the payoffs."""

ROUNDING = 1e-14
"""Duality gap accepted in addition to :data:`LARGEST_GAP`, in units of the largest payoff."""

# A mixed strategy has to dominate by this much of the payoffs' range; pure ones exactly.
_SURE = 1e-9


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
        value: [G] security levels of the row player's strategies.
        row_strategy: [G, m] probabilities of the row player.
        column_strategy: [G, n] probabilities of the column player.
        duality_gap: [G] duality gaps, at least 0.
    """

    value: Floats
    row_strategy: Floats
    column_strategy: Floats
    duality_gap: Floats

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.value)

    def __getitem__(self, game: int) -> MatrixGameSolution:
        """Return the solution of one of the games."""
        return MatrixGameSolution(
            float(self.value[game]),
            self.row_strategy[game],
            self.column_strategy[game],
            float(self.duality_gap[game]),
        )

    def __repr__(self) -> str:
        """Return the number of games, their shape and the largest gap."""
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
        ValueError: If the matrix is empty, or its entries are not finite or too far apart.
        ArithmeticError: If the linear program was not solved to optimality, or its solution has a
            duality gap of more than 1e-9 of the payoffs' range.
    """
    a = np.asarray(payoff, float)
    _check(a, 2)
    rows, columns = a.shape
    row, column = int(a.min(axis=1).argmax()), int(a.max(axis=0).argmin())
    if a[row].min() == a[:, column].max():
        return _measured(a, np.eye(rows)[row], np.eye(columns)[column])

    from scipy.optimize import linprog  # Importing it takes 0.3 s, and most games do not need it.

    # Scaled to [0, 1], so that the solver's tolerances are relative to the range of the payoffs.
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
        # Its supports may lead to a better one.
        x, y = solution.row_strategy[None].copy(), solution.column_strategy[None].copy()
        solve_games(np.ascontiguousarray(a[None]), x, y)
        solution = min(solution, _measured(a, x[0], y[0]), key=lambda one: one.duality_gap)
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
        start: Solutions of similar games, such as those of neighbouring states or of the sweep
            before. Their supports are tried first; any strategies are allowed.

    Raises:
        ValueError: If the matrices are empty, their entries are not finite or too far apart, or
            `start` has another shape.
        ArithmeticError: If a game could not be solved to that gap; the message gives its index.
    """
    a = np.ascontiguousarray(payoffs, float)
    _check(a, 3)
    games, rows, columns = a.shape
    row_strategy, column_strategy = np.zeros((games, rows)), np.zeros((games, columns))
    if start is not None:
        given = (*start.row_strategy.shape, start.column_strategy.shape[1])
        if given != a.shape:
            raise ValueError(f"start= holds games [G, m, n] = {given}; the payoffs are {a.shape}")
        row_strategy[:], column_strategy[:] = start.row_strategy, start.column_strategy

    value, gap = solve_games(a, row_strategy, column_strategy)
    # With "not", a gap that is NaN counts as too large.
    for game in np.flatnonzero(~(gap <= _accepted_gap(a))).tolist():
        try:
            again = solve_matrix_game(a[game])
        except ArithmeticError as error:
            raise ArithmeticError(f"game {game} of {games}: {error}") from error
        value[game], gap[game] = again.value, again.duality_gap
        row_strategy[game], column_strategy[game] = again.row_strategy, again.column_strategy
    return MatrixGames(value, row_strategy, column_strategy, gap)


def _measured(a: Floats, x: Floats, y: Floats) -> MatrixGameSolution:
    x, y = np.maximum(x, 0), np.maximum(y, 0)
    x, y = x / x.sum(), y / y.sum()
    value = float((x @ a).min())
    return MatrixGameSolution(value, x, y, max(float((a @ y).max()) - value, 0.0))


def _check(payoffs: Floats, dimensions: int) -> None:
    """Raise if payoffs are not matrices, not finite, or so far apart that differences overflow."""
    if payoffs.ndim != dimensions or 0 in payoffs.shape[-2:]:
        form = "[m, n]" if dimensions == 2 else "[G, m, n]"
        raise ValueError(f"the payoffs of matrix games have the shape {form}; got {payoffs.shape}")
    if not np.isfinite(payoffs).all():
        wrong = payoffs[~np.isfinite(payoffs)][0]
        raise ValueError(f"the payoffs of matrix games are finite; one of these is {wrong}")
    payoffs = payoffs.reshape(-1, *payoffs.shape[-2:])
    low, high = payoffs.min(axis=(1, 2), initial=0.0), payoffs.max(axis=(1, 2), initial=0.0)
    far = np.flatnonzero(high / 2 - low / 2 > np.finfo(float).max / 4)
    if len(far):
        raise ValueError(
            f"game {far[0]}: payoffs from {low[far[0]]:.3g} to {high[far[0]]:.3g} are too far "
            f"apart for floats"
        )


def _accepted_gap(payoffs: Floats) -> Floats:
    """Return the largest duality gap that is accepted for each game, [G, m, n] -> [G]."""
    low, high = payoffs.min(axis=(1, 2)), payoffs.max(axis=(1, 2))
    largest = np.maximum(np.abs(low), np.abs(high))
    return np.asarray(LARGEST_GAP * (high - low) + ROUNDING * largest)


@dataclass(frozen=True)
class Removal:
    """A dominated action that was removed.

    Attributes:
        player: 0 for the row player.
        action: Row or column of the original matrix.
        by: The mixed strategy that dominates it: actions and probabilities, which sum to 1.
    """

    player: int
    action: int
    by: tuple[tuple[int, float], ...]

    def __str__(self) -> str:
        """Return the removal as one line."""
        by = " + ".join(f"{p:.3g} x {a}" if p < 1 else f"{a}" for a, p in self.by)
        return f"{('row', 'column')[self.player]} {self.action} by {by}"


@dataclass(frozen=True)
class DominanceReport:
    """The result of iterated dominance.

    Attributes:
        rows: The remaining rows.
        columns: The remaining columns.
        removals: The removals in their order; each is dominated in the game that the ones before
            it leave.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    removals: tuple[Removal, ...]

    def __str__(self) -> str:
        """Return a line for each removal, and one for what is left."""
        left = f"left: rows {list(self.rows)}, columns {list(self.columns)}"
        return "\n".join([*map(str, self.removals), left])


def iterated_dominance(payoff: Floats) -> DominanceReport:
    """Remove strictly dominated actions of both players until none is dominated.

    Args:
        payoff: [m, n] finite payoffs to the row player; the column player gets minus them.

    Raises:
        ValueError: If the matrix is empty, or its entries are not finite or too far apart.
        ArithmeticError: If a linear program could not be solved.
    """
    a = np.asarray(payoff, float)
    _check(a, 2)
    margin = _SURE * float(a.max() - a.min())
    left = (list(range(a.shape[0])), list(range(a.shape[1])))
    removals: list[Removal] = []
    before = -1
    while before < len(removals):
        before = len(removals)
        for player, gains in enumerate((a, -a.T)):
            for action in tuple(left[player]):
                others = [other for other in left[player] if other != action]
                advantage = (
                    gains[np.ix_(others, left[1 - player])] - gains[action, left[1 - player]]
                )
                strategy = _dominating(advantage, margin) if others else None
                if strategy is not None:
                    left[player].remove(action)
                    by = [(n, p) for n, p in zip(others, strategy.tolist(), strict=True) if p > 0]
                    removals.append(Removal(player, action, tuple(by)))
    return DominanceReport(tuple(left[0]), tuple(left[1]), tuple(removals))


def _dominating(advantage: Floats, margin: float) -> Floats | None:
    """Return a mixed strategy over rows that secures an advantage, or None."""
    beats = advantage.min(axis=1) > 0
    if beats.any():
        return np.asarray(np.arange(len(advantage)) == beats.argmax(), float)
    game = solve_matrix_game(advantage)
    return game.row_strategy if game.value > margin else None


EXACT = 1e-13
"""Smaller duality gaps, in units of the range of payoffs, are rounding."""

# The same in units of the largest payoff, for payoffs that are large and close together.
_FLOAT_ROUNDING = 1e-15

# Largest duality gap, in units of the range of payoffs, with which step 3 ends.
_ACCEPTED = 1e-12

LEAST_PIVOT = 1e-9
OPTIMAL = 1e-12
"""Reduced costs and levels that are greater than minus this count as nonnegative."""

# The slack of Harris's ratio test in each attempt.
_SLACKS = (1e-12, 1e-12, 1e-9, 1e-12)

# The least pivot in each attempt. Games whose strategies differ by ten orders of magnitude need the
# last.
_PIVOTS = (LEAST_PIVOT, LEAST_PIVOT, LEAST_PIVOT, 1e-11)

# Whether each attempt scales by the bounds on the value instead of by the entries.
_BRACKETED = (False, True, True, False)

# Least distance of those bounds that is used, in units of the range of payoffs.
_LEAST_BRACKET = 1e-9

# Largest number of steps of an attempt, per row and column.
_STEPS_PER_LINE = 50


class Work(NamedTuple):
    """Memory for games of up to m x n, which is used again for each game.

    =============  ====================  ==========================================================
    ``tableau``    [l+1, width] float64  constraints and reduced costs; l is the greater of m and n,
                                         width >= l + 1
    ``turned``     [l, l] float64        the transposed payoffs
    ``weight``     [l] float64           factors of reduced costs when they are compared
    ``level``      [l] float64           payoffs against a strategy
    ``pivot``      [width] float64       a row
    ``basic``      [l] int64             the variable of each constraint; l + i is the i-th slack
    ``free``       [l] int64             the variable of each column
    ``equations``  [l, l+1] float64      of step 2
    ``own``        [l] int64             the support among the variables
    ``other``      [l] int64             the support among the constraints
    =============  ====================  ==========================================================
    """

    tableau: Floats
    turned: Floats
    weight: Floats
    level: Floats
    pivot: Floats
    basic: Ints
    free: Ints
    equations: Floats
    own: Ints
    other: Ints


@inner
def work_for(m: int, n: int) -> Work:
    """Return memory for games of up to m rows and n columns.

    Args:
        m: Largest number of rows.
        n: Largest number of columns.
    """
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
) -> tuple[Floats, Floats]:
    """Solve many games, without checks.

    Args:
        payoffs: [G, m, n] finite payoffs to the row player.
        row_strategy: [G, m] strategies whose supports to try, or zeros; the solutions are written
            here.
        column_strategy: [G, n] the same for the column player.

    Returns:
        Values and duality gaps, [G] each.
    """
    games, m, n = payoffs.shape
    work = work_for(m, n)
    values, gaps = np.zeros(games), np.zeros(games)
    for g in range(games):
        values[g], gaps[g] = solve_in(work, payoffs[g], row_strategy[g], column_strategy[g])
    return values, gaps


@inner
def solve_in(work: Work, a: Floats, x: Floats, y: Floats) -> tuple[float, float]:
    """Solve a game.

    Args:
        work: Memory for a game of this size.
        a: [m, n] finite payoffs to the row player.
        x: [m] a strategy whose support to try, or zeros; the row player's is written here.
        y: [n] the same for the column player.

    Returns:
        The security level of the row player's strategy, and the duality gap.
    """
    low, high, row, column, floor, ceiling = _extremes(work.turned, work.weight, work.level, a)
    if floor >= ceiling:
        x[:] = 0.0
        y[:] = 0.0
        x[row] = 1.0
        y[column] = 1.0
        return floor, 0.0
    scale = high - low
    rounding = _FLOAT_ROUNDING * max(abs(low), abs(high))
    enough = max(EXACT * scale, rounding)

    support = _supports(work, x, y)
    if support > 0 and _solve_support(work, support, a, high, scale, x, y):
        least, most = _bounds(work.turned, work.level, a, x, y)
        if most - least <= enough:
            return least, max(most - least, 0.0)
    closest, best = np.inf, 0
    for attempt in range(len(_SLACKS)):
        least, most = _attempt(work, a, low, high, floor, ceiling, attempt, enough, x, y)
        if most - least < closest:
            closest, best = most - least, attempt
        if closest <= max(_ACCEPTED * scale, rounding):
            break
    if best != attempt:
        least, most = _attempt(work, a, low, high, floor, ceiling, best, enough, x, y)
    return least, max(most - least, 0.0)


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
    """Make one attempt of step 3: write both strategies, and return min(x A) and max(A y).

    Args:
        work: The memory to work in.
        a: [m, n] payoffs.
        low: The least of them.
        high: The largest.
        floor: The security level of a pure row.
        ceiling: The security level of a pure column.
        attempt: Index of the attempt.
        enough: The duality gap at which a solution is not improved further.
        x: [m], written.
        y: [n], written.
    """
    m, n = a.shape
    if _BRACKETED[attempt]:
        scale = max(ceiling - floor, _LEAST_BRACKET * (high - low))
        low, high = floor, ceiling
    else:
        scale = high - low
    _fill(work, a, low, high, scale)
    _primal(work, m, n, _SLACKS[attempt], _PIVOTS[attempt])
    _read(work, x, y)
    least, most = _bounds(work.turned, work.level, a, x, y)
    if most - least > enough:
        # The basis may be right although the tableau has lost digits: solve its equations again.
        support = _supports(work, x, y)
        if support > 0 and _solve_support(work, support, a, high, scale, x, y):
            least, most = _bounds(work.turned, work.level, a, x, y)
        else:
            _read(work, x, y)
    return least, most


@inner
def _extremes(
    turned: Floats, least: Floats, largest: Floats, a: Floats
) -> tuple[float, float, int, int, float, float]:
    """Return the extremes of a matrix, and write its transpose.

    Returns:
        The least and the largest entry, the row with the greatest minimum, the column with the
        least maximum, and that minimum and maximum.
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
    low, floor, row = least[0], least[0], 0
    for i in range(m):
        low = min(low, least[i])
        row = i if least[i] > floor else row
        floor = max(floor, least[i])
    high, ceiling, column = largest[0], largest[0], 0
    for j in range(n):
        high = max(high, largest[j])
        column = j if largest[j] < ceiling else column
        ceiling = min(ceiling, largest[j])
    return low, high, row, column, floor, ceiling


@inner
def _bounds(turned: Floats, total: Floats, a: Floats, x: Floats, y: Floats) -> tuple[float, float]:
    """Return min(x A) and max(A y)."""
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
    """List both supports in `own` and `other`; return their size, or 0 if their sizes differ."""
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
    """Solve for strategies on the supports; write them and return whether none is negative."""
    m, n = a.shape
    rows, columns = (work.own, work.other) if n <= m else (work.other, work.own)
    equations, rest = work.equations, work.level
    # With payoffs in [1, 2] the solution is the strategy times a positive number.
    for i in range(k):
        for j in range(k):
            equations[i, j] = (high - a[rows[i], columns[j]]) / scale + 1.0
        equations[i, k] = 1.0
        rest[i] = 1.0
    if not _eliminate(equations, k, rows, rest):
        return False
    column_total, row_total = 0.0, 0.0
    for i in range(k):
        if not (equations[i, k] >= 0 and rest[i] >= 0):
            return False
        column_total += equations[i, k]
        row_total += rest[i]
    x[:] = 0.0
    y[:] = 0.0
    for i in range(k):
        x[rows[i]] = rest[i] / row_total
        y[columns[i]] = equations[i, k] / column_total
    return True


@inner
def _eliminate(equations: Floats, k: int, rows: Ints, rest: Floats) -> bool:
    """Solve k equations and the transposed ones by one elimination; return if they are regular.

    Args:
        equations: [k, k+1] coefficients and the right-hand side, overwritten by the solution.
        k: Number of equations.
        rows: [k] numbers of the equations, put into the order in which they are eliminated.
        rest: [k] the right-hand side of the transposed ones, overwritten by their solution, in the
            new order of `rows`.
    """
    for c in range(k):
        pivot = c
        for i in range(c + 1, k):
            if abs(equations[i, c]) > abs(equations[pivot, c]):
                pivot = i
        if abs(equations[pivot, c]) < LEAST_PIVOT:
            return False
        if pivot != c:
            for j in range(k + 1):
                equations[c, j], equations[pivot, j] = equations[pivot, j], equations[c, j]
            rows[c], rows[pivot] = rows[pivot], rows[c]
        for i in range(c + 1, k):
            factor = equations[i, c] / equations[c, c]
            equations[i, c] = factor
            for j in range(c + 1, k + 1):
                equations[i, j] -= factor * equations[c, j]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            equations[i, k] -= equations[i, j] * equations[j, k]
        equations[i, k] /= equations[i, i]
    for i in range(k):
        rest[i] /= equations[i, i]
        for j in range(i + 1, k):
            rest[j] -= rest[i] * equations[i, j]
    for i in range(k - 1, 0, -1):
        for j in range(i):
            rest[j] -= rest[i] * equations[i, j]
    return True


@inner
def _fill(work: Work, a: Floats, low: float, high: float, scale: float) -> None:
    """Write the tableau of p = 0."""
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
    """Exchange the variable of column c with that of constraint r."""
    tableau, pivot = work.tableau, work.pivot
    inverse = 1.0 / tableau[r, c]
    for j in range(len(pivot)):
        pivot[j] = tableau[r, j] * inverse
    for i in range(constraints + 1):
        factor = tableau[i, c]
        _subtract(pivot, factor, tableau[i])
        # Written after the row, since a store in the middle of it would delay the vector loads.
        tableau[i, c] = -factor * inverse
    for j in range(len(pivot)):
        tableau[r, j] = pivot[j]
    tableau[r, c] = inverse
    work.basic[r], work.free[c] = work.free[c], work.basic[r]


@kernel(forceinline=True)
def _subtract(part: Floats, factor: float, row: Floats) -> None:
    """Compute ``row -= factor * part``."""
    for j in range(len(part)):
        row[j] -= factor * part[j]


@inner
def _primal(work: Work, m: int, n: int, slack: float, least_pivot: float) -> None:
    """Run the primal simplex method from nonnegative levels.

    Its loops are written out because calls count references, and have no branches because branches
    are mispredicted.
    """
    k, l = min(m, n), max(m, n)
    tableau, weight = work.tableau, work.weight
    for _ in range(_STEPS_PER_LINE * (k + l)):
        # The column with the least reduced cost per unit of length enters. Lengths are those of the
        # first tableau: nearly the steepest edge, at no cost.
        c, least = -1, -OPTIMAL
        for j in range(l):
            cost = tableau[k, j] * weight[j]
            c = j if cost < least else c
            least = min(least, cost)
        if c < 0:
            return
        # It can enter until a level falls below minus the slack. Of the constraints within that
        # limit, the one with the largest pivot leaves (Harris).
        limit = np.inf
        for i in range(k):
            entry = tableau[i, c] if tableau[i, c] > least_pivot else 0.0
            limit = min(limit, (max(tableau[i, l], 0.0) + slack) / np.float64(entry))
        r, largest = -1, least_pivot
        for i in range(k):
            entry = tableau[i, c]
            pivot = entry if tableau[i, l] <= limit * entry else 0.0
            r = i if pivot > largest else r
            largest = max(largest, pivot)
        if r < 0:
            return
        _exchange(work, r, c, k)


@inner
def _read(work: Work, x: Floats, y: Floats) -> None:
    """Write the strategies of a tableau: levels of variables and reduced costs of slacks."""
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
    # A tableau that went wrong may hold no strategy; the duality gap will show it.
    if total > 0:
        variables /= total
    else:
        variables[0] = 1.0
    if dual > 0:
        constraints /= dual
    else:
        constraints[0] = 1.0
