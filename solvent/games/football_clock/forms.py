"""All forms of Football Strategy under one name: those without a clock, and those with one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solvent.games.football.chart import Chart
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.rules import FORMS, FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.rules import TIMED_FORMS, TimedFootball
from solvent.model.parameters import Spread, check_choice, shown

ALL_FORMS = (*FORMS, *TIMED_FORMS)
"""The forms without a clock, and those with one."""

_UNTIMED_ONLY: dict[str, Any] = {
    "expected_points": None,
    "kickoff_value": None,
    "punting": False,
    "other_chart": None,
}
_TIMED_ONLY: dict[str, Any] = {"clock": None, "timeouts": None, "margin": 0}
"""The parameters that belong to one kind of form, and their defaults."""


def football_strategy(
    chart: str | Path | Chart = "standard",
    form: str = "drive",
    ruleset: Mapping[str, Any] | Ruleset | None = None,
    expected_points: str | Path | ExpectedPoints | None = None,
    kickoff_value: float | None = None,
    down: Spread = 1,
    to_go: Spread | None = None,
    to_goal: Spread = 80,
    punting: bool = False,
    clock: Mapping[str, Any] | ClockRules | None = None,
    timeouts: int | bool | None = None,
    margin: int = 0,
    other_chart: str | Path | Chart | None = None,
) -> FootballStrategy | TimedFootball:
    """Football Strategy: both sides call at once, and a chart has the result.

    Args:
        chart: The name of a shipped chart, the path of a chart's file, or a chart.
        form: Without a clock ``"drive"``, ``"points"`` or ``"play"``; with one ``"two-minutes"``,
            ``"half"``, ``"second-half"`` or ``"full"``.
        ruleset: A mapping of parameters of :class:`Ruleset` where they are not its defaults, or a
            ruleset.
        expected_points: Values at the end of a drive or a play: the path of a file, or the values
            themselves. Without it, those that are shipped with the chart. For ``"play"`` they have
            to hold all situations.
        kickoff_value: K of the form ``"points"``; without it, that of the expected points.
        down: Down on which a drive or the last two minutes begin, or of the play.
        to_go: Yards to the line to gain, or to the goal where it is nearer; without it, those of a
            first down.
        to_goal: Yards to the goal. Without a clock these three may each be a number, a pair
            ``[low, high]`` or a mapping of numbers to weights.
        punting: Whether punt formation is declared, on the last down; without a clock.
        clock: A mapping of parameters of :class:`ClockRules` where they are not its defaults.
        timeouts: Number of each side's time-outs in a half, or whether it has any; by default 3.
        margin: Player 0's lead at the start of ``"two-minutes"`` or ``"second-half"``.
        other_chart: Player 1's chart, given as `chart` is; without it both play from `chart`.
            Without a clock.

    Raises:
        ValueError: If a parameter is not allowed, or belongs to another form.
        OSError: If a file cannot be read.
    """
    given: dict[str, Any] = dict(locals())
    check_choice(form, "form", ALL_FORMS)
    timed = form in TIMED_FORMS
    for name, default in (_UNTIMED_ONLY if timed else _TIMED_ONLY).items():
        if (value := given.pop(name)) != default:
            clocks = ("without", FORMS) if timed else ("with", TIMED_FORMS)
            raise ValueError(
                f"{name} is {shown(value)}, but form is {shown(form)}; {name} is for the forms "
                f"{clocks[0]} a clock: {', '.join(clocks[1])}"
            )
    return (TimedFootball if timed else FootballStrategy)(**given)
