"""What football's baselines lose to an opponent who sees their mixed strategies, by the kernels."""

from __future__ import annotations

from contextlib import suppress
from statistics import mean
from typing import cast

import numpy as np

from solvent.benchmark.records import BaselineRecord
from solvent.exact import ImproperGameError
from solvent.games.football.baselines.losses import (
    defence_losses,
    losses_until_score,
    offence_losses,
)
from solvent.games.football.baselines.players import STRATEGIES
from solvent.games.football.packed import PackedRules
from solvent.games.football.position import Position
from solvent.games.football.solver.responses import Strategies
from solvent.games.football.solver.solved import SolvedFootball
from solvent.model.arrays import Floats, Ints

ROUNDING = 1e-9
"""A gap below this is that of an optimum."""


def scored_baselines(solved: SolvedFootball) -> tuple[BaselineRecord, ...]:
    """The uniform policy, the optimum and all baselines of mixed strategies, scored in both seats.

    One against which play need not end, so that no response is best, is left out.

    Until the next score a player is scored with its mixed strategies on both sides of the ball and
    the kickoff that suits it against the response.
    """
    strategies = {"uniform": uniform_strategies(solved.rules)}
    strategies |= {name: make(solved.rules) for name, make in STRATEGIES.items()}
    strategies["optimal"] = solved.strategies
    gaps_of = _points_gaps if solved.game.form == "points" else _drive_gaps
    value = solved.value
    gaps = {}
    for name, own in strategies.items():
        with suppress(ImproperGameError):
            gaps[name] = gaps_of(solved, own)
    chances = start_chances(solved)[1] if solved.game.form == "drive" else np.ones(1)
    return tuple(_record(name, value, own, gaps["uniform"], chances) for name, own in gaps.items())


def start_chances(solved: SolvedFootball) -> tuple[Ints, Floats]:
    """The numbers of the situations in which a drive may start, and their chances."""
    outcomes = solved.game.initial()
    states = [cast(Position, outcome.state) for outcome in outcomes]
    chances = np.array([float(outcome.probability) for outcome in outcomes])
    return solved.numbers([state.situation for state in states]), chances


def uniform_strategies(rules: PackedRules) -> Strategies:
    """Every legal action with equal chance."""
    situations, defences = rules.n_situations, rules.chart.defences
    return Strategies(
        rules.legal / rules.legal.sum(axis=1, keepdims=True),
        np.full((situations, defences), 1 / defences),
        np.full((situations, int((rules.option[:, 0] >= 0).sum())), 0.5),
    )


def _drive_gaps(solved: SolvedFootball, strategies: Strategies) -> tuple[Floats, Floats]:
    """What mixed strategies lose on offence and on defence from each start."""
    starts, _ = start_chances(solved)
    of_offence = offence_losses(solved.rules, solved.after, solved.values, strategies)
    of_defence = defence_losses(solved.rules, solved.after, solved.values, strategies)
    return of_offence[starts], of_defence[starts]


def _points_gaps(solved: SolvedFootball, strategies: Strategies) -> tuple[Floats, Floats]:
    """What mixed strategies lose from receiving the kickoff, and from kicking off."""
    receiving, kicking = losses_until_score(solved.rules, solved.after, strategies)
    return np.array([receiving]), np.array([kicking])


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
