"""What the page shows of Football Strategy.

The table of a drive has more than a hundred thousand states, nearly all with matrices of 20 x 10,
that of the game until the next score twice as many. The kernels solve and score both without it.
"""

from __future__ import annotations

from typing import cast

from solvent.games.football.report.baselines import scored_baselines
from solvent.games.football.report.fourth_down import fourth_down_section
from solvent.games.football.report.points import points_section
from solvent.games.football.report.sheets import sheets_section
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.report.sections import Section, Untabled
from solvent.report.solved import SolvedTask


def football_sections(task: SolvedTask) -> list[Section]:
    """The sections of a solved task; none for a single play."""
    solved = _solved(cast(FootballStrategy, task.game))
    return [] if solved is None else list(_sections(solved))


def untabled_football(subject: FootballStrategy | SolvedFootball) -> Untabled | None:
    """The optimum, the baselines and the sections by the kernels; None if they do not solve it.

    Args:
        subject: The rules, or their solution by the kernels.
    """
    solved = subject if isinstance(subject, SolvedFootball) else _solved(subject)
    if solved is None:
        return None
    return Untabled(solved, _sections(solved), scored_baselines(solved))


def _solved(game: FootballStrategy) -> SolvedFootball | None:
    """The game as the kernels solve it; None if they do not.

    Raises:
        ValueError: If each side plays from a chart of its own until the next score.
    """
    if game.form == "points" and game.two_charts:
        raise ValueError(
            "the report on form 'points' is for both sides on one chart; with other_chart it shows "
            "form 'drive', one side's chart at a time, and `solvent chart points CHART "
            "--other-chart OTHER` prints the values of both"
        )
    return solve_football(game)


def _sections(solved: SolvedFootball) -> tuple[Section, ...]:
    return sheets_section(solved), points_section(solved), fourth_down_section(solved)
