"""Compiled search for strongly connected components.

Tarjan's algorithm (1972, "Depth-first search and linear graph algorithms") finds them in one
pass, each after all that it can lead to, which is the very order in which a game is solved. A
library's labels come without a promised order, and sorting tens of millions of edges afterwards
costs more than the search.
"""

from __future__ import annotations

import numpy as np

from solvent.exact.compilation import kernel
from solvent.model.arrays import Bools, Ints

UNSEEN = -1
"""A node that the search has not met."""


def strong_components(start: Ints, target: Ints) -> tuple[Ints, Ints, Bools, Ints]:
    """The strongly connected components of a directed graph, successors first.

    Args:
        start: [S+1] the edges of node s are ``target[start[s] : start[s+1]]``.
        target: [E] where each edge leads.

    Returns:
        order: [S] the nodes, component by component, ascending within one.
        first: [C+1] component c is ``order[first[c] : first[c+1]]``.
        cyclic: [C] whether a node of the component can reach itself.
        depth: [C] number of edges between components on the longest way out of component c.
    """
    n = len(start) - 1
    order, first, depth = np.empty(n, np.int64), np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
    cyclic = np.zeros(n, bool)
    found = _search(
        start, target, order, first, cyclic, depth, np.full(n, UNSEEN), np.empty(n, np.int64),
        np.full(n, UNSEEN), start[:-1].copy(), np.empty(n, np.int64), np.empty(n, np.int64),
    )  # fmt: skip
    return order, first[: found + 1], cyclic[:found], depth[:found]


@kernel()
def _search(
    start: Ints,
    target: Ints,
    order: Ints,
    first: Ints,
    cyclic: Bools,
    depth: Ints,
    index: Ints,
    low: Ints,
    component: Ints,
    edge: Ints,
    path: Ints,
    stack: Ints,
) -> int:
    """Find the components.

    Args:
        start: The same as for :func:`strong_components`.
        target: The same as for :func:`strong_components`.
        order: [S] written.
        first: [S+1] of 0, written.
        cyclic: [S] of False, written.
        depth: [S] of 0, written.
        index: [S] of UNSEEN: in which order nodes are discovered.
        low: [S] the earliest node on the stack that can be reached.
        component: [S] of UNSEEN: the component of each node.
        edge: [S] the next edge to follow out of each node, at first its first one.
        path: [S] the way down from the root of the search.
        stack: [S] the nodes whose component is still open.

    Returns:
        How many components there are.
    """
    n = len(start) - 1
    discovered, on_stack, found, placed = 0, 0, 0, 0
    for root in range(n):
        if index[root] != UNSEEN:
            continue
        length = 1
        path[0] = root
        while length > 0:
            node = path[length - 1]
            if index[node] == UNSEEN:
                index[node] = low[node] = discovered
                discovered += 1
                stack[on_stack] = node
                on_stack += 1
            down = False
            while edge[node] < start[node + 1]:
                other = target[edge[node]]
                if index[other] == UNSEEN:
                    path[length] = other
                    length += 1
                    down = True
                    break  # come back to this edge when `other` is finished
                if component[other] == UNSEEN:
                    low[node] = min(low[node], low[other])
                edge[node] += 1
            if down:
                continue
            length -= 1
            if low[node] < index[node]:
                continue
            # `node` is the first-found of its component; the stack above it is the rest.
            begin = placed
            while True:
                on_stack -= 1
                member = stack[on_stack]
                component[member] = found
                order[placed] = member
                placed += 1
                if member == node:
                    break
            cyclic[found] = placed - begin > 1
            for i in range(begin, placed):
                member = order[i]
                for e in range(start[member], start[member + 1]):
                    beyond = component[target[e]]
                    if beyond != found:
                        depth[found] = max(depth[found], depth[beyond] + 1)
                    elif target[e] == member:
                        cyclic[found] = True
            found += 1
            first[found] = placed
    # Ascending within each component: the nodes in their own order, each to the next place of its
    # component. A sort of NumPy's would take longer, and seconds to compile.
    for c in range(found):
        path[c] = first[c]
    for node in range(n):
        order[path[component[node]]] = node
        path[component[node]] += 1
    return found


@kernel(allocates=True)
def can_stay(
    order: Ints, label: Ints, start: Ints, outcomes: Ints, target: Ints, rows: Bools
) -> Bools:
    """The states from which the given rows need never lead out of a component of the graph.

    Args:
        order: [S] the nodes.
        label: [S] the component of each node.
        start: [S+1] the rows of node s are ``start[s] : start[s+1]``.
        outcomes: [K+1] the edges of each row.
        target: [E] where each edge leads.
        rows: [K] which may be used.

    Returns:
        [S]: a superset of the nodes of end components; empty if there are none.
    """
    n = len(order)
    stays, changed, sweeps = np.ones(n, np.bool_), True, 0
    # Up and down by turns: what one of them finds at once takes the other a sweep for each node.
    while changed:
        changed, sweeps = False, sweeps + 1
        for i in range(n):
            s = order[i if sweeps % 2 == 0 else n - 1 - i]
            if not stays[s]:
                continue
            kept = False
            for k in range(start[s], start[s + 1]):
                within = rows[k]
                for e in range(outcomes[k], outcomes[k + 1]):
                    if not within:
                        break
                    within = stays[target[e]] and label[target[e]] == label[s]
                if within:
                    kept = True
                    break
            if not kept:
                stays[s], changed = False, True
    return stays


@kernel(allocates=True)
def leads_to(
    order: Ints, start: Ints, outcomes: Ints, target: Ints, rows: Bools, goal: Bools, sweeps: int
) -> tuple[bool, Bools]:
    """The nodes from which the given rows lead to a goal.

    Args:
        order: [S] the nodes, most of them after what they lead to.
        start: [S+1] the rows of node s are ``start[s] : start[s+1]``.
        outcomes: [K+1] the edges of each row.
        target: [E] where each edge leads.
        rows: [K] which may be used.
        goal: [S].
        sweeps: After how many to give up.

    Returns:
        Whether it is finished, and the nodes, [S].
    """
    found = goal.copy()
    n = len(order)
    for turn in range(sweeps):
        changed = False
        for i in range(n):
            s = order[i if turn % 2 == 0 else n - 1 - i]
            if found[s]:
                continue
            for k in range(start[s], start[s + 1]):
                if rows[k] and not found[s]:
                    for e in range(outcomes[k], outcomes[k + 1]):
                        if found[target[e]]:
                            found[s], changed = True, True
                            break
        if not changed:
            return True, found
    return False, found


@kernel()
def reached(order: Ints, first: Ints, start: Ints, target: Ints, found: Bools) -> None:
    """Mark the nodes that can be reached from those that are marked.

    Args:
        order: [S] the nodes, component by component, each after all that it leads to.
        first: [C+1] where components begin in `order`.
        start: [S+1] the edges of node s are ``target[start[s] : start[s+1]]``.
        target: [E] where each edge leads.
        found: [S], read and written.
    """
    for c in range(len(first) - 2, -1, -1):
        met = False
        for i in range(first[c], first[c + 1]):
            met = met or found[order[i]]
        if met:
            for i in range(first[c], first[c + 1]):
                found[order[i]] = True
                for e in range(start[order[i]], start[order[i] + 1]):
                    found[target[e]] = True
