"""Solve many matrix games side by side with the supports of an earlier tick.

The *support* of a strategy is the set of calls with positive probability. From one tick to the next
the supports of an equilibrium rarely change, and once they are known, linear equations give the
strategies. Let B be the k x k payoffs of the calls in the supports, plus a constant that makes all
of them positive. The strategies are

    y = B^-1 1 / sum        x = B^-T 1 / sum

from one factorization B = L U. Each state is a *lane*, an entry of a vector, so that the processor
works on several states at a time. States with the same k are taken together. The factorization does
not pivot, because each lane would need other row exchanges.

A solution is accepted only if its duality gap max(A y) - min(x A) over all calls is no larger than
rounding explains. This rejects the states that needed a pivot, those with a negative probability,
and those in which a call outside the supports is better.

The result for a state does not depend on the states in other lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.model.arrays import Bools, Floats, Ints

ENOUGH = 1e-14
"""Duality gaps up to this, in units of the range of all payoffs, are accepted."""


class Lanes(NamedTuple):
    """Memory for L games of up to m x n payoffs, with K = min(m, n).

    ===========  ====================  ============================================================
    ``x``        [m, L] float64        the row players' strategies
    ``y``        [n, L] float64        the column players' strategies
    ``least``    [L] float64           security levels of the row players' strategies
    ``most``     [L] float64           largest payoffs against the column players' strategies
    ``total``    [L] float64           scratch space for sums
    ``size``     [L] int64             size k of each game's supports, 0 if it is not tried
    ``place``    [L] int64             the games, sorted by k
    ``start``    [K+1] int64           where the games of each k end in ``place``
    ``mine``     [K, L] int64          the row players' supports
    ``theirs``   [K, L] int64          the column players' supports
    ``kernel``   [K, K, L] float64     B, then its factors L and U
    ``left``     [K, L] float64        x on the supports, not yet divided by its sum
    ``right``    [K, L] float64        y on the supports, not yet divided by its sum
    ===========  ====================  ============================================================
    """

    x: Floats
    y: Floats
    least: Floats
    most: Floats
    total: Floats
    size: Ints
    place: Ints
    start: Ints
    mine: Ints
    theirs: Ints
    kernel: Floats
    left: Floats
    right: Floats


@njit(cache=True, error_model="numpy")
def lanes_for(m: int, n: int, lanes: int) -> Lanes:
    """Return memory for `lanes` games of up to m x n payoffs."""
    k = min(m, n)
    return Lanes(
        np.zeros((m, lanes)),
        np.zeros((n, lanes)),
        np.zeros(lanes),
        np.zeros(lanes),
        np.zeros(lanes),
        np.zeros(lanes, np.int64),
        np.zeros(lanes, np.int64),
        np.zeros(k + 1, np.int64),
        np.zeros((k, lanes), np.int64),
        np.zeros((k, lanes), np.int64),
        np.zeros((k, k, lanes)),
        np.zeros((k, lanes)),
        np.zeros((k, lanes)),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def try_supports(
    memory: Lanes,
    worth: Floats,
    cell: Ints,
    supports: NDArray[np.uint32],
    lift: float,
    enough: float,
    pending: Bools,
    values: Floats,
) -> float:
    """Solve the games whose given supports are those of an equilibrium.

    Args:
        memory: Memory for at least L games.
        worth: [rows, at least L] values of results and cells.
        cell: [m, n] the row of `worth` that holds each payoff.
        supports: [L, 2] bit masks of both players' supports, 0 where they are unknown.
        lift: Number added to payoffs to make them positive.
        enough: The largest duality gap that is accepted.
        pending: [L] the games to solve; those that are solved are taken out.
        values: [L], written where a game is solved.

    Returns:
        The largest duality gap among the accepted solutions.
    """
    lanes = len(values)
    most_calls = len(memory.mine)
    rows, columns = np.uint32(0), np.uint32(0)
    size, start = memory.size, memory.start
    start[:] = 0
    for lane in range(lanes):
        k = _bits(supports[lane, 0])
        fits = pending[lane] and k <= most_calls and k == _bits(supports[lane, 1])
        size[lane] = k if fits else 0
        start[size[lane]] += 1
        if fits:
            rows |= supports[lane, 0]
            columns |= supports[lane, 1]
    if rows == 0:
        return 0.0
    # In the end the games with k calls are at start[k - 1] to start[k] of the places.
    first = 0
    for k in range(most_calls + 1):
        start[k], first = first, first + start[k]
    for lane in range(lanes):
        memory.place[start[size[lane]]] = lane
        start[size[lane]] += 1
    memory.x[:, :lanes] = 0.0
    memory.y[:, :lanes] = 0.0
    for k in range(1, most_calls + 1):
        if start[k] > start[k - 1]:
            place = memory.place[start[k - 1] : start[k]]
            _equalize(memory, worth, cell, supports, lift, k, place)
    _bounds(memory, worth, cell, rows, columns, lanes)
    largest_gap = 0.0
    for lane in range(lanes):
        gap = memory.most[lane] - memory.least[lane]
        # With NaN among the strategies, the gap stays infinite.
        if size[lane] and abs(gap) <= enough:
            values[lane] = memory.least[lane]
            pending[lane] = False
            largest_gap = max(largest_gap, gap)
    return largest_gap


@njit(cache=True, nogil=True, error_model="numpy")
def _bits(mask: np.uint32) -> int:
    """Count the bits that are set, by sums of neighbours: branches are hard to predict here."""
    pairs = np.uint32(mask - ((mask >> np.uint32(1)) & np.uint32(0x55555555)))
    fours = (pairs & np.uint32(0x33333333)) + ((pairs >> np.uint32(2)) & np.uint32(0x33333333))
    eights = (fours + (fours >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    return int(np.int64(np.uint32(eights * np.uint32(0x01010101)) >> np.uint32(24)))


@njit(cache=True, nogil=True, error_model="numpy")
def _equalize(
    memory: Lanes,
    worth: Floats,
    cell: Ints,
    supports: NDArray[np.uint32],
    lift: float,
    k: int,
    place: Ints,
) -> None:
    """Write the strategies of the games in `place`, NaN if a probability is negative."""
    b, x, y = memory.kernel, memory.left, memory.right
    taken = len(place)
    for lane in range(taken):
        at = place[lane]
        _list(supports[at, 0], memory.mine, lane)
        _list(supports[at, 1], memory.theirs, lane)
    for i in range(k):
        mine = memory.mine[i]
        for j in range(k):
            entry, theirs = b[i, j], memory.theirs[j]
            for lane in range(taken):
                entry[lane] = worth[cell[mine[lane], theirs[lane]], place[lane]] + lift
    _factorize(b, k, taken)
    _solve(b, x, y, k, taken)
    for strategy, calls, out in ((x, memory.mine, memory.x), (y, memory.theirs, memory.y)):
        total = memory.total[:taken]
        total[:] = 0.0
        for i in range(k):
            part = strategy[i]
            for lane in range(taken):
                total[lane] += part[lane] if part[lane] >= 0 else np.nan
        for lane in range(taken):
            total[lane] = 1.0 / total[lane]
        for i in range(k):
            part, call = strategy[i], calls[i]
            for lane in range(taken):
                out[call[lane], place[lane]] = part[lane] * total[lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _list(mask: np.uint32, calls: Ints, lane: int) -> None:
    """List the calls of a mask."""
    count = 0
    while mask:
        lowest = mask & (~mask + np.uint32(1))
        calls[count, lane] = _bits(np.uint32(lowest - np.uint32(1)))
        mask ^= lowest
        count += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _factorize(b: Floats, k: int, lanes: int) -> None:
    """Factorize B = L U in place, with the diagonal of U inverted."""
    for c in range(k):
        inverse = b[c, c]
        for lane in range(lanes):
            inverse[lane] = 1.0 / inverse[lane]
        for i in range(c + 1, k):
            factor = b[i, c]
            for lane in range(lanes):
                factor[lane] *= inverse[lane]
            for j in range(c + 1, k):
                _subtract(b[i, j], factor, b[c, j], lanes)


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(b: Floats, x: Floats, y: Floats, k: int, lanes: int) -> None:
    """Solve B y = 1 and B' x = 1 with the factors of B."""
    for i in range(k):
        left, right, inverse = x[i], y[i], b[i, i]
        left[:lanes] = 1.0
        right[:lanes] = 1.0
        for j in range(i):
            _subtract(right, b[i, j], y[j], lanes)
            _subtract(left, b[j, i], x[j], lanes)
        for lane in range(lanes):
            left[lane] *= inverse[lane]
    for i in range(k - 1, -1, -1):
        left, right, inverse = x[i], y[i], b[i, i]
        for j in range(i + 1, k):
            _subtract(right, b[i, j], y[j], lanes)
            _subtract(left, b[j, i], x[j], lanes)
        for lane in range(lanes):
            right[lane] *= inverse[lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _subtract(out: Floats, a: Floats, b: Floats, lanes: int) -> None:
    """``out -= a * b``."""
    for lane in range(lanes):
        out[lane] -= a[lane] * b[lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _bounds(
    memory: Lanes, worth: Floats, cell: Ints, rows: np.uint32, columns: np.uint32, lanes: int
) -> None:
    """Compute the security levels of all strategies; the masks unite the supports of all games."""
    m, n = cell.shape
    total, least, most = memory.total, memory.least, memory.most
    least[:] = np.inf
    most[:] = -np.inf
    for j in range(n):
        total[:] = 0.0
        for i in range(min(m, 32)):
            if (rows >> np.uint32(i)) & np.uint32(1):
                _add(total, memory.x[i], worth[cell[i, j]], lanes)
        for lane in range(lanes):
            least[lane] = min(least[lane], total[lane])
    for i in range(m):
        total[:] = 0.0
        for j in range(min(n, 32)):
            if (columns >> np.uint32(j)) & np.uint32(1):
                _add(total, memory.y[j], worth[cell[i, j]], lanes)
        for lane in range(lanes):
            most[lane] = max(most[lane], total[lane])


@njit(cache=True, nogil=True, error_model="numpy")
def _add(out: Floats, a: Floats, b: Floats, lanes: int) -> None:
    """``out += a * b``."""
    for lane in range(lanes):
        out[lane] += a[lane] * b[lane]
