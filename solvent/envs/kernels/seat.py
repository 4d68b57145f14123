"""A step of many environments in which a learner meets opponents of a pool, compiled.

The arrays are those of :class:`solvent.envs.seat_table.SeatTable` (with its ``observation`` and
``mask`` as records, a row in each) and of :class:`solvent.envs.opponents.OpponentPool`. Of n
environments, these arrays [n] say where they are:

=============  =======  ====================================================================
``state``      int32    the state
``stream``     uint64   the state of the random numbers
``view``       int32    which of the table's views the learner has
``opponent``   int32    which opponent of the pool it plays
``owed``       float64  what the opponent's opening moves have paid and no step has reported
``over``       bool     whether the end of the play has been reported
=============  =======  ====================================================================

Everything here agrees to the last bit with :class:`solvent.envs.SeatEnv`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.envs.kernels.tabular import advance, draw_of

_U64, _I64 = np.uint64, np.int64
_OPPONENT, _NOBODY = 1, 2


@njit(cache=True, inline="always")
def pick(draw: Any, threshold: Any, first: Any, count: Any) -> Any:
    """Which of the entries ``threshold[first : first + count]`` a draw picks, counted from 0."""
    at, left = _I64(first), _I64(count)
    while left > 1:
        half = left >> 1
        # No branch here, since nobody could foresee which way it goes.
        at += half * _I64(draw >= threshold[_U64(at + half - 1)])
        left -= half
    return at - first


@njit(cache=True, inline="always")
def transition(
    x: Any, at: Any, rank: Any, node: Any, row: Any, threshold: Any, policy: Any
) -> tuple[Any, Any]:
    """Play the learner's legal action number `rank` and an action of its opponent.

    Draws two numbers: the opponent's action, even where it has but one, and the outcome.

    Args:
        x: The state of the stream.
        at: The row of `node` that stands for state and view.
        rank: The number of the action.
        node: Of the table, like the next two.
        row: As there.
        threshold: As there.
        policy: The opponent's row of the pool's ``policy``.

    Returns:
        The state of the stream afterwards, and the outcome.
    """
    x = advance(x)
    reply = pick(draw_of(x), policy, node[at, 3], node[at, 4])
    r = _U64(_I64(node[at, 0]) + _I64(rank) * node[at, 1] + reply * node[at, 2])
    x = advance(x)
    return x, _U64(row[r, 0] + pick(draw_of(x), threshold, row[r, 2], row[r, 1]))


@njit(cache=True)
def begin(
    chosen: NDArray[np.int64],
    state: NDArray[np.int32],
    stream: NDArray[np.uint64],
    view: NDArray[np.int32],
    opponent: NDArray[np.int32],
    owed: NDArray[np.float64],
    over: NDArray[np.bool_],
    node: NDArray[np.int32],
    row: NDArray[np.int32],
    threshold: NDArray[np.int64],
    next_state: NDArray[np.int32],
    outcome_reward: NDArray[Any],
    start_state: NDArray[np.int32],
    start_threshold: NDArray[np.int64],
    sign: NDArray[np.float64],
    weight: NDArray[np.int64],
    policy: NDArray[np.int64],
) -> None:
    """Begin plays in the chosen environments, up to the learner's first turn.

    Args:
        chosen: Indices of environments.
        state: Changed, like all arrays [n].
        stream: See the module.
        view: See the module.
        opponent: See the module.
        owed: See the module.
        over: See the module.
        node: Of the table, like the next eight; `outcome_reward` is its ``reward``.
        row: As there.
        threshold: As there.
        next_state: As there.
        outcome_reward: As there.
        start_state: As there.
        start_threshold: As there.
        sign: As there.
        weight: Of the pool.
        policy: Of the pool.
    """
    n_states = len(node) // len(sign)
    for i in chosen:
        x = stream[i]
        if len(sign) > 1:
            x = advance(x)
            view[i] = draw_of(x) >> 52
        if len(weight) > 1:
            x = advance(x)
            opponent[i] = pick(draw_of(x), weight, 0, len(weight))
        x = advance(x)
        s = start_state[pick(draw_of(x), start_threshold, 0, len(start_threshold))]
        paid = 0.0
        seat = _U64(view[i]) * _U64(n_states)
        while node[seat + _U64(s), 5] == _OPPONENT:
            x, j = transition(x, seat + _U64(s), 0, node, row, threshold, policy[opponent[i]])
            s = next_state[j]
            paid += sign[view[i]] * outcome_reward[j]
        state[i] = s
        stream[i] = x
        owed[i] = paid
        over[i] = False


@njit(cache=True)
def step(
    action: NDArray[np.int64],
    state: NDArray[np.int32],
    stream: NDArray[np.uint64],
    view: NDArray[np.int32],
    opponent: NDArray[np.int32],
    owed: NDArray[np.float64],
    over: NDArray[np.bool_],
    node: NDArray[np.int32],
    rank: NDArray[np.int32],
    row: NDArray[np.int32],
    threshold: NDArray[np.int64],
    next_state: NDArray[np.int32],
    outcome_reward: NDArray[Any],
    sign: NDArray[np.float64],
    bonus: NDArray[np.float64],
    policy: NDArray[np.int64],
    reward: NDArray[np.float64],
    illegal: NDArray[np.bool_],
) -> None:
    """Play an action in each environment whose play is not over, up to the learner's next turn.

    Args:
        action: [n], each within the table's actions; not read where play is over.
        state: Changed, like `stream`, `owed` and `over`.
        stream: See the module.
        view: See the module.
        opponent: See the module.
        owed: See the module.
        over: See the module.
        node: Of the table, like the next seven; `outcome_reward` is its ``reward``.
        rank: As there.
        row: As there.
        threshold: As there.
        next_state: As there.
        outcome_reward: As there.
        sign: As there.
        bonus: As there.
        policy: Of the pool.
        reward: [n], filled; 0 where play was over.
        illegal: [n], filled.
    """
    n_states = len(node) // len(sign)
    for i in range(len(state)):
        reward[i] = 0.0
        illegal[i] = False
        if over[i]:
            continue
        x = stream[i]
        s = state[i]
        v = view[i]
        seat = _U64(v) * _U64(n_states)
        paid = owed[i]
        owed[i] = 0.0
        if node[seat + _U64(s), 5] != _NOBODY:
            chosen = rank[seat + _U64(s), action[i]]
            illegal[i] = chosen < 0
            chosen = max(chosen, 0)
            cuts = policy[opponent[i]]
            while True:
                x, j = transition(x, seat + _U64(s), chosen, node, row, threshold, cuts)
                s = next_state[j]
                paid += sign[v] * outcome_reward[j]
                chosen = 0
                if node[seat + _U64(s), 5] != _OPPONENT:
                    break
            state[i] = s
            stream[i] = x
        if node[seat + _U64(s), 5] == _NOBODY:
            paid += bonus[v]
            over[i] = True
        reward[i] = paid


@njit(cache=True)
def look(
    state: NDArray[np.int32],
    view: NDArray[np.int32],
    n_states: int,
    legal: NDArray[Any],
    seen: NDArray[Any],
    mask: NDArray[Any],
    observation: NDArray[Any],
) -> None:
    """Copy what each environment shows its learner.

    Args:
        state: See the module.
        view: See the module.
        n_states: How many states the game has.
        legal: [V*S] records, rows of the table's ``mask``.
        seen: [V*S] records, rows of the table's ``observation``.
        mask: [n] records, filled.
        observation: [n] records, filled.
    """
    for i in range(len(state)):
        at = _U64(view[i]) * _U64(n_states) + _U64(state[i])
        mask[i] = legal[at]
        observation[i] = seen[at]
