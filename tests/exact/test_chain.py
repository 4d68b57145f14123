"""Linear equations of large chains: sweeps against factors, and what sweeps cannot do."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rational_tables import random_rows, table_of
from refusals import assert_refused
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.sparse.linalg import spsolve

from solvent.exact import CertificateError, chain
from solvent.exact import components as of_components
from solvent.exact.chain import Chain, likeliest_exits, narrow_order
from solvent.exact.compilation import Transitions
from solvent.exact.components import can_reach, end_components, reached, strong_components
from solvent.model import TabularGame

STATES = 5000


def random_chain(rng: np.random.Generator, *, leaving: float = 0.1) -> tuple[Chain, csr_array]:
    """Each state's one or two rows lead mostly down, sometimes anywhere, and out now and then."""
    n = STATES
    rows_of = rng.integers(1, 3, n)
    row_start = np.concatenate(([0], np.cumsum(rows_of)))
    weight = np.repeat(1 / rows_of, rows_of)
    state = np.repeat(np.arange(n), rows_of)
    outcome_start = np.concatenate(([0], np.cumsum(np.full(len(state), 3))))
    source = np.repeat(state, 3)
    down = np.maximum(source - rng.integers(0, 5, len(source)), 0)
    target = np.where(rng.random(len(source)) < 0.05, rng.integers(0, n, len(source)), down)
    probability = np.full(len(source), (1 - leaving) / 3)
    dense = csr_array((probability * np.repeat(weight, 3), (source, target)), shape=(n, n))
    transitions = Transitions(row_start, outcome_start, target, probability)
    return Chain("random", transitions, weight, np.full(n, leaving)), dense


def chain_of(name: str, moves: csr_array, leaving: np.ndarray) -> Chain:
    """The chain of a sparse matrix whose states have one row each."""
    places = np.arange(len(leaving) + 1)
    start, ends = moves.indptr.astype(np.int64), moves.indices.astype(np.int64)
    return Chain(name, Transitions(places, start, ends, moves.data), np.ones(len(leaving)), leaving)


def chain_of_parts(rng: np.random.Generator) -> tuple[Chain, csr_array]:
    dense = rng.random((40, 40)) * (rng.random((40, 40)) < 0.03)
    np.fill_diagonal(dense, 0.2)
    dense /= dense.sum(axis=1, keepdims=True) * 1.05
    moves = csr_array(dense)
    return chain_of("parts", moves, 1 - dense.sum(axis=1)), moves


@pytest.mark.parametrize(
    ("made", "patience"),
    [(random_chain, 0), (random_chain, 1000), (chain_of_parts, 0)],
    ids=["factors", "iteration", "elimination of parts"],
)
def test_solutions_satisfy_the_equations(
    made: Callable[[np.random.Generator], tuple[Chain, csr_array]],
    patience: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chain, "PATIENCE", patience)
    rng = np.random.default_rng(2)
    found, moves = made(rng)
    inner = moves - diags_array(moves.diagonal())
    assert abs(found.moves - inner).max() < 1e-15
    assert found.changing == pytest.approx(1 - moves.diagonal(), rel=0, abs=1e-15)
    right = rng.normal(size=moves.shape[0])
    for transposed in (False, True):
        matrix = (eye_array(len(right)) - (moves.T if transposed else moves)).tocsc()
        assert found.solve(right, transposed=transposed) == pytest.approx(
            spsolve(matrix, right), rel=0, abs=1e-11
        )


@pytest.mark.parametrize("staying", [1e-6, 1e-10, 1e-13])
def test_iteration_is_as_exact_where_states_are_rarely_left(staying: float) -> None:
    """Residuals count beside what changes a state: its value alone may be 1e13 times as large."""
    rng = np.random.default_rng(2)
    n = 200
    targets = rng.integers(0, n, (n, 4))
    # A power of 2, so that both chains have the same solution bit for bit.
    scale = 2.0 ** np.round(np.log2(staying))
    places = np.arange(n + 1)

    def chain_with(factor: float) -> Chain:
        chance = np.full(4 * n, 0.225 * factor)
        transitions = Transitions(places, 4 * places, targets.ravel(), chance)
        return Chain("rarely left", transitions, np.ones(n), np.full(n, 0.1 * factor))

    right = rng.normal(size=n)
    often, rarely = (chain_with(factor).solve(right * factor) for factor in (1.0, scale))
    assert rarely == pytest.approx(often, rel=0, abs=1e-12)


def test_lengths_are_found_where_a_few_states_of_many_lack_much() -> None:
    """Of some hundred such chains this one was given up when the norm of all had become small."""
    rng = np.random.default_rng(402)
    many, few = int(rng.choice([500, 1500, 4000])), int(rng.integers(1, 30))
    usual, reach = 10.0 ** -rng.uniform(1, 6), int(rng.choice([20, 40, 100]))
    n = many + few
    state = np.repeat(np.arange(n), 2)
    near = state[: 2 * many] + rng.integers(-reach, reach + 1, 2 * many)
    rng.random()  # Keeps the draws those of the chain that was found.
    leaving = np.append(np.full(many, usual), 10.0 ** -rng.uniform(0, 7, few))
    into = rng.random(2 * few) < 0.3
    others = np.where(into, rng.integers(0, many, 2 * few), rng.integers(many, n, 2 * few))
    target = np.append(np.clip(near, 0, many - 1), others)
    moves = csr_array(((1 - leaving[state]) / 2, (state, target)), shape=(n, n))
    moves.sum_duplicates()
    walk = chain_of("few", moves, leaving)
    assert walk.lengths is not None
    exact = spsolve((eye_array(n) - moves).tocsc(), walk.changing)
    assert (walk.lengths >= 0.49 * exact).all()
    assert (walk.lengths <= 2.01 * exact).all()


def test_play_that_never_ends_is_refused() -> None:
    n = STATES
    places = np.arange(n + 1)
    staying, around = (
        Transitions(places, places, (places[:-1] + step) % n, np.ones(n)) for step in (0, 1)
    )
    ring = Chain("ring", around, np.ones(n))
    rows = (
        (lambda: Chain("stuck", staying, np.ones(n)), "stuck: play ends so rarely"),
        (lambda: ring.solve(np.ones(n)), "ring: play ends so rarely"),
    )
    assert_refused(rows, error=CertificateError)


@pytest.mark.parametrize("size", [2, 70, 5000], ids=["eliminated", "in a band", "by parts"])
def test_a_chain_that_is_hardly_ever_left_is_as_exact_as_any(size: int) -> None:
    """Pairs of states that change places, each left once in 2^60 moves: twice 2^60 in all."""
    luck = 2.0**-60
    places = np.arange(size)
    start = np.arange(size + 1)
    transitions = Transitions(start, start, places ^ 1, np.ones(size))
    walk = Chain("pairs", transitions, np.ones(size), np.where(places % 2, luck, 0.0))
    assert walk.solve(np.ones(size)) == pytest.approx(np.full(size, 2 / luck), rel=1e-15)
    visits = walk.solve((places == 0).astype(float), transposed=True)
    assert visits[:2] == pytest.approx([1 / luck, 1 / luck], rel=1e-15)
    assert (visits[2:] == 0).all()


def test_an_order_is_found_in_which_edges_lead_no_farther_than_they_must() -> None:
    """A path has the width 1, a ring and a ladder 2, however their nodes are numbered."""
    n = 60
    rng = np.random.default_rng(0)
    i = np.arange(n)
    shapes = [
        (1, i[:-1], i[1:]),
        (2, i, (i + 1) % n),
        # Rungs between 2k and 2k + 1, rails between k and k + 2.
        (2, np.append(i[::2], i[:-2]), np.append(i[1::2], i[2:])),
    ]
    for width, one, other in shapes:
        name = rng.permutation(n)
        source, target = name[np.append(one, other)], name[np.append(other, one)]
        by_source = np.argsort(source, kind="stable")
        source, target = source[by_source], target[by_source]
        start = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=n))))
        assert narrow_order(start, target, width - 1) is None
        found = narrow_order(start, target, width)
        assert found is not None
        place = np.argsort(found[0])
        assert np.abs(place[source] - place[target]).max() == found[1] == width


def test_the_likeliest_exit_is_that_of_the_whole_path() -> None:
    """State 0 leaves at once (0.5) or by way of 1 (0.9 and 0.9), where a first row hardly leaves.

    State 2 leaves for certain, 3 has two equally good rows to it, 4 goes round itself.
    """
    row_start = np.array([0, 2, 4, 5, 8, 9])
    edge_start = np.array([0, 1, 2, 3, 4, 4, 5, 6, 7, 8])
    target = np.array([0, 1, 0, 0, 2, 2, 2, 4])
    with np.errstate(divide="ignore"):
        chance = np.log([0.5, 0.9, 1.0, 0.1, 0.2, 0.4, 0.4, 1.0])
        leaving = np.log([0.5, 0, 1e-200, 0.9, 1.0, 0.1, 0, 0, 0])
    first = likeliest_exits(Transitions(row_start, edge_start, target, chance), leaving)
    assert first.tolist() == [1, 3, 4, 6, -1]


# Strongly connected components, end components and what can be reached, by their definitions


edges = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30)
    )
)


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
        assert cyclic[c] == bool({(a, b) for a, b in pairs if label[a] == label[b] == c})

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
