"""Errors planted in the rules of Greed are caught by assertions about them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import greed_checks as checks
import pytest

from solvent.games.greed import rules
from solvent.model import Outcome, dice_sum

Planting = Callable[[pytest.MonkeyPatch], None]
Transition = Callable[[Any, Any, tuple[int, ...]], tuple[Outcome, ...]]


def the_dice_start_at_0(patch: pytest.MonkeyPatch) -> None:
    def shifted(count: int, sides: int) -> dict[int, Fraction]:
        return {total - count: p for total, p in dice_sum(count, sides).items()}

    patch.setattr(rules, "dice_sum", shifted)


def the_limit_itself_is_a_bust(patch: pytest.MonkeyPatch) -> None:
    outcome = rules.Greed._outcome

    def strict(game: Any, state: Any, score: int, probability: Fraction) -> Outcome:
        return outcome(game, state, score + (score == game.limit), probability)

    patch.setattr(rules.Greed, "_outcome", strict)


def whoever_stands_has_the_last_turn(patch: pytest.MonkeyPatch) -> None:
    transition: Transition = rules.Greed.transition

    def selfish(game: Any, state: Any, joint: tuple[int, ...]) -> tuple[Outcome, ...]:
        return tuple(
            o._replace(state=o.state._replace(player=state.player))
            if o.state.phase == "last"
            else o
            for o in transition(game, state, joint)
        )

    patch.setattr(rules.Greed, "transition", selfish)


def a_roll_of_one_opens_the_last_turn_too(patch: pytest.MonkeyPatch) -> None:
    # The flag of the last turn as the source prints it, {0 if n=1 else 0}, read as n <= 1.
    transition: Transition = rules.Greed.transition

    def hasty(game: Any, state: Any, joint: tuple[int, ...]) -> tuple[Outcome, ...]:
        outcomes = transition(game, state, joint)
        if joint[state.player] != 1:
            return outcomes
        return tuple(
            o._replace(state=o.state._replace(phase="last")) if o.state.phase == "play" else o
            for o in outcomes
        )

    patch.setattr(rules.Greed, "transition", hasty)


def a_tie_is_a_defeat(patch: pytest.MonkeyPatch) -> None:
    payoff = rules.Greed._payoff
    patch.setattr(rules.Greed, "_payoff", lambda game, scores: int(payoff(game, scores)))


MUTATIONS: dict[Planting, Callable[[], None]] = {
    the_dice_start_at_0: checks.check_the_sum_of_the_dice_is_added_to_the_score,
    the_limit_itself_is_a_bust: checks.check_the_limit_itself_is_no_bust,
    whoever_stands_has_the_last_turn: checks.check_a_stand_opens_the_last_turn_of_the_other_player,
    a_roll_of_one_opens_the_last_turn_too: checks.check_the_limit_itself_is_no_bust,
    a_tie_is_a_defeat: checks.check_the_higher_score_wins_and_equal_scores_are_a_tie,
}
"""Planted errors, and the assertion about a single rule that has to catch each."""


@pytest.mark.parametrize("planting", MUTATIONS, ids=lambda planting: planting.__name__)
def test_the_assertion_about_the_rule_and_the_value_of_the_game_catch_it(
    monkeypatch: pytest.MonkeyPatch, planting: Planting
) -> None:
    found = MUTATIONS[planting], checks.check_the_game_is_worth_what_the_recursion_says
    for check in found:
        check()
    planting(monkeypatch)
    for check in found:
        with pytest.raises((AssertionError, KeyError)):
            check()
