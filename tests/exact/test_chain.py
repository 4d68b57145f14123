"""Linear equations of large chains: sweeps against factors, and what sweeps cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import spsolve

from solvent.exact import CertificateError, chain
from solvent.exact.chain import Chain
from solvent.exact.kernels.chain import distances_out, likeliest_ways_out, successors_first

STATES = 5000


def random_chain(rng: np.random.Generator, *, leaving: float = 0.1) -> tuple[Chain, csr_array]:
    """Each state's one or two rows lead mostly down, sometimes anywhere, and out now and then."""
    n = STATES
    rows_of = rng.integers(1, 3, n)
    row_start = np.concatenate(([0], np.cumsum(rows_of)))
    weight = np.repeat(1 / rows_of, rows_of)
    state = np.repeat(np.arange(n), rows_of)
    outcomes_of = np.full(len(state), 3)
    outcome_start = np.concatenate(([0], np.cumsum(outcomes_of)))
    source = np.repeat(state, 3)
    down = np.maximum(source - rng.integers(0, 5, len(source)), 0)
    target = np.where(rng.random(len(source)) < 0.05, rng.integers(0, n, len(source)), down)
    probability = np.full(len(source), (1 - leaving) / 3)
    dense = csr_array((probability * np.repeat(weight, 3), (source, target)), shape=(n, n))
    return Chain("random", row_start, outcome_start, target, probability, weight), dense


@pytest.mark.parametrize("factored", [0, STATES], ids=["sweeps", "factors"])
def test_solutions_satisfy_the_equations(factored: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "FACTORED", factored)
    rng = np.random.default_rng(0)
    found, moves = random_chain(rng)
    assert abs(found.moves - moves).max() < 1e-15
    right = rng.normal(size=STATES)
    matrix = (eye_array(STATES) - moves).tocsc()
    assert found.solve(right) == pytest.approx(spsolve(matrix, right), rel=0, abs=1e-12)
    assert found.solve_transposed(right) == pytest.approx(
        spsolve(matrix.T.tocsc(), right), rel=0, abs=1e-11
    )


def test_large_chains_that_mix_are_not_factored(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = random_chain(np.random.default_rng(1))
    monkeypatch.delattr(chain, "splu")
    assert np.isfinite(found.solve(np.ones(STATES))).all()


def test_a_chain_that_mixes_slowly_is_factored() -> None:
    """A walk that leaves at both ends only: the expected number of moves is i (n + 1 - i)."""
    n = STATES
    row_start = np.arange(n + 1)
    inner = np.arange(1, n - 1)
    outcome_start = np.concatenate(([0, 1], 1 + 2 * np.arange(1, n - 1), [2 * n - 2]))
    target = np.concatenate(([1], np.column_stack((inner - 1, inner + 1)).ravel(), [n - 2]))
    walk = Chain("walk", row_start, outcome_start, target, np.full(2 * n - 2, 0.5), np.ones(n))
    place = np.arange(1, n + 1)
    assert walk.solve(np.ones(n)) == pytest.approx(place * (n + 1.0 - place), rel=1e-8)


def test_play_that_hardly_ends_is_refused() -> None:
    n = STATES
    stuck = Chain("stuck", np.arange(n + 1), np.arange(n + 1), np.arange(n), np.ones(n), np.ones(n))
    with pytest.raises(CertificateError, match="stuck: play ends so rarely"):
        stuck.solve(np.ones(n))


def test_an_order_in_which_successors_come_first() -> None:
    start, target = np.array([0, 2, 3, 3, 4]), np.array([1, 3, 2, 2])
    order = successors_first(start, target).tolist()
    for s in range(4):
        for t in target[start[s] : start[s + 1]]:
            assert order.index(int(t)) < order.index(s)


def test_distances_out() -> None:
    """State 0 can only go to 1, 1 to 0 or 2, 2 leaves; 3 cannot; 4 is outside."""
    row_start = np.array([0, 1, 3, 5, 6, 6])
    edge_start = np.array([0, 1, 2, 3, 4, 4, 5])
    target = np.array([1, 0, 2, 0, 3])
    leaves = np.array([False, False, False, False, True, False])
    outside = np.array([False, False, False, False, True])
    distance = distances_out(row_start, edge_start, target, np.ones(6, bool), leaves, outside)
    assert distance.tolist() == [3, 2, 1, -1, 1]
    without = np.array([True, True, False, True, True, True])
    assert distances_out(row_start, edge_start, target, without, leaves, outside).tolist() == [
        -1, -1, 1, -1, 1,
    ]  # fmt: skip


def test_the_likeliest_way_out_is_that_of_the_whole_path() -> None:
    """State 0 leaves at once (0.5) or by way of 1 (0.9 and 0.9), where a first row hardly leaves.

    State 2 is outside, 3 has two rows to it that are as good as each other, 4 goes round itself.
    """
    row_start = np.array([0, 2, 4, 5, 8, 9])
    edge_start = np.array([0, 1, 2, 3, 4, 4, 5, 6, 7, 8])
    target = np.array([0, 1, 0, 0, 2, 2, 2, 4])
    with np.errstate(divide="ignore"):
        chance = np.log([0.5, 0.9, 1.0, 0.1, 0.2, 0.4, 0.4, 1.0])
        leaving = np.log([0.5, 0, 1e-200, 0.9, 1.0, 0.1, 0, 0, 0])
    outside = np.array([False, False, True, False, False])
    best, way = likeliest_ways_out(row_start, edge_start, target, chance, leaving, outside)
    np.testing.assert_allclose(np.exp(best), [0.81, 0.9, 1, 0.4, 0])
    assert way.tolist() == [1, 3, 4, 6, -1]
