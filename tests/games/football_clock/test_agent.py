"""The published agent's clock management."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from solvent.games.football.situation import Situation
from solvent.games.football_clock.agent import (
    AgentPlayer,
    AverageNeeded,
    ClockManagement,
)
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import Asked, Layer
from solvent.games.football_clock.rules import TimedFootball

PLAIN = ClockManagement(weight=1.0)


@cache
def layout(form: str = "second-half", timeouts: int = 3) -> FootballLayers:
    return FootballLayers.of(TimedFootball(form=form, timeouts=timeouts))


@cache
def agent() -> AgentPlayer:
    return AgentPlayer(layout())


def falls(
    at: Situation, code: str, ticks: int, timeouts: int = 0, *, has_ball: bool, kick: bool
) -> float:
    """By how much the average falls with a result."""
    rules = layout().rules
    average = AverageNeeded(rules, layout().clock, PLAIN)
    change = average.change(ticks, timeouts, has_ball=has_ball, kick=kick)
    codes = [result.code for result in rules.chart.results]
    by_result = change.reshape(-1, rules.arrays.results)
    return float(by_result[rules.index(at), codes.index(code)])


def test_a_play_that_takes_its_share_of_time_has_to_gain_the_average() -> None:
    # 40 yards in 60 seconds are two plays of 20 yards; 10 gained leave 30 for one play.
    at = Situation(1, 10, 40)
    assert falls(at, "10", 4, has_ball=True, kick=False) == pytest.approx(20 - 30)
    # A play without a gain that takes 15 seconds leaves 40 yards and one play and a half.
    assert falls(at, "inc", 4, has_ball=True, kick=False) == pytest.approx(20 - 40 / 1.5)
    # A time-out is one play more.
    assert falls(at, "10", 4, 1, has_ball=True, kick=False) == pytest.approx(40 / 3 - 30 / 2)


def test_a_field_goal_needs_the_next_line_that_changes_its_odds() -> None:
    # From 40 yards a field goal is more likely from the 38.
    assert falls(Situation(1, 10, 40), "10", 4, has_ball=True, kick=True) == pytest.approx(2 / 2)
    assert falls(Situation(1, 10, 48), "2", 4, has_ball=True, kick=True) == pytest.approx(3 / 2 - 1)


def test_who_waits_for_the_ball_needs_the_downs_to_pass() -> None:
    # Punted 35 yards from 80 the ball is on the own 45: 55 yards in 10 - 4 plays, or after first
    # down and 2 yards 57 in 9 - 3.
    at = Situation(1, 10, 80)
    assert falls(at, "2", 20, has_ball=False, kick=False) == pytest.approx(55 / 6 - 57 / 6)


def test_losing_the_ball_changes_nothing() -> None:
    at = Situation(1, 10, 40)
    assert falls(at, "int10r8", 4, has_ball=True, kick=False) == 0
    assert falls(at, "44", 4, has_ball=True, kick=False) == 0, "a touchdown"


def asked(layer: Layer, *, mine: bool, margin: int) -> Asked:
    column = np.array([[layout().column(2, margin)]])
    return Asked(
        layer,
        layer.ticks - 2,
        layer.ticks,
        False,
        True,
        np.array([5]),
        np.array([mine]),
        column,
    )


@pytest.mark.parametrize(
    ("margin", "mine", "called"),
    [(-1, True, 1), (-1, False, 1), (0, True, 1), (0, False, 0), (1, True, 0), (1, False, 0)],
)
def test_time_outs(margin: int, mine: bool, called: int) -> None:
    late, early = Layer(2, 10, 1, 1), Layer(2, 21, 1, 1)
    assert np.all(agent().timeouts(asked(late, mine=mine, margin=margin)) == called)
    assert np.all(agent().timeouts(asked(early, mine=mine, margin=margin)) == 0)
    # What would be left with it is what counts, since that is all that is known in a play.
    crossing = asked(early, mine=mine, margin=margin)._replace(saved=20)
    assert np.all(agent().timeouts(crossing) == called)


def test_onside_kicks_come_late_from_behind() -> None:
    kicks = agent().onside(Layer(2, 8, 0, 0))
    margin = layout().margin(2)
    np.testing.assert_array_equal(kicks, (margin < 0).astype(float))
    assert not agent().onside(Layer(2, 9, 0, 0)).any()
