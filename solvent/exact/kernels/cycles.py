"""Compiled iteration on the states of one cycle in each of which at most one player chooses.

It is the algorithm of :mod:`solvent.exact.mdp`, and where both players have a choice that of
:mod:`solvent.exact.markov_game`, step by step and with the same rules for ties. A game such as Pig
has ten thousand components of some hundred states, and there what NumPy adds to each of a hundred
small operations is most of the time.

What this module does not do it leaves: :func:`solve` then says so and changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvent.exact.compilation import inner, kernel
from solvent.exact.kernels.chain import (
    factor_by_cut,
    find_cut,
    find_exits,
    solve_by_cut,
    take,
)
from solvent.exact.kernels.induction import add_advantages, add_rises
from solvent.exact.transitions import Transitions
from solvent.model.arrays import Floats, Ints

LARGEST_COMPONENT = 4000
"""Largest number of states in a component."""

_inner: Any = inner  # of functions whose arguments have no types

ROUNDS = 50
"""Rounds of either iteration after which a component is left."""


CANCELS = 1e-9
"""Rows that lose less than this, in units of what changes along them, may make up a loop whose
rewards cancel."""


@kernel(largest=-1, allocates=True)
def solve(
    states: Ints,
    transitions: Transitions,
    outcome_reward: Floats,
    first: Ints,
    second: Ints,
    tie: float,
    grain: float,
    greedy: bool,
    place: Ints,
    values: Floats,
    chosen: Ints,
) -> bool:
    """Solve a component.

    Args:
        states: [n] the states of the component, ascending.
        transitions: The transitions of the game.
        outcome_reward: [N] the reward of each outcome, to player 0.
        first: [S] how many actions player 0 has.
        second: [S] how many actions player 1 has; one of the two numbers is 1.
        tie: Up to which difference advantages are equal, in units of what changes along rows.
        grain: The same, in units of the smaller part of a state's value.
        greedy: Whether to begin with the rows of the largest reward, if only player 0 chooses.
        place: [S] of -1, for use meanwhile.
        values: [S] the value of each state, to player 0; read outside, written inside.
        chosen: [S] the row chosen in each state, written.

    Returns:
        Whether it is solved.
    """
    row_start, outcome_start, next_state, probability = transitions
    n = len(states)
    if n > LARGEST_COMPONENT:
        return False
    rows = np.zeros(n + 1, np.int64)
    for i in range(n):
        place[states[i]] = i
        rows[i + 1] = rows[i] + row_start[states[i] + 1] - row_start[states[i]]
    k = rows[n]
    state, outs = np.zeros(k, np.int64), np.zeros(k + 1, np.int64)
    for i in range(n):
        for j in range(rows[i + 1] - rows[i]):
            row = row_start[states[i]] + j
            state[rows[i] + j] = i
            outs[rows[i] + j + 1] = outs[rows[i] + j] + outcome_start[row + 1] - outcome_start[row]
    size = outs[k]
    target = np.zeros(size, np.int64)
    chance, reward = np.zeros(size), np.zeros(size)
    known = np.zeros(n + size)
    edges, edge_target, edge_chance = np.zeros(k + 1, np.int64), target.copy(), chance.copy()
    leaving, r, rewarded = np.zeros(k), np.zeros(k), np.zeros(k, np.bool_)
    inside, outside = 0, 0
    for q in range(k):
        at = outcome_start[row_start[states[state[q]]] + q - rows[state[q]]]
        for o in range(outs[q], outs[q + 1]):
            source = at + o - outs[q]
            t = next_state[source]
            chance[o], reward[o] = probability[source], outcome_reward[source]
            beyond = 0.0
            if place[t] >= 0:
                target[o] = place[t]
                edge_target[inside], edge_chance[inside] = place[t], chance[o]
                inside += 1
            else:
                beyond = values[t]
                target[o], known[n + outside] = n + outside, beyond
                outside += 1
                leaving[q] += chance[o]
            r[q] += chance[o] * (reward[o] + beyond)
            rewarded[q] |= reward[o] != 0
        edges[q + 1] = inside
    for i in range(n):
        place[states[i]] = -1
    known = known[: n + outside]
    own, other = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    one, two = False, False
    for i in range(n):
        own[i], other[i] = first[states[i]] > 1, second[states[i]] > 1
        one, two = one or own[i], two or other[i]

    own_edges = Transitions(rows, edges, edge_target[:inside], edge_chance[:inside])
    component = (Transitions(rows, outs, target, chance), reward, known, own_edges, leaving, r)
    if greedy and not two:
        policy = rows[:-1].copy()
        for i in range(n):
            for q in range(rows[i] + 1, rows[i + 1]):
                if r[q] > r[policy[i]]:
                    policy[i] = q
    else:
        policy, leads_out = _likeliest_exit(component, np.ones(k, np.bool_))
        if not leads_out:
            return False
    # Of two who choose, player 1 responds, and player 0 improves until nothing rises.
    responding, sign, before = other if two else own, 1 - 2 * two, np.zeros((2, n))
    for turn in range(ROUNDS):
        settled, v, policy = _improve(component, responding, sign, policy, tie, grain)
        if not settled:
            return False
        if not (one and two):
            break
        a, change = _advantages(component, v)
        risen = turn == 0
        for i in range(n):
            most = 0.0
            for q in range(rows[i], rows[i + 1]):
                most = max(most, change[q])
            equal = _tie(v, i, most, tie, grain)
            risen |= (v[0, i] - before[0, i]) + (v[1, i] - before[1, i]) > equal
        if not risen:
            break
        before = v
        changed, improved = _better(rows, own, -sign, policy, v, a, change, tie, grain)
        if not changed:
            break
        policy = improved
    else:
        return False
    if one and two:
        a, change = _advantages(component, v)
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(v[0, i]))
        for q in range(k):
            largest = max(largest, change[q])
        paid = False
        for q in range(k):
            paid = paid or (rewarded[q] and leaving[q] == 0)
        for by, side in ((own, 1), (other, -1)):
            # Whether the other player can keep play going for ever, where ending costs it.
            kept = side * (v[0] + v[1]) > tie * largest
            if _can_stay(component, rewarded, by, policy, kept):
                return False
            # Or in loops whose rewards may cancel, along which no value is lost.
            kept[:] = paid
            if _can_stay(component, side * a > CANCELS * change, by, policy, kept):
                return False
    for i in range(n):
        values[states[i]] = v[0, i] + v[1, i]
        chosen[states[i]] = row_start[states[i]] + policy[i] - rows[i]
    return True


@_inner
def _improve(component, choosing, sign, policy, tie, grain):  # type: ignore[no-untyped-def]
    """Policy iteration of the player who chooses in some states, where the other's rows stay.

    Returns:
        Whether it settled, the values [2, n] to player 0, and the policy [n].
    """
    rows = component[0].row_start
    proper, v = _evaluate(component, policy)
    if not proper:
        allowed = np.zeros(rows[-1], np.bool_)
        for i in range(len(policy)):
            for q in range(rows[i], rows[i + 1]):
                allowed[q] = choosing[i] or q == policy[i]
        policy, leads_out = _likeliest_exit(component, allowed)
        if not leads_out:
            return False, v, policy
        proper, v = _evaluate(component, policy)
    for _ in range(ROUNDS):
        if not proper:
            break
        a, change = _advantages(component, v)
        changed, policy = _better(rows, choosing, sign, policy, v, a, change, tie, grain)
        if not changed:
            return True, v, policy
        proper, v = _evaluate(component, policy)
    return False, v, policy


@_inner
def _better(rows, choosing, sign, policy, v, a, change, tie, grain):  # type: ignore[no-untyped-def]
    """Return whether some state has a strictly better row, and the policy with the best of them."""
    changed, improved = False, policy.copy()
    for i in range(len(policy)):
        if choosing[i]:
            best = rows[i]
            for q in range(rows[i] + 1, rows[i + 1]):
                if sign * a[q] > sign * a[best]:
                    best = q
            now = policy[i]
            equal = _tie(v, i, max(change[best], change[now]), tie, grain)
            if sign * a[best] > sign * a[now] + equal:
                improved[i], changed = best, True
    return changed, improved


@_inner
def _tie(v, i, change, tie, grain):  # type: ignore[no-untyped-def]
    """Up to which difference advantages are equal in a state."""
    return tie * change + grain * abs(v[1, i]) + np.finfo(np.float64).tiny


@_inner
def _advantages(component, v):  # type: ignore[no-untyped-def]
    """The advantage of each row, [k], and the sum of what changes along it, [k]."""
    transitions, reward, known, edges, leaving, _ = component
    for i in range(v.shape[1]):
        known[i] = v[0, i]
    rise, change = np.zeros(len(leaving)), np.zeros(len(leaving))
    add_advantages(transitions, reward, known, 1, rise, change)
    add_rises(edges, leaving, v[1], rise)
    return rise, change


@_inner
def _likeliest_exit(component, allowed):  # type: ignore[no-untyped-def]
    """The row that begins the likeliest path out, [n] or -1, and whether all states have one."""
    _, _, _, (rows, edges, to, flow), leaving, _ = component
    chance, out = np.full(len(flow), -np.inf), np.full(len(leaving), -np.inf)
    for q in range(len(leaving)):
        if allowed[q]:
            out[q] = min(np.log(leaving[q]), 0.0) if leaving[q] > 0 else -np.inf
            for e in range(edges[q], edges[q + 1]):
                chance[e] = min(np.log(flow[e]), 0.0)
    best, first = np.full(len(rows) - 1, -np.inf), np.full(len(rows) - 1, -1)
    find_exits(Transitions(rows, edges, to, chance), out, best, first)
    leads_out = True
    for q in first:
        leads_out = leads_out and q >= 0
    return first, leads_out


@_inner
def _evaluate(component, policy):  # type: ignore[no-untyped-def]
    """The values of a policy, [2, n], and whether they could be found."""
    _, _, _, (_, edges, to, flow), leaving, r = component
    n = len(policy)
    v = np.zeros((2, n))
    begin, end = take(edges, policy), take(edges[1:], policy)
    out, right = take(leaving, policy), take(r, policy)
    order, cut = find_cut(begin, end, to)
    found, share, changing, moves, left = factor_by_cut(begin, end, to, flow, out, order, cut)
    if not found:
        return False, v
    finite = True
    for turn in range(2):
        if turn == 1:
            # What the equations still lack, found by differences, is solved for once more.
            right = take(_advantages(component, v)[0], policy)
        x = solve_by_cut(begin, end, to, flow, order, cut, share, changing, moves, left, right)
        for i in range(n):
            v[turn, i] = x[i]
            finite = finite and np.isfinite(x[i])
    return finite, v


@_inner
def _can_stay(component, barred, fixed, policy, kept):  # type: ignore[no-untyped-def]
    """Find whether play can go on for ever in some states by some rows.

    Args:
        component: The component.
        barred: [k] whether a row may not be used.
        fixed: [n] the states in which only the policy's row may be used.
        policy: [n].
        kept: [n] the states, of which those are left in which play can go on.
    """
    _, _, _, (rows, edges, to, _), leaving, _ = component
    changed = True
    while changed:
        changed = False
        for i in range(len(policy) - 1, -1, -1):
            if not kept[i]:
                continue
            stays = False
            for q in range(rows[i], rows[i + 1]):
                if barred[q] or leaving[q] > 0 or (fixed[i] and q != policy[i]):
                    continue
                within = True
                for e in range(edges[q], edges[q + 1]):
                    if not kept[to[e]]:
                        within = False
                        break
                if within:
                    stays = True
                    break
            if not stays:
                kept[i], changed = False, True
    return kept.any()
