"""Errors planted in the rules of football are caught by assertions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import football_checks as checks
import pytest

from solvent.games.football import situation as rules
from solvent.games.football.ruleset import Ruleset, parse_kick
from solvent.games.football.situation import Consequence, Restart, Situation

Planting = Callable[[pytest.MonkeyPatch], None]


def wrap(patch: pytest.MonkeyPatch, name: str, change: Callable[..., Any]) -> None:
    """Put a function in the place of one of the rules'; it is given the original first."""
    original = getattr(rules, name)
    patch.setattr(rules, name, lambda *a, **k: change(original, *a, **k))


def the_line_to_gain_has_to_be_passed(patch: pytest.MonkeyPatch) -> None:
    def strict(advance: Any, ruleset: Ruleset, at: Situation, yards: int, seconds: int) -> Any:
        return advance(ruleset, at._replace(to_go=at.to_go + (yards == at.to_go)), yards, seconds)

    wrap(patch, "_advance", strict)


def a_first_down_is_always_ten_yards(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "first_down_at", lambda ruleset, x: Situation(1, 10, x))


def there_is_a_fifth_down(patch: pytest.MonkeyPatch) -> None:
    def generous(advance: Any, ruleset: Ruleset, *rest: Any) -> Consequence:
        following: Consequence = advance(replace(ruleset, downs=ruleset.downs + 1), *rest)
        return following

    wrap(patch, "_advance", generous)


def the_ball_changes_hands_where_the_play_began(patch: pytest.MonkeyPatch) -> None:
    def forgetful(advance: Any, ruleset: Ruleset, at: Situation, yards: int, time: int) -> Any:
        following = advance(ruleset, at, yards, time)
        return following if following.same_side else rules._handed_over(ruleset, at.to_goal, time)

    wrap(patch, "_advance", forgetful)


def the_field_is_not_turned_round(patch: pytest.MonkeyPatch) -> None:
    def unturned(original: Any, ruleset: Ruleset, to_goal: int, seconds: int) -> Consequence:
        following = original(ruleset, ruleset.field - to_goal, seconds)
        assert isinstance(following, Consequence)
        return following

    wrap(patch, "_handed_over", unturned)


def the_extra_point_never_misses(patch: pytest.MonkeyPatch) -> None:
    def sure(touchdown: Any, ruleset: Ruleset, seconds: int) -> Iterator[Consequence]:
        yield from touchdown(replace(ruleset, extra_point=checks.Fraction(1)), seconds)

    wrap(patch, "_touchdown", sure)


def a_safety_is_followed_by_a_kickoff(patch: pytest.MonkeyPatch) -> None:
    wrap(patch, "_safety", lambda safety, *a: safety(*a)._replace(next=Restart.KICKOFF))


def the_team_that_got_the_safety_kicks(patch: pytest.MonkeyPatch) -> None:
    wrap(patch, "_safety", lambda safety, *a: safety(*a)._replace(same_side=False))


def the_defence_scores_for_the_offence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "_defensive_touchdown", rules._touchdown)


def an_interception_is_returned_the_wrong_way(patch: pytest.MonkeyPatch) -> None:
    def onward(intercepted: Any, ruleset: Ruleset, at: Situation, result: Any) -> Any:
        backward = replace(result, yards=result.yards + result.return_yards, return_yards=0)
        return intercepted(ruleset, at, backward)

    wrap(patch, "_intercepted", onward)


def a_fumble_in_the_end_zone_stays_where_it_is(patch: pytest.MonkeyPatch) -> None:
    wrap(patch, "_lost", lambda lost, ruleset, ball, time: lost(ruleset, max(ball, 1), time))


def a_penalty_costs_a_down(patch: pytest.MonkeyPatch) -> None:
    def costly(penalty: Any, ruleset: Ruleset, at: Situation, result: Any) -> Consequence:
        following: Consequence = penalty(ruleset, at, result)
        assert isinstance(following.next, Situation)
        return following._replace(next=following.next._replace(down=following.next.down + 1))

    wrap(patch, "_penalty", costly)


def penalties_are_in_full(patch: pytest.MonkeyPatch) -> None:
    def full(penalty: Any, ruleset: Ruleset, *rest: Any) -> Consequence:
        following: Consequence = penalty(replace(ruleset, half_the_distance=False), *rest)
        return following

    wrap(patch, "_penalty", full)


def the_offender_chooses(patch: pytest.MonkeyPatch) -> None:
    wrap(patch, "chooser", lambda chooser, result: 1 - chooser(result))


def a_fake_punt_costs_nothing(patch: pytest.MonkeyPatch) -> None:
    def free(gain: Any, ruleset: Ruleset, at: Situation, *rest: Any, **more: Any) -> Any:
        return gain(ruleset, at._replace(punting=False), *rest, **more)

    wrap(patch, "_gain", free)


def twenty_yards_are_a_long_play(patch: pytest.MonkeyPatch) -> None:
    def slow(gain: Any, ruleset: Ruleset, *rest: Any, **more: Any) -> Any:
        return gain(replace(ruleset, long_play=19), *rest, **more)

    wrap(patch, "_gain", slow)


def out_of_bounds_saves_no_time(patch: pytest.MonkeyPatch) -> None:
    def unhurried(gain: Any, *rest: Any, out_of_bounds: bool = False) -> Any:
        return gain(*rest)

    wrap(patch, "_gain", unhurried)


def a_punt_is_never_a_touchback(patch: pytest.MonkeyPatch) -> None:
    def short(punt: Any, ruleset: Ruleset, at: Situation, result: Any) -> Any:
        yards = min(result.yards, at.to_goal - 1) if result.yards else 0
        return punt(ruleset, at, replace(result, yards=yards))

    wrap(patch, "_punt", short)


def a_missed_field_goal_is_at_the_line(patch: pytest.MonkeyPatch) -> None:
    def near(field_goal: Any, ruleset: Ruleset, at: Situation) -> Any:
        return field_goal(replace(ruleset, field_goal_spot=0), at)

    wrap(patch, "field_goal", near)


def the_bands_of_field_goals_begin_a_yard_late(patch: pytest.MonkeyPatch) -> None:
    chance = Ruleset.field_goal_chance
    patch.setattr(Ruleset, "field_goal_chance", lambda self, x: chance(self, max(x - 1, 1)))


def kickoffs_are_counted_from_the_other_side(patch: pytest.MonkeyPatch) -> None:
    def turned(end: str, name: str = "kick") -> Any:
        kick = parse_kick(end, name)
        return kick if kick.run_back else replace(kick, line=100 - kick.line)

    patch.setattr(rules, "parse_kick", turned)


def long_plays_are_allowed_at_the_ten(patch: pytest.MonkeyPatch) -> None:
    barred = Ruleset.is_barred
    patch.setattr(Ruleset, "is_barred", lambda self, play, x: barred(self, play, x + 1))


def punt_formation_may_be_declared_on_third_down(patch: pytest.MonkeyPatch) -> None:
    def early(legal: Any, ruleset: Ruleset, plays: int, at: Situation) -> Any:
        return legal(ruleset, plays, at._replace(down=4) if at.down == 3 else at)

    wrap(patch, "legal_actions", early)


MUTATIONS: dict[Planting, Callable[[], None]] = {
    the_line_to_gain_has_to_be_passed: checks.check_a_gain_to_the_line_to_gain_is_a_first_down,
    a_first_down_is_always_ten_yards: checks.check_inside_the_ten_a_first_down_is_goal_to_go,
    there_is_a_fifth_down: checks.check_short_on_the_last_down_the_ball_is_lost_where_it_is,
    the_ball_changes_hands_where_the_play_began: (
        checks.check_short_on_the_last_down_the_ball_is_lost_where_it_is
    ),
    the_field_is_not_turned_round: checks.check_a_fumble_is_lost_where_it_lies,
    the_extra_point_never_misses: (
        checks.check_a_touchdown_is_six_points_and_mostly_the_extra_point
    ),
    a_safety_is_followed_by_a_kickoff: (
        checks.check_down_behind_its_own_goal_line_is_a_safety_and_a_free_kick
    ),
    the_team_that_got_the_safety_kicks: (
        checks.check_down_behind_its_own_goal_line_is_a_safety_and_a_free_kick
    ),
    the_defence_scores_for_the_offence: (
        checks.check_a_fumble_behind_its_own_goal_line_is_a_touchdown_for_the_defence
    ),
    an_interception_is_returned_the_wrong_way: (
        checks.check_an_interception_is_returned_towards_the_offences_goal
    ),
    a_fumble_in_the_end_zone_stays_where_it_is: (
        checks.check_a_fumble_into_the_other_end_zone_is_a_touchback
    ),
    a_penalty_costs_a_down: checks.check_a_penalty_moves_the_ball_and_the_down_is_repeated,
    penalties_are_in_full: (checks.check_a_penalty_is_at_most_half_the_distance_to_the_goal_line),
    the_offender_chooses: checks.check_the_offended_team_has_the_choice,
    a_fake_punt_costs_nothing: checks.check_a_fake_punt_loses_yards_of_its_gain,
    twenty_yards_are_a_long_play: (
        checks.check_time_a_long_play_takes_longer_and_out_of_bounds_less
    ),
    out_of_bounds_saves_no_time: checks.check_time_a_long_play_takes_longer_and_out_of_bounds_less,
    a_punt_is_never_a_touchback: checks.check_a_punt_to_the_goal_line_is_a_touchback,
    a_missed_field_goal_is_at_the_line: (
        checks.check_a_missed_field_goal_is_the_others_ball_where_it_was_kicked_or_at_the_twenty
    ),
    the_bands_of_field_goals_begin_a_yard_late: (checks.check_a_field_goal_is_likelier_from_nearer),
    kickoffs_are_counted_from_the_other_side: checks.check_a_kickoff_is_two_dice,
    long_plays_are_allowed_at_the_ten: (
        checks.check_plays_13_to_20_are_barred_inside_the_ten_and_17_to_20_inside_the_twenty
    ),
    punt_formation_may_be_declared_on_third_down: (
        checks.check_kicks_are_on_offer_where_the_rules_have_them
    ),
}
"""Planted errors, and the assertion about a single rule that has to catch each."""


@pytest.mark.parametrize("planting", MUTATIONS, ids=lambda planting: planting.__name__)
def test_the_assertion_about_the_rule_catches_it(
    monkeypatch: pytest.MonkeyPatch, planting: Planting
) -> None:
    check = MUTATIONS[planting]
    check()
    planting(monkeypatch)
    with pytest.raises(AssertionError):
        check()
