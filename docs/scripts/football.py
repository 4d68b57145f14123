"""Draw the pictures of the page on solved Football Strategy: expected points, and the last down.

python docs/scripts/football.py
"""

from pathlib import Path

from rows_of_two import side_by_side

from solvent.games.football.fourth_down import everywhere, maps
from solvent.games.football.report import by_chart, line_colour, panel, points_by_down
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.report import panel as panels
from solvent.report.panel import keys

FOLDER = Path(__file__).parents[1] / "games"


def pictures(solved: SolvedFootball) -> dict[str, str]:
    """The pictures by file name."""
    parts = []
    for name, lines in (("by down", points_by_down(solved)), ("by chart", by_chart(solved))):
        colours = [line_colour(n) for n in range(len(lines))]
        room = panels.WIDTH - panels.LEFT - panels.RIGHT
        legend = keys([*lines], colours, panels.LEFT, panels.HEIGHT + 6, room)
        parts.append(panel(name, lines).inside() + legend)
    points = f"Expected points of first downs, chart {solved.rules.chart.name}"
    downs = [one.svg() for one in maps(everywhere(solved.rules, solved.following()), "4th")]
    last = f"The last down, chart {solved.rules.chart.name}"
    return {
        "football-expected-points.svg": side_by_side(
            points, parts, panels.WIDTH, panels.HEIGHT + panels.KEYS
        ),
        "football-fourth-down.svg": side_by_side(last, downs, panels.MAP_WIDTH, panels.MAP_HEIGHT),
    }


if __name__ == "__main__":
    solution = solve_football(FootballStrategy())
    assert solution is not None
    panels.write_pictures(FOLDER, pictures(solution))
