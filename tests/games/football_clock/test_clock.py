"""The clock of a half, stop by stop."""

from __future__ import annotations

from typing import Any

import pytest

from solvent.games.football.ruleset import Ruleset
from solvent.games.football_clock.clock import ClockRules

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


@pytest.mark.parametrize(
    ("name", "low", "high", "others"),
    [
        ("tick", 1, 900, {"half": 900, "stops": (), "timeout_saves": 900}),
        ("half", 15, 7200, {"stops": ()}),
        ("timeouts", 0, 9, {}),
        ("timeout_saves", 15, 900, {}),
        ("largest_margin", 1, 200, {}),
    ],
)
def test_the_bounds_of_a_number_are_allowed_and_nothing_beyond(
    name: str, low: int, high: int, others: dict[str, Any]
) -> None:
    for value in (low, high):
        assert getattr(ClockRules(**{name: value}, **others), name) == value
    for value in (low - 1, high + 1):
        message = f"^{name} is {value}; allowed are whole numbers from {low} to {high}$"
        with pytest.raises(ValueError, match=message):
            ClockRules(**{name: value}, **others)


@pytest.mark.parametrize("name", ["play_seconds", "long_play_seconds", "interception_seconds"])
def test_no_length_of_a_play_is_0_or_part_of_a_tick(name: str) -> None:
    CLOCK.check_fits(Ruleset())
    for seconds, complaint in (
        (50, f"{name} is 50; allowed are multiples of the tick, 15 seconds"),
        (0, f"{name} is 0; with a clock every play takes at least a tick, 15 seconds"),
    ):
        others = {"out_of_bounds_seconds": 0}
        with pytest.raises(ValueError, match=f"^{complaint}$"):
            CLOCK.check_fits(Ruleset(**{name: seconds}, **others))
    long = Ruleset(play_seconds=60, long_play_seconds=30, out_of_bounds_seconds=30)
    with pytest.raises(ValueError, match=r"^long_play_seconds - out_of_bounds_seconds is 0; "):
        CLOCK.check_fits(long)


def test_a_clock_is_itself_a_mapping_or_nothing() -> None:
    assert ClockRules.of(CLOCK) is CLOCK
    assert ClockRules.of(None) == CLOCK
    assert ClockRules.of(None, timeouts=1).timeouts == 1
    found = ClockRules.of({"stops": [120], "half": 300}, timeouts=1, half=600)
    assert found == ClockRules(half=300, stops=(120,), timeouts=1)
    assert found.parameters == {"half": 300, "stops": [120], "timeouts": 1}
    assert CLOCK.parameters == {}
    with pytest.raises(ValueError, match=r"^clock is 3; allowed is a mapping of parameters$"):
        ClockRules.of(3)
    with pytest.raises(ValueError, match=r"^parameter of the clock is 'haf'; .* 'half'\?$"):
        ClockRules.of({"haf": 3})


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"half": 1000}, "half is 1000; allowed are multiples of the tick, 15 seconds"),
        ({"stops": (120, 900)}, "stops: seconds left is 900; allowed are whole numbers from 15"),
        ({"stops": (1800,)}, "stops: seconds left is 1800; .* from 15 to 1799"),
        ({"stops": (45, 45)}, "stops: seconds left is 45; .* from 15 to 44"),
        ({"stops": (14,)}, "stops: seconds left is 14"),
        ({"stops": (100,)}, "stops is 100; allowed are multiples of the tick"),
        ({"stops": [900]}, r"stops is \[900\]"),
        ({"timeout_saves": 20}, "timeout_saves is 20; allowed are multiples"),
        ({"untimed_down": 1}, "untimed_down is 1"),
    ],
)
def test_a_clock_that_makes_no_sense_is_refused(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{complaint}"):
        ClockRules(**parameters)


def test_how_the_clock_stands_after_a_play() -> None:
    assert CLOCK.left(4, 45, penalty=False) == (1, 3, False)
    assert CLOCK.left(1, 15, penalty=False) == (0, 1, False)
    assert CLOCK.left(1, 15, penalty=True) == (0, 1, True)
    assert CLOCK.left(0, 15, penalty=True) == (0, 0, False), "the untimed down is the last"
    assert ClockRules(untimed_down=False).left(1, 15, penalty=True) == (0, 1, False)
