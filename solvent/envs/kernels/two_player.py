"""A step of many environments in which a learner meets opponents of a pool, compiled.

Everything here agrees to the last bit with :class:`solvent.envs.Env`.

As in :mod:`solvent.envs.kernels.tabular`, a step is a sequence of short passes, so that
environments need not wait for one another's memory. After the learners' moves the passes are
repeated for those environments in which the opponent is to act, until there are none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.envs.kernels.drawing import draw_entries
from solvent.envs.kernels.rows import copy_rows
from solvent.envs.kernels.tabular import advance, draw_of, pick_outcomes, reached, restart

_U64, _I64 = np.uint64, np.int64
_OPPONENT, _NOBODY = 1, 2
_BLOCK = 1024


class Episodes(NamedTuple):
    """The positions of n environments, as arrays [n] that are changed in place.

    Attributes:
        state: int32, the state of the game.
        stream: uint64, the state of the random numbers.
        side: int32, which of the table's views the learner has.
        opponent: int32, which opponent of the pool it plays against.
        owed: float64, rewards of the opponent's opening moves, which no step has reported.
        over: bool, whether the end of the episode has been reported.
    """

    state: NDArray[np.int32]
    stream: NDArray[np.uint64]
    side: NDArray[np.int32]
    opponent: NDArray[np.int32]
    owed: NDArray[np.float64]
    over: NDArray[np.bool_]


class Table(NamedTuple):
    """Parts of the tables in :mod:`solvent.envs.sampling_table`, under their names there."""

    node: NDArray[np.int32]
    rank: NDArray[Any]
    row: NDArray[np.uint64]
    threshold: NDArray[np.int64]
    to: NDArray[Any]
    reward: NDArray[np.float64]
    shift: int
    sign: NDArray[np.float64]
    bonus: NDArray[np.float64]


class Pool(NamedTuple):
    """Arrays of a :class:`solvent.envs.opponents.OpponentPool`, under their names there."""

    sides: NDArray[np.int64]
    weight: NDArray[np.int64]
    policy: NDArray[np.int64]


@njit(cache=True, inline="always")
def node_of(episodes: Any, table: Any, i: Any) -> Any:
    """The row of ``table.node`` at which environment i is."""
    n_states = len(table.node) // len(table.sign)
    return _U64(_I64(episodes.side[i]) * n_states + episodes.state[i])


@njit(cache=True, inline="always")
def halvings(places: Any) -> Any:
    """Return the number of halvings that find one of so many places, at least 1."""
    depth = 0
    while places > 1 << depth:
        depth += 1
    return depth


@njit(cache=True)
def play_on(
    chosen: NDArray[np.int64],
    rank: NDArray[np.int32],
    earned: NDArray[np.float64],
    episodes: Episodes,
    table: Table,
    pool: Pool,
) -> None:
    """Make a transition in the chosen environments, and more where the opponent is then to act.

    A transition draws two numbers: the opponent's action, even where it has but one, and the
    outcome. Both are found by bisection in as many passes as the longest of these distributions
    takes; in a shorter one the probe stays at its last threshold, which no draw reaches.

    Args:
        chosen: Indices of environments; overwritten.
        rank: [n] the learner's action as a number among its legal ones; set to 0.
        earned: [n], to which the learner's rewards are added.
        episodes: Changed.
        table: The table of the game.
        pool: The pool of opponents.
    """
    node = table.node
    choices, cuts = pool.policy.shape[1], pool.policy.reshape(-1)
    shift = _U64(table.shift)
    where = (_U64(1) << shift) - _U64(1)
    left = len(chosen)
    draw, picked = np.empty(left, np.int64), np.empty(left, np.uint64)
    first, last = np.empty(left, np.uint64), np.empty(left, np.uint64)
    at, stride = np.empty(left, np.uint64), np.empty(left, np.uint64)
    row = np.empty(left, np.uint64)
    while left > 0:
        most = _I64(1)
        for e in range(left):
            i = _U64(chosen[e])
            here = node_of(episodes, table, i)
            x = advance(episodes.stream[i])
            episodes.stream[i], draw[e], picked[e] = x, draw_of(x), _U64(0)
            first[e] = _I64(episodes.opponent[i]) * choices + node[here, 3]
            last[e] = node[here, 4] - 1
            at[e] = _I64(node[here, 0]) + _I64(rank[i]) * node[here, 1]
            stride[e] = node[here, 2]
            rank[i] = 0
            most = max(most, _I64(node[here, 4]))
        for level in range(halvings(most) - 1, -1, -1):
            reach = (_U64(1) << _U64(level)) - _U64(1)
            for e in range(left):
                probe = first[e] + min(picked[e] + reach, last[e])
                picked[e] += reached(draw[e], cuts[probe]) << _U64(level)

        deepest = _U64(0)
        for e in range(left):
            row[e] = table.row[at[e] + picked[e] * stride[e]]
            deepest = max(deepest, row[e] >> _U64(59))
        for e in range(left):
            i = _U64(chosen[e])
            x = advance(episodes.stream[i])
            episodes.stream[i], draw[e] = x, draw_of(x)
        pick_outcomes(row, draw, picked, left, _I64(deepest), table.threshold)
        for e in range(left):
            picked[e] = table.to[picked[e]]
        for e in range(left):
            i = _U64(chosen[e])
            episodes.state[i] = (picked[e] & where) >> _U64(1)
            earned[i] += table.sign[_U64(episodes.side[i])] * table.reward[picked[e] >> shift]
        more = 0
        for e in range(left):
            i = _U64(chosen[e])
            chosen[more] = chosen[e]
            more += int(node[node_of(episodes, table, i), 5] == _OPPONENT)
        left = more


@njit(cache=True)
def begin(
    chosen: NDArray[np.int64],
    rank: NDArray[np.int32],
    episodes: Episodes,
    table: Table,
    pool: Pool,
) -> None:
    """Begin episodes in the chosen environments, up to the learner's first turn.

    Args:
        chosen: Indices of environments; overwritten.
        rank: [n] zeros, and zeros again afterwards.
        episodes: Changed.
        table: The table of the game.
        pool: The pool of opponents.
    """
    draw_entries(chosen, pool.sides, episodes.stream, episodes.side)
    draw_entries(chosen, pool.weight, episodes.stream, episodes.opponent)
    restart(
        chosen, episodes.state, episodes.stream, table.row, table.threshold, table.to, table.shift
    )
    waiting = 0
    for i in chosen:
        episodes.owed[i] = 0.0
        episodes.over[i] = False
        chosen[waiting] = i
        waiting += int(table.node[node_of(episodes, table, i), 5] == _OPPONENT)
    play_on(chosen[:waiting], rank, episodes.owed, episodes, table, pool)


@njit(cache=True)
def step(
    action: NDArray[np.int64],
    state: NDArray[np.int32],
    stream: NDArray[np.uint64],
    side: NDArray[np.int32],
    opponent: NDArray[np.int32],
    owed: NDArray[np.float64],
    over: NDArray[np.bool_],
    node: NDArray[np.int32],
    rank: NDArray[Any],
    row: NDArray[np.uint64],
    threshold: NDArray[np.int64],
    to: NDArray[Any],
    rewards: NDArray[np.float64],
    shift: int,
    sign: NDArray[np.float64],
    bonus: NDArray[np.float64],
    sides: NDArray[np.int64],
    weight: NDArray[np.int64],
    policy: NDArray[np.int64],
    legal: NDArray[np.int8],
    seen: NDArray[Any],
    reward: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    mask: NDArray[np.int8],
    observation: NDArray[Any],
) -> int:
    """Play an action in each environment, up to the learner's next turn, or begin it again.

    After the actions, [n], come the fields of :class:`Episodes`, which are changed, of
    :class:`Table` and of :class:`Pool`, one by one, since Numba reads a tuple of arrays slowly;
    then the table's ``mask`` and ``observation``, and arrays [n], [n, A] and [n, D] that are
    filled. An action is not read where the episode has ended: it begins again.

    Returns:
        How many actions are out of range; unless it is 0, nothing has been changed or filled.
    """
    n, n_actions = len(action), rank.shape[1]
    wrong = 0
    for i in range(n):
        wrong += int(_U64(action[i]) >= _U64(n_actions))
    if wrong > 0:
        return wrong

    episodes = Episodes(state, stream, side, opponent, owed, over)
    table = Table(node, rank, row, threshold, to, rewards, shift, sign, bonus)
    pool = Pool(sides, weight, policy)
    acting, again = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
    chosen, shows = np.zeros(n, np.int32), np.empty(n, np.int32)
    for begun in range(0, n, _BLOCK):
        end = min(n, begun + _BLOCK)
        n_acting = n_again = 0
        for i in range(begun, end):
            at = node_of(episodes, table, i)
            reward[i] = owed[i]
            owed[i] = 0.0
            # Where the episode ended before the learner's first turn, there is nothing to play.
            acts = node[at, 5] != _NOBODY
            own = _I64(rank[at, _U64(action[i])])
            illegal[i] = acts & (own < 0)
            chosen[i] = max(int(own), 0)
            acting[n_acting] = i
            n_acting += int(acts)
            again[n_again] = i
            n_again += int(over[i])
        play_on(acting[:n_acting], chosen, reward, episodes, table, pool)
        for i in range(begun, end):
            ends = node[node_of(episodes, table, i), 5] == _NOBODY
            terminated[i] = ends & ~over[i]
            reward[i] += terminated[i] * bonus[side[i]]
            over[i] = ends
            # Where nobody acted, nobody has read it.
            chosen[i] = 0
        begin(again[:n_again], chosen, episodes, table, pool)
        for i in range(begun, end):
            shows[i] = int(node_of(episodes, table, i))
    copy_rows(legal, shows, mask)
    copy_rows(seen, shows, observation)
    return 0
