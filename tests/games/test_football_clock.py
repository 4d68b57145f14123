"""The clock of a half, stop by stop."""

from __future__ import annotations

from typing import Any

import pytest

from solvent.games.football.clock import ClockRules
from solvent.games.football.ruleset import Ruleset

CLOCK = ClockRules()


@pytest.mark.parametrize(
    ("ticks", "seconds", "left"),
    [
        (120, 30, 118),
        (62, 45, 60),  # the first quarter ends
        (61, 15, 60),
        (60, 45, 57),
        (9, 45, 8),  # the two-minute warning
        (8, 45, 5),
        (10, 30, 8),
        (2, 45, 0),
        (1, 15, 0),
        (5, 0, 5),
    ],
)
def test_a_play_stops_at_the_next_stop(ticks: int, seconds: int, left: int) -> None:
    assert CLOCK.after(ticks, seconds) == left


def test_a_time_out_takes_thirty_seconds_off_a_play() -> None:
    """A play of 45 seconds takes 15 then, any other none (Football Strategy)."""
    assert [CLOCK.with_timeout(seconds) for seconds in (45, 30, 15)] == [15, 0, 0]


def test_a_long_play_passes_only_the_first_of_two_stops() -> None:
    clock = ClockRules(half=120, stops=(60, 45))
    assert clock.after(5, 45) * clock.tick == 60


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"tick": 0}, "tick is 0"),
        ({"half": 1000}, "half is 1000; allowed are multiples of the tick, 15 seconds"),
        ({"stops": (120, 900)}, "stops: seconds left is 900; allowed are whole numbers from 15"),
        ({"stops": (1800,)}, "stops: seconds left is 1800"),
        ({"stops": (100,)}, "stops is 100; allowed are multiples of the tick"),
        ({"stops": [900]}, r"stops is \[900\]"),
        ({"timeouts": -1}, "timeouts is -1"),
        ({"timeout_saves": 20}, "timeout_saves is 20; allowed are multiples"),
        ({"untimed_down": 1}, "untimed_down is 1"),
        ({"largest_margin": 0}, "largest_margin is 0"),
    ],
)
def test_a_clock_that_makes_no_sense_is_refused(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ClockRules(**parameters)


@pytest.mark.parametrize(
    ("ruleset", "complaint"),
    [
        ({"play_seconds": 20}, "play_seconds is 20; allowed are multiples of the tick"),
        ({"dead_ball_seconds": 0}, "dead_ball_seconds is 0; with a clock every play takes"),
        ({"out_of_bounds_seconds": 30}, "play_seconds - out_of_bounds_seconds is 0"),
    ],
)
def test_plays_take_whole_ticks(ruleset: dict[str, int], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        CLOCK.check_fits(Ruleset(**ruleset))
