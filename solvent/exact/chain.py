"""Linear equations of a Markov chain: (I - P) x = r, and the transposed system.

Small chains are factored (LU). In large ones factors fill in, and most of the games that lead to
such chains mix fast: then sweeps of Gauss-Seidel, in an order in which most states come after what
they lead to, need little more time than it takes to read the chain. Sweeps end when the residual
e is that of rounding, as small as a factorization would leave it; the error is at most e times the
expected number of moves, which :mod:`solvent.exact.certificate` takes into account. A chain that
mixes too slowly for that is factored as well.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from solvent.exact.solution import CertificateError
from solvent.model.arrays import Floats, Ints

FACTORED = 4000
"""Chains of up to so many states are factored without trying to sweep."""

SWEEPS = 400
"""Sweeps after which a chain counts as slow."""

ROUNDING = 4 * float(np.finfo(float).eps)
"""Residuals up to this, in units of the largest value, are rounding."""


class Chain:
    """Play among n states when it is fixed how likely each row is.

    Args:
        name: Of the game, for error messages.
        row_start: [n+1] rows of each state.
        outcome_start: [K+1] outcomes of each row.
        next_state: [N] where outcomes lead.
        probability: [N].
        weight: [K] the probability of each row in its state. A state without a row of positive
            weight has left for good, and from each of the others some state or row leaves.
    """

    def __init__(
        self,
        name: str,
        row_start: Ints,
        outcome_start: Ints,
        next_state: Ints,
        probability: Floats,
        weight: Floats,
    ) -> None:
        from solvent.exact.kernels.chain import merge_rows

        self.name = name
        self.n = len(row_start) - 1
        start, target, flow = merge_rows(row_start, outcome_start, next_state, probability, weight)
        self.moves = csr_array((flow, target, start), shape=(self.n, self.n))

    def solve(self, right: Floats) -> Floats:
        """Solve (I - P) x = right, [n].

        Args:
            right: [n].

        Raises:
            CertificateError: If the matrix is singular as far as floats can tell.
        """
        x = self._sweep(self.moves, self._order, right)
        return np.asarray(self._factors.solve(right)) if x is None else x

    def solve_transposed(self, right: Floats) -> Floats:
        """Solve (I - P)' x = right, [n].

        Raises:
            CertificateError: If the matrix is singular as far as floats can tell.
        """
        x = self._sweep(csr_array(self.moves.T), self._order[::-1].copy(), right)
        return np.asarray(self._factors.solve(right, trans="T")) if x is None else x

    def _sweep(self, moves: Any, order: Ints, right: Floats) -> Floats | None:
        """The solution by Gauss-Seidel; None if the chain is small or mixes slowly."""
        from solvent.exact.kernels.chain import sweep

        if self.n <= FACTORED:
            return None
        x = right.copy()
        for _ in range(SWEEPS):
            residual = sweep(order, moves.indptr, moves.indices, moves.data, right, x)
            largest = np.abs(x).max()
            if not np.isfinite(largest):
                break
            if residual <= ROUNDING * max(largest, np.abs(right).max()):
                return x
        return None

    @cached_property
    def _order(self) -> Ints:
        from solvent.exact.kernels.chain import successors_first

        return successors_first(self.moves.indptr, self.moves.indices)

    @cached_property
    def _factors(self) -> Any:
        # I - P has a dominant diagonal, so columns may be ordered for little fill-in alone.
        matrix = csc_array(eye_array(self.n) - self.moves)
        try:
            return splu(matrix, permc_spec="COLAMD", diag_pivot_thresh=0.0)
        except RuntimeError as error:
            raise CertificateError(
                f"{self.name}: play ends so rarely that floats cannot tell it from never"
            ) from error
