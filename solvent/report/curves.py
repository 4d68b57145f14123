"""Exact learning curves: the value with the optimum as a line, and the gap on a log axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from solvent.report.axes import Axis, decades
from solvent.report.numbers import tick
from solvent.report.results import CurvePoint, Task

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 42
LABEL = 12
"""Least vertical distance of two labels."""
LEAST_GAP = 1e-6
"""Smaller gaps are drawn here."""

Curves = Mapping[str, Sequence[CurvePoint]]
"""The learning curve of each agent, by the agent's name."""


def panels(task: Task, curves: Curves, colours: Mapping[str, str]) -> tuple[str, str]:
    """The charts of a task: the value, or for two the exploitability, and the gap in decades."""
    draw = exploitability_panel if task.for_two else value_panel
    return draw(task, curves, colours), gap_panel(task, curves, colours)


def exploitability_panel(task: Task, curves: Curves, colours: Mapping[str, str]) -> str:
    """The exploitability over the training, mean of both seats, with 0 as the optimum's line."""
    largest = max(max(p.gap, p.mode_gap) for curve in curves.values() for p in curve)
    panel = _Panel(
        f"Exact exploitability over the training on {task.env}",
        "exploitability",
        _steps(curves),
        Axis(-0.06 * max(largest, 1e-9), 1.06 * max(largest, 1e-9)),
    )
    for baseline in sorted(task.baselines, key=lambda b: -b.gap):
        if 0.01 * largest < baseline.gap <= largest:
            panel.level(baseline.gap, baseline.name, "baseline")
    panel.level(0.0, "optimum 0", "optimum")
    _draw_gaps(panel, task, curves, colours)
    return panel.drawn()


def value_panel(task: Task, curves: Curves, colours: Mapping[str, str]) -> str:
    """The value over the training, with the optimum and the baselines as lines."""
    values = [
        v for curve in curves.values() for point in curve for v in (point.value, point.mode_value)
    ]
    margin = 0.06 * max(task.optimum - min(values), 1e-9)
    panel = _Panel(
        f"Exact value over the training on {task.env}",
        "value",
        _steps(curves),
        Axis(min(values) - margin, task.optimum + margin),
    )
    panel.level(task.optimum, f"optimum {task.optimum:.6g}", "optimum")
    for baseline in sorted(task.baselines, key=lambda b: -b.value):
        if panel.y.low < baseline.value < task.optimum:
            panel.level(baseline.value, baseline.name, "baseline")
    for agent in task.agents:
        curve, colour = curves[agent.name], colours[agent.algorithm]
        steps = [point.timesteps for point in curve]
        panel.line(steps, [point.value for point in curve], colour, f"{agent.name}, sampled")
        panel.line(steps, [point.mode_value for point in curve], colour, agent.name)
    return panel.drawn()


def gap_panel(task: Task, curves: Curves, colours: Mapping[str, str]) -> str:
    """The optimality gap over the training."""
    gap = "exploitability" if task.for_two else "optimality gap"
    gaps = [
        own for curve in curves.values() for point in curve for own in (point.gap, point.mode_gap)
    ]
    panel = _Panel(
        f"Exact {gap} over the training on {task.env}",
        gap,
        _steps(curves),
        decades(gaps, least=LEAST_GAP),
    )
    _draw_gaps(panel, task, curves, colours)
    return panel.drawn()


def _draw_gaps(panel: _Panel, task: Task, curves: Curves, colours: Mapping[str, str]) -> None:
    for agent in task.agents:
        curve, colour = curves[agent.name], colours[agent.algorithm]
        steps = [point.timesteps for point in curve]
        panel.line(steps, [point.gap for point in curve], colour, f"{agent.name}, sampled")
        panel.line(steps, [point.mode_gap for point in curve], colour, agent.name)


def _steps(curves: Curves) -> Axis:
    last = max(point.timesteps for curve in curves.values() for point in curve)
    return Axis(0.0, float(max(last, 1)))


class _Panel:
    """One chart as SVG; lines named ``…, sampled`` are dashed."""

    def __init__(self, title: str, quantity: str, x: Axis, y: Axis) -> None:
        self.title, self.quantity, self.x, self.y = title, quantity, x, y
        self.parts: list[str] = []
        self.lowest_label = 0.0

    def level(self, value: float, label: str, kind: str) -> None:
        """A horizontal line with its name; levels are added from the highest to the lowest."""
        height = self._y(value)
        place = max(height - 3, self.lowest_label + LABEL)
        self.lowest_label = place
        self.parts.append(
            f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
            f'y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text class="{kind}" x="{WIDTH - RIGHT - 2}" y="{place:.1f}" '
            f'text-anchor="end">{escape(label)}</text>'
        )

    def line(self, xs: Sequence[float], ys: Sequence[float], colour: str, name: str) -> None:
        """A curve; its name shows when it is pointed at."""
        points = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in zip(xs, ys, strict=True))
        kind = "sampled" if name.endswith("sampled") else "mode"
        self.parts.append(
            f'<polyline class="{kind}" stroke="{colour}" points="{points}">'
            f"<title>{escape(name)}: {ys[-1]:.6g} in the end</title></polyline>"
        )

    def drawn(self) -> str:
        """The whole chart."""
        grid = []
        for number in self.y.ticks():
            height = self._y(number)
            grid.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
                f'y1="{height:.1f}" y2="{height:.1f}"/>'
                f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{tick(number)}</text>'
            )
        for number in self.x.ticks(4):
            place = self._x(number)
            grid.append(
                f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 16}" '
                f'text-anchor="middle">{tick(number)}</text>'
            )
        middle = TOP + (HEIGHT - TOP - BOTTOM) / 2
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
            f"<title>{escape(self.title)}</title>{''.join(grid)}{''.join(self.parts)}"
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
            f'text-anchor="middle">environment steps</text>'
            f'<text transform="translate(12 {middle}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.quantity)}</text></svg>'
        )

    def _x(self, value: float) -> float:
        return LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)
