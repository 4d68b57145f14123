"""Errors planted in the rules of Fighting Fantasy combat are caught by assertions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import combat_checks as checks
import pytest

# The package offers a function of the same name, so that an import statement does not reach it.
import solvent.games.fighting_fantasy.rules as rules
from solvent.model import Outcome, probability_at_most

Planting = Callable[[pytest.MonkeyPatch], None]


def a_die_has_two_fives_and_no_six(patch: pytest.MonkeyPatch) -> None:
    ways: dict[int, int] = {}
    for first in (1, 2, 3, 4, 5, 5):
        for second in (1, 2, 3, 4, 5, 6):
            ways[first + second] = ways.get(first + second, 0) + 1
    pmf = {total: Fraction(number, 36) for total, number in ways.items()}
    patch.setattr(rules, "dice_sum", lambda count: pmf)


def a_lucky_hit_deals_five(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "DAMAGE", {"standard": rules.Damage(won_lucky=5)})


def luck_must_be_above_the_dice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "luck_succeeds", lambda luck: probability_at_most(luck - 1, 2))


def draws_are_left_out_but_not_conditioned_out(patch: pytest.MonkeyPatch) -> None:
    def decided_round(difference: int) -> dict[str, Fraction]:
        won, _, lost = rules.round_probabilities(difference)
        return {"won": won, "lost": lost}

    patch.setattr(rules, "decided_round", decided_round)


def luck_is_not_spent(patch: pytest.MonkeyPatch) -> None:
    transition = rules.FightingFantasy.transition

    def unspent(game: Any, state: Any, joint: tuple[int, ...]) -> tuple[Outcome, ...]:
        outcomes = transition(game, state, joint)
        return tuple(
            Outcome(o.probability, o.state._replace(luck=state.luck), o.reward) for o in outcomes
        )

    patch.setattr(rules.FightingFantasy, "transition", unspent)


MUTATIONS: dict[Planting, Callable[[], None]] = {
    a_die_has_two_fives_and_no_six: checks.check_attack_strengths_are_compared,
    a_lucky_hit_deals_five: checks.check_a_test_makes_a_won_round_cost_4_or_1,
    luck_must_be_above_the_dice: (
        checks.check_a_test_succeeds_if_two_dice_show_at_most_the_luck_left
    ),
    draws_are_left_out_but_not_conditioned_out: checks.check_draws_change_nothing,
    luck_is_not_spent: checks.check_a_test_makes_a_lost_round_cost_1_or_3,
}
"""Planted errors, and the assertion about a single rule that has to catch each."""


MEMORIES = (rules.round_probabilities, rules.decided_round, rules.luck_succeeds)


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Planting], None]]:
    """A function that plants an error; nothing the rules remember outlives the change or test."""

    def forget() -> None:
        for function in MEMORIES:
            function.cache_clear()

    def plant(planting: Planting) -> None:
        planting(monkeypatch)
        forget()

    yield plant
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("planting", MUTATIONS, ids=lambda planting: planting.__name__)
def test_the_assertion_about_the_rule_and_the_published_values_catch_it(
    plant: Callable[[Planting], None], planting: Planting
) -> None:
    found = MUTATIONS[planting], checks.check_the_hell_demon_is_as_published
    for check in found:
        check()
    plant(planting)
    # A ValueError is a distribution that does not sum to 1, refused before anything is solved.
    for check in found:
        with pytest.raises((AssertionError, ValueError)):
            check()
