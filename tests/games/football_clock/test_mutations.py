"""Errors planted in the rules of clock, score and time-outs change the game written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from timed_walk import transcript

from solvent.games.football.results import Result
from solvent.games.football.situation import Consequence
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import Flow
from solvent.model import Outcome

GOLDEN = Path(__file__).parents[2] / "golden" / "football_with_a_clock.txt"

Planting = Callable[[pytest.MonkeyPatch], None]

after, with_timeout = ClockRules.after, ClockRules.with_timeout
after_play, half_over, timeout_called = Flow.after_play, Flow._half_over, Flow.timeout_called
goes_on, following = Flow._goes_on, Flow._following


def a_play_takes_a_tick_more(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClockRules, "after", lambda clock, ticks, s: after(clock, ticks, s + clock.tick))


def the_clock_does_not_stop_at_the_warning(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        ClockRules, "after", lambda clock, ticks, s: max(0, ticks * clock.tick - s) // clock.tick
    )


def the_clock_stops_again_where_it_stands(patch: pytest.MonkeyPatch) -> None:
    def again(clock: ClockRules, ticks: int, seconds: int) -> int:
        return ticks if ticks * clock.tick in clock.stops else after(clock, ticks, seconds)

    patch.setattr(ClockRules, "after", again)


def a_time_out_saves_a_tick_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClockRules, "with_timeout", lambda clock, s: max(0, s - clock.tick))


def the_defence_is_asked_first(patch: pytest.MonkeyPatch) -> None:
    def swapped(
        flow: Flow, state: TimedPosition, branch: Consequence, result: Result | None = None
    ) -> Outcome:
        outcome = after_play(flow, state, branch, result)
        if outcome.state.phase == "time-out" and outcome.state.other_too:
            turned = outcome.state._replace(asked=1 - outcome.state.asked)
            return Outcome(outcome.probability, turned, outcome.reward)
        return outcome

    patch.setattr(Flow, "after_play", swapped)


def a_time_out_costs_the_other_side(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Flow,
        "timeout_called",
        lambda flow, state: timeout_called(flow, state._replace(asked=1 - state.asked)),
    )


def a_half_ends_on_any_penalty(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Flow,
        "_goes_on",
        lambda flow, state, left, untimed: goes_on(flow, state, left, untimed=False),
    )


def every_play_gives_an_untimed_down(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Flow,
        "_goes_on",
        lambda flow, state, left, untimed: goes_on(flow, state, left, untimed=True),
    )


def the_same_side_kicks_off_both_halves(patch: pytest.MonkeyPatch) -> None:
    def same(flow: Flow, last: TimedPosition) -> Outcome:
        return half_over(
            flow, last._replace(receiver=1 - last.receiver) if last.half == 1 else last
        )

    patch.setattr(Flow, "_half_over", same)


def the_score_starts_again_in_the_second_half(patch: pytest.MonkeyPatch) -> None:
    def forgotten(flow: Flow, last: TimedPosition) -> Outcome:
        return half_over(flow, last._replace(margin=0) if last.half == 1 else last)

    patch.setattr(Flow, "_half_over", forgotten)


def the_loser_wins(patch: pytest.MonkeyPatch) -> None:
    def turned(flow: Flow, last: TimedPosition) -> Outcome:
        outcome = half_over(flow, last)
        return Outcome(outcome.probability, outcome.state, 1 - outcome.reward)

    patch.setattr(Flow, "_half_over", turned)


def points_go_to_player_0(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Flow,
        "_following",
        lambda flow, state, branch, points: following(flow, state, branch, abs(points)),
    )


def a_lead_counts_without_end(patch: pytest.MonkeyPatch) -> None:
    def unbounded(
        flow: Flow, state: TimedPosition, branch: Consequence, points: int
    ) -> TimedPosition:
        return following(flow, state, branch, points)._replace(margin=state.margin + points)

    patch.setattr(Flow, "_following", unbounded)


PLANTINGS = (
    a_play_takes_a_tick_more,
    the_clock_does_not_stop_at_the_warning,
    the_clock_stops_again_where_it_stands,
    a_time_out_saves_a_tick_only,
    the_defence_is_asked_first,
    a_time_out_costs_the_other_side,
    a_half_ends_on_any_penalty,
    every_play_gives_an_untimed_down,
    the_same_side_kicks_off_both_halves,
    the_score_starts_again_in_the_second_half,
    the_loser_wins,
    points_go_to_player_0,
    a_lead_counts_without_end,
)


@pytest.mark.parametrize("plant", PLANTINGS, ids=lambda plant: plant.__name__)
def test_a_planted_error_is_caught(plant: Planting, monkeypatch: pytest.MonkeyPatch) -> None:
    written = GOLDEN.read_text(encoding="utf-8")
    assert transcript() == written
    plant(monkeypatch)
    try:
        planted = transcript()
    except (AssertionError, IndexError):
        return  # The walk cannot be walked any more.
    assert planted != written
