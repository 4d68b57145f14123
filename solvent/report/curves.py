"""Learning curves: the value with the optimum as a line, and the gap in decades with a lane for 0.

Where an episode goes on for ever at a cost the value is minus infinity: its points are in a lane of
their own at the bottom, and those of the gap at the top.

The points were computed exactly while the network was trained. Of the networks of that time only
the last is kept, so that they are drawn as recorded; where a curve's end is not what the last
network's policies give now, :func:`ends` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite, isinf, isnan

from solvent.benchmark.records import TaskRecord
from solvent.exact.learning_curve import Evaluation
from solvent.report.colours import Mark
from solvent.report.numbers import NEVER_ENDS, small, tick, whole
from solvent.report.panel import LANE, Axis, Panel, gap_axis

ROUNDING = 1e-9
"""How far the end of a curve may be from what the policies give."""

ALONG = "environment steps"
"""The name of the horizontal axes."""

Curves = Mapping[str, Sequence[Evaluation]]
"""The learning curve of each agent, by the agent's name."""


Marks = Mapping[str, Mark]
"""The colour and the shape of each algorithm."""


def panels(task: TaskRecord, curves: Curves, marks: Marks, unit: str = "") -> tuple[str, str]:
    """The charts of a task: the value, or for two the exploitability, and the gap in decades.

    Args:
        task: With its agents and baselines.
        curves: Of the agents.
        marks: Of their algorithms.
        unit: What values are counted in.
    """
    draw = exploitability_panel if task.for_two else value_panel
    return draw(task, curves, marks, unit), gap_panel(task, curves, marks, unit)


def named(quantity: str, unit: str) -> str:
    """The name of an axis with its unit."""
    return f"{quantity} ({unit})" if unit else quantity


def ends(task: TaskRecord, curves: Curves) -> tuple[str, ...]:
    """What is to be said of curves that do not end at the steps and gaps of their agents.

    Args:
        task: Its agents' gaps are computed from their policies.
        curves: As recorded.
    """
    said = []
    for agent in task.agents:
        last = curves[agent.name][-1]
        pairs = ((last.gap, agent.gap), (last.mode_gap, agent.mode_gap))
        close = all(
            drawn == own or abs(drawn - own) <= ROUNDING * max(1.0, abs(own))
            for drawn, own in pairs
        )
        if last.timesteps != agent.timesteps or not close:
            said.append(
                f"The curve of {agent.name} ends after {whole(last.timesteps)} steps at gaps of "
                f"{small(last.mode_gap)} (greedy policy) and {small(last.gap)} (sampled); "
                f"its policies, after {whole(agent.timesteps)}, have {small(agent.mode_gap)} and "
                f"{small(agent.gap)}."
            )
    return tuple(said)


def exploitability_panel(task: TaskRecord, curves: Curves, marks: Marks, unit: str = "") -> str:
    """The exploitability over the training, mean of both seats, with 0 as the optimum's line."""
    largest = max(filter(isfinite, _numbers(curves, "gap")), default=1.0)
    panel = Panel(
        f"Recorded exploitability over the training on {task.title}",
        named("exploitability", unit),
        _steps(curves),
        Axis(
            -0.06 * max(largest, 1e-9),
            1.06 * max(largest, 1e-9),
            above=LANE * (inf in _numbers(curves, "gap")),
        ),
        ALONG,
    )
    for baseline in task.baselines:
        if 0.01 * largest < baseline.gap <= largest:
            panel.level(baseline.gap, baseline.name, "baseline")
    panel.level(0.0, "optimum 0", "optimum")
    return _drawn(panel, task, curves, marks, "gap")


def value_panel(task: TaskRecord, curves: Curves, marks: Marks, unit: str = "") -> str:
    """The value over the training, with the optimum and the baselines as lines."""
    values = list(filter(isfinite, _numbers(curves, "value"))) or [task.optimum]
    margin = 0.06 * max(task.optimum - min(values), 1e-9)
    panel = Panel(
        f"Recorded value over the training on {task.title}",
        named("value", unit),
        _steps(curves),
        Axis(
            min(values) - margin,
            task.optimum + margin,
            below=LANE * (-inf in _numbers(curves, "value")),
        ),
        ALONG,
    )
    panel.level(task.optimum, f"optimum {task.optimum:.4g}", "optimum")
    for baseline in task.baselines:
        if panel.y.low < baseline.value < task.optimum:
            panel.level(baseline.value, baseline.name, "baseline")
    return _drawn(panel, task, curves, marks, "value")


def gap_panel(task: TaskRecord, curves: Curves, marks: Marks, unit: str = "") -> str:
    """The optimality gap over the training."""
    gap = "exploitability" if task.for_two else "optimality gap"
    panel = Panel(
        f"Recorded {gap} over the training on {task.title}",
        named(gap, unit),
        _steps(curves),
        gap_axis(_numbers(curves, "gap"), unbounded=True),
        ALONG,
    )
    return _drawn(panel, task, curves, marks, "gap")


def _numbers(curves: Curves, quantity: str) -> list[float]:
    """The value or the gap at all points, of the sampled and of the greedy policy."""
    return [
        getattr(point, name)
        for curve in curves.values()
        for point in curve
        for name in (quantity, f"mode_{quantity}")
    ]


def _drawn(panel: Panel, task: TaskRecord, curves: Curves, marks: Marks, quantity: str) -> str:
    """The chart with each agent's curves, the sampled policy's dashed, and a legend below it.

    Args:
        panel: The chart without them.
        task: With its agents.
        curves: Of the agents.
        marks: Of their algorithms.
        quantity: What is drawn, ``"value"`` or ``"gap"``.
    """
    for agent in task.agents:
        colour, shape = marks[agent.algorithm]
        for name, attribute, dashed in (
            (f"{agent.name}, sampled", quantity, True),
            (agent.name, f"mode_{quantity}", False),
        ):
            points = [(point.timesteps, getattr(point, attribute)) for point in curves[agent.name]]
            last = points[-1][1]
            told = f"{last:.6g}" if not isinf(last) else f"{tick(last)} ({NEVER_ENDS})"
            text = f"{name}: {told} in the end, as recorded"
            # What could not be proved has no place.
            known = [point for point in points if not isnan(point[1])]
            xs, ys = [x for x, _ in known], [y for _, y in known]
            panel.line(xs, ys, colour, text, dashed=dashed, shape="" if dashed else shape)
            endless = [point for point in known if isinf(point[1])]
            panel.dots([x for x, _ in endless], [y for _, y in endless], colour)
    for algorithm in dict.fromkeys(agent.algorithm for agent in task.agents):
        panel.key(algorithm, *marks[algorithm])
    return panel.drawn()


def _steps(curves: Curves) -> Axis:
    last = max(point.timesteps for curve in curves.values() for point in curve)
    return Axis(0.0, float(max(last, 1)))
