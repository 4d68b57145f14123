"""Compiled modified policy iteration for a large component in which one player chooses.

Each round is one greedy sweep of Gauss-Seidel over all rows, then sweeps over the rows of the
policy alone, which are a few times cheaper, until what the greedy sweep left is ten times smaller
(Puterman and Shin 1978, "Modified Policy Iteration Algorithms for Discounted Markov Decision
Problems"). Three things make that quick:

- States are renumbered from the exits backward, so that a sweep carries a value from an exit
  through the whole component; sweeps run up and down by turns.
- Self-loops are removed: each row is divided by its probability to change the state.
- Where sweeps contract slowly, the policy is evaluated by elimination, if moves can be made to lead
  nowhere far, else by a Krylov method. Its patience doubles each time it fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvent.exact.compilation import Transitions, inner, kernel
from solvent.exact.kernels.chain import eliminate, iterate, solve_eliminated
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

GREEDY = 20
"""Greedy sweeps between two eliminations, at most."""

ELIMINATIONS = 500
"""Eliminations after which the approach has failed."""

NEAR = 1e-12
"""Changes of values below this, in units of the largest value, are taken for rounding if another
elimination makes them no smaller."""

FAILED, SETTLED_DOWN, CONTRACTS_SLOWLY = 0, 1, 2
"""Outcomes of an approach."""

SMALLER = 0.1
"""The factor by which sweeps over a policy reduce the remainder of the greedy sweep."""


@kernel(largest=-1, allocates=True)
def approach(
    edges: Transitions,
    leaving: Floats,
    r: Floats,
    order: Ints,
    width: int,
    policy: Ints,
    v: Floats,
    rounding: float,
) -> int:
    """Find values and a policy of a component, in most cases optimal but for rounding.

    Nothing is proved here: the caller checks the policy, and the certificate checks the values.

    Args:
        edges: The outcomes that stay in the component.
        leaving: [k] the probability with which each row leaves.
        r: [k] the expected reward of each row, with the value of where it leaves to.
        order: [n] an order of the states.
        width: The largest number of places in that order that a row leads away, if policies shall
            be evaluated by elimination. 0 for the Krylov method, -1 for an end where sweeps
            contract slowly.
        policy: [n] the row of each state with which to begin; the rows found are written here.
        v: [n] the values with which to begin; those found are written here.
        rounding: Residuals of the Krylov method that are rounding, in units of their terms.

    Returns:
        Whether the values settled, or sweeps contract slowly.
    """
    n = len(v)
    component, row_of, own = _laid_out(order, edges, leaving, r, policy)
    values = np.empty(n)
    for i in range(n):
        values[i] = v[order[i]]
    if width > 0:
        outcome: int = _eliminate(component, own, values, width)
    else:
        outcome = _iterate(component, own, values, rounding, width < 0)
    for i in range(n):
        policy[order[i]], v[order[i]] = row_of[own[i]], values[i]
    return outcome


@_inner
def _laid_out(order, edges, leaving, r, policy):  # type: ignore[no-untyped-def]
    """The component in a new order of states, without self-loops or rows that never move.

    Returns:
        Its transitions, whose probabilities are those of a row that moves, with the reward of each
        row until it moves, and how likely that leaves; the row of the component that each row is;
        and the policy.
    """
    row_start, edge_start, target, flow = edges
    n, rows, size = len(order), 0, 0
    place = np.empty(n, np.int64)
    for i in range(n):
        place[order[i]] = i
    starts, ends = np.zeros(n + 1, np.int64), np.zeros(len(leaving) + 1, np.int64)
    to, chance = np.empty_like(target), np.empty_like(flow)
    gain, out, row_of = np.empty_like(r), np.empty_like(r), np.empty(len(r), np.int64)
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
            gain[rows], out[rows], row_of[rows] = r[k] / moving, leaving[k] / moving, k
            rows += 1
            ends[rows] = size
        starts[i + 1] = rows
    return (Transitions(starts, ends, to, chance), gain, out), row_of, own


@_inner
def _room(component):  # type: ignore[no-untyped-def]
    """Room for the rows of a policy: where they begin, their targets, probabilities, gains, exits.

    Args:
        component: The component.
    """
    row_start, ends = component[0].row_start, component[0].outcome_start
    n, size = len(row_start) - 1, 0
    for s in range(n):
        most = 0
        for k in range(row_start[s], row_start[s + 1]):
            most = max(most, ends[k + 1] - ends[k])
        size += most
    start = np.zeros(n + 1, np.int64)
    return start, np.empty(size, np.int64), np.empty(size), np.empty(n), np.empty(n)


@_inner
def _eliminate(component, policy, v, width):  # type: ignore[no-untyped-def]
    """Improve values and a policy by greedy sweeps and eliminations, to rounding if they settle."""
    n, chain, before, up = len(v), _room(component), np.inf, True
    moves = np.empty((n, 2 * width + 1))
    for _ in range(ELIMINATIONS):
        left = 0.0
        for _ in range(GREEDY):
            left, largest = _sweep_greedily(component, policy, v, up)
            up = not up
            if not np.isfinite(largest):
                return FAILED
            if left <= SETTLED * largest or (left <= NEAR * largest and left >= 0.5 * before):
                return SETTLED_DOWN
        before = left
        _take_rows(component, policy, chain)
        start, target, flow, right, out = chain
        for s in range(n):
            for j in range(2 * width + 1):
                moves[s, j] = 0.0
            for e in range(start[s], start[s + 1]):
                moves[s, target[e] - s + width] += flow[e]
        changing = eliminate(moves, out)
        proper = True
        for total in changing:
            proper = proper and total > 0
        # Where play by the policy need not end, further sweeps look for a better one.
        if proper:
            v[:] = right
            solve_eliminated(moves, changing, v, False)
    return FAILED


@_inner
def _iterate(component, policy, v, rounding, impatient):  # type: ignore[no-untyped-def]
    """Improve values and a policy until nothing changes but for rounding."""
    n, chain = len(v), _room(component)
    moves, before, work = np.ones((2, n)), np.empty(n), np.empty((7, n))
    up, sweeps, spent, wait, patience = True, 0, 0, SPENT, PATIENCE
    while sweeps < MOST:
        left, largest = _sweep_greedily(component, policy, v, up)
        up = not up
        if not np.isfinite(largest):
            return FAILED
        if left <= SETTLED * largest:
            return SETTLED_DOWN
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
            if impatient:
                return CONTRACTS_SLOWLY
            before[:] = v
            if not _evaluate(chain, v, 0.01 * change, moves, rounding, patience, work):
                v[:] = before
                wait, patience = 2 * wait, 2 * patience
            spent = 0
    return FAILED


@_inner
def _sweep_greedily(component, policy, v, up):  # type: ignore[no-untyped-def]
    """One greedy sweep: the largest change of a value, and the largest value."""
    (row_start, ends, to, chance), gain, _ = component
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
    (_, ends, to, chance), gain, leaves = component
    start, target, flow, right, out = chain
    size = 0
    for s in range(len(policy)):
        right[s], out[s] = gain[policy[s]], leaves[policy[s]]
        for e in range(ends[policy[s]], ends[policy[s] + 1]):
            target[size], flow[size] = to[e], chance[e]
            size += 1
        start[s + 1] = size


@_inner
def _sweep(chain, v, up):  # type: ignore[no-untyped-def]
    """One sweep over the rows of a policy: the largest change of a value."""
    start, target, flow, right, _ = chain
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
    start, target, flow, right, out = chain
    changing, within = moves
    within[:] = enough
    residual = iterate(
        start, target, flow, changing, out, 1.0, right, v, within, rounding, patience, work
    )
    finite = True
    for value in v:
        finite = finite and np.isfinite(value)
    return finite and residual <= 100 * rounding
