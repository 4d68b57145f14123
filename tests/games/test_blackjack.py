"""The rules of Blackjack, one by one, and Gymnasium's as an outside judge."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import gymnasium as gym
import numpy as np
import pytest

from solvent.exact import solve
from solvent.games import Blackjack
from solvent.games.blackjack import (
    CARDS,
    OVER,
    STICK,
    Hand,
    add,
    asked_with,
    dealers_natural,
    dealers_sums,
)
from solvent.model import compile_game

GAME = Blackjack()
CARD = Fraction(1, 13)


def test_there_are_as_many_tens_as_four_other_cards() -> None:
    assert CARDS == {card: (4 if card == 10 else 1) * CARD for card in range(1, 11)}
    assert sum(CARDS.values()) == 1


def test_an_ace_counts_11_as_long_as_it_can() -> None:
    for total, usable, card, after in (
        (5, False, 10, (15, False)),
        (0, False, 1, (11, True)),
        (10, False, 1, (21, True)),
        (11, False, 1, (12, False)),
        (11, True, 1, (12, True)),
        (17, True, 5, (12, False)),
        (17, True, 4, (21, True)),
        (15, False, 10, (25, False)),
    ):
        assert add(total, usable, card) == after, (total, usable, card)


def test_the_dealer_hits_up_to_16_and_sticks_on_17() -> None:
    assert dealers_sums(17, False) == {17: 1}
    assert dealers_sums(17, True) == {17: 1}
    assert dealers_sums(22, False) == {0: 1}
    assert dealers_sums(16, False) == {**dict.fromkeys(range(17, 22), CARD), 0: 8 * CARD}
    for card in CARDS:
        assert sum(dealers_sums(*add(0, False, card)).values()) == 1


def test_two_cards_that_make_21_are_an_ace_and_a_ten() -> None:
    assert [dealers_natural(card) / CARD for card in range(1, 11)] == [4, *[0] * 8, 1]


def test_below_12_the_player_is_not_asked() -> None:
    assert asked_with(12, False) == {(12, False): 1}
    assert asked_with(11, False) == {
        (12, False): CARD,
        **{(11 + card, False): CARD for card in range(2, 10)},
        (21, False): 4 * CARD,
    }
    assert min(outcome.state.total for outcome in GAME.initial()) == 12


def test_the_start_is_two_cards_and_one_of_the_dealer_s() -> None:
    start = {outcome.state: outcome.probability for outcome in GAME.initial()}
    naturals = {hand: p for hand, p in start.items() if hand.natural}
    assert set(naturals) == {Hand(21, dealer, True, True) for dealer in CARDS}
    assert sum(naturals.values()) == 8 * CARD**2
    assert naturals[Hand(21, 10, True, True)] == 32 * CARD**3
    # Two aces, or with one card before it an ace below 12.
    assert start[Hand(12, 3, True)] == CARD**3
    plain = {outcome.state: outcome.probability for outcome in Blackjack(natural=False).initial()}
    assert plain[Hand(21, 3, True)] == start[Hand(21, 3, True, True)] + start.get(
        Hand(21, 3, True), 0
    )
    assert not any(hand.natural for hand in plain)


def test_there_are_the_200_states_of_the_book() -> None:
    states = compile_game(Blackjack(natural=False)).states
    assert set(states) == {OVER} | {
        Hand(total, dealer, usable)
        for total in range(12, 22)
        for dealer in range(1, 11)
        for usable in (False, True)
    }
    assert len(compile_game(GAME).states) == 211


def test_who_is_nearer_to_21_wins() -> None:
    # With a six the dealer has 17, 18 and so on by these chances; 0 is beyond 21.
    sums = dealers_sums(6, False)
    for total in range(12, 22):
        found = {o.reward: o.probability for o in GAME.transition(Hand(total, 6, False), (STICK,))}
        assert found.get(1, 0) == sum(p for last, p in sums.items() if last < total)
        assert found.get(0, 0) == sums.get(total, 0)
        assert found.get(-1, 0) == sum(p for last, p in sums.items() if last > total)


@pytest.mark.parametrize("natural", [True, False])
def test_the_optimal_policy_returns_as_much_in_gymnasium(natural: bool) -> None:
    """10,000 hands of ``Blackjack-v1``, whose rules are not ours, in six standard errors."""
    table = compile_game(Blackjack(natural=natural))
    solution = solve(table)
    best = {
        (s.total, s.dealer, int(s.usable)): int(p.argmax())
        for s, p in zip(table.states, solution.policies[0].probabilities, strict=True)
        if not s.natural
    }
    env = gym.make("Blackjack-v1", sab=natural).unwrapped
    returns = []
    env.reset(seed=1)
    for _ in range(10_000):
        seen, _ = env.reset()
        over, reward = False, 0.0
        while not over:
            seen, reward, over, _, _ = env.step(1 if seen[0] < 12 else best[tuple(map(int, seen))])
        returns.append(reward)
    error = np.std(returns) / sqrt(len(returns))
    assert abs(np.mean(returns) - solution.value) < 6 * error
