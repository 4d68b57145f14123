"""What the page shows of football with a clock."""

from __future__ import annotations

from solvent.games.football.report.page import untabled_football
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.solver.solved import SolvedFootball
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
from solvent.model import Game
from solvent.report.sections import Section, Untabled


def untabled(subject: Game | TimedSolution | SolvedFootball) -> Untabled | None:
    """What is known of any form of Football Strategy without its table.

    Args:
        subject: The rules, or their solution.

    Returns:
        None for a form that needs its table.
    """
    if isinstance(subject, TimedSolution):
        return untabled_timed(subject)
    if isinstance(subject, (FootballStrategy, SolvedFootball)):
        return untabled_football(subject)
    return None


def untabled_timed(solution: TimedSolution) -> Untabled:
    """What is known of a solved form with a clock.

    Args:
        solution: Of the form.
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
    return Untabled(solution, tuple(sections))


def paper_agent_sections(solution: TimedSolution, agent: AgentScores) -> list[Section]:
    """What the published agent gives away in a solved form, and a game that it plays.

    Args:
        solution: Of the form.
        agent: What the agent gets in it, of
            :func:`solvent.games.football_clock.report.agent.rate_agent`.
    """
    return [agent_section(solution, agent), agent_game_section(solution, agent)]
