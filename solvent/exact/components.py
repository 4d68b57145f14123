"""Strongly connected components and end components of a game.

Two states belong to the same strongly connected component if each can be reached from the other.
The components form an acyclic graph, so values can be computed component by component, each after
its successors. In a game without cycles every component is a single state, and this is backward
induction.

SciPy finds them by the algorithm of Pearce (2005, "An improved algorithm for finding the strongly
connected components of a directed graph"): in one pass, each after its successors, which is the
order in which a game is solved. SciPy does not promise that order, so it is checked.

An *end component* (de Alfaro 1997, "Formal verification of probabilistic systems") is a set of
states with actions that never leave it: an episode could stay in it for ever.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from solvent.exact.compilation import Transitions, keep_staying, measure_components, transitions_of
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Ints
from solvent.model.tabular import remembered

LARGE = 10_000
"""In games of at least this many states, it is checked first if there are end components at all."""


@dataclass(frozen=True, eq=False)
class Components:
    """The strongly connected components of a game, each after its successors.

    Attributes:
        order: [S] states, component by component.
        start: [C+1] component c is ``order[start[c] : start[c+1]]``.
        cyclic: [C] whether a state of the component can be reached from itself.
        depth: [S] number of components on the longest way from a state's component to an end;
            0 at an end. In an acyclic game, the largest number of moves that can be left.
    """

    order: Ints
    start: Ints
    cyclic: Bools
    depth: Ints


@remembered
def components(game: TabularGame) -> Components:
    """Find the strongly connected components of a game, each after its successors."""
    edges_of_state = game.outcome_start[game.row_start]
    order, start, cyclic, depth = strong_components(edges_of_state, game.next_state)
    return Components(order, start, cyclic, _spread(depth, order, start))


def end_components(game: TabularGame, rows: Bools) -> Ints:
    """Find the maximal end components that consist of the given rows.

    Args:
        game: The game.
        rows: [K] bool, the rows that may be used.

    Returns:
        [S] int64: a label shared by the states of one end component, -1 outside all of them.
    """
    if game.n_states >= LARGE:
        parts = components(game)
        label = _spread(np.arange(len(parts.cyclic)), parts.order, parts.start)
        gone, kept = ~rows | leaving_rows(game, label), np.ones(game.n_states, bool)
        keep_staying(transitions_of(game), gone, kept)
        if not kept.any():
            return np.full(game.n_states, -1)
    allowed = rows.copy()
    while True:
        used = allowed[game.outcome_row]
        source = game.row_state[game.outcome_row]
        graph = csr_array(
            (np.ones(int(used.sum()), np.int8), (source[used], game.next_state[used])),
            shape=(game.n_states,) * 2,
        )
        _, label = connected_components(graph, connection="strong")
        leaves = label[source] != label[game.next_state]
        staying = allowed & (np.bincount(game.outcome_row[leaves], minlength=game.n_rows) == 0)
        if (staying == allowed).all():
            break
        allowed = staying
    inside = np.zeros(game.n_states, bool)
    inside[game.row_state[allowed]] = True
    return np.where(inside, label.astype(np.int64), -1)


def free_rows(game: TabularGame) -> Bools:
    """Return whether each row has no reward, [K]."""
    free = np.ones(game.n_rows, bool)
    free[game.outcome_row[game.outcome_reward != 0]] = False
    return free


def staying_rows(game: TabularGame, rows: Bools) -> tuple[Ints, Bools]:
    """Return the end components of the given rows ([K]), and those rows that stay in them, [K].

    The labels of the end components, [S], are those of :func:`end_components`.
    """
    label = end_components(game, rows)
    return label, rows & (label[game.row_state] >= 0) & ~leaving_rows(game, label)


def leaving_rows(game: TabularGame, label: Ints) -> Bools:
    """Return whether each row can lead to a state with another label ([S]) than its own, [K]."""
    leaves = label[game.row_state[game.outcome_row]] != label[game.next_state]
    return np.asarray(np.bincount(game.outcome_row[leaves], minlength=game.n_rows) > 0)


def can_reach(game: TabularGame, rows: Bools, goal: Bools) -> Bools:
    """Return the states from which the given rows ([K]) can lead to the goal ([S]), [S]."""
    return lead_to(transitions_of(game), rows, goal)


def lead_to(transitions: Transitions, rows: Bools, goal: Bools) -> Bools:
    """Return the states from which the given rows can lead to a goal, [n].

    Args:
        transitions: Outcomes of the n states.
        rows: [k] bool, the rows that may be used.
        goal: [n] bool.
    """
    found = np.zeros(len(goal), bool)
    found[trace_back(transitions, rows, goal)] = True
    return found


def trace_back(transitions: Transitions, rows: Bools, goal: Bools) -> Ints:
    """Return the states from which the given rows can lead to a goal, breadth first from the goal.

    Args:
        transitions: Outcomes of the n states.
        rows: [k] bool, the rows that may be used.
        goal: [n] bool, the states of the goal, which come first in the result.
    """
    edge = transitions.outcome_start
    used = np.repeat(rows, np.diff(edge))
    source = np.repeat(np.arange(len(goal)), np.diff(edge[transitions.row_start]))[used]
    return _breadth_first(transitions.next_state[used], source, np.flatnonzero(goal), len(goal))


def reached(game: TabularGame, rows: Bools | None = None) -> Bools:
    """Return the states that can be reached from the start, [S].

    Args:
        game: The game.
        rows: [K] bool, the rows that may be used; all if left out.
    """
    used = slice(None) if rows is None else rows[game.outcome_row]
    source, target = game.row_state[game.outcome_row][used], game.next_state[used]
    found = np.zeros(game.n_states, bool)
    found[_breadth_first(source, target, np.flatnonzero(game.initial), game.n_states)] = True
    return found


def _breadth_first(tail: Ints, head: Ints, first: Ints, n: int) -> Ints:
    """Return the nodes to which edges from tail to head lead, after the first ones, of n nodes."""
    # One more node leads to the first ones.
    tail, head = np.append(tail, np.full(len(first), n)), np.append(head, first)
    graph = csr_array((np.ones(len(head), bool), (tail, head)), shape=(n + 1, n + 1))
    return np.asarray(breadth_first_order(graph, n, return_predecessors=False)[1:], np.int64)


def _spread(per_component: Ints, order: Ints, start: Ints) -> Ints:
    """Turn a number per component into a number per state, [S]."""
    per_state = np.empty(len(order), np.int64)
    per_state[order] = np.repeat(per_component, np.diff(start))
    return per_state


def strong_components(start: Ints, target: Ints) -> tuple[Ints, Ints, Bools, Ints]:
    """Find the strongly connected components of a directed graph, successors first.

    Args:
        start: [S+1] the edges of node s are ``target[start[s] : start[s+1]]``.
        target: [E] where each edge leads.

    Returns:
        order: [S] the nodes, component by component, ascending within each.
        first: [C+1] component c is ``order[first[c] : first[c+1]]``.
        cyclic: [C] whether a node of the component can reach itself.
        depth: [C] number of edges between components on the longest path from component c.
    """
    n = len(start) - 1
    graph = csr_array((np.ones(len(target), np.int8), target, start), shape=(n, n))
    count, label = connected_components(graph, connection="strong")
    order = np.argsort(label, kind="stable")
    size = np.bincount(label, minlength=count)
    cyclic, depth = size > 1, np.zeros(count, np.int64)
    ascending = measure_components(start, target, order, label, cyclic, depth)
    assert ascending, "SciPy's labels do not ascend from the ends"
    return order, np.concatenate(([0], np.cumsum(size))), cyclic, depth
