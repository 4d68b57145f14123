"""Expected points by the place on the field: a line for each down, and one for each chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

import numpy as np

from solvent.games.football.chart_files import SHIPPED, load_chart
from solvent.games.football.expected_points import ExpectedPointsError, shipped_expected_points
from solvent.games.football.situation import Situation, ordinal
from solvent.games.football.solver.solved import SolvedFootball
from solvent.model.arrays import Floats
from solvent.model.text import brief
from solvent.report.colours import ALGORITHMS
from solvent.report.panel import Axis, Panel
from solvent.report.sections import Section

TABLE = (99, 90, 80, 65, 50, 35, 20, 10, 5, 1)
"""Yards to the goal for which the numbers are written."""

Lines = Mapping[str, Floats]
"""[field - 1] values by name, from a yard before the own goal line to one before the other's."""


def points_section(solved: SolvedFootball) -> Section:
    """Both charts, and a table of some places."""
    pictures = [("by down", points_by_down(solved)), ("of first downs, by chart", by_chart(solved))]
    figures = "".join(
        f"<figure>{panel(name, lines).drawn()}{_legend(lines)}</figure>"
        for name, lines in pictures
        if len(lines) > 1
    )
    yards = solved.rules.ruleset.first_down
    return Section(
        "Expected points",
        "<p>The value of having the ball with optimal play on both sides: the points still to "
        f"come for the side that has it, less the other side's. With {yards} yards to go, or the "
        f'goal where it is nearer.</p><div class="panels">{figures}</div>{_table(solved)}',
    )


def points_by_down(solved: SolvedFootball) -> dict[str, Floats]:
    """The values of each down with the yards of a first down to go."""
    ruleset = solved.rules.ruleset
    return {
        f"{ordinal(down)} and {ruleset.first_down}": solved.values[
            solved.numbers([*_situations(solved, down)])
        ]
        for down in range(1, ruleset.downs + 1)
    }


def by_chart(solved: SolvedFootball) -> dict[str, Floats]:
    """First downs on the chart itself, and on the shipped ones with the same rules."""
    own, other = solved.rules.chart.name, solved.after.other
    name = own if other is None else f"{own} against {other.chart}"
    found = {name: solved.values[solved.numbers([*_situations(solved, 1)])]}
    for chart in map(load_chart, SHIPPED):
        try:
            points = shipped_expected_points(chart, solved.rules.ruleset)
        except ExpectedPointsError:
            continue  # Those that are shipped are for the usual rules.
        found.setdefault(chart.name, np.array(points.first_down[::-1]))
    return found


def _situations(solved: SolvedFootball, down: int) -> Iterator[Situation]:
    ruleset = solved.rules.ruleset
    for to_goal in range(ruleset.field - 1, 0, -1):
        yield Situation(down, min(ruleset.first_down, to_goal), to_goal)


def panel(name: str, lines: Lines) -> Panel:
    """A chart of the lines."""
    values = np.concatenate(list(lines.values()))
    low, high = float(values.min()), float(values.max())
    margin = 0.04 * max(high - low, 1e-9)
    field = len(next(iter(lines.values()))) + 1
    chart = Panel(
        f"Expected points {name}",
        "expected points",
        Axis(0.0, float(field)),
        Axis(low - margin, high + margin),
        "yards from the own goal line",
    )
    if low < 0 < high:
        chart.level(0.0, "", "baseline")
    xs = [float(x) for x in range(1, field)]
    for number, (line, points) in enumerate(lines.items()):
        chart.line(xs, points.tolist(), line_colour(number), line, dashed=False)
    return chart


def line_colour(number: int) -> str:
    """The colour of the line of a number, from 0."""
    return ALGORITHMS[number % len(ALGORITHMS)]


def _legend(lines: Lines) -> str:
    keys = "".join(
        f'<span><i class="key" style="background: {line_colour(number)}"></i> {escape(name)}</span>'
        for number, name in enumerate(lines)
    )
    return f'<p class="legend">{keys}</p>'


def _table(solved: SolvedFootball) -> str:
    """Values at some places by down."""
    places = [to_goal for to_goal in TABLE if to_goal < solved.rules.ruleset.field]
    head = "".join(f'<th class="n">{to_goal}</th>' for to_goal in places)
    rows = ""
    for name, values in points_by_down(solved).items():
        cells = "".join(
            f'<td class="n" data-points="{values[-x]}">{brief(values[-x])}</td>' for x in places
        )
        rows += f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
    return (
        '<div class="scroll"><table class="football-points"><thead><tr><th>yards to the goal</th>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
