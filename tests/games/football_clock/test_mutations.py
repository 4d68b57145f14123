"""Errors planted in the rules of clock, score and time-outs change the game written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from timed_walk import transcript

from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.rules import TimedFootball as Rules

GOLDEN = Path(__file__).parents[2] / "golden" / "football_with_a_clock.txt"

after, after_play, following = ClockRules.after, Rules.after_play, Rules._following
half_over, timeout_called, goes_on = (
    Rules._half_over,
    Rules.timeout_called,
    Rules._goes_on,
)


def asked_last(flow: Rules, *arguments: Any) -> Any:
    outcome = after_play(flow, *arguments)
    if outcome.state.other_too:
        return outcome._replace(state=outcome.state._replace(asked=1 - outcome.state.asked))
    return outcome


def in_the_first_half(flow: Rules, last: Any, change: Callable[[Any], Any]) -> Any:
    return half_over(flow, change(last) if last.half == 1 else last)


PLANTED: dict[str, tuple[type, str, Callable[..., Any]]] = {
    "a play takes a tick more": (
        ClockRules,
        "after",
        lambda clock, ticks, seconds: after(clock, ticks, seconds + clock.tick),
    ),
    "the clock does not stop at the warning": (
        ClockRules,
        "after",
        lambda clock, ticks, seconds: max(0, ticks * clock.tick - seconds) // clock.tick,
    ),
    "the clock stops again where it stands": (
        ClockRules,
        "after",
        lambda clock, ticks, seconds: (
            ticks if ticks * clock.tick in clock.stops else after(clock, ticks, seconds)
        ),
    ),
    "a time-out saves a tick only": (
        ClockRules,
        "with_timeout",
        lambda clock, seconds: max(0, seconds - clock.tick),
    ),
    "the defence is asked first": (Rules, "after_play", asked_last),
    "a time-out costs the other side": (
        Rules,
        "timeout_called",
        lambda flow, at: timeout_called(flow, at._replace(asked=1 - at.asked)),
    ),
    "a half ends on any penalty": (
        Rules,
        "_goes_on",
        lambda flow, at, left, untimed: goes_on(flow, at, left, untimed=False),
    ),
    "every play gives an untimed down": (
        Rules,
        "_goes_on",
        lambda flow, at, left, untimed: goes_on(flow, at, left, untimed=True),
    ),
    "the same side kicks off both halves": (
        Rules,
        "_half_over",
        lambda flow, last: in_the_first_half(
            flow, last, lambda at: at._replace(receiver=1 - at.receiver)
        ),
    ),
    "the score starts again in the second half": (
        Rules,
        "_half_over",
        lambda flow, last: in_the_first_half(flow, last, lambda at: at._replace(margin=0)),
    ),
    "the loser wins": (
        Rules,
        "_half_over",
        lambda flow, last: half_over(flow, last._replace(margin=-last.margin)),
    ),
    "points go to player 0": (
        Rules,
        "_following",
        lambda flow, at, branch, points: following(flow, at, branch, abs(points)),
    ),
    "a lead counts without end": (
        Rules,
        "_following",
        lambda flow, at, branch, points: following(flow, at, branch, points)._replace(
            margin=at.margin + points
        ),
    ),
}


@pytest.mark.parametrize("error", PLANTED)
def test_a_planted_error_is_caught(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = GOLDEN.read_text(encoding="utf-8")
    assert transcript() == written
    monkeypatch.setattr(*PLANTED[error])
    try:
        planted = transcript()
    except (AssertionError, IndexError):
        return  # The walk cannot be walked any more.
    assert planted != written
