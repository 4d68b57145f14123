"""Pictures of solved football that need nothing else, for the documentation and for slides."""

from __future__ import annotations

from pathlib import Path

from solvent.games.football.report import fourth_down
from solvent.games.football.report.points import by_chart, line_colour, panel, points_by_down
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.report import panel as points
from solvent.report.panel import keys, side_by_side


def write_pictures(folder: str | Path, *, chart: str = "standard") -> list[Path]:
    """Write ``football-expected-points.svg`` and ``football-fourth-down.svg``.

    Args:
        folder: Where to.
        chart: A shipped chart, or a chart's file for which there are expected points.

    Returns:
        The files.

    Raises:
        ValueError: If there is no such chart.
        StoreError: If a file cannot be written.
    """
    solved = solve_football(FootballStrategy(chart))
    assert solved is not None
    pictures = {
        "football-expected-points.svg": points_picture(solved),
        "football-fourth-down.svg": fourth_down_picture(solved),
    }
    return points.write_pictures(folder, pictures)


def points_picture(solved: SolvedFootball) -> str:
    """Expected points by down and by chart, side by side."""
    parts = []
    for name, lines in (("by down", points_by_down(solved)), ("by chart", by_chart(solved))):
        colours = [line_colour(n) for n in range(len(lines))]
        room = points.WIDTH - points.LEFT - points.RIGHT
        legend = keys([*lines], colours, points.LEFT, points.HEIGHT + 6, room)
        parts.append(panel(name, lines).inside() + legend)
    title = f"Expected points of first downs, chart {solved.rules.chart.name}"
    return side_by_side(title, parts, points.WIDTH, points.HEIGHT + points.KEYS)


def fourth_down_picture(solved: SolvedFootball) -> str:
    """The maps of the last down side by side."""
    maps = fourth_down.panels(fourth_down.fourth_downs(solved))
    title = f"The last down, chart {solved.rules.chart.name}"
    return side_by_side(title, list(maps.values()), fourth_down.WIDTH, fourth_down.HEIGHT)
