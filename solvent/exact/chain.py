"""Linear equations of a Markov chain: (I - P) x = r, and the transposed system.

The diagonal of I - P is the probability to change the state. It is taken as the sum of the ways
out, never as 1 minus the probability to stay: where a state is left once in 2^52 moves, the
difference would be all rounding.

Small chains are solved by an elimination without subtractions, which keeps its accuracy however
long play lasts (Grassmann, Taksar and Heyman 1985). Larger ones are solved by iteration: a Krylov
method, preconditioned by sweeps of Gauss-Seidel. The sweeps are at their best where play goes on in
one direction, the Krylov method where it goes everywhere. Iteration ends when the residual e is
that of rounding, as small as a factorization would leave it; the error is at most e times the
expected number of moves, which :mod:`solvent.exact.certificate` takes into account. A chain on
which that makes no progress is factored (LU) if that is not too much work. One that is left so
rarely that factors cannot tell it from a closed one is eliminated, one strongly connected part
after the other, as far as their size allows.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from solvent.exact import kernels
from solvent.exact.solution import CertificateError
from solvent.exact.transitions import Transitions
from solvent.model.arrays import Floats, Ints

ELIMINATED = 64
"""Chains of up to so many states are eliminated at once."""

ELIMINATED_IN_NEED = 2000
"""Strongly connected parts of up to so many states are eliminated where factors fail."""

SLOW = 1e8
"""Expected numbers of moves above this are not trusted to factors."""

LARGEST_WORK = 1e11
"""Chains whose factors would take more multiplications than this, some ten seconds, are not
factored."""

FACTORED = 4000
"""Parts of up to so many states are solved by their cuts."""

PATIENCE = 1000
"""Steps of iteration after which a residual that is not ten times smaller counts as stuck."""

MANY = 100
"""Strongly connected parts of more than one state from which on each is solved by itself."""

ROUNDING = 4 * float(np.finfo(float).eps)
"""Residuals up to this, in units of the terms that they are the sum of, are rounding."""

NEAR_ROUNDING = 64 * float(np.finfo(float).eps)
"""Residuals up to this, in the same units, are taken where no more can be had."""


class Chain:
    """Play among n states when it is fixed how likely each row is.

    Args:
        name: The game's name, for error messages.
        transitions: The transitions of the n states.
        weight: [K] the probability of each row in its state. A state without a row of positive
            weight has left for good.
        leaving: [n] the probability to leave the n states at once, nowhere if left out.
        parts: The states in sets, each after all that it leads to, and where sets begin, if known.

    Raises:
        CertificateError: If a state is never left, as far as floats can tell.
    """

    def __init__(
        self,
        name: str,
        transitions: Transitions,
        weight: Floats,
        leaving: Floats | None = None,
        parts: tuple[Ints, Ints] | None = None,
    ) -> None:
        self.name = name
        self.parts = parts
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
        if self.n > ELIMINATED:
            x = self._by_cuts(right)
            if x is None:
                x = self._iterate(right, within=within, guess=guess)
            if x is not None:
                return x
            if self._factors is not None:
                return np.asarray(self._factors.solve(right))
        return self._eliminate(right)

    def solve_transposed(self, right: Floats) -> Floats:
        """Solve (I - P)' x = right, [n].

        Raises:
            CertificateError: If the matrix is singular as far as floats can tell.
        """
        if self.n > ELIMINATED:
            x = self._iterate(right, transposed=True)
            if x is not None:
                return x
            if self._factors is not None:
                return np.asarray(self._factors.solve(right, trans="T"))
        return self._eliminate(right, transposed=True)

    def _by_cuts(self, right: Floats) -> Floats | None:
        """The solution part by part; None if there are few parts, or one has too many cycles."""
        if self.n <= FACTORED or self.parts is None:
            return None
        sizes = np.diff(self.parts[1])
        if (sizes > 1).sum() < MANY or sizes.max() > FACTORED:
            return None
        x = right.copy()
        solved = kernels.chain.solve_parts_by_cuts(
            *self.parts, self.start, self.target, self.flow, self.leaving, x
        )
        return x if solved and np.isfinite(x).all() else None

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
        # If what the equations lack is at most half of their right side, x is right to a factor 2.
        x = np.zeros(self.n)
        if self.n <= ELIMINATED:
            x = self._eliminate(self.changing)
        elif not self._improve(x, self.changing, 0.5 * self.changing):
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

    @cached_property
    def _factors(self) -> Any:
        """The factors of I - P; None if they are too large, or say that play lasts too long."""
        if self._work > LARGEST_WORK:
            return None
        # I - P has a dominant diagonal, so columns may be ordered for little fill-in alone.
        matrix = csc_array(diags_array(self.changing) - self.moves)
        try:
            factors = splu(matrix, permc_spec="COLAMD", diag_pivot_thresh=0.0)
        except RuntimeError:
            return None
        length = factors.solve(np.ones(self.n))
        return factors if ((length > 0) & (length * self.changing.max() < SLOW)).all() else None

    @property
    def _work(self) -> float:
        """Number of multiplications to factor, in an order that brings entries together."""
        moves = csr_array(
            (self.flow, self.target.astype(np.int32), self.start.astype(np.int32)),
            shape=(self.n, self.n),
        )
        place = np.empty(self.n, np.int64)
        place[reverse_cuthill_mckee(moves)] = np.arange(self.n)
        ends = np.repeat(place, np.diff(self.start)), place[self.target]
        width = np.zeros(self.n)
        np.maximum.at(width, np.maximum(*ends), np.abs(ends[0] - ends[1]))
        return float(width @ width)

    def _eliminate(self, right: Floats, *, transposed: bool = False) -> Floats:
        """The solution without subtractions, one strongly connected part after the other."""
        order, first = self._parts
        x = right.copy()
        if np.diff(first).max() > ELIMINATED_IN_NEED or not kernels.chain.eliminate_parts(
            order, first, self.start, self.target, self.flow, self.leaving, transposed, x
        ):
            raise self._stuck()
        return x

    @cached_property
    def _parts(self) -> tuple[Ints, Ints]:
        """The states, part by part, each after all that it leads to, and where parts begin."""
        order, first, _, _ = kernels.graph.strong_components(self.start, self.target)
        return order, first

    def _stuck(self) -> CertificateError:
        return CertificateError(
            f"{self.name}: play ends so rarely that floats cannot tell it from never"
        )
