"""The value of a football game by time, score and place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvent.games.football.report.points import line_colour
from solvent.games.football.situation import first_down_at
from solvent.games.football_clock.report.clock_map import (
    LARGEST_LEAD,
    Clock,
    ClockMap,
    maps_html,
    script,
    shaded_map,
)
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.model.arrays import Floats
from solvent.report.colours import VIRIDIS
from solvent.report.panel import Axis, Panel
from solvent.report.sections import Section

PLACES = (80, 50, 20)
"""Yards to the goal of the first downs that have a map, on a field of 100."""

LEADS = (-7, -3, 0, 3, 7)
"""Those that have a line, if a lead counts so far."""


def clock_of(solution: TimedSolution) -> Clock:
    """The cells of maps of the last half."""
    layout = solution.layout
    lead = 0 if layout.for_points else min(LARGEST_LEAD, layout.clock.largest_margin)
    return Clock(layout.most_ticks, layout.clock.tick, lead)


def by_time(solution: TimedSolution, row: int, spent: tuple[int, int] = (0, 0)) -> Floats:
    """[T, leads] the value of a row of the second half's layers.

    It is the chance of winning with half that of a tie, or points.

    Args:
        solution: Of the form.
        row: Of the layers.
        spent: How many time-outs the side with the ball and the other one have called.
    """
    layout, clock = solution.layout, clock_of(solution)
    own, other = (layout.clock.timeouts - called for called in spent)
    leads = [layout.column(2, lead) for lead in range(-clock.lead, clock.lead + 1)]
    values = [
        solution.values(layout.moment(2, ticks, own, other))[row, leads]
        for ticks in range(1, clock.ticks + 1)
    ]
    return np.stack(values) + (0.0 if layout.for_points else 0.5)


def first_down(solution: TimedSolution, to_goal: int) -> int:
    """The row of a first down."""
    rules = solution.layout.rules
    return rules.index(first_down_at(rules.ruleset, to_goal))


def scaled(solution: TimedSolution, yards: int) -> int:
    """The yards to the goal on this field that are so many of a hundred."""
    return max(1, yards * solution.layout.rules.ruleset.field // 100)


def place_name(solution: TimedSolution, to_goal: int) -> str:
    """A line of the field."""
    field = solution.layout.rules.ruleset.field
    if 2 * to_goal == field:
        return "midfield"
    return f"the own {field - to_goal}" if 2 * to_goal > field else f"the other's {to_goal}"


def chance_maps(solution: TimedSolution) -> list[ClockMap]:
    """The chance of winning with the ball at three places."""
    clock = clock_of(solution)
    maps = []
    for to_goal in (scaled(solution, yards) for yards in PLACES):
        chance = by_time(solution, first_down(solution, to_goal))
        title = f"first down at {place_name(solution, to_goal)}"
        told = [("win", chance)]
        maps.append(shaded_map(title, clock, chance, VIRIDIS, (0.0, 1.0), told))
    return maps


def chances_section(solution: TimedSolution) -> Section:
    """The maps, and the chances by the place of the ball."""
    clock = clock_of(solution)
    times = [ticks for ticks in (clock.ticks // 2, 8) if 0 < ticks <= clock.ticks]
    charts = "".join(
        f"<figure>{place_panel(solution, ticks).drawn()}{_legend(leads_of(solution))}</figure>"
        for ticks in dict.fromkeys(times)
    )
    html = (
        "<p>The chance of winning of the side that has the ball, first down with ten yards to go, "
        "half the chance of a tie counted, by the time left and its lead. Both sides play "
        f"optimally and have all their time-outs.</p>{maps_html(chance_maps(solution))}"
        "<p>The same along the field, by the lead of the side that has the ball.</p>"
        f'<div class="panels">{charts}</div>'
    )
    return Section("Winning by time, score and place", html, script())


def leads_of(solution: TimedSolution) -> tuple[int, ...]:
    """The leads that have a line."""
    most = solution.layout.clock.largest_margin
    return tuple(lead for lead in LEADS if abs(lead) <= most)


def place_panel(solution: TimedSolution, ticks: int) -> Panel:
    """Chances of winning along the field for some leads, at one time."""
    layout, clock = solution.layout, clock_of(solution)
    timeouts, field = layout.clock.timeouts, layout.rules.ruleset.field
    values = solution.values(layout.moment(2, ticks, timeouts, timeouts))
    rows = [first_down(solution, to_goal) for to_goal in range(field - 1, 0, -1)]
    chart = Panel(
        f"{clock.time(ticks)} left",
        f"chance of winning, {clock.time(ticks)} left",
        Axis(0.0, float(field)),
        Axis(0.0, 1.0),
        "yards from the own goal line",
    )
    xs = [float(x) for x in range(1, field)]
    for number, lead in enumerate(leads_of(solution)):
        chances = values[rows, layout.column(2, lead)] + 0.5
        chart.line(xs, chances.tolist(), line_colour(number), _lead(lead), dashed=False)
    return chart


def points_section(solution: TimedSolution) -> Section:
    """Of a half for points: the value of having the ball along the field, by the time left."""
    layout, clock = solution.layout, clock_of(solution)
    timeouts, field = layout.clock.timeouts, layout.rules.ruleset.field
    rows = [first_down(solution, to_goal) for to_goal in range(field - 1, 0, -1)]
    times = [t for t in (clock.ticks, 20, 8, 4, 2, 1) if t <= clock.ticks]
    lines = {
        f"{clock.time(ticks)} left": solution.values(layout.moment(2, ticks, timeouts, timeouts))[
            rows, 0
        ]
        for ticks in dict.fromkeys(times)
    }
    values = np.concatenate(list(lines.values()))
    chart = Panel(
        "points still to come",
        "points still to come",
        Axis(0.0, float(field)),
        Axis(min(float(values.min()), 0.0) - 0.1, float(values.max()) + 0.1),
        "yards from the own goal line",
    )
    for number, (name, line) in enumerate(lines.items()):
        xs = [float(x) for x in range(1, field)]
        chart.line(xs, line.tolist(), line_colour(number), name, dashed=False)
    html = (
        "<p>The points of the side that has the ball, less the other side's, that are still to "
        "come in the half, first down with ten yards to go. Both sides play optimally and have "
        "all their time-outs. With much time left these are the expected points of the game "
        f'without a clock.</p><div class="panels"><figure>{chart.drawn()}'
        f"{names_html(list(lines))}</figure></div>"
    )
    return Section("Points by time and place", html)


def _legend(leads: Sequence[int]) -> str:
    return names_html([_lead(lead) for lead in leads])


def names_html(names: Sequence[str]) -> str:
    """The names of lines, each with its colour."""
    keys = "".join(
        f'<span><i class="key" style="background: {line_colour(n)}"></i> {name}</span>'
        for n, name in enumerate(names)
    )
    return f'<p class="legend">{keys}</p>'


def _lead(lead: int) -> str:
    return f"{abs(lead)} {'ahead' if lead > 0 else 'behind'}" if lead else "tied"
