"""Compiled steps of many environments at once; importing this module compiles nothing.

- **A one-player table** (:func:`step_alone`). The arrays are those of :mod:`solvent.envs.sampling`
  and of :func:`solvent.envs.batches.cells`. The n environments are in the states ``state`` [n]
  int32 and have the random streams ``stream`` [n] uint64.
- **A seat against a pool of opponents** (:func:`step_seats`) is the same with a second player.
- **Without a table** the rules of the game make the steps, and only actions are drawn here
  (:func:`draw_actions`, :func:`draw_entries`).

Everything here agrees to the last bit with :class:`solvent.envs.Env`.

A step is a sequence of short passes, each over as many environments as fit in the first cache. In a
short pass no environment waits for the memory that another one reads, and no branch depends on
chance, so the processor works on dozens of environments at a time. After the learners' moves, the
passes are repeated for the environments in which the opponent is to act, until there are none.
Comparisons with thresholds are written as the sign of a difference, since LLVM turns conditional
moves that wait for memory into branches. Indices are cast to unsigned integers because Numba spends
instructions on signed ones, which may be negative.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.envs.sampling import Pool
from solvent.model.compiled import njit

_U32, _U64, _I64 = np.uint32, np.uint64, np.int64
FIRST, CUT = np.uint64((1 << 31) - 1), np.uint64((1 << 27) - 1)
_BLOCK = 1024


@njit(inline="always")
def copy_rows(source: Any, row: Any, to: Any) -> None:
    """Fill ``to[i]`` with ``source[row[i]]``.

    Args:
        source: [S, D].
        row: [n] int32 within 0..S-1.
        to: [n, D], of the same type.
    """
    for i in range(len(row)):
        place = _U64(_U32(row[i]))
        for d in range(_U64(to.shape[1])):
            to[i, d] = source[place, d]


@njit(inline="always")
def advance(x: Any) -> Any:
    """Return the next state of a stream."""
    x ^= x << _U64(13)
    x ^= x >> _U64(7)
    return x ^ (x << _U64(17))


@njit(inline="always")
def draw_of(x: Any) -> Any:
    """Return the draw that belongs to the state of a stream."""
    return _I64(x >> _U64(11))


@njit(inline="always")
def reached(draw: Any, threshold: Any) -> Any:
    """Return 1 if a draw is at least a threshold, else 0."""
    return _U64(threshold - _I64(1) - draw) >> _U64(63)


@njit(inline="always")
def pick(draw: Any, threshold: Any, first: Any, count: Any) -> Any:
    """Return the index in ``threshold[first : first + count]`` of the entry that a draw picks."""
    at, left = _I64(first), _I64(count)
    while left > 1:
        half = left >> 1
        # Written without a branch, since the processor could not predict it.
        at += half * _I64(draw >= threshold[_U64(at + half - 1)])
        left -= half
    return at - first


@njit()
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
        row: [n] packed rows (:func:`solvent.envs.sampling.packed_rows`).
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


@njit()
def step_alone(
    state: NDArray[np.int32],
    stream: NDArray[np.uint64],
    action: NDArray[np.int64],
    cell: NDArray[np.uint64],
    depth: int,
    starts: int,
    n_starts: int,
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
) -> None:
    """Play an action in each environment, or begin it again if its episode has ended.

    The arguments are `state` and `stream`, which are changed; the actions, [n]; the result of
    :func:`~solvent.envs.batches.cells`; the game's ``threshold``, ``to``, rewards to the player who
    chooses, and ``shift``; the table's ``mask`` and ``observation``; and arrays [n], [n, A] and
    [n, D] that are filled. Where the episode has ended, the action has no effect.
    """
    n = len(state)
    to_state = (_U64(1) << _U64(shift)) - _U64(1)
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
                j = pick(draw[i], threshold, starts, n_starts)
                picked[i] = (row[i] & FIRST) + _U64(j)
        for i in range(m):
            picked[i] = to[picked[i]]
        for i in range(m):
            state[at + _U64(i)] = (picked[i] & to_state) >> _U64(1)
            terminated[at + _U64(i)] = picked[i] & _U64(1)
        for i in range(m):
            reward[at + _U64(i)] = rewards[picked[i] >> _U64(shift)]
    copy_rows(legal, state, mask)
    copy_rows(seen, state, observation)


@njit()
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
        state: [n] states, changed in the chosen environments.
        stream: [n] random streams, changed in the chosen environments.
        row: [K+1] packed rows of the game, of which the last is the start.
        threshold: Thresholds of the packed rows.
        to: Target of each outcome (:mod:`solvent.envs.sampling`).
        shift: Number of low bits of a target that hold its state and whether it is terminal.
    """
    start = row[len(row) - 1]
    cut, places = (start >> _U64(32)) & CUT, _I64(1) << _I64(start >> _U64(59))
    to_state = (_U64(1) << _U64(shift)) - _U64(1)
    for i in chosen:
        stream[i] = advance(stream[i])
        at = pick(draw_of(stream[i]), threshold, _I64(cut), places)
        state[i] = (_U64(to[(start & FIRST) + _U64(at)]) & to_state) >> _U64(1)


@njit()
def draw_actions(
    chosen: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    stream: NDArray[np.uint64],
    action: NDArray[np.int64],
) -> None:
    """Draw an action in each of the chosen episodes.

    Args:
        chosen: [k] indices of episodes.
        probabilities: [k, A] weights, at least one of a row positive.
        stream: [n], changed.
        action: [n], changed in the chosen episodes.
    """
    for e in range(len(chosen)):
        i = chosen[e]
        stream[i] = advance(stream[i])
        total = 0.0
        for a in range(probabilities.shape[1]):
            total += probabilities[e, a]
        left = draw_of(stream[i]) * (total / 9007199254740992.0)
        for a in range(probabilities.shape[1]):
            if probabilities[e, a] > 0.0:
                # If rounding leaves a remainder, this is the last action of positive probability.
                action[i] = a
                left -= probabilities[e, a]
                if left < 0.0:
                    break


@njit()
def draw_entries(
    chosen: NDArray[np.int64],
    threshold: NDArray[np.int64],
    stream: NDArray[np.uint64],
    entry: NDArray[np.int32],
) -> None:
    """Draw an entry of one distribution for each chosen episode.

    Args:
        chosen: [k] indices of episodes.
        threshold: [K], of :func:`solvent.envs.sampling.inverse_cdf`; with a single entry
            nothing is drawn.
        stream: [n], changed.
        entry: [n], changed in the chosen episodes.
    """
    for i in chosen:
        entry[i] = 0
        if len(threshold) > 1:
            stream[i] = advance(stream[i])
            entry[i] = pick(draw_of(stream[i]), threshold, 0, len(threshold))


_OPPONENT, _NOBODY = 1, 2


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
    """Parts of the tables in :mod:`solvent.envs.sampling`, under their names there."""

    node: NDArray[np.int32]
    rank: NDArray[Any]
    row: NDArray[np.uint64]
    threshold: NDArray[np.int64]
    to: NDArray[Any]
    reward: NDArray[np.float64]
    shift: int
    sign: NDArray[np.float64]
    bonus: NDArray[np.float64]


@njit(inline="always")
def node_of(episodes: Any, table: Any, i: Any) -> Any:
    """Return the row of ``table.node`` for environment i."""
    n_states = len(table.node) // len(table.sign)
    return _U64(_I64(episodes.side[i]) * n_states + episodes.state[i])


@njit(inline="always")
def halvings(places: Any) -> Any:
    """Return the number of halvings that find one of `places` places, at least 1."""
    depth = 0
    while places > 1 << depth:
        depth += 1
    return depth


@njit()
def play_on(
    chosen: NDArray[np.int64],
    rank: NDArray[np.int32],
    earned: NDArray[np.float64],
    episodes: Episodes,
    table: Table,
    pool: Pool,
) -> None:
    """Make a transition in the chosen environments, and further ones while the opponent is to act.

    A transition draws two numbers, one for the opponent's action, even if it has only one, and one
    for the outcome. Both are found by bisection, in as many passes as the longest distribution
    needs. In a shorter one, probes beyond its end read its last threshold, which no draw reaches.

    Args:
        chosen: Indices of environments; overwritten.
        rank: [n] the learner's action as a number among its legal ones; set to 0.
        earned: [n] the learner's rewards so far; the new rewards are added.
        episodes: The episodes; changed.
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


@njit()
def begin_seats(
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
        episodes: The episodes; changed.
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


@njit()
def step_seats(
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
) -> None:
    """Play an action in each environment, up to the learner's next turn, or begin it again.

    The arguments are the actions, [n]; the fields of :class:`Episodes`, which are changed, of
    :class:`Table` and of :class:`Pool`, one by one, since Numba reads a tuple of arrays slowly; the
    table's ``mask`` and ``observation``; and arrays [n], [n, A] and [n, D] that are filled. Where
    the episode has ended, the action has no effect.
    """
    n = len(action)
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
            # `play_on` has not set it to 0 where nobody acted.
            chosen[i] = 0
        begin_seats(again[:n_again], chosen, episodes, table, pool)
        for i in range(begun, end):
            shows[i] = int(node_of(episodes, table, i))
    copy_rows(legal, shows, mask)
    copy_rows(seen, shows, observation)
