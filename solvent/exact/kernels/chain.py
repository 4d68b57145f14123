"""Compiled loops over Markov chains: rows put together, an order, Gauss-Seidel, ways out.

Arrays are named as in :class:`solvent.model.TabularGame`; ``rows`` of a state are consecutive.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvent.model.arrays import Bools, Floats, Ints


@njit(cache=True)
def merge_rows(
    row_start: Ints, outcome_start: Ints, next_state: Ints, probability: Floats, weight: Floats
) -> tuple[Ints, Ints, Floats]:
    """The chain in which each row is played with the given weight.

    Returns:
        Entries of each state ([S+1]), where they lead (distinct within a state), and how likely.
    """
    n = len(row_start) - 1
    start = np.zeros(n + 1, np.int64)
    place = np.full(n, -1)
    size = 0
    for s in range(n):
        for k in range(row_start[s], row_start[s + 1]):
            if weight[k] > 0:
                for o in range(outcome_start[k], outcome_start[k + 1]):
                    if place[next_state[o]] != s:
                        place[next_state[o]] = s
                        size += 1
        start[s + 1] = size
    target, flow = np.zeros(size, np.int64), np.zeros(size)
    place[:] = -1
    for s in range(n):
        end = start[s]
        for k in range(row_start[s], row_start[s + 1]):
            if weight[k] > 0:
                for o in range(outcome_start[k], outcome_start[k + 1]):
                    t = next_state[o]
                    if place[t] < start[s]:
                        place[t] = end
                        target[end] = t
                        end += 1
                    flow[place[t]] += weight[k] * probability[o]
    return start, target, flow


@njit(cache=True)
def successors_first(start: Ints, target: Ints) -> Ints:
    """The states in an order in which most come after what they lead to (depth first), [S]."""
    n = len(start) - 1
    order = np.zeros(n, np.int64)
    found = 0
    follow = start[:-1].copy()
    seen = np.zeros(n, np.bool_)
    path = np.zeros(n, np.int64)
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        path[0], length = root, 1
        while length > 0:
            s = path[length - 1]
            if follow[s] == start[s + 1]:
                order[found] = s
                found += 1
                length -= 1
                continue
            t = target[follow[s]]
            follow[s] += 1
            if not seen[t]:
                seen[t] = True
                path[length] = t
                length += 1
    return order


@njit(cache=True, error_model="numpy")
def sweep(order: Ints, start: Ints, target: Ints, flow: Floats, right: Floats, x: Floats) -> float:
    """One sweep of Gauss-Seidel for (I - P) x = right; the largest residual that it met.

    Args:
        order: [S] in which states are visited.
        start: [S+1] entries of each row of P.
        target: Their columns.
        flow: Their values.
        right: [S].
        x: [S], read and written.
    """
    largest = 0.0
    for s in order:
        value, stays = right[s], 0.0
        for e in range(start[s], start[s + 1]):
            if target[e] == s:
                stays += flow[e]
            else:
                value += flow[e] * x[target[e]]
        largest = max(largest, abs(value - (1.0 - stays) * x[s]))
        x[s] = value / (1.0 - stays)
    return largest


@njit(cache=True)
def distances_out(
    row_start: Ints,
    edge_start: Ints,
    target: Ints,
    rows: Bools,
    leaves: Bools,
    outside: Bools,
) -> Ints:
    """For each state, the least number of the given rows to leave.

    Args:
        row_start: [S+1].
        edge_start: [K+1] edges of each row, of those that do not leave.
        target: Where they lead.
        rows: [K] that may be used.
        leaves: [K] whether a row can leave.
        outside: [S] states that have left, at distance 1.

    Returns:
        [S], -1 where there is no way.
    """
    n = len(row_start) - 1
    distance = np.full(n, -1)
    waiting = np.arange(n)
    for s in range(n):
        if outside[s]:
            distance[s] = 1
        for k in range(row_start[s], row_start[s + 1]):
            if rows[k] and leaves[k]:
                distance[s] = 1
                break
    left, steps = n, 1
    while True:
        steps += 1
        still, changed = 0, False
        for i in range(left):
            s = waiting[i]
            if distance[s] < 0:
                if _leads_to(s, steps - 1, row_start, edge_start, target, rows, distance):
                    distance[s], changed = steps, True
                else:
                    waiting[still] = s
                    still += 1
        left = still
        if not changed:
            return distance


@njit(cache=True)
def _leads_to(
    s: int, goal: int, row_start: Ints, edge_start: Ints, target: Ints, rows: Bools, distance: Ints
) -> bool:
    """Whether one of a state's rows can lead to a state at the distance `goal`."""
    for k in range(row_start[s], row_start[s + 1]):
        if rows[k]:
            for e in range(edge_start[k], edge_start[k + 1]):
                if distance[target[e]] == goal:
                    return True
    return False


@njit(cache=True)
def likeliest_ways_out(
    row_start: Ints,
    edge_start: Ints,
    target: Ints,
    chance: Floats,
    leaving: Floats,
    outside: Bools,
) -> tuple[Floats, Ints]:
    """For each state, its most probable path that leaves, and the row that it begins with.

    Args:
        row_start: [S+1].
        edge_start: [K+1] edges of each row, of those that do not leave.
        target: Where they lead.
        chance: The logarithm of how probable each edge is, at most 0.
        leaving: [K] the logarithm of how likely a row leaves at once.
        outside: [S] states that have left.

    Returns:
        The logarithm of the path's probability, -inf where there is none, and of equals the row
        that was found first, -1 where there is none; both [S].
    """
    n = len(row_start) - 1
    best, way = np.full(n, -np.inf), np.full(n, -1)
    for s in range(n):
        for k in range(row_start[s], row_start[s + 1]):
            if leaving[k] > best[s]:
                best[s], way[s] = leaving[k], k
        if outside[s]:
            best[s], way[s] = 0.0, row_start[s]
    changed, sweeps = True, 0
    # Only a path that is strictly better replaces another, so that none goes round. Sweeps go up
    # and down by turns: what one of them finds at once takes the other a sweep for each state.
    while changed:
        changed, sweeps = False, sweeps + 1
        for i in range(n):
            s = i if sweeps % 2 else n - 1 - i
            for k in range(row_start[s], row_start[s + 1]):
                for e in range(edge_start[k], edge_start[k + 1]):
                    through = chance[e] + best[target[e]]
                    if through > best[s]:
                        best[s], way[s], changed = through, k, True
    return best, way
