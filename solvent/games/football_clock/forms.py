"""Football Strategy by its form, with a clock or without."""

from collections.abc import Mapping
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any

from solvent.exact import CertificateError, ImproperGameError
from solvent.games.football.chart import Chart, load_chart
from solvent.games.football.expected_points import ExpectedPoints, ExpectedPointsError
from solvent.games.football.rules import FORMS, FootballStrategy
from solvent.games.football.ruleset import ClockRules, Ruleset
from solvent.games.football_clock.rules import ALL_FORMS, TIMED_FORMS, TimedFootball
from solvent.model.parameters import Spread, check_choice, shown


def football_strategy(
    chart: str | Path | Chart = "standard",
    form: str = "drive",
    ruleset: Mapping[str, Any] | Ruleset | None = None,
    expected_points: ExpectedPoints | None = None,
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
        form: Without a clock ``"drive"`` or ``"points"``; with one ``"two-minutes"``,
            ``"half"``, ``"second-half"`` or ``"full"``.
        ruleset: A mapping of parameters of :class:`Ruleset` where they are not its defaults, or a
            ruleset.
        expected_points: Values at the end of a drive. Without it, those that are shipped with the
            chart; for another chart or other rules they are solved, which takes some seconds.
        kickoff_value: K of the form ``"points"``; without it, that of the expected points.
        down: Down on which a drive or the last two minutes begin.
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
        ImproperGameError: If the expected points have to be solved, and play need not end.
        CertificateError: If the expected points have to be solved, and cannot be proved.
        OSError: If a file cannot be read.
    """
    given: dict[str, Any] = dict(locals())
    timed = check_choice(form, "form", ALL_FORMS) in TIMED_FORMS
    kind: type[TimedFootball | FootballStrategy] = TimedFootball if timed else FootballStrategy
    own = [field.name for field in fields(kind)]
    for name, parameter in signature(football_strategy).parameters.items():
        if name not in own and given[name] != parameter.default:
            clocks = ("without", FORMS) if timed else ("with", TIMED_FORMS)
            raise ValueError(
                f"{name} is {shown(given[name])}, but form is {shown(form)}; {name} is for the "
                f"forms {clocks[0]} a clock: {', '.join(clocks[1])}"
            )
    parameters = {name: given[name] for name in own}
    try:
        return kind(**parameters)
    except ExpectedPointsError:
        if expected_points is not None:
            raise
    from solvent.games.football.solver.points import expected_points_of

    first = load_chart(chart)
    second = first if other_chart is None else load_chart(other_chart)
    try:
        parameters["expected_points"] = expected_points_of(first, Ruleset.of(ruleset), second)
    except (ImproperGameError, CertificateError) as error:
        raise type(error)(
            f"chart {first.name!r} has no expected points: {error}. Change the chart, or pass "
            f"expected_points in Python"
        ) from error
    return kind(**parameters)
