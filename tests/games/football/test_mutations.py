"""Errors planted in the rules of football are caught by assertions about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import football_checks as checks
import pytest

from solvent.games.football import situation as rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Restart, Situation


def _lost_where_it_began(advance: Any, ruleset: Ruleset, at: Situation, *rest: Any) -> Any:
    following = advance(ruleset, at, *rest)
    lost = rules._handed_over(ruleset, at.to_goal, rest[-1])
    return following if following.same_side else lost


def _costs_a_down(penalty: Any, *given: Any) -> Any:
    following = penalty(*given)
    return following._replace(next=following.next._replace(down=following.next.down + 1))


def _turned(parse_kick: Any, *given: Any) -> Any:
    kick = parse_kick(*given)
    return kick if kick.run_back else replace(kick, line=100 - kick.line)


Planted = tuple[str, Callable[..., Any], Callable[[], None]]

PLANTED: dict[str, Planted] = {
    "the line to gain has to be passed": (
        "_advance",
        lambda advance, r, at, yards, seconds: advance(
            r, at._replace(to_go=at.to_go + (yards == at.to_go)), yards, seconds
        ),
        checks.check_a_gain_to_the_line_to_gain_is_a_first_down,
    ),
    "a first down is always ten yards": (
        "first_down_at",
        lambda _, ruleset, x: Situation(1, 10, x),
        checks.check_inside_the_ten_a_first_down_is_goal_to_go,
    ),
    "there is a fifth down": (
        "_advance",
        lambda advance, r, *rest: advance(replace(r, downs=r.downs + 1), *rest),
        checks.check_short_on_the_last_down_the_ball_is_lost_where_it_is,
    ),
    "the ball changes hands where the play began": (
        "_advance",
        _lost_where_it_began,
        checks.check_short_on_the_last_down_the_ball_is_lost_where_it_is,
    ),
    "the field is not turned round": (
        "_handed_over",
        lambda original, r, to_goal, seconds: original(r, r.field - to_goal, seconds),
        checks.check_a_fumble_is_lost_where_it_lies,
    ),
    "the extra point never misses": (
        "_touchdown",
        lambda touchdown, r, seconds: touchdown(replace(r, extra_point=Fraction(1)), seconds),
        checks.check_a_touchdown_is_six_points_and_mostly_the_extra_point,
    ),
    "a safety is followed by a kickoff": (
        "_safety",
        lambda safety, *given: safety(*given)._replace(next=Restart.KICKOFF),
        checks.check_down_behind_its_own_goal_line_is_a_safety_and_a_free_kick,
    ),
    "the team that got the safety kicks": (
        "_safety",
        lambda safety, *given: safety(*given)._replace(same_side=False),
        checks.check_down_behind_its_own_goal_line_is_a_safety_and_a_free_kick,
    ),
    "the defence scores for the offence": (
        "_defensive_touchdown",
        lambda _, *given: rules._touchdown(*given),
        checks.check_a_fumble_behind_its_own_goal_line_is_a_touchdown_for_the_defence,
    ),
    "an interception is returned the wrong way": (
        "_intercepted",
        lambda intercepted, r, at, result: intercepted(
            r, at, replace(result, yards=result.yards + result.return_yards, return_yards=0)
        ),
        checks.check_an_interception_is_returned_towards_the_offences_goal,
    ),
    "a fumble in the end zone stays where it is": (
        "_lost",
        lambda lost, r, ball, seconds: lost(r, max(ball, 1), seconds),
        checks.check_a_fumble_into_the_other_end_zone_is_a_touchback,
    ),
    "a penalty costs a down": (
        "_penalty",
        _costs_a_down,
        checks.check_a_penalty_moves_the_ball_and_the_down_is_repeated,
    ),
    "penalties are in full": (
        "_penalty",
        lambda penalty, r, *rest: penalty(replace(r, half_the_distance=False), *rest),
        checks.check_a_penalty_is_at_most_half_the_distance_to_the_goal_line,
    ),
    "the offender chooses": (
        "chooser",
        lambda chooser, result: 1 - chooser(result),
        checks.check_the_offended_team_has_the_choice,
    ),
    "a fake punt costs nothing": (
        "_gain",
        lambda gain, r, at, *rest, **more: gain(r, at._replace(punting=False), *rest, **more),
        checks.check_a_fake_punt_loses_yards_of_its_gain,
    ),
    "twenty yards are a long play": (
        "_gain",
        lambda gain, r, *rest, **more: gain(replace(r, long_play=19), *rest, **more),
        checks.check_time_a_long_play_takes_longer_and_out_of_bounds_less,
    ),
    "out of bounds saves no time": (
        "_gain",
        lambda gain, *given, **_: gain(*given),
        checks.check_time_a_long_play_takes_longer_and_out_of_bounds_less,
    ),
    "a punt is never a touchback": (
        "_punt",
        lambda punt, r, at, result: punt(
            r, at, replace(result, yards=min(result.yards, at.to_goal - 1) if result.yards else 0)
        ),
        checks.check_a_punt_to_the_goal_line_is_a_touchback,
    ),
    "a missed field goal is at the line": (
        "field_goal",
        lambda field_goal, r, at: field_goal(replace(r, field_goal_spot=0), at),
        checks.check_a_missed_field_goal_is_the_others_ball_where_it_was_kicked_or_at_the_twenty,
    ),
    "the bands of field goals begin a yard late": (
        "Ruleset.field_goal_chance",
        lambda chance, r, x: chance(r, max(x - 1, 1)),
        checks.check_a_field_goal_is_likelier_from_nearer,
    ),
    "kickoffs are counted from the other side": (
        "parse_kick",
        _turned,
        checks.check_a_kickoff_is_two_dice,
    ),
    "long plays are allowed at the ten": (
        "Ruleset.is_barred",
        lambda barred, r, play, x: barred(r, play, x + 1),
        checks.check_plays_13_to_20_are_barred_inside_the_ten_and_17_to_20_inside_the_twenty,
    ),
    "punt formation may be declared on third down": (
        "legal_actions",
        lambda legal, r, plays, at: legal(r, plays, at._replace(down=4) if at.down == 3 else at),
        checks.check_kicks_are_on_offer_where_the_rules_have_them,
    ),
}
"""The function that is changed, how, and the assertion about a single rule that has to catch it."""


@pytest.mark.parametrize("name", PLANTED)
def test_the_assertion_about_the_rule_catches_it(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    changed, change, check = PLANTED[name]
    check()
    holder = Ruleset if "." in changed else rules
    original = getattr(holder, changed.rpartition(".")[2])
    monkeypatch.setattr(
        holder, changed.rpartition(".")[2], lambda *a, **k: change(original, *a, **k)
    )
    with pytest.raises(AssertionError):
        check()
