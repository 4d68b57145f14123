"""The page of Football Strategy without a clock.

The table of a drive has more than a hundred thousand states, nearly all with matrices of 20 x 10,
that of the game until the next score twice as many. Football's own solver solves and scores both
without it.
"""

from __future__ import annotations

from contextlib import suppress
from statistics import mean
from typing import cast

import numpy as np

from solvent.benchmark.records import BaselineRecord
from solvent.exact import ImproperGameError
from solvent.games.football.baselines.losses import FootballLosses
from solvent.games.football.baselines.players import STRATEGIES
from solvent.games.football.report.fourth_down import fourth_down_section
from solvent.games.football.report.points import points_section
from solvent.games.football.report.sheets import sheets_section
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.solver.backup import Strategies, backup_of
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.model.arrays import Floats
from solvent.report.sections import Section, Untabled
from solvent.report.solved import SolvedTask

ROUNDING = 1e-9
"""Largest gap that counts as that of an optimum."""


def football_sections(task: SolvedTask) -> list[Section]:
    """The sections of a solved task; none for a single play."""
    solved = _solved(cast(FootballStrategy, task.game))
    return [] if solved is None else list(_sections(solved))


def untabled_football(subject: FootballStrategy | SolvedFootball) -> Untabled | None:
    """The optimum, the baselines and the sections; None for what only a table can solve.

    Args:
        subject: The rules, or their solution.
    """
    solved = subject if isinstance(subject, SolvedFootball) else _solved(subject)
    if solved is None:
        return None
    return Untabled(solved, _sections(solved), scored_baselines(solved))


def _solved(game: FootballStrategy) -> SolvedFootball | None:
    """The solution without a table, if there is one.

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


def scored_baselines(solved: SolvedFootball) -> tuple[BaselineRecord, ...]:
    """The uniform policy, the optimum and all baselines of mixed strategies, scored in both seats.

    One against which play need not end, so that no response is best, is left out.

    Until the next score a player is scored with its mixed strategies on both sides of the ball and
    the kickoff that suits it against the response.
    """
    rules = solved.rules
    strategies = {"uniform": backup_of(rules).uniform}
    strategies |= {name: make(rules) for name, make in STRATEGIES.items()}
    strategies["optimal"] = solved.strategies
    gaps = {}
    for name, own in strategies.items():
        with suppress(ImproperGameError):
            gaps[name] = _gaps(solved, own)
    chances = solved.starts[1] if solved.game.form == "drive" else np.ones(1)
    return tuple(
        _record(name, solved.value, own, gaps["uniform"], chances) for name, own in gaps.items()
    )


def _gaps(solved: SolvedFootball, strategies: Strategies) -> tuple[Floats, Floats]:
    """Return the losses of strategies from each start: on offence and defence, or by kickoff."""
    losses = FootballLosses(solved.rules, solved.after, solved.values)
    if solved.game.form == "points":
        receiving, kicking = losses.until_score(strategies)
        return np.array([receiving]), np.array([kicking])
    starts, _ = solved.starts
    return losses.of_offence(strategies)[starts], losses.of_defence(strategies)[starts]


def _record(
    name: str,
    value: float,
    gaps: tuple[Floats, Floats],
    uniform: tuple[Floats, Floats],
    chances: Floats,
) -> BaselineRecord:
    lost = [max(float(chances @ own), 0.0) for own in gaps]
    lost = [0.0 if gap < ROUNDING else gap for gap in lost]
    least = [float(chances @ own) for own in uniform]
    return BaselineRecord(
        name=name,
        value=mean((value - lost[0], -value - lost[1])),
        gap=mean(lost),
        normalized=mean(1 - gap / most for gap, most in zip(lost, least, strict=True)),
        worst_start_gap=max(float(own.max()) for own in gaps),
        exploitability=(lost[0], lost[1]),
    )
