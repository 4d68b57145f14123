"""Compiled searches in the graph of a game: what leads where, and where play can stay."""

from __future__ import annotations

import numpy as np

from solvent.exact.compilation import Transitions, kernel
from solvent.model.arrays import Bools, Ints


@kernel()
def measure(
    start: Ints, target: Ints, order: Ints, label: Ints, cyclic: Bools, depth: Ints
) -> bool:
    """Find how far components are from an end, and which of a single node lead to themselves.

    Args:
        start: [S+1] the edges of node s are ``target[start[s] : start[s+1]]``.
        target: [E] where each edge leads.
        order: [S] the nodes, component by component.
        label: [S] the component of each node.
        cyclic: [C] whether a component has several nodes; written.
        depth: [C] of 0: the number of edges between components on the longest way out; written.

    Returns:
        Whether each component has a larger label than all others to which it leads.
    """
    ascending = True
    for s in order:
        c = label[s]
        for e in range(start[s], start[s + 1]):
            beyond = label[target[e]]
            if beyond != c:
                depth[c] = max(depth[c], depth[beyond] + 1)
                ascending = ascending and beyond < c
            elif target[e] == s:
                cyclic[c] = True
    return ascending


@kernel(allocates=True)
def trace_back(transitions: Transitions, rows: Bools, goal: Bools) -> Ints:
    """Return the states from which rows lead to a goal, breadth first from the goal backward.

    Args:
        transitions: Transitions of n states.
        rows: [K] the rows that may be used.
        goal: [n] the states of the goal, which come first.
    """
    row_start, outcome_start, target, _ = transitions
    n = len(goal)
    # The states that lead to state t will be source[start[t] : start[t+1]].
    start = np.zeros(n + 2, np.int64)
    for k in range(len(rows)):
        if rows[k]:
            for o in range(outcome_start[k], outcome_start[k + 1]):
                start[target[o] + 2] += 1
    for t in range(n):
        start[t + 2] += start[t + 1]
    source, order = np.empty(start[n + 1], np.int64), np.empty(n, np.int64)
    met, found, done = goal.copy(), 0, 0
    for s in range(n):
        if goal[s]:
            order[found] = s
            found += 1
        for k in range(row_start[s], row_start[s + 1]):
            if rows[k]:
                for o in range(outcome_start[k], outcome_start[k + 1]):
                    source[start[target[o] + 1]] = s
                    start[target[o] + 1] += 1
    while done < found:
        t = order[done]
        done += 1
        for e in range(start[t], start[t + 1]):
            if not met[source[e]]:
                order[found], met[source[e]] = source[e], True
                found += 1
    return order[:found]


@kernel()
def keep_staying(transitions: Transitions, gone: Bools, kept: Bools) -> None:
    """Find where play can go on for ever within some states, by some of their rows.

    Args:
        transitions: Transitions of n states; next states from n on are places outside.
        gone: [k] whether a row may not be used; then also whether it leads out of those states.
        kept: [n] the states, of which those are left in which play can go on.
    """
    row_start, outcome_start, next_state, _ = transitions
    n = len(row_start) - 1
    changed, forward = True, True
    while changed:
        changed = False
        for number in range(n):
            # Forth and back: play goes mostly to higher numbers, or mostly to lower ones.
            s = number if forward else n - 1 - number
            if not kept[s]:
                continue
            stays = False
            for k in range(row_start[s], row_start[s + 1]):
                if not gone[k]:
                    for o in range(outcome_start[k], outcome_start[k + 1]):
                        t = next_state[o]
                        if t >= n or not kept[t]:
                            gone[k] = True
                            break
                    stays = stays or not gone[k]
            if not stays:
                kept[s] = False
                changed = True
        forward = not forward
