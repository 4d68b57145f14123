"""Linear equations of a Markov chain: (I - P) x = r, and the transposed system.

The diagonal of I - P is the probability to change the state. It is taken as the sum of the ways
out, never as 1 minus the probability to stay: where a state is left once in 2^52 moves, the
difference would be all rounding.

Small chains are solved by an elimination without subtractions, which keeps its accuracy however
long play lasts (Grassmann, Taksar and Heyman 1985). Larger ones are solved by iteration: a Krylov
method, preconditioned by sweeps of Gauss-Seidel. The sweeps are at their best where play goes on in
one direction, the Krylov method where it goes everywhere. Iteration ends when the residual e is
that of rounding, as small as a factorization would leave it; the error is at most e times the
expected number of moves, which :mod:`solvent.exact.certificate` takes into account. A chain whose
states can be put in an order in which moves lead nowhere far is eliminated in that order: at once
if that takes no longer than a few dozen sweeps, and where iteration makes no progress if it is not
too much work.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from solvent.exact import kernels
from solvent.exact.compilation import Transitions
from solvent.exact.solution import CertificateError
from solvent.model.arrays import Floats, Ints, concatenated_ranges

ELIMINATED = 64
"""Chains of up to so many states are eliminated at once."""

SLOW = 1e8
"""Expected numbers of moves above this are not trusted to iteration."""

NARROW = 16
"""Chains whose moves can be made to lead no farther than this are eliminated at once."""

STEPS = 50
"""Steps from one state in which more states than a narrow order allows may be found."""

LARGEST_WORK = 2e10
"""Chains whose elimination would take more multiplications than this, some ten seconds, are not
eliminated as a whole."""

LARGEST_BAND = 10**8
"""Floats that the elimination of a chain as a whole may hold."""

PATIENCE = 1000
"""Steps of iteration after which a residual that is not ten times smaller counts as stuck."""

ROUNDING = 4 * float(np.finfo(float).eps)
"""Residuals up to this, in units of the terms that they are the sum of, are rounding."""

NEAR_ROUNDING = 64 * float(np.finfo(float).eps)
"""Residuals up to this, in the same units, are taken where no more can be had."""


def narrow_order(start: Ints, target: Ints, widest: int) -> tuple[Ints, int] | None:
    """Order the nodes of a graph such that edges lead nowhere far (Cuthill and McKee 1969).

    Args:
        start: [n+1] the edges of node s are ``target[start[s] : start[s+1]]``.
        target: [E] where each edge leads.
        widest: The largest number of places between the nodes of an edge that is of use.

    Returns:
        The nodes in that order, [n], and the largest number of places between an edge's nodes;
        None if that is above `widest`.
    """
    n = len(start) - 1
    if n == 0:
        return np.empty(0, np.int64), 0
    # In so many steps no more nodes can be reached in a narrow order.
    met = np.zeros(n, bool)
    front, count = np.array([n // 2]), 1
    met[front] = True
    for step in range(1, STEPS + 1):
        ahead = target[concatenated_ranges(start[front], start[front + 1] - start[front])]
        front = np.unique(ahead[~met[ahead]])
        met[front] = True
        count += len(front)
        if count > 2 * step * widest + 1:
            return None
    graph = csr_array(
        (np.ones(len(target), np.int8), target.astype(np.int32), start.astype(np.int32)),
        shape=(n, n),
    )
    order = np.asarray(reverse_cuthill_mckee(graph), np.int64)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    width = int(np.abs(np.repeat(place, np.diff(start)) - place[target]).max(initial=0))
    return (order, width) if width <= widest else None


class Chain:
    """Play among n states when it is fixed how likely each row is.

    Args:
        name: The game's name, for error messages.
        transitions: The transitions of the n states.
        weight: [K] the probability of each row in its state. A state without a row of positive
            weight has left for good.
        leaving: [n] the probability to leave the n states at once, nowhere if left out.

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
        self.start, self.target, self.flow, moving = kernels.chain.merge_rows(transitions, weight)
        self.leaving = np.where(moving < 0, 1.0, 0.0 if leaving is None else leaving)
        self.changing = self.leaving + np.maximum(moving, 0.0)
        if not (self.changing > 0).all():
            raise self._stuck()

    @cached_property
    def moves(self) -> Any:
        """P without its diagonal, a sparse matrix [n, n]."""
        return csr_array((self.flow, self.target, self.start), shape=(self.n, self.n))

    def solve(
        self, right: Floats, *, within: Floats | None = None, guess: Floats | None = None
    ) -> Floats:
        """Solve (I - P) x = right, [n].

        Args:
            right: [n].
            within: [n] residuals up to this are small enough; so are those that are rounding.
            guess: [n] where iteration begins.

        Raises:
            CertificateError: If the matrix is singular as far as floats can tell.
        """
        x = self._by_band(right, NARROW)
        if x is None:
            x = self._iterate(right, within=within, guess=guess)
        if x is None:
            x = self._by_band(right)
        if x is None:
            raise self._stuck()
        return x

    def solve_transposed(self, right: Floats) -> Floats:
        """Solve (I - P)' x = right, [n].

        Raises:
            CertificateError: If the matrix is singular as far as floats can tell.
        """
        x = self._by_band(right, NARROW, transposed=True)
        if x is None:
            x = self._iterate(right, transposed=True)
        if x is None:
            x = self._by_band(right, transposed=True)
        if x is None:
            raise self._stuck()
        return x

    def _iterate(
        self,
        right: Floats,
        *,
        within: Floats | None = None,
        guess: Floats | None = None,
        transposed: bool = False,
    ) -> Floats | None:
        """The solution by iteration; None if play lasts too long for it or it makes no progress."""
        if not self._is_short:
            return None
        x = np.zeros(self.n) if guess is None else guess.copy()
        within = np.zeros(self.n) if within is None else within
        return x if self._improve(x, right, within, transposed) else None

    @cached_property
    def _is_short(self) -> bool:
        """Return whether play lasts so few moves that a small residual means a small error."""
        # Where every state that leads anywhere may leave at once, that bounds the number of moves.
        open_ = np.diff(self.start) > 0
        at_once = self.leaving + self.moves @ (~open_).astype(float)
        if (at_once[open_] * SLOW > 1).all():
            return True
        return self.lengths is not None and float(self.lengths.max()) < SLOW

    @cached_property
    def lengths(self) -> Floats | None:
        """The expected numbers of moves that change the state, to a factor of 2; None if unknown.

        They fall by at least half of the probability to change the state, [n], in every state.
        """
        x = self._by_band(self.changing, NARROW)
        if x is None:
            # If what the equations lack is at most half of their right side, x is right to a
            # factor 2.
            x = np.zeros(self.n)
            if not self._improve(x, self.changing, 0.5 * self.changing):
                return None
        return x if (x > 0).all() else None

    def _improve(self, x: Floats, right: Floats, within: Floats, transposed: bool = False) -> bool:
        """Iterate on x ([n]); whether its residual became small enough."""
        moves = self._transposed if transposed else (self.start, self.target, self.flow)
        work = np.empty((7, self.n))
        relative = kernels.chain.iterate(
            *moves, self.changing, self.changing if transposed else self.leaving,
            0.0 if transposed else 1.0, right, x, within, ROUNDING, PATIENCE, work,
        )  # fmt: skip
        if relative <= NEAR_ROUNDING:
            return True
        # Where values are small, what is left may be the rounding of larger ones elsewhere.
        residual, largest = np.abs(work[0]), float(np.abs(x).max())
        return bool((residual <= NEAR_ROUNDING * self.changing * largest).all())

    @cached_property
    def _transposed(self) -> tuple[Ints, Ints, Floats]:
        """P' as start, target and flow."""
        moves = csr_array(self.moves.T)
        return moves.indptr.astype(np.int64), moves.indices.astype(np.int64), moves.data

    def _by_band(
        self, right: Floats, widest: int | None = None, *, transposed: bool = False
    ) -> Floats | None:
        """The solution by elimination in an order of states in which moves lead nowhere far.

        Args:
            right: [n].
            widest: The largest number of places that a move may lead; what is not too much work if
                left out.
            transposed: Whether to solve the transposed system.

        Returns:
            None if it would be too much work, or some state is never left.
        """
        if widest is None:
            widest = int(min((LARGEST_WORK / self.n) ** 0.5, LARGEST_BAND / (2 * self.n)))
        if widest not in self._factors:
            self._factors[widest] = self._factored(widest)
        factors = self._factors[widest]
        if factors is None:
            return None
        x = right.copy()
        kernels.chain.solve_band(
            factors, self.start, self.target, self.flow, self.leaving, transposed, x
        )
        return x

    def _factored(self, widest: int) -> tuple[Floats, Floats, Ints] | None:
        """The chain, eliminated in an order in which moves lead no farther than so many places."""
        leads = np.diff(self.start) > 0
        place = np.full(self.n, -1)
        place[leads] = np.arange(leads.sum())
        target = place[self.target]
        # What leads on, state by state, without what ends there.
        before = np.concatenate(([0], np.cumsum(target >= 0)))[self.start]
        if self.n <= ELIMINATED:
            found: tuple[Ints, int] | None = np.arange(leads.sum()), max(int(leads.sum()) - 1, 0)
        else:
            found = narrow_order(before[np.append(leads, True)], target[target >= 0], widest)
        if found is None:
            return None
        order, width = found
        factors: tuple[Floats, Floats, Ints] = kernels.chain.factor_band(
            np.flatnonzero(leads)[order], width, self.start, self.target, self.flow, self.leaving
        )
        return factors if (factors[1] > 0).all() else None

    def _stuck(self) -> CertificateError:
        return CertificateError(
            f"{self.name}: play ends so rarely that floats cannot tell it from never"
        )
