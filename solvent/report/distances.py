"""How far everybody is from the optimum: a row each on a common axis of gaps.

Each decade to the right is ten times nearer. No decade reaches the optimum, so that a gap of 0 has
a lane of its own behind a break.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import inf, isfinite

from solvent.benchmark.records import TaskRecord
from solvent.report.colours import BASELINE_SHAPE, Mark
from solvent.report.numbers import NEVER_ENDS, UNBOUNDED, small, tick
from solvent.report.panel import LETTER, break_mark, gap_axis

WIDTH, ROW, TOP, RIGHT = 500, 21, 8, 16
"""Of the chart, of a row, and room above the rows and at the right; there are 4 below them."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A policy: its gap, what to say of it, and whether it is as sampled, not the greedy one."""

    gap: float
    text: str
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class GapRow:
    """All agents of an algorithm, or one baseline, of which `mark` is None and `told` a line."""

    name: str
    mark: Mark | None
    dots: tuple[Dot, ...]
    told: str = ""

    @property
    def nearest(self) -> float:
        """The least gap of a policy that is not as sampled."""
        return min((d.gap for d in self.dots if isfinite(d.gap) and not d.sampled), default=inf)

    @property
    def largest_known(self) -> float:
        """The largest gap that is finite; infinity if there is none."""
        return max((d.gap for d in self.dots if isfinite(d.gap)), default=inf)

    @property
    def unbounded(self) -> bool:
        """Whether the gap of a policy is infinite."""
        return any(d.gap == inf for d in self.dots)


def rows_of(
    task: TaskRecord, marks: Mapping[str, Mark], descriptions: Mapping[str, str]
) -> tuple[GapRow, ...]:
    """The rows of a task, the nearest to the optimum first.

    Args:
        task: With its agents and baselines.
        marks: Of each algorithm.
        descriptions: Of each baseline.
    """

    def dot(name: str, gap: float, *, sampled: bool = False) -> Dot:
        text = f"{name}{', sampled' if sampled else ''}: gap {small(gap)}"
        return Dot(gap, text, sampled)

    rows = []
    for algorithm in dict.fromkeys(agent.algorithm for agent in task.agents):
        own = [agent for agent in task.agents if agent.algorithm == algorithm]
        dots = [dot(agent.name, agent.gap, sampled=True) for agent in own]
        dots += [dot(agent.name, agent.mode_gap) for agent in own]
        rows.append(GapRow(algorithm, marks[algorithm], tuple(dots)))
    for baseline in task.baselines:
        told = descriptions.get(baseline.name, "")
        rows.append(GapRow(baseline.name, None, (dot(baseline.name, baseline.gap),), told))
    return tuple(sorted(rows, key=lambda row: row.nearest))


def distances(title: str, quantity: str, rows: Sequence[GapRow]) -> str:
    """The chart: the optimum is at the right, each decade to the left ten times worse.

    Args:
        title: What it shows.
        quantity: The name of the axis.
        rows: From above to below.
    """
    # A row of which all is unbounded says it in words.
    partly = any(isfinite(row.largest_known) and row.unbounded for row in rows)
    axis = gap_axis([dot.gap for row in rows for dot in row.dots], unbounded=partly)
    left = 18 + LETTER * max(len(row.name) for row in rows)
    bottom = TOP + ROW * len(rows)

    def x(gap: float) -> float:
        return WIDTH - RIGHT - axis.share(gap) * (WIDTH - RIGHT - left)

    ticks = axis.ticks()
    parts = [
        f'<line class="{"grid" if gap else "optimum"}" x1="{x(gap):.1f}" x2="{x(gap):.1f}" '
        f'y1="{TOP}" y2="{bottom}"/>'
        f'<text x="{x(gap):.1f}" y="{bottom + 16}" text-anchor="middle">{tick(gap)}</text>'
        for gap in ticks
    ]
    parts.append(break_mark((x(axis.low) + x(0.0)) / 2, bottom, bottom - TOP, upright=False))
    if partly:
        middle = (x(axis.high) + x(inf)) / 2
        parts.append(break_mark(middle, bottom, bottom - TOP, upright=False))
    for number, row in enumerate(rows):
        parts.append(_row(row, TOP + ROW * (number + 0.5), left, x))
    return (
        f'<svg class="chart distances" viewBox="0 0 {WIDTH} {bottom + 40}" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}"
        f'<text x="{(left + WIDTH - RIGHT) / 2:g}" y="{bottom + 34}" text-anchor="middle">'
        f"{escape(quantity)}</text></svg>"
    )


def _row(row: GapRow, y: float, left: float, x: Callable[[float], float]) -> str:
    """A name, the track, and a mark for each policy; those whose gap is unknown have no place."""
    name = f"<title>{escape(row.told)}</title>{escape(row.name)}" if row.told else escape(row.name)
    kind, colour = ("agent", row.mark.colour) if row.mark else ("base", "var(--baseline)")
    shape = row.mark.shape if row.mark else BASELINE_SHAPE
    marks = "".join(
        f'<path class="dot{" hollow" if dot.sampled else ""}" data-gap="{dot.gap!r}" '
        f'transform="translate({x(dot.gap):.2f} {y:g})" d="{shape}">'
        f"<title>{escape(dot.text)}</title></path>"
        for dot in row.dots
        if isfinite(dot.gap) or (dot.gap == inf and isfinite(row.largest_known))
    )
    track = f'<line class="grid" x1="{left:g}" x2="{WIDTH - RIGHT}" y1="{y:g}" y2="{y:g}"/>'
    if not marks:
        track = ""
        said = f"{UNBOUNDED}: {NEVER_ENDS}" if row.unbounded else "not proved"
        marks = f'<text x="{left + 6:g}" y="{y + 4:g}">{said}</text>'
    return (
        f'{track}<text class="{kind}" x="{left - 8:g}" y="{y + 4:g}" text-anchor="end">{name}'
        f'</text><g style="color:{colour}">{marks}</g>'
    )
