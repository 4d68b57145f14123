"""Linear equations of a Markov chain: (I - P) x = r, and the transposed system.

The diagonal of I - P is the probability of changing the state. It is the sum of the probabilities
of all moves out of the state, never 1 minus the probability of staying: if a state is left once in
2^52 moves, that difference is all rounding.

Small chains are solved by elimination without subtractions, which stays accurate however long play
lasts (Grassmann, Taksar and Heyman 1985). Larger ones are solved by iteration: a Krylov method,
preconditioned by sweeps of Gauss-Seidel. Sweeps work best where play moves in one direction, the
Krylov method where it moves in all. Iteration ends when the residual e is down to rounding, as
small as a factorization would leave it; the error is at most e times the expected number of moves,
which :mod:`solvent.exact.certificate` takes into account. If the states can be ordered such that
moves lead only to nearby states (a small *bandwidth*), the chain is eliminated in that order: at
once if that takes no longer than a few dozen sweeps, or if iteration makes no progress and
elimination is not too much work.

**Compiled loops** merge rows, sweep, eliminate and find exits. Arrays are named as in
:class:`solvent.model.TabularGame`.
"""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from solvent.exact.compilation import Transitions, kernel
from solvent.exact.solution import CertificateError
from solvent.model.arrays import Floats, Ints, members

ELIMINATED = 64
"""Chains of at most this many states are eliminated at once."""

SLOW = 1e8
"""Iteration is not trusted if the expected number of moves is above this."""

NARROW = 16
"""Chains of at most this bandwidth are eliminated at once."""

LARGEST_WORK = 2e10
"""Chains are not eliminated if that takes more multiplications than this, some ten seconds."""

# Largest number of floats in the elimination of a chain.
_LARGEST_BAND = 10**8

PATIENCE = 1000
"""Iteration stops if the residual is not ten times smaller after this many steps."""

ROUNDING = 4 * float(np.finfo(float).eps)
"""Residuals up to this, in units of the sum of their absolute terms, are rounding."""

NEAR_ROUNDING = 64 * float(np.finfo(float).eps)
"""Residuals up to this, in the same units, are accepted if iteration cannot reduce them."""


def narrow_order(start: Ints, target: Ints, widest: int) -> tuple[Ints, int] | None:
    """Order the nodes of a graph to give it a small bandwidth (Cuthill and McKee 1969).

    Args:
        start: [n+1] the edges of node s are ``target[start[s] : start[s+1]]``.
        target: [E] where each edge leads.
        widest: The largest useful bandwidth.

    Returns:
        The nodes in that order, [n], and the bandwidth: the largest number of places between the
        nodes of an edge. None if it is above `widest`.
    """
    n = len(start) - 1
    source = np.repeat(np.arange(n), np.diff(start))
    if (width := int(np.abs(source - target).max(initial=0))) <= widest:
        return np.arange(n), width
    graph = csr_array(
        (np.ones(len(target), np.int8), target.astype(np.int32), start.astype(np.int32)),
        shape=(n, n),
    )
    order = np.asarray(reverse_cuthill_mckee(graph), np.int64)
    place = np.argsort(order)
    width = int(np.abs(place[source] - place[target]).max(initial=0))
    return (order, width) if width <= widest else None


class Chain:
    """A Markov chain: play among n states when the probability of each row is fixed.

    Args:
        name: The game's name, for error messages.
        transitions: The transitions of the n states.
        weight: [K] the probability of each row in its state. States without a row of positive
            weight are terminal.
        leaving: [n] the probability of leaving the n states from each; 0 if left out.

    Raises:
        CertificateError: If a state is never left, as far as floats can tell.
    """

    def __init__(
        self,
        name: str,
        transitions: Transitions,
        weight: Floats,
        leaving: Floats | None = None,
    ) -> None:
        self.name = name
        self._factors: dict[int, tuple[Floats, Floats, Ints] | None] = {}
        self.n = len(transitions.row_start) - 1
        rows = np.flatnonzero(weight > 0)
        state = np.repeat(np.arange(self.n), np.diff(transitions.row_start))[rows]
        outcomes, length = members(transitions.outcome_start, rows)
        source, target = np.repeat(state, length), transitions.next_state[outcomes]
        flow = np.repeat(weight[rows], length) * transitions.probability[outcomes]
        moving = source != target
        entries = flow[moving], (source[moving], target[moving])
        # P without its diagonal. The compiled loops read its arrays.
        self.moves = csr_array(entries, shape=(self.n, self.n))
        self.start: Ints = self.moves.indptr.astype(np.int64)
        self.target: Ints = self.moves.indices.astype(np.int64)
        self.flow: Floats = self.moves.data
        ends = np.bincount(state, minlength=self.n) == 0
        self.leaving = np.where(ends, 1.0, 0.0 if leaving is None else leaving)
        self.changing = self.leaving + self.moves.sum(axis=1)
        if not (self.changing > 0).all():
            raise self._stuck()

    def solve(
        self,
        right: Floats,
        *,
        within: Floats | None = None,
        guess: Floats | None = None,
        transposed: bool = False,
    ) -> Floats:
        """Solve (I - P) x = right, [n].

        Args:
            right: [n].
            within: [n] largest residuals accepted, besides rounding; 0 if left out.
            guess: [n] the vector to begin iteration with.
            transposed: Whether to solve (I - P)' x = right instead.

        Raises:
            CertificateError: If the matrix is singular as far as floats can tell.
        """
        x = self.by_band(right, NARROW, transposed=transposed)
        # Where play is short, a small residual means a small error.
        if x is None and self.lengths is not None and self.lengths.max() < SLOW:
            within = np.zeros(self.n) if within is None else within
            x = self.iterate(right, within, guess, transposed=transposed)
        if x is None:
            x = self.by_band(right, transposed=transposed)
        if x is None:
            raise self._stuck()
        return x

    @cached_property
    def lengths(self) -> Floats | None:
        """[n] expected numbers of moves that change the state, to a factor of 2; None if unknown.

        In every state, their expected fall is at least half the probability of changing the state.
        """
        # If the residual is at most half of the right side, x is right to a factor of 2.
        x = self.by_band(self.changing, NARROW)
        x = self.iterate(self.changing, 0.5 * self.changing) if x is None else x
        return None if x is None or not (x > 0).all() else x

    def iterate(
        self,
        right: Floats,
        within: Floats,
        guess: Floats | None = None,
        *,
        transposed: bool = False,
        patience: int = PATIENCE,
    ) -> Floats | None:
        """Solve the equations by the Krylov method, [n]; None if a residual does not become small.

        Args:
            right: [n].
            within: [n] residuals accepted.
            guess: [n] an initial guess.
            transposed: Whether to solve the transposed system.
            patience: Number of steps after which to stop if the residual is not ten times smaller.
        """
        x = np.zeros(self.n) if guess is None else guess.copy()
        moves = self._transposed if transposed else (self.start, self.target, self.flow)
        last, differences = (self.changing, 0.0) if transposed else (self.leaving, 1.0)
        rest, before, share = np.empty(self.n), np.inf, 0.1
        while True:
            found = find_residual(*moves, last, differences, right, x, within, rest)
            largest, relative = found
            if largest <= 1 or relative <= ROUNDING:
                return x
            if not relative < 0.5 * before:
                # A few of many states may have large residuals although the norm is small.
                if not share / largest**2 > _LEAST_GOAL:
                    break
                share *= 1e-3
            before, goal = relative, max(_LEAST_GOAL, share / largest**2)
            with np.errstate(all="ignore"):
                bicgstab(partial(sweep, *moves, self.changing), rest, x, goal, patience)
            sweep(*moves, self.changing, right, x)
        # Where values are small, the residual may be rounding of larger values elsewhere.
        near = np.abs(rest) <= NEAR_ROUNDING * self.changing * float(np.abs(x).max())
        return x if relative <= NEAR_ROUNDING or near.all() else None

    @cached_property
    def _transposed(self) -> tuple[Ints, Ints, Floats]:
        """P' as start, target and flow."""
        moves = csr_array(self.moves.T)
        return moves.indptr.astype(np.int64), moves.indices.astype(np.int64), moves.data

    def by_band(
        self, right: Floats, widest: int | None = None, *, transposed: bool = False
    ) -> Floats | None:
        """Solve (I - P) x = right by elimination in an order of states with a small bandwidth.

        Args:
            right: [n].
            widest: The largest bandwidth; by default as large as is not too much work.
            transposed: Whether to solve the transposed system.

        Returns:
            [n] the solution; None if the bandwidth is larger, or some state is never left.
        """
        if widest is None:
            widest = int(min((LARGEST_WORK / self.n) ** 0.5, _LARGEST_BAND / (2 * self.n)))
        if widest not in self._factors:
            self._factors[widest] = self._factored(widest)
        factors = self._factors[widest]
        if factors is None:
            return None
        moves, changing, order = factors
        # In a state without moves, the equation has one unknown.
        ends = np.diff(self.start) == 0
        x = np.where(ends, right / self.changing, 0.0)
        inside = (right if transposed else right + self.moves @ x)[order]
        solve_eliminated(moves, changing, inside, transposed)
        x[order] = inside
        if transposed:
            x[ends] += (self.moves.T @ x / self.changing)[ends]
        return x

    def _factored(self, widest: int) -> tuple[Floats, Floats, Ints] | None:
        """Eliminate the chain in an order of at most that bandwidth; None if it cannot be done.

        Returns:
            The two arrays that :func:`eliminate` overwrites and returns, and the states in the
            order of their elimination. States from which no move leads to another are left out.
        """
        leads = np.diff(self.start) > 0
        states = np.flatnonzero(leads)
        inside = self.moves[states][:, states].tocoo()
        found: tuple[Ints, int] | None = np.arange(len(states)), max(len(states) - 1, 0)
        if self.n > ELIMINATED:
            start = np.searchsorted(inside.row, np.arange(len(states) + 1))
            found = narrow_order(start, inside.col, widest)
        if found is None:
            return None
        order, width = found
        place = np.argsort(order)
        row = place[inside.row]
        moves = np.zeros((len(states), 2 * width + 1))
        moves[row, place[inside.col] - row + width] = inside.data
        order = states[order]
        changing = eliminate(moves, (self.leaving + self.moves @ (~leads).astype(float))[order])
        return (moves, changing, order) if (changing > 0).all() else None

    def _stuck(self) -> CertificateError:
        return CertificateError(
            f"{self.name}: play ends so rarely that floats cannot tell it from never"
        )


# The residual is computed again at the latest when its squared norm has fallen by this factor.
_LEAST_GOAL = 1e-12


@kernel(largest=2000)
def sweep(
    start: Ints, target: Ints, flow: Floats, changing: Floats, right: Floats, x: Floats
) -> None:
    """Sweep by Gauss-Seidel for (I - P) x = right, from the first state to the last and back.

    Args:
        start: [S+1] entries of each row of P without its diagonal.
        target: Columns of the entries.
        flow: Values of the entries.
        changing: [S] the diagonal of I - P.
        right: [S].
        x: [S], read and written.
    """
    n = len(x)
    for i in range(2 * n - 1):
        s = i if i < n else 2 * n - 2 - i
        value = right[s]
        for e in range(start[s], start[s + 1]):
            value += flow[e] * x[target[e]]
        x[s] = value / changing[s]


@kernel(largest=2000)
def find_residual(
    start: Ints,
    target: Ints,
    flow: Floats,
    last: Floats,
    differences: float,
    right: Floats,
    x: Floats,
    within: Floats,
    rest: Floats,
) -> tuple[float, float]:
    """Compute the residual of (I - P) x against the right side.

    Args:
        start: [S+1] entries of each row of P without its diagonal.
        target: Columns of the entries.
        flow: Values of the entries.
        last: [S] the diagonal of I - P, minus the sum of the row's entries if `differences` is 1.
        differences: 1 to multiply each entry by the difference of x along it, else 0.
        right: [S].
        x: [S].
        within: [S] residuals accepted.
        rest: [S] residuals, written.

    Returns:
        The largest residual in units of `within`, and in units of the sum of its absolute terms;
        not finite if x is not.
    """
    largest, relative = 0.0, 0.0
    for s in range(len(x)):
        value, here = right[s] - last[s] * x[s], differences * x[s]
        # In a state that is rarely left the terms are small, and so is their rounding.
        terms = abs(right[s]) + last[s] * abs(x[s])
        for e in range(start[s], start[s + 1]):
            value += flow[e] * (x[target[e]] - here)
            terms += flow[e] * (abs(x[target[e]]) + abs(here))
        rest[s] = value
        if value != 0:
            # Negated, so that a NaN counts as larger.
            if not abs(value) <= largest * within[s]:
                largest = abs(value) / within[s]
            if not abs(value) <= relative * terms:
                relative = abs(value) / terms
    return largest, relative


def bicgstab(
    sweep_for: Callable[[Floats, Floats], None], rest: Floats, x: Floats, goal: float, patience: int
) -> None:
    """Reduce the residual of (I - P) x = right by BiCGSTAB, preconditioned by two sweeps.

    With M the matrix whose inverse the sweeps apply, the equations become M^-1 (I - P) x = M^-1 r.
    M^-1 (I - P) y is y minus the result of two sweeps from y for the right side 0, so no other
    product is needed (van der Vorst 1992, "Bi-CGSTAB"; Saad 2003, *Iterative Methods for Sparse
    Linear Systems*, chapters 7 and 9). When the residual has become small the caller computes it
    again, and the equations are solved for it, so that rounding does not accumulate.

    Args:
        sweep_for: Sweeps for a right side, [n], over an array, [n].
        rest: [n] the residual.
        x: [n], read and written.
        goal: Stops when the squared norm of the residual has fallen by this factor.
        patience: Number of steps after which to stop if the residual is not ten times smaller.
    """
    none = np.zeros(len(x))

    def applied(y: Floats) -> Floats:
        after = y.copy()
        sweep_for(none, after)
        return y - after

    r = np.zeros(len(x))
    sweep_for(rest, r)
    hat, p = r, r
    rho = norm = least = _dot(r, r)
    goal, stalled = goal * norm, 0
    while norm > goal and stalled < patience:
        v = applied(p)
        step = rho / _dot(hat, v)
        s = r - step * v
        t = applied(s)
        smooth = _dot(t, s) / _dot(t, t) if t.any() else np.float64(0)
        if not np.isfinite(step + smooth):
            return
        x += step * p + smooth * s
        r = s - smooth * t
        norm, new = _dot(r, r), _dot(hat, r)
        turned = new / rho * (step / smooth)
        if not np.isfinite(turned):
            return
        rho, p, stalled = new, r + turned * (p - smooth * v), stalled + 1
        if norm < 0.01 * least:
            least, stalled = norm, 0


def _dot(a: Floats, b: Floats) -> np.float64:
    """Return the sum of products; BLAS would use several threads, and other bits on others."""
    total: np.float64 = np.sum(a * b)
    return total


@kernel(largest=9000, allocates=True)
def eliminate(moves: Floats, leaving: Floats) -> Floats:
    """Eliminate the states of a chain from the last to the first, without any subtraction.

    After each step the remaining states are again a chain, in which a path through the eliminated
    state has become a move. The probability of changing the state is the sum of the moves out of
    it, not 1 minus that of staying, so nothing cancels and every number keeps its relative accuracy
    however rarely the chain is left (Grassmann, Taksar and Heyman 1985, "Regenerative analysis and
    steady state distributions for Markov chains"; O'Cinneide 1993, "Entrywise perturbation theory
    and error analysis for Markov chains"). The bandwidth w stays the same.

    Args:
        moves: [n, 2 w + 1] the probability of moving from state i to j, in column j - i + w; the
            middle column is not read. Overwritten: for j < i with the probability when i was
            eliminated, for j > i with that probability divided by the one of changing state j, when
            j was.
        leaving: [n] the probability of leaving from each state, overwritten.

    Returns:
        [n] the probability of changing each state when it was eliminated; 0 if it cannot change.
    """
    n, w = len(leaving), moves.shape[1] // 2
    changing = np.zeros(n)
    for i in range(n - 1, -1, -1):
        low = max(0, i - w)
        total = leaving[i]
        for j in range(low - i + w, w):
            total += moves[i, j]
        changing[i] = total
        if not total > 0:
            return changing
        for k in range(low, i):
            if moves[k, i - k + w] > 0:
                share = moves[k, i - k + w] / total
                moves[k, i - k + w] = share
                leaving[k] += share * leaving[i]
                for j in range(low - i + w, w):
                    moves[k, j + i - k] += share * moves[i, j]
    return changing


@kernel(largest=9000)
def solve_eliminated(moves: Floats, changing: Floats, x: Floats, transposed: bool) -> None:
    """Solve (I - P) x = right, or the transposed system, after :func:`eliminate`.

    Args:
        moves: [n, 2 w + 1] the array that it overwrote.
        changing: [n] the array that it returned.
        x: [n] the right side, overwritten with the solution.
        transposed: Whether to solve the transposed system.
    """
    n, w = len(x), moves.shape[1] // 2
    for i in range(n - 1, -1, -1):
        if transposed:
            x[i] /= changing[i]
        for k in range(max(0, i - w), i):
            if transposed:
                x[k] += moves[i, k - i + w] * x[i]
            else:
                x[k] += moves[k, i - k + w] * x[i]
    for i in range(n):
        for k in range(max(0, i - w), i):
            if transposed:
                x[i] += moves[k, i - k + w] * x[k]
            else:
                x[i] += moves[i, k - i + w] * x[k]
        if not transposed:
            x[i] /= changing[i]


@kernel(largest=20_000, allocates=True)
def likeliest_exits(edges: Transitions, leaving: Floats) -> Ints:
    """Return the first row of the most probable path out of each state.

    Args:
        edges: The outcomes that stay inside, with the logarithms of probabilities, at most 0.
        leaving: [K] the logarithm of the probability with which each row leaves.

    Returns:
        [S] the rows; -1 where there is no path. Of equal paths the one found first is taken.
    """
    row_start, edge_start, target, chance = edges
    n = len(row_start) - 1
    best, first = np.full(n, -np.inf), np.full(n, -1)
    for s in range(n):
        for k in range(row_start[s], row_start[s + 1]):
            if leaving[k] > best[s]:
                best[s], first[s] = leaving[k], k
    changed, sweeps = True, 0
    # Only a strictly better path replaces another, so none goes in circles. Sweeps alternate
    # between up and down: what one finds at once may take the other a sweep for each state.
    while changed:
        changed, sweeps = False, sweeps + 1
        for i in range(n):
            s = i if sweeps % 2 else n - 1 - i
            for k in range(row_start[s], row_start[s + 1]):
                for e in range(edge_start[k], edge_start[k + 1]):
                    through = chance[e] + best[target[e]]
                    if through > best[s]:
                        best[s], first[s], changed = through, k, True
    return first
