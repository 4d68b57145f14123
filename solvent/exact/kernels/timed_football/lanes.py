"""Eight columns at a time: are the calls that were mixed a tick before an equilibrium again?

Most of the time they are, and then the mixes follow from equations alone. In neighbouring columns
the same calls are mixed as a rule, so columns with the same two supports are taken together and
every number becomes a vector of :data:`LANES` numbers, on which processors work at once.

With k calls of each side and payoffs moved up so that all are positive, B, the mixes are

    y = B^-1 1 / sum        x = B^-T 1 / sum

from one factorization B = L U. Rows are exchanged for the largest pivot as the first column has it.
What comes of it is accepted column by column, if no probability is negative and the duality gap
max(A y) - min(x A), over all calls, is at rounding. Whatever goes wrong on the way is seen in that.
A column's answer depends on the columns beside it in so far as they are taken together; that is the
same however the sheet is cut, since a situation's columns always stay together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.model.arrays import Bools, Floats, Ints

LANES = 8
"""Columns that are taken together."""

FEWEST = 2
"""Of fewer columns with the same supports each is solved by itself."""


class Lanes(NamedTuple):
    """Memory for games of up to m x n payoffs; k is the lesser of m and n.

    ===========  ====================  ============================================================
    ``here``     [rows, 8] float64     worth of results and cells in the columns taken together
    ``factors``  [k, k, 8] float64     L and U
    ``x``        [k, 8] float64        the row player's mix, on its support
    ``y``        [k, 8] float64        the column player's
    ``total``    [8] float64
    ``least``    [8] float64           what the row player's mix is sure of
    ``most``     [8] float64           the most that the column player's mix pays
    ``mine``     [k] int64             the row player's support
    ``theirs``   [k] int64             the column player's
    ``place``    [8] int64             the columns
    ===========  ====================  ============================================================
    """

    here: Floats
    factors: Floats
    x: Floats
    y: Floats
    total: Floats
    least: Floats
    most: Floats
    mine: Ints
    theirs: Ints
    place: Ints


@njit(cache=True, error_model="numpy")
def lanes_for(m: int, n: int, rows: int) -> Lanes:
    """Memory for games of m x n whose payoffs are picked from so many rows."""
    k = min(m, n)
    return Lanes(
        np.zeros((rows, LANES)),
        np.zeros((k, k, LANES)),
        np.zeros((k, LANES)),
        np.zeros((k, LANES)),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(LANES),
        np.zeros(k, np.int64),
        np.zeros(k, np.int64),
        np.zeros(LANES, np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def try_supports(
    lanes: Lanes,
    by_row: Floats,
    cell: Ints,
    supports: NDArray[np.uint32],
    lift: float,
    enough: float,
    pending: Bools,
    values: Floats,
) -> float:
    """Solve the columns of a situation in which the given supports do.

    Args:
        lanes: Memory.
        by_row: [rows, C] what results and cells are worth.
        cell: [m, n] the row of each payoff.
        supports: [C, 2] bit masks, 0 where nothing is known.
        lift: Is added to payoffs to make them positive.
        enough: The largest duality gap that is accepted.
        pending: [C] the columns to solve; those that are solved are taken out.
        values: [C], written where a column is solved.

    Returns:
        The largest duality gap of what was accepted.
    """
    largest_gap = 0.0
    columns = len(pending)
    tried = ~pending
    for c in range(columns):
        offence, defence = supports[c, 0], supports[c, 1]
        if tried[c] or offence == 0:
            continue
        taken = 0
        for other in range(c, columns):
            same = supports[other, 0] == offence and supports[other, 1] == defence
            if same and not tried[other]:
                tried[other] = True
                lanes.place[taken] = other
                taken += 1
                if taken == LANES:
                    break
        if taken < FEWEST:
            continue
        lanes.place[taken:] = c
        k = _list(offence, lanes.mine)
        if k == 0 or k != _list(defence, lanes.theirs):
            continue
        for row in range(len(by_row)):
            for lane in range(LANES):
                lanes.here[row, lane] = by_row[row, lanes.place[lane]]
        _mixes(lanes, cell, k, lift)
        _bounds(lanes, cell, k)
        for lane in range(taken):
            gap = lanes.most[lane] - lanes.least[lane]
            # Not a number in one of them leaves an infinity.
            if abs(gap) <= enough:
                at = lanes.place[lane]
                values[at] = lanes.least[lane]
                pending[at] = False
                largest_gap = max(largest_gap, gap)
    return largest_gap


@njit(cache=True, nogil=True, error_model="numpy")
def _list(mask: int, calls: Ints) -> int:
    """List the calls of a mask; how many there are, 0 if they are more than fit."""
    count = 0
    for i in range(32):
        if (mask >> np.uint32(i)) & np.uint32(1):
            if count == len(calls):
                return 0
            calls[count] = i
            count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _mixes(lanes: Lanes, cell: Ints, k: int, lift: float) -> None:
    """Equalize on the supports."""
    b, x, y, mine = lanes.factors, lanes.x, lanes.y, lanes.mine
    for i in range(k):
        for j in range(k):
            payoff = lanes.here[cell[mine[i], lanes.theirs[j]]]
            for lane in range(LANES):
                b[i, j, lane] = payoff[lane] + lift
    for c in range(k):
        pivot = c
        for i in range(c + 1, k):
            if abs(b[i, c, 0]) > abs(b[pivot, c, 0]):
                pivot = i
        if pivot != c:
            mine[c], mine[pivot] = mine[pivot], mine[c]
            for j in range(k):
                for lane in range(LANES):
                    b[c, j, lane], b[pivot, j, lane] = b[pivot, j, lane], b[c, j, lane]
        for i in range(c + 1, k):
            for lane in range(LANES):
                b[i, c, lane] /= b[c, c, lane]
            for j in range(c + 1, k):
                for lane in range(LANES):
                    b[i, j, lane] -= b[i, c, lane] * b[c, j, lane]
    # B y = 1, and B' x = 1 with the rows in the order in which they have come.
    for i in range(k):
        for lane in range(LANES):
            y[i, lane] = 1.0
            x[i, lane] = 1.0
        for j in range(i):
            for lane in range(LANES):
                y[i, lane] -= b[i, j, lane] * y[j, lane]
                x[i, lane] -= b[j, i, lane] * x[j, lane]
        for lane in range(LANES):
            x[i, lane] /= b[i, i, lane]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            for lane in range(LANES):
                y[i, lane] -= b[i, j, lane] * y[j, lane]
                x[i, lane] -= b[j, i, lane] * x[j, lane]
        for lane in range(LANES):
            y[i, lane] /= b[i, i, lane]
    _to_one(lanes.total, x, k)
    _to_one(lanes.total, y, k)


@njit(cache=True, nogil=True, error_model="numpy")
def _to_one(total: Floats, mix: Floats, k: int) -> None:
    """Make probabilities sum to 1; a mix with a negative one becomes not a number."""
    for lane in range(LANES):
        total[lane] = 0.0
    for i in range(k):
        for lane in range(LANES):
            total[lane] += mix[i, lane] if mix[i, lane] >= 0 else np.nan
    for i in range(k):
        for lane in range(LANES):
            mix[i, lane] /= total[lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _bounds(lanes: Lanes, cell: Ints, k: int) -> None:
    """What the mixes are sure of, over all calls of the other side."""
    x, y, here, total = lanes.x, lanes.y, lanes.here, lanes.total
    m, n = cell.shape
    for lane in range(LANES):
        lanes.least[lane] = np.inf
        lanes.most[lane] = -np.inf
    for j in range(n):
        for lane in range(LANES):
            total[lane] = 0.0
        for i in range(k):
            payoff = here[cell[lanes.mine[i], j]]
            for lane in range(LANES):
                total[lane] += x[i, lane] * payoff[lane]
        for lane in range(LANES):
            lanes.least[lane] = min(lanes.least[lane], total[lane])
    for i in range(m):
        for lane in range(LANES):
            total[lane] = 0.0
        for j in range(k):
            payoff = here[cell[i, lanes.theirs[j]]]
            for lane in range(LANES):
                total[lane] += payoff[lane] * y[j, lane]
        for lane in range(LANES):
            lanes.most[lane] = max(lanes.most[lane], total[lane])
