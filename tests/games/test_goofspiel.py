"""Goofspiel's symmetry, and Ross's theorem on bids at random."""

from __future__ import annotations

import numpy as np
import pytest

from solvent import best_response, exploitability, policy_value, solve
from solvent.games import Goofspiel
from solvent.model import TabularGame, TabularPolicy, compile_game


@pytest.fixture(scope="module", params=[(4, "random"), (5, "random"), (5, "descending")], ids=str)
def table(request: pytest.FixtureRequest) -> TabularGame:
    return compile_game(Goofspiel(*request.param))


def test_the_game_is_symmetric_and_its_solution_cannot_be_exploited(table: TabularGame) -> None:
    solution = solve(table)
    assert solution.value == pytest.approx(0, abs=1e-12)
    for policy in solution.policies:
        assert exploitability(table, policy, solution) == pytest.approx(0, abs=1e-9)
    # Hands the other way round have the opposite value, in every state.
    mirrored = [s._replace(first=s.second, second=s.first) for s in table.states]
    np.testing.assert_allclose(
        solution.values[[table.index[s] for s in mirrored]], -solution.values, atol=1e-9
    )


@pytest.mark.parametrize("cards", [3, 4, 5])
def test_against_bids_at_random_it_is_best_to_bid_the_prize(cards: int) -> None:
    """Ross 1971; the difference is then the sum of k (2 k - n - 1) / n, (n^2 - 1) / 6."""
    table = compile_game(Goofspiel(cards))
    uniform = TabularPolicy.uniform(table, player=1)
    best = best_response(table, uniform)
    assert best.value == pytest.approx((cards**2 - 1) / 6, abs=1e-12)
    matching = np.array([max(s.prize - 1, 0) for s in table.states])
    # Where the card is gone already, as it never is along the way, any other does.
    held = table.mask[0][np.arange(table.n_states), matching]
    matching = np.where(held, matching, table.mask[0].argmax(axis=1))
    policy = TabularPolicy.deterministic(table, matching)
    assert table.at_start(policy_value(table, policy, uniform)) == pytest.approx(best.value)
