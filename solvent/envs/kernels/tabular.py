"""A step of many environments over one sampling table, compiled.

The arrays are those of :mod:`solvent.envs.sampling_table` and of
:class:`solvent.envs.table_batch.Cells`. Of n environments, ``state`` [n] int32 and ``stream`` [n]
uint64 say where they are. Everything here agrees to the last bit with
:class:`solvent.envs.Env`.

A step is a sequence of short passes over as many environments as fit in the first cache, instead of
one long pass. In a short pass no environment waits for the memory that another one reads, and there
is no branch that depends on chance, so that the processor has dozens of them under way at a time.
Comparisons with thresholds are written as the sign of a difference, since LLVM makes branches of
conditional moves that wait for memory. Indices are cast to unsigned integers because Numba spends
instructions on signed ones, which may be negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.envs.kernels.rows import copy_rows

_U32, _U64, _I64 = np.uint32, np.uint64, np.int64
FIRST, CUT = np.uint64((1 << 31) - 1), np.uint64((1 << 27) - 1)
_BLOCK = 1024


@njit(cache=True, inline="always")
def advance(x: Any) -> Any:
    """The next state of a stream."""
    x ^= x << _U64(13)
    x ^= x >> _U64(7)
    return x ^ (x << _U64(17))


@njit(cache=True, inline="always")
def draw_of(x: Any) -> Any:
    """The draw that a stream has made on coming into a state."""
    return _I64(x >> _U64(11))


@njit(cache=True, inline="always")
def reached(draw: Any, threshold: Any) -> Any:
    """1 if a draw is not less than a threshold, else 0."""
    return _U64(threshold - _I64(1) - draw) >> _U64(63)


@njit(cache=True, inline="always")
def pick(draw: Any, threshold: Any, first: Any, count: Any) -> Any:
    """Index, from 0, of the entry of ``threshold[first : first + count]`` that a draw picks."""
    at, left = _I64(first), _I64(count)
    while left > 1:
        half = left >> 1
        # No branch here, since nobody could foresee which way it goes.
        at += half * _I64(draw >= threshold[_U64(at + half - 1)])
        left -= half
    return at - first


@njit(cache=True)
def pick_outcomes(
    row: NDArray[np.uint64],
    draw: NDArray[np.int64],
    picked: NDArray[np.uint64],
    count: int,
    depth: Any,
    threshold: NDArray[np.int64],
) -> None:
    """Find the outcomes that draws pick, all by the same number of halvings.

    Args:
        row: [n] packed rows (:func:`solvent.envs.random_stream.packed_rows`).
        draw: [n] the draws.
        picked: [n], filled with places in the game's ``to``.
        count: Number of entries to fill.
        depth: Number of halvings of the longest of the rows, at least 2.
        threshold: Thresholds of the packed rows.
    """
    if depth == 2:
        for i in range(count):
            cut = (row[i] >> _U64(32)) & CUT
            j = reached(draw[i], threshold[cut + _U64(1)]) << _U64(1)
            j += reached(draw[i], threshold[cut + j])
            picked[i] = (row[i] & FIRST) + j
        return
    for i in range(count):
        picked[i] = 0
    for level in range(depth - 1, -1, -1):
        reach = (_U64(1) << _U64(level)) - _U64(1)
        for i in range(count):
            # In a shorter row the probe is its last threshold, which no draw reaches.
            places = (_U64(1) << (row[i] >> _U64(59))) - _U64(1)
            probe = ((row[i] >> _U64(32)) & CUT) + picked[i] + (reach & places)
            picked[i] += reached(draw[i], threshold[probe]) << _U64(level)
    for i in range(count):
        picked[i] += row[i] & FIRST


@njit(cache=True)
def step(
    state: NDArray[np.int32],
    stream: NDArray[np.uint64],
    action: NDArray[np.int64],
    cell: NDArray[np.uint64],
    depth: int,
    guide: NDArray[np.int32],
    starts: int,
    threshold: NDArray[np.int64],
    to: NDArray[Any],
    rewards: NDArray[np.float64],
    shift: int,
    legal: NDArray[np.int8],
    seen: NDArray[Any],
    reward: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    mask: NDArray[np.int8],
    observation: NDArray[Any],
) -> int:
    """Play an action in each environment, or begin it again if its episode has ended.

    After `state` and `stream`, which are changed, and the actions, [n], come the fields of
    :class:`~solvent.envs.table_batch.Cells`; the game's ``threshold``, ``to``, rewards to the
    player who chooses, and ``shift``; the table's ``mask`` and ``observation``; and arrays [n],
    [n, A] and [n, D] that are filled. An action is not read where the episode has ended.

    Returns:
        How many actions are out of range; unless it is 0, nothing has been changed or filled.
    """
    n, n_actions = len(state), _U64(cell.shape[1])
    wrong = 0
    for i in range(n):
        wrong += int(_U64(action[i]) >= n_actions)
    if wrong > 0:
        return wrong

    to_state = (_U64(1) << _U64(shift)) - _U64(1)
    # A draw's upper bits are an index of the guide.
    guide_shift = 53
    while 1 << (53 - guide_shift) < len(guide):
        guide_shift -= 1
    row, picked = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    draw, again = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.uint64)
    for begun in range(0, n, _BLOCK):
        m, at = min(n - begun, _BLOCK), _U64(begun)
        for i in range(m):
            x = advance(stream[at + _U64(i)])
            stream[at + _U64(i)], draw[i] = x, draw_of(x)
        for i in range(m):
            e = at + _U64(i)
            row[i] = cell[_U64(_U32(state[e])), _U64(action[e])]
        for i in range(m):
            illegal[at + _U64(i)] = (row[i] >> _U64(31)) & _U64(1)

        pick_outcomes(row, draw, picked, m, depth, threshold)
        if starts > 0:
            n_again = 0
            for i in range(m):
                again[n_again] = i
                n_again += int((row[i] >> _U64(32)) & CUT == _U64(0))
            for k in range(n_again):
                i = again[k]
                j = _U64(guide[_U64(draw[i] >> guide_shift)])
                while draw[i] >= threshold[_U64(starts) + j]:
                    j += _U64(1)
                picked[i] = (row[i] & FIRST) + j
        for i in range(m):
            picked[i] = to[picked[i]]
        for i in range(m):
            state[at + _U64(i)] = (picked[i] & to_state) >> _U64(1)
            terminated[at + _U64(i)] = picked[i] & _U64(1)
        for i in range(m):
            reward[at + _U64(i)] = rewards[picked[i] >> _U64(shift)]
    copy_rows(legal, state, mask)
    copy_rows(seen, state, observation)
    return 0


@njit(cache=True)
def restart(
    chosen: NDArray[np.int64],
    state: NDArray[np.int32],
    stream: NDArray[np.uint64],
    row: NDArray[np.uint64],
    threshold: NDArray[np.int64],
    to: NDArray[Any],
    shift: int,
) -> None:
    """Draw a start for the chosen environments.

    Args:
        chosen: Indices of the environments.
        state: Changed.
        stream: Changed.
        row: The game's.
        threshold: The game's.
        to: The game's.
        shift: The game's.
    """
    start = row[len(row) - 1]
    cut, places = (start >> _U64(32)) & CUT, _I64(1) << _I64(start >> _U64(59))
    to_state = (_U64(1) << _U64(shift)) - _U64(1)
    for i in chosen:
        stream[i] = advance(stream[i])
        at = pick(draw_of(stream[i]), threshold, _I64(cut), places)
        state[i] = (_U64(to[(start & FIRST) + _U64(at)]) & to_state) >> _U64(1)
