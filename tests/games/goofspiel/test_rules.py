"""The rules of Goofspiel, its symmetry, and Ross's theorem on bids at random."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from solvent import best_response, exploitability, policy_value, solve
from solvent.games import Goofspiel
from solvent.games.goofspiel import Bidding
from solvent.model import (
    Outcome,
    TabularGame,
    TabularPolicy,
    compile_game,
)

GAME = Goofspiel(3)


def test_the_first_prize_is_any_of_them() -> None:
    every = (1, 2, 3)
    assert GAME.initial() == tuple(
        Outcome(Fraction(1, 3), Bidding(prize, rest, every, every))
        for prize, rest in ((1, (2, 3)), (2, (1, 3)), (3, (1, 2)))
    )


@pytest.mark.parametrize(("order", "prizes"), [("ascending", [1, 2, 3]), ("descending", [3, 2, 1])])
def test_in_a_fixed_order_the_next_prize_is_known(order: str, prizes: list[int]) -> None:
    game, came = Goofspiel(3, order), []
    [outcome] = game.initial()
    while not game.is_terminal(outcome.state):
        came.append(outcome.state.prize)
        first, second = game.legal_actions(outcome.state)
        [outcome] = game.transition(outcome.state, (first[0], second[-1]))
    assert came == prizes
    assert outcome.state == Bidding(0, (), (), ())


@pytest.mark.parametrize(("bids", "sign"), [((3, 1), 1), ((1, 3), -1), ((3, 3), 0)])
def test_the_higher_card_takes_the_prize_and_both_cards_are_gone(
    bids: tuple[int, int], sign: int
) -> None:
    state = Bidding(2, (1, 3), (1, 2, 3), (1, 2, 3))
    outcomes = GAME.transition(state, (bids[0] - 1, bids[1] - 1))
    first, second = (tuple(c for c in (1, 2, 3) if c != bid) for bid in bids)
    half = Fraction(1, 2)
    assert outcomes == (
        Outcome(half, Bidding(1, (3,), first, second), 2 * sign),
        Outcome(half, Bidding(3, (1,), first, second), 2 * sign),
    )


def test_only_cards_in_hand_are_bid() -> None:
    assert GAME.legal_actions(Bidding(2, (3,), (1, 3), (2, 3))) == ((0, 2), (1, 2))


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
