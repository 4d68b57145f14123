"""Strongly connected components and end components against networkx-free definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from solvent.exact.kernels.graph import strong_components

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
