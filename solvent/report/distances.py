"""How far everybody is from the optimum, in one row each on a common logarithmic axis."""

from __future__ import annotations

from dataclasses import dataclass

from solvent.exact.bench_records import TaskRecord
from solvent.report.numbers import small, tick
from solvent.report.panel import Axis, decades

LEAST_GAP = 1e-6
"""Smaller gaps stand at the end of the axis, and those that are mere rounding at the optimum."""
ROUNDING = 1e-12
LAST_DECADE = 88.0
"""Where the axis ends, in percent of the way to the optimum."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A policy on the axis: its place in percent from the left, and what to say of it."""

    place: float
    text: str
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class GapRow:
    """All agents of an algorithm, or one baseline."""

    name: str
    algorithm: str | None
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Distances:
    """Rows, the nearest to the optimum first, and the axis: places in percent with labels."""

    rows: tuple[GapRow, ...]
    ticks: tuple[tuple[float, str], ...]


def distances(task: TaskRecord) -> Distances:
    """The chart of a task; the optimum is at the right, each decade to the left ten times worse."""
    gaps = [gap for agent in task.agents for gap in (agent.gap, agent.mode_gap)]
    gaps += [baseline.gap for baseline in task.baselines]
    axis = decades([gap for gap in gaps if gap > LEAST_GAP], least=LEAST_GAP)

    def dot(name: str, gap: float, *, sampled: bool = False) -> Dot:
        text = f"{name}{', sampled' if sampled else ''}: gap {small(gap)}"
        return Dot(_place(axis, gap), text, sampled)

    rows = {}
    for algorithm in dict.fromkeys(agent.algorithm for agent in task.agents):
        own = [agent for agent in task.agents if agent.algorithm == algorithm]
        dots = [dot(agent.name, agent.gap, sampled=True) for agent in own]
        dots += [dot(agent.name, agent.mode_gap) for agent in own]
        nearest = min(agent.mode_gap for agent in own)
        rows[algorithm] = nearest, GapRow(algorithm, algorithm, tuple(dots))
    for baseline in task.baselines:
        row = GapRow(baseline.name, None, (dot(baseline.name, baseline.gap),))
        rows[f"baseline {baseline.name}"] = baseline.gap, row
    ordered = [row for _, row in sorted(rows.values(), key=lambda pair: pair[0])]
    ticks = [(_place(axis, number), tick(number)) for number in axis.ticks()]
    return Distances(tuple(ordered), (*ticks, (100.0, "0")))


def _place(axis: Axis, gap: float) -> float:
    """In percent from the left. No logarithmic axis reaches the optimum, so it stands apart."""
    return 100.0 if gap <= ROUNDING else LAST_DECADE * (1 - axis.share(gap))
