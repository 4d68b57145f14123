"""What the page shows of football with a clock."""

from __future__ import annotations

from solvent.games.football_clock.report.agent import AgentScores, agent_section
from solvent.games.football_clock.report.agent_game import agent_game_section
from solvent.games.football_clock.report.chances import chances_section, points_section
from solvent.games.football_clock.report.decisions import (
    last_down_section,
    onside_section,
    timeouts_section,
)
from solvent.games.football_clock.report.transcript import transcript_section
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.games.football_clock.solver.tables import timed_tables
from solvent.report.sections import Section, Untabled


def untabled_timed(solution: TimedSolution, agent: AgentScores | None = None) -> Untabled:
    """What is known of a solved form.

    Args:
        solution: Of the form.
        agent: What the published agent gets in it, if the page is to show that.
    """
    layout = solution.layout
    tables = timed_tables(layout.rules)
    sections: list[Section] = []
    if layout.for_points:
        sections.append(points_section(solution))
    else:
        sections += [chances_section(solution), last_down_section(solution, tables)]
        if layout.clock.timeouts:
            sections.append(timeouts_section(solution))
        sections.append(onside_section(solution, tables))
    sections.append(transcript_section(solution))
    if agent is not None:
        sections += [agent_section(solution, agent), agent_game_section(solution, agent)]
    return Untabled(
        optimum=solution.value,
        bracket=(solution.lower, solution.upper),
        method="matrix games backward in time, by the kernels",
        sections=tuple(sections),
    )
