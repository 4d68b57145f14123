"""A step of many environments in which a learner meets opponents of a pool, compiled.

Everything here agrees to the last bit with :class:`solvent.envs.SeatEnv`.

As in :mod:`solvent.envs.kernels.tabular`, a step is a sequence of short passes, so that
environments need not wait for one another's memory. After the learners' moves the passes are
repeated for those environments in which the opponent is to act, until there are none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.envs.kernels.tabular import advance, draw_of

_U64, _I64 = np.uint64, np.int64
_OPPONENT, _NOBODY = 1, 2


class Episodes(NamedTuple):
    """Where n environments are; arrays [n] that are changed in place.

    Attributes:
        state: int32, the state of the game.
        stream: uint64, the state of the random numbers.
        side: int32, which of the table's views the learner has.
        opponent: int32, which opponent of the pool it episodes.
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
    """Arrays of a :class:`solvent.envs.seat_table.SeatTable`, under their names there."""

    node: NDArray[np.int32]
    rank: NDArray[np.int32]
    row: NDArray[np.int32]
    threshold: NDArray[np.int64]
    next_state: NDArray[np.int32]
    reward: NDArray[Any]
    start_state: NDArray[np.int32]
    start_threshold: NDArray[np.int64]
    sign: NDArray[np.float64]
    bonus: NDArray[np.float64]


class Pool(NamedTuple):
    """Arrays of a :class:`solvent.envs.opponents.OpponentPool`, under their names there."""

    weight: NDArray[np.int64]
    policy: NDArray[np.int64]


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
def node_of(episodes: Any, table: Any, i: Any) -> Any:
    """The row of ``table.node`` at which environment i is."""
    n_states = len(table.node) // len(table.sign)
    return _U64(_I64(episodes.side[i]) * n_states + episodes.state[i])


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
    outcome.

    Args:
        chosen: Indices of environments; overwritten.
        rank: [n] the learner's action as a number among its legal ones; set to 0.
        earned: [n], to which the learner's rewards are added.
        episodes: Changed.
        table: Of the game.
        pool: Of opponents.
    """
    node, row = table.node, table.row
    choices, cuts = pool.policy.shape[1], pool.policy.reshape(-1)
    left = len(chosen)
    picked = np.empty(left, np.int64)
    while left > 0:
        for e in range(left):
            i = _U64(chosen[e])
            at = node_of(episodes, table, i)
            x = advance(episodes.stream[i])
            first = _I64(episodes.opponent[i]) * choices + node[at, 3]
            reply = pick(draw_of(x), cuts, first, node[at, 4])
            picked[e] = _I64(node[at, 0]) + _I64(rank[i]) * node[at, 1] + reply * node[at, 2]
            episodes.stream[i] = advance(x)
        for e in range(left):
            r = _U64(picked[e])
            draw = draw_of(episodes.stream[_U64(chosen[e])])
            picked[e] = row[r, 0] + pick(draw, table.threshold, row[r, 2], row[r, 1])
        for e in range(left):
            i, j = _U64(chosen[e]), _U64(picked[e])
            episodes.state[i] = table.next_state[j]
            earned[i] += table.sign[_U64(episodes.side[i])] * table.reward[j]
            rank[i] = 0
        more = 0
        for e in range(left):
            i = _U64(chosen[e])
            chosen[more] = chosen[e]
            more += int(node[node_of(episodes, table, i), 5] == _OPPONENT)
        left = more


@njit(cache=True)
def begin(chosen: NDArray[np.int64], episodes: Episodes, table: Table, pool: Pool) -> None:
    """Begin episodes in the chosen environments, up to the learner's first turn.

    Args:
        chosen: Indices of environments; overwritten.
        episodes: Changed.
        table: Of the game.
        pool: Of opponents.
    """
    waiting = 0
    for i in chosen:
        x = episodes.stream[i]
        if len(table.sign) > 1:
            x = advance(x)
            episodes.side[i] = draw_of(x) >> 52
        episodes.opponent[i] = 0
        if len(pool.weight) > 1:
            x = advance(x)
            episodes.opponent[i] = pick(draw_of(x), pool.weight, 0, len(pool.weight))
        x = advance(x)
        start = pick(draw_of(x), table.start_threshold, 0, len(table.start_threshold))
        episodes.state[i] = table.start_state[start]
        episodes.stream[i] = x
        episodes.owed[i] = 0.0
        episodes.over[i] = False
        chosen[waiting] = i
        waiting += int(table.node[node_of(episodes, table, i), 5] == _OPPONENT)
    rank = np.zeros(len(episodes.state), np.int32)
    play_on(chosen[:waiting], rank, episodes.owed, episodes, table, pool)


@njit(cache=True)
def step(
    action: NDArray[np.int64],
    episodes: Episodes,
    table: Table,
    pool: Pool,
    reward: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
) -> int:
    """Play an action in each environment, up to the learner's next turn, or begin it again.

    Args:
        action: [n]; not read where the episode has ended.
        episodes: Changed. Those that are over begin again.
        table: Of the game.
        pool: Of opponents.
        reward: [n], filled.
        terminated: [n], filled.
        illegal: [n], filled.

    Returns:
        How many actions are out of range; unless it is 0, nothing has been changed or filled.
    """
    n, n_actions = len(action), table.rank.shape[1]
    wrong = 0
    for i in range(n):
        wrong += (action[i] < 0) | (action[i] >= n_actions)
    if wrong > 0:
        return wrong

    acting, n_acting = np.empty(n, np.int64), 0
    again, n_again = np.empty(n, np.int64), 0
    chosen = np.zeros(n, np.int32)
    for i in range(n):
        at = node_of(episodes, table, i)
        reward[i] = episodes.owed[i]
        episodes.owed[i] = 0.0
        # Where the episode ended before the learner's first turn, there is nothing to play.
        acts = table.node[at, 5] != _NOBODY
        rank = table.rank[at, _U64(action[i])]
        illegal[i] = acts & (rank < 0)
        chosen[i] = max(rank, 0)
        acting[n_acting] = i
        n_acting += int(acts)
        again[n_again] = i
        n_again += int(episodes.over[i])
    play_on(acting[:n_acting], chosen, reward, episodes, table, pool)
    for i in range(n):
        ends = table.node[node_of(episodes, table, i), 5] == _NOBODY
        terminated[i] = ends & ~episodes.over[i]
        reward[i] += terminated[i] * table.bonus[episodes.side[i]]
        episodes.over[i] = ends
    begin(again[:n_again], episodes, table, pool)
    return 0


@njit(cache=True)
def draw_opponents(episodes: Episodes, pool: Pool) -> None:
    """Draw an opponent for each environment, from a pool of one without drawing a number.

    Args:
        episodes: Changed.
        pool: Of opponents.
    """
    for i in range(len(episodes.state)):
        episodes.opponent[i] = 0
        if len(pool.weight) > 1:
            x = advance(episodes.stream[i])
            episodes.stream[i] = x
            episodes.opponent[i] = pick(draw_of(x), pool.weight, 0, len(pool.weight))
