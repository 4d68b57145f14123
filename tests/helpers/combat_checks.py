"""Assertions about Fighting Fantasy combat that go through the rules."""

from __future__ import annotations

from fractions import Fraction

import pytest

# The package offers a function of the same name, so that an import statement does not reach it.
import solvent.games.fighting_fantasy.rules as rules
from solvent.exact import solve
from solvent.model import compile_game

# Johnston 2022, section 2 (OEIS A063260): 1296 P(X = i) for i = -10..10.
PMF = [1, 4, 10, 20, 35, 56, 80, 104, 125, 140, 146, 140, 125, 104, 80, 56, 35, 20, 10, 4, 1]


def points_lost(round_: str, action: int) -> dict[tuple[int, int, int], Fraction]:
    """Probabilities of what a decision costs (hero, opponent, luck), from 20/20 and 7 LUCK."""
    costs: dict[tuple[int, int, int], Fraction] = {}
    game = rules.FightingFantasy()
    for outcome in game.transition(rules.Combat(0, 20, 20, 7, round_), (action,)):
        cost = (20 - outcome.state.hero, 20 - outcome.state.opponent, 7 - outcome.state.luck)
        costs[cost] = costs.get(cost, Fraction(0)) + outcome.probability
    return costs


def check_attack_strengths_are_compared() -> None:
    for i, weight in zip(range(-10, 11), PMF, strict=True):
        won, drawn, lost = rules.round_probabilities(-i)
        assert drawn == Fraction(weight, 1296)
        assert won == Fraction(sum(PMF[i + 11 :]), 1296)
        assert lost == Fraction(sum(PMF[: i + 10]), 1296)


def check_a_round_won_costs_the_opponent_2() -> None:
    assert points_lost("won", rules.KEEP) == {(0, 2, 0): 1}


def check_a_round_lost_costs_the_hero_2() -> None:
    assert points_lost("lost", rules.KEEP) == {(2, 0, 0): 1}


def check_a_test_makes_a_won_round_cost_4_or_1() -> None:
    # Two dice show at most 7 in 21 of 36 ways.
    assert points_lost("won", rules.TEST) == {
        (0, 4, 1): Fraction(21, 36),
        (0, 1, 1): Fraction(15, 36),
    }


def check_a_test_makes_a_lost_round_cost_1_or_3() -> None:
    assert points_lost("lost", rules.TEST) == {
        (1, 0, 1): Fraction(21, 36),
        (3, 0, 1): Fraction(15, 36),
    }


def check_a_test_succeeds_if_two_dice_show_at_most_the_luck_left() -> None:
    ways = [0, 0, 1, 3, 6, 10, 15, 21, 26, 30, 33, 35, 36, 36]
    assert [36 * rules.luck_succeeds(luck) for luck in range(14)] == ways


def check_draws_change_nothing() -> None:
    for difference in range(-9, 10):
        won, drawn, lost = rules.round_probabilities(difference)
        assert rules.decided_round(difference) == {
            "won": won / (1 - drawn),
            "lost": lost / (1 - drawn),
        }


def check_the_hell_demon_is_as_published() -> None:
    # Johnston 2022, section 2.3: 0.28 without LUCK and 0.78 with 12 against the Hell Demon.
    for luck, published in ((0, 0.28), (12, 0.78)):
        game = rules.ff_combat("hell-demon", skill=12, stamina=24, luck=luck)
        value = solve(compile_game(game, reference=True)).value
        assert value == pytest.approx(published, abs=0.005)


RULE_CHECKS = [
    check_attack_strengths_are_compared,
    check_a_round_won_costs_the_opponent_2,
    check_a_round_lost_costs_the_hero_2,
    check_a_test_makes_a_won_round_cost_4_or_1,
    check_a_test_makes_a_lost_round_cost_1_or_3,
    check_a_test_succeeds_if_two_dice_show_at_most_the_luck_left,
    check_draws_change_nothing,
]
