"""A step of many environments over one sampling table, compiled.

The arrays are those of :class:`solvent.envs.sampling_table.SamplingTable`. Of n environments,
``state`` [n] int32 and ``stream`` [n] uint64 say where they are. Everything here agrees to the
last bit with :class:`solvent.envs.TabularEnv`.

A step is a sequence of short passes over all environments instead of one long pass. In a short
pass no environment waits for the memory that another one reads, and there is no branch that
depends on chance, so that the processor has dozens of them under way at a time. Indices are cast
to unsigned integers because Numba spends instructions on signed ones, which may be negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_U32, _U64, _I64 = np.uint32, np.uint64, np.int64


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
def start_of(draw: Any, threshold: Any, guide: Any, guide_shift: Any) -> Any:
    """The outcome of the start that a draw picks."""
    j = _I64(guide[_U64(draw >> guide_shift)])
    while draw >= threshold[_U64(j)]:
        j += 1
    return j


@njit(cache=True)
def step(
    state: NDArray[np.int32],
    stream: NDArray[np.uint64],
    action: NDArray[np.int64],
    span: NDArray[np.int32],
    threshold: NDArray[np.int64],
    next_state: NDArray[np.int32],
    outcome_reward: NDArray[np.float64],
    depth: int,
    guide: NDArray[np.int32],
    guide_shift: int,
    ended: NDArray[np.bool_],
    legal: NDArray[Any],
    seen: NDArray[Any],
    reward: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    mask: NDArray[Any],
    observation: NDArray[Any],
) -> int:
    """Play an action in each environment, or begin it again if its episode has ended.

    Args:
        state: Changed.
        stream: Changed.
        action: [n]; not read where the episode has ended.
        span: [S, A, 2] the first and the last outcome of an action in a state; ``~first`` if it is
            illegal.
        threshold: [N] 2^53 times the probability of a span's outcomes up to this.
        next_state: [N] the state that an outcome leads to.
        outcome_reward: The table's ``reward``.
        depth: How many halvings find an outcome in any span but the start's.
        guide: [2^m] for the start: the first outcome that a draw can pick whose upper m bits are
            the index.
        guide_shift: 53 - m.
        ended: The table's ``terminal``.
        legal: [S] records, a row of the table's ``mask`` in each.
        seen: [S] records, a row of the table's ``observation`` in each.
        reward: [n], filled.
        terminated: [n], filled.
        illegal: [n], filled.
        mask: [n] records, filled.
        observation: [n] records, filled.

    Returns:
        How many actions are out of range; unless it is 0, nothing has been changed or filled.
    """
    n, n_actions = len(state), span.shape[1]
    wrong = 0
    for i in range(n):
        wrong += (action[i] < 0) | (action[i] >= n_actions)
    if wrong > 0:
        return wrong

    begun_again, n_begun_again = np.empty(n, np.int32), 0
    for i in range(n):
        begun_again[n_begun_again] = i
        n_begun_again += int(ended[_U64(_U32(state[i]))])

    for i in range(n):
        stream[i] = advance(stream[i])

    outcome, last = np.empty(n, np.int32), np.empty(n, np.int32)
    ends = span.reshape(-1)
    for i in range(n):
        at = _U64(2) * (_U64(_U32(state[i])) * _U64(n_actions) + _U64(action[i]))
        first = ends[at]
        illegal[i] = first < 0
        outcome[i] = first ^ (first >> 31)
        last[i] = ends[at + _U64(1)]

    # Bisection with the same number of probes in every span; in a shorter one the probes stay
    # at its last outcome, whose threshold no draw reaches.
    for level in range(depth - 1, -1, -1):
        for i in range(n):
            j = _I64(outcome[i])
            probe = min(j + ((1 << level) - 1), _I64(last[i]))
            reached = _I64(draw_of(stream[i]) >= threshold[_U64(probe)])
            outcome[i] = j + (reached << level)

    for e in range(n_begun_again):
        i = begun_again[e]
        outcome[i] = start_of(draw_of(stream[i]), threshold, guide, guide_shift)

    for i in range(n):
        picked = _U64(_U32(outcome[i]))
        state[i] = next_state[picked]
        reward[i] = outcome_reward[picked]
    for i in range(n):
        s = _U64(_U32(state[i]))
        terminated[i] = ended[s]
        mask[i] = legal[s]
    for i in range(n):
        observation[i] = seen[_U64(_U32(state[i]))]
    return 0


@njit(cache=True)
def restart(
    chosen: NDArray[np.int64],
    state: NDArray[np.int32],
    stream: NDArray[np.uint64],
    threshold: NDArray[np.int64],
    next_state: NDArray[np.int32],
    guide: NDArray[np.int32],
    guide_shift: int,
) -> None:
    """Draw a start for the chosen environments; the arguments are as for :func:`step`."""
    for i in chosen:
        stream[i] = advance(stream[i])
        state[i] = next_state[start_of(draw_of(stream[i]), threshold, guide, guide_shift)]
