"""The order in which states can be solved, and where an episode can go round for ever.

Two states belong to the same strongly connected component when each can follow the other. The
components form an acyclic graph, so values can be computed component by component, each after
everything it can lead to. In a game without cycles every component is a single state and this
is backward induction.

Tarjan's algorithm (1972, "Depth-first search and linear graph algorithms") finds them in one
pass, each after all that it can lead to, which is the very order in which a game is solved. A
library's labels come without a promised order, and sorting tens of millions of edges afterwards
costs more than the search.

An *end component* (de Alfaro 1997, "Formal verification of probabilistic systems") is a set of
states with actions that never leave it: where an episode could go on for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from solvent.exact.compilation import kernel
from solvent.exact.transitions import Transitions, transitions_of
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Ints

LARGE = 10_000
"""States from which on compiled sweeps over a game are worth their compilation."""

SWEEPS = 50
"""Sweeps after which a backward search takes over: long cycles could need one for each state."""

UNSEEN = -1
"""A node that the search has not met."""


@dataclass(frozen=True, eq=False)
class Components:
    """The strongly connected components of a game, each after all that it can lead to.

    Attributes:
        order: [S] states, component by component.
        start: [C+1] component c is ``order[start[c] : start[c+1]]``.
        cyclic: [C] whether a state of the component can follow itself.
        depth: [S] number of components on the longest way from a state's component to an end;
            0 at an end. In an acyclic game, the most moves that can be left.
    """

    order: Ints
    start: Ints
    cyclic: Bools
    depth: Ints


_FOUND: WeakKeyDictionary[TabularGame, Components] = WeakKeyDictionary()
"""Components of the games in use: solving and evaluating ask for them again and again."""


def components(game: TabularGame) -> Components:
    """Find the strongly connected components of a game, each after all that it can lead to."""
    if game not in _FOUND:
        edges_of_state = game.outcome_start[game.row_start]
        order, start, cyclic, depth = strong_components(edges_of_state, game.next_state)
        _FOUND[game] = Components(order, start, cyclic, _spread(depth, order, start))
    return _FOUND[game]


def end_components(game: TabularGame, rows: Bools) -> Ints:
    """The maximal end components that are made of the given rows.

    Args:
        game: The game.
        rows: [K] bool, the rows that may be used.

    Returns:
        [S] int64: a label shared by the states of one end component, -1 outside of all.
    """
    if game.n_states >= LARGE and not _can_stay(game, rows):
        return np.full(game.n_states, -1)
    allowed = rows.copy()
    while True:
        used = allowed[game.outcome_row]
        source = game.row_state[game.outcome_row]
        graph = csr_array(
            (np.ones(int(used.sum()), np.int8), (source[used], game.next_state[used])),
            shape=(game.n_states,) * 2,
        )
        _, label = connected_components(graph, directed=True, connection="strong")
        leaves = label[source] != label[game.next_state]
        staying = allowed & (np.bincount(game.outcome_row[leaves], minlength=game.n_rows) == 0)
        if (staying == allowed).all():
            break
        allowed = staying
    inside = np.zeros(game.n_states, bool)
    inside[game.row_state[allowed]] = True
    return np.where(inside, label.astype(np.int64), -1)


def _can_stay(game: TabularGame, rows: Bools) -> bool:
    """Return whether the given rows ([K]) may make up an end component; if not, there is none."""
    parts = components(game)
    label = _spread(np.arange(len(parts.cyclic)), parts.order, parts.start)
    stays = _find_staying(
        parts.order, label, game.row_start, game.outcome_start, game.next_state, rows
    )
    return bool(stays.any())


def free_rows(game: TabularGame) -> Bools:
    """The rows without a reward, [K]."""
    free = np.ones(game.n_rows, bool)
    free[game.outcome_row[game.outcome_reward != 0]] = False
    return free


def leaving_rows(game: TabularGame, label: Ints) -> Bools:
    """The rows of which an outcome leads to another label ([S]) than their state's, [K]."""
    leaves = label[game.row_state[game.outcome_row]] != label[game.next_state]
    return np.asarray(np.bincount(game.outcome_row[leaves], minlength=game.n_rows) > 0)


def cannot_end(game: TabularGame, rows: Bools) -> Bools:
    """The states from which the given rows ([K] bool) lead to no end, [S] bool."""
    return ~can_reach(game, rows, game.terminal)


def can_reach(game: TabularGame, rows: Bools, goal: Bools) -> Bools:
    """The states from which the given rows ([K] bool) lead to the goal ([S] bool), [S] bool."""
    return lead_to(components(game).order, transitions_of(game), rows, goal)


def lead_to(order: Ints, transitions: Transitions, rows: Bools, goal: Bools) -> Bools:
    """Find the states from which rows lead to a goal, [n].

    Args:
        order: [n] the states, most of them after what they lead to.
        transitions: Outcomes of the n states.
        rows: [k] bool, the rows that may be used.
        goal: [n] bool.
    """
    row_start, outcome_start, next_state, _ = transitions
    finished, found = _trace_back(order, row_start, outcome_start, next_state, rows, goal, SWEEPS)
    if finished:
        return np.asarray(found)
    n = len(goal)
    used = np.repeat(rows, np.diff(outcome_start))
    source = np.repeat(np.arange(n), np.diff(outcome_start[row_start]))[used]
    # Search backwards from one extra node that every state of the goal leads to.
    ends = np.flatnonzero(goal)
    backward = np.append(next_state[used], np.full(len(ends), n)), np.append(source, ends)
    graph = csr_array((np.ones(len(backward[0]), np.int8), backward), shape=(n + 1, n + 1))
    found = np.zeros(n + 1, bool)
    found[breadth_first_order(graph, n, return_predecessors=False)] = True
    return found[:n]


def reached(game: TabularGame) -> Bools:
    """The states that can be reached from the start, [S]."""
    found = game.initial > 0
    parts = components(game)
    _mark_reached(
        parts.order, parts.start, game.outcome_start[game.row_start], game.next_state, found
    )
    return np.asarray(found)


def _spread(per_component: Ints, order: Ints, start: Ints) -> Ints:
    """From a number per component to a number per state, [S]."""
    per_state = np.empty(len(order), np.int64)
    per_state[order] = np.repeat(per_component, np.diff(start))
    return per_state


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
def _find_staying(
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
def _trace_back(
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
def _mark_reached(order: Ints, first: Ints, start: Ints, target: Ints, found: Bools) -> None:
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
