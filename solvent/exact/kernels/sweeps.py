"""Compiled modified policy iteration for a large component in which one player chooses.

Each round is one greedy sweep of Gauss-Seidel over all rows, then sweeps over the rows of the
policy alone, which are a few times cheaper, until what the greedy sweep left is ten times smaller
(Puterman and Shin 1978, "Modified Policy Iteration Algorithms for Discounted Markov Decision
Problems"). Three things make that quick:

- States are renumbered from the exits backward, so that a sweep carries a value from an exit
  through the whole component; sweeps run up and down by turns.
- Self-loops are removed: each row is divided by its probability to change the state.
- Where sweeps contract slowly, the policy is evaluated by a Krylov method instead. Its patience
  doubles each time it fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvent.exact.compilation import inner, kernel
from solvent.exact.kernels.chain import iterate
from solvent.exact.transitions import Transitions
from solvent.model.arrays import Floats, Ints

_inner: Any = inner  # of functions whose arguments have no types

EVALUATIONS = 30
"""Sweeps over a policy between two greedy sweeps, at most."""

MEASURED = 18
"""The last sweeps over a policy, from which the contraction of one is measured."""

SLOW = 400
"""Sweeps still to come, by that contraction, from which on the Krylov method is tried."""

SPENT = 100
"""Sweeps that are made before the Krylov method is tried first."""

PATIENCE = 12
"""Steps of the Krylov method without progress after which it is left, at first."""

MOST = 100_000
"""Sweeps after which the approach has failed; a grid of a million states takes some 5,000."""

SWITCH = 1e-15
"""A row replaces the policy's if its value is larger by more than this, relatively."""

SETTLED = 4 * float(np.finfo(float).eps)
"""Changes of values below this, in units of the largest value, are rounding."""

SMALLER = 0.1
"""The factor by which sweeps over a policy reduce the remainder of the greedy sweep."""


@kernel(largest=-1, allocates=True)
def approach(
    edges: Transitions, leaving: Floats, r: Floats, policy: Ints, v: Floats, rounding: float
) -> bool:
    """Find values and a policy of a component, in most cases optimal but for rounding.

    Nothing is proved here: the caller checks the policy, and the certificate checks the values.

    Args:
        edges: The outcomes that stay in the component.
        leaving: [k] the probability with which each row leaves.
        r: [k] the expected reward of each row, with the value of where it leaves to.
        policy: [n] the row of each state with which to begin; the rows found are written here.
        v: [n] the values, written.
        rounding: Residuals of the Krylov method that are rounding, in units of their terms.

    Returns:
        Whether the values settled.
    """
    n = len(v)
    order = _from_exits(edges, leaving)
    component, row_of, own = _laid_out(order, edges, leaving, r, policy)
    values = np.zeros(n)
    settled: bool = _iterate(component, own, values, rounding)
    for i in range(n):
        policy[order[i]], v[order[i]] = row_of[own[i]], values[i]
    return settled


@_inner
def _from_exits(edges, leaving):  # type: ignore[no-untyped-def]
    """The states of a component, [n], breadth first from its exits backward."""
    row_start, edge_start, target, _ = edges
    n = len(row_start) - 1
    start = np.zeros(n + 2, np.int64)
    for t in target:
        start[t + 2] += 1
    for t in range(n):
        start[t + 2] += start[t + 1]
    source, order = np.empty(len(target), np.int64), np.empty(n, np.int64)
    met, found = np.zeros(n, np.bool_), 0
    for s in range(n):
        for k in range(row_start[s], row_start[s + 1]):
            if leaving[k] > 0 and not met[s]:
                order[found], met[s] = s, True
                found += 1
            for e in range(edge_start[k], edge_start[k + 1]):
                source[start[target[e] + 1]] = s
                start[target[e] + 1] += 1
    for i in range(n):
        for e in range(start[order[i]], start[order[i] + 1]):
            if not met[source[e]]:
                order[found], met[source[e]] = source[e], True
                found += 1
    return order


@_inner
def _laid_out(order, edges, leaving, r, policy):  # type: ignore[no-untyped-def]
    """The component in a new order of states, without self-loops or rows that never move.

    Returns:
        Its transitions, whose probabilities are those of a row that moves, with the reward of each
        row until it moves; the row of the component that each row is; and the policy.
    """
    row_start, edge_start, target, flow = edges
    n, rows, size = len(order), 0, 0
    place = np.empty(n, np.int64)
    for i in range(n):
        place[order[i]] = i
    starts, ends = np.zeros(n + 1, np.int64), np.zeros(len(leaving) + 1, np.int64)
    to, chance = np.empty_like(target), np.empty_like(flow)
    gain, row_of = np.empty_like(r), np.empty(len(r), np.int64)
    own = np.zeros(n, np.int64)
    for i in range(n):
        s = order[i]
        own[i] = rows
        for k in range(row_start[s], row_start[s + 1]):
            moving = leaving[k]
            for e in range(edge_start[k], edge_start[k + 1]):
                if target[e] != s:
                    moving += flow[e]
            if not moving > 0:
                continue
            for e in range(edge_start[k], edge_start[k + 1]):
                if target[e] != s:
                    to[size], chance[size] = place[target[e]], flow[e] / moving
                    size += 1
            if k == policy[s]:
                own[i] = rows
            gain[rows], row_of[rows] = r[k] / moving, k
            rows += 1
            ends[rows] = size
        starts[i + 1] = rows
    return (Transitions(starts, ends, to, chance), gain), row_of, own


@_inner
def _iterate(component, policy, v, rounding):  # type: ignore[no-untyped-def]
    """Improve values and a policy until nothing changes but for rounding; whether that was so."""
    row_start, ends = component[0].row_start, component[0].outcome_start
    n, size = len(v), 0
    for s in range(n):
        most = 0
        for k in range(row_start[s], row_start[s + 1]):
            most = max(most, ends[k + 1] - ends[k])
        size += most
    chain = (np.zeros(n + 1, np.int64), np.empty(size, np.int64), np.empty(size), np.empty(n))
    moves, before, work = np.ones((3, n)), np.empty(n), np.empty((7, n))
    up, sweeps, spent, wait, patience = True, 0, 0, SPENT, PATIENCE
    while sweeps < MOST:
        left, largest = _sweep_greedily(component, policy, v, up)
        up = not up
        if not np.isfinite(largest):
            return False
        if left <= SETTLED * largest:
            return True
        _take_rows(component, policy, chain)
        change, first, made = 0.0, 0.0, 0
        while made < EVALUATIONS:
            change = _sweep(chain, v, up)
            up, made = not up, made + 1
            if made == EVALUATIONS - MEASURED:
                first = change
            if change <= SMALLER * left:
                break
        sweeps, spent = sweeps + made + 1, spent + made + 1
        if made < EVALUATIONS or spent < wait or not change > 0:
            continue
        decay = np.log(first / change) / MEASURED
        if decay * SLOW < np.log(change / (SETTLED * largest)):
            before[:] = v
            if not _evaluate(chain, v, 0.01 * change, moves, rounding, patience, work):
                v[:] = before
                wait, patience = 2 * wait, 2 * patience
            spent = 0
    return False


@_inner
def _sweep_greedily(component, policy, v, up):  # type: ignore[no-untyped-def]
    """One greedy sweep: the largest change of a value, and the largest value."""
    (row_start, ends, to, chance), gain = component
    left, largest = 0.0, 0.0
    for i in range(len(v)):
        s = i if up else len(v) - 1 - i
        now = policy[s]
        best = gain[now]
        for e in range(ends[now], ends[now + 1]):
            best += chance[e] * v[to[e]]
        better = SWITCH * abs(best)
        for k in range(row_start[s], row_start[s + 1]):
            if k != now:
                q = gain[k]
                for e in range(ends[k], ends[k + 1]):
                    q += chance[e] * v[to[e]]
                if q > best + better:
                    best, policy[s] = q, k
        left, largest = max(left, abs(best - v[s])), max(largest, abs(best))
        v[s] = best
    return left, largest


@_inner
def _take_rows(component, policy, chain):  # type: ignore[no-untyped-def]
    """Copy the rows of a policy, which are read more quickly where they lie together."""
    (_, ends, to, chance), gain = component
    start, target, flow, right = chain
    size = 0
    for s in range(len(policy)):
        right[s] = gain[policy[s]]
        for e in range(ends[policy[s]], ends[policy[s] + 1]):
            target[size], flow[size] = to[e], chance[e]
            size += 1
        start[s + 1] = size


@_inner
def _sweep(chain, v, up):  # type: ignore[no-untyped-def]
    """One sweep over the rows of a policy: the largest change of a value."""
    start, target, flow, right = chain
    left = 0.0
    for i in range(len(v)):
        s = i if up else len(v) - 1 - i
        value = right[s]
        for e in range(start[s], start[s + 1]):
            value += flow[e] * v[target[e]]
        left = max(left, abs(value - v[s]))
        v[s] = value
    return left


@_inner
def _evaluate(chain, v, enough, moves, rounding, patience, work):  # type: ignore[no-untyped-def]
    """Evaluate a policy by the Krylov method; whether that succeeded."""
    start, target, flow, right = chain
    changing, last, within = moves
    for s in range(len(v)):
        last[s], within[s] = 1.0, enough
        for e in range(start[s], start[s + 1]):
            last[s] -= flow[e]
        last[s] = max(last[s], 0.0)
    residual = iterate(
        start, target, flow, changing, last, 1.0, right, v, within, rounding, patience, work
    )
    finite = True
    for value in v:
        finite = finite and np.isfinite(value)
    return finite and residual <= 100 * rounding
