"""The cross-play matrix: every policy in one seat against every policy in the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvent.baselines import baseline_policies
from solvent.exact import cross_play_matrix
from solvent.report.colours import CIVIDIS, shade
from solvent.report.solved import SolvedTask


@dataclass(frozen=True, slots=True)
class CrossPlayCell:
    """The value of a pair, the colour of its place between the least and the largest, and ink."""

    value: float
    colour: str
    ink: str


@dataclass(frozen=True, slots=True)
class CrossPlayMatrix:
    """Values to player 0: a row for each policy in seat 0, a column for each in seat 1."""

    names: tuple[str, ...]
    rows: tuple[tuple[CrossPlayCell, ...], ...]


def cross_play_of(solved: SolvedTask) -> CrossPlayMatrix:
    """The cross-play matrix of a task's agents, by their greedy policies, and its baselines.

    Args:
        solved: A task of a game for two.
    """
    known = [baseline_policies(solved.table, player=seat) for seat in (0, 1)]
    names = [*(item.agent.name for item in solved.agents), *known[0]]
    first, second = (
        [*(item.policies[seat] for item in solved.agents), *(known[seat][n] for n in known[0])]
        for seat in (0, 1)
    )
    values = cross_play_matrix(solved.table, first, second)
    finite = values[np.isfinite(values)]
    low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
    # A value that is not finite has the colour of the end that it is beyond.
    shares = (np.nan_to_num(np.clip(values, low, high), nan=low) - low) / max(high - low, 1e-12)
    rows = tuple(
        tuple(
            CrossPlayCell(value, shade(CIVIDIS, share), "#fff" if share < 0.55 else "#000")
            for value, share in zip(row, own, strict=True)
        )
        for row, own in zip(values.tolist(), shares.tolist(), strict=True)
    )
    return CrossPlayMatrix(tuple(names), rows)
