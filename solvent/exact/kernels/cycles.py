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
    write_component,
    write_edges,
)
from solvent.exact.kernels.induction import add_advantages, add_rises
from solvent.exact.kernels.markov_game import keep_staying
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
    n = len(states)
    if n > LARGEST_COMPONENT:
        return False
    component = _taken(states, place, transitions, outcome_reward, values)
    rows, r = component[0].row_start, component[5]
    own, other = first[states] > 1, second[states] > 1
    one, two = own.any(), other.any()
    if greedy and not two:
        policy = rows[:-1].copy()
        for i in range(n):
            for q in range(rows[i] + 1, rows[i + 1]):
                if r[q] > r[policy[i]]:
                    policy[i] = q
    else:
        policy, leads_out = _likeliest_exit(component, np.ones(len(r), np.bool_))
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
            most = change[rows[i] : rows[i + 1]].max()
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
    if one and two and _can_go_on(component, own, other, policy, v, tie):
        return False
    for i in range(n):
        values[states[i]] = v[0, i] + v[1, i]
        chosen[states[i]] = transitions.row_start[states[i]] + policy[i] - rows[i]
    return True


@_inner
def _taken(states, place, transitions, outcome_reward, values):  # type: ignore[no-untyped-def]
    """The component as arrays.

    Returns:
        Its transitions, the reward of each outcome, room for the values of its states before those
        of the places outside, its outcomes inside, and each row's probability to leave and reward.
    """
    row_start, outcome_start, _, _ = transitions
    n, size = len(states), 0
    rows = np.zeros(n + 1, np.int64)
    for i, s in enumerate(states):
        place[s] = i
        rows[i + 1] = rows[i] + row_start[s + 1] - row_start[s]
        size += outcome_start[row_start[s + 1]] - outcome_start[row_start[s]]
    k = rows[n]
    taken = Transitions(rows, np.zeros(k + 1, np.int64), np.empty(size, np.int64), np.empty(size))
    reward, boundary = np.empty(size), np.empty(size)
    beyond = write_component(
        states, place, transitions, outcome_reward, values, 1, taken, reward, boundary
    )
    for s in states:
        place[s] = -1
    r, leaving, inside = np.zeros(k), np.zeros(k), size - beyond
    edges = Transitions(
        rows, np.zeros(k + 1, np.int64), np.empty(inside, np.int64), np.empty(inside)
    )
    write_edges(taken, reward, boundary, r, leaving, edges)
    return taken, reward, np.append(np.zeros(n), boundary[:beyond]), edges, leaving, r


@_inner
def _can_go_on(component, own, other, policy, v, tie):  # type: ignore[no-untyped-def]
    """Return whether one player could keep play going for ever against the other's policy.

    Either where ending costs it something, or in loops whose rewards may cancel, along which no
    value is lost.
    """
    (rows, outs, _, _), reward, _, edges, leaving, _ = component
    a, change = _advantages(component, v)
    largest = max(np.abs(v[0]).max(), change.max())
    rewarded = np.zeros(len(leaving), np.bool_)
    for q in range(len(leaving)):
        rewarded[q] = (reward[outs[q] : outs[q + 1]] != 0).any()
    paid = (rewarded & (leaving == 0)).any()
    for fixed, side in ((own, 1), (other, -1)):
        barred = leaving > 0
        for i in range(len(policy)):
            for q in range(rows[i], rows[i + 1]):
                barred[q] |= fixed[i] and q != policy[i]
        kept = side * (v[0] + v[1]) > tie * largest
        keep_staying(edges, barred | rewarded, kept)
        if kept.any():
            return True
        if paid:
            kept[:] = True
            keep_staying(edges, barred | (side * a > CANCELS * change), kept)
            if kept.any():
                return True
    return False


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
