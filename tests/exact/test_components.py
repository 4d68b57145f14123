"""Strongly connected components, end components and what can be reached, by their definitions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rational_tables import random_rows, table_of
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from solvent.exact import components as of_components
from solvent.exact.components import (
    can_reach,
    components,
    end_components,
    reached,
    strong_components,
)
from solvent.model import TabularGame

edges = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30)
    )
)


@settings(deadline=None)
@given(edges)
def test_components_are_scipys_and_successors_come_first(graph: Any) -> None:
    n, pairs = graph
    pairs = sorted(pairs)
    source = np.array([a for a, _ in pairs], np.int64)
    target = np.array([b for _, b in pairs], np.int64)
    start = np.searchsorted(source, np.arange(n + 1))
    order, first, cyclic, depth = strong_components(start, target)
    assert sorted(order) == list(range(n))
    label = np.empty(n, np.int64)
    label[order] = np.repeat(np.arange(len(first) - 1), np.diff(first))

    matrix = csr_array((np.ones(len(pairs)), (source, target)), shape=(n, n))
    count, theirs = connected_components(matrix, connection="strong")
    assert count == len(first) - 1
    assert len({(a, b) for a, b in zip(label, theirs, strict=True)}) == count
    assert (label[target] <= label[source]).all()

    for c in range(count):
        members = order[first[c] : first[c + 1]]
        assert list(members) == sorted(members)
        loops = {(a, b) for a, b in pairs if label[a] == label[b] == c}
        assert cyclic[c] == bool(loops)

    # Depth: longest path in the condensation, as a shortest path of negated lengths.
    hop = np.full((count, count), np.inf)
    for a, b in zip(label[source], label[target], strict=True):
        if a != b:
            hop[a, b] = -1
    longest = -shortest_path(hop, method="BF" if count > 1 else "FW")
    longest[~np.isfinite(longest)] = 0
    assert (depth == longest.max(axis=1)).all()


def random_table(seed: int) -> tuple[TabularGame, np.ndarray]:
    """A table of four states with many loops, and some of its rows."""
    table = table_of(random_rows(seed, "loops", states=4))
    return table, np.random.default_rng(seed).random(table.n_rows) < 0.8


def targets(table: TabularGame, row: int) -> set[int]:
    return set(table.next_state[slice(*table.outcome_start[row : row + 2])].tolist())


def closure(table: TabularGame, rows: list[int], start: set[int]) -> set[int]:
    """Where play can come to by the given rows, the start included."""
    found = set(start)
    while True:
        more = {t for k in rows if int(table.row_state[k]) in found for t in targets(table, k)}
        if more <= found:
            return found
        found |= more


def is_end_component(table: TabularGame, rows: list[int], states: set[int]) -> bool:
    """Whether play can be kept in the states for ever, and come from each of them to each other."""
    kept = [k for k in rows if int(table.row_state[k]) in states and targets(table, k) <= states]
    return {int(table.row_state[k]) for k in kept} == states and all(
        closure(table, kept, {s}) == states for s in states
    )


def test_end_components_are_the_largest_sets_that_can_be_kept_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = set()
    for seed, large in product(range(40), (of_components.LARGE, 0)):
        monkeypatch.setattr(of_components, "LARGE", large)
        table, allowed = random_table(seed)
        rows = np.flatnonzero(allowed).tolist()
        every = [
            set(states)
            for size in range(1, 5)
            for states in combinations(range(4), size)
            if is_end_component(table, rows, set(states))
        ]
        largest = [states for states in every if not any(states < other for other in every)]
        label = end_components(table, allowed)
        found = [set(np.flatnonzero(label == n).tolist()) for n in np.unique(label[label >= 0])]
        assert sorted(map(sorted, found)) == sorted(map(sorted, largest)), seed
        assert label.dtype == np.int64
        assert label.min() == -1, "the end belongs to none"
        sizes |= {len(states) for states in found}
    assert sizes >= {1, 2, 3}


def test_what_can_be_reached_is_found_by_following_the_rows() -> None:
    for seed in range(40):
        table, allowed = random_table(seed)
        rows = np.flatnonzero(allowed).tolist()
        goal = np.random.default_rng(seed + 100).random(table.n_states) < 0.3
        wanted = set(np.flatnonzero(goal).tolist())
        ways = [closure(table, rows, {s}) for s in range(table.n_states)]
        assert can_reach(table, allowed, goal).tolist() == [bool(way & wanted) for way in ways]
        begins = np.zeros(table.n_states)
        begins[seed % 4] = begins[(seed // 4) % 4] = 1
        other = replace(table, initial=begins / begins.sum())
        met = closure(table, list(range(table.n_rows)), set(np.flatnonzero(begins).tolist()))
        assert np.flatnonzero(reached(other)).tolist() == sorted(met)


def test_components_of_a_game_are_found_once() -> None:
    table, _ = random_table(0)
    assert components(table) is components(table)
    assert components(replace(table)) is not components(table)
