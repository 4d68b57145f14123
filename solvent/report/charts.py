"""The charts of a bench: distances from the optimum, learning curves, and results over seeds.

Distances have a row each on a common logarithmic axis of gaps. Each decade to the right is ten
times nearer to the optimum. No decade reaches the optimum, so a gap of 0 is drawn in a separate
band behind a break.

Learning curves show the value with the optimum as a line, and the gap in decades. If episodes never
end at a cost, the value is minus infinity: such points are drawn in a separate band at the bottom,
or for gaps at the top. All points were computed exactly during the training. Since only the last
network is stored, they are drawn as recorded. If the end of a curve differs from the present score
of the last network's policies, :func:`ends` says so.

Charts over seeds have the intervals of :mod:`solvent.benchmark.statistics`.

**The microscope's section** of a page (:func:`microscope_section`) takes the numbers of
:func:`solvent.training.microscope` as a dictionary, so that results that were kept as JSON are
drawn without PyTorch. A number that does not exist is None, and no chart has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isinf, isnan
from pathlib import Path
from typing import Any

import numpy as np

from solvent.benchmark.records import TaskRecord
from solvent.benchmark.statistics import Band, curve_band, estimate, performance_profile
from solvent.benchmark.summary import PREFIXES, algorithms_of, normalized_scores
from solvent.exact.learning_curve import Evaluation, read_curve
from solvent.model.files import write_atomically
from solvent.model.parameters import check_choice
from solvent.model.text import NEVER_ENDS, UNBOUNDED, signed, small, tick, whole
from solvent.report.panel import (
    ALGORITHMS,
    BASELINE_SHAPE,
    FURTHER,
    LETTER,
    LEVELS,
    STYLE,
    Axis,
    Mark,
    Panel,
    algorithm_marks,
    break_mark,
    gap_axis,
    legend_of,
    value_axis,
)
from solvent.report.sections import Section, templates

DISTANCES_WIDTH, ROW, ABOVE, BESIDE = 500, 21, 8, 16
"""Pixels of the chart of distances: its width, a row, room above the rows and at the right."""

# The largest difference between the end of a curve and the score of the policies.
_CURVE_ROUNDING = 1e-9

# The name of the horizontal axes.
_ALONG = "environment steps"

# Normalized scores of a performance profile, from uniform to optimal play. Optimal runs, which
# rounding puts to either side of 1, are above the last one.
_THRESHOLDS = np.append(np.linspace(0.0, 0.99, 100), 1.0 - 1e-9)

# The number of points of a curve over seeds.
_POINTS = 60

# The style of a chart over seeds that stands alone.
_ALONE = (
    f":root{{{';'.join(f'--series-{n}:{c}' for n, c in enumerate((*ALGORITHMS, *FURTHER)))}}}"
    f"{STYLE}{LEVELS}"
)

Curves = Mapping[str, Sequence[Evaluation]]
"""The learning curve of each agent, by the agent's name."""

# The colour and the shape of each algorithm.
_Marks = Mapping[str, Mark]


@dataclass(frozen=True, slots=True)
class Dot:
    """A policy, or several.

    Attributes:
        gap: Gap of the policy.
        text: Text shown at the dot.
        sampled: Whether the policy is the sampled one, not the greedy one.
        mark: Mark of the dot; None for that of its row.
        ends: The ends of the interval of the gap; none if they are equal.
    """

    gap: float
    text: str
    sampled: bool = False
    mark: Mark | None = None
    ends: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class GapRow:
    """All agents of an algorithm, or one baseline, without a `mark` but described by `told`."""

    name: str
    mark: Mark | None
    dots: tuple[Dot, ...]
    told: str = ""


def rows_of(
    task: TaskRecord, marks: Mapping[str, Mark], descriptions: Mapping[str, str]
) -> tuple[GapRow, ...]:
    """Return the rows of a task, the nearest to the optimum first.

    Args:
        task: The task with its agents and baselines.
        marks: The mark of each algorithm.
        descriptions: The description of each baseline.
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
    for baseline in task.references:
        told = descriptions.get(baseline.name, "")
        rows.append(GapRow(baseline.name, None, (dot(baseline.name, baseline.gap),), told))
    # The place of a row is that of its least gap, those of policies as sampled left out.
    rows.sort(
        key=lambda row: min(
            (dot.gap for dot in row.dots if isfinite(dot.gap) and not dot.sampled), default=inf
        )
    )
    return tuple(rows)


def distances(
    title: str, quantity: str, rows: Sequence[GapRow], names: Sequence[tuple[str, str, str]] = ()
) -> str:
    """Draw the gaps: the optimum is at the right, each decade to the left ten times worse.

    Args:
        title: The name of the chart.
        quantity: The name of the axis.
        rows: The rows, from the top.
        names: The entries of a legend: a name, its colour and its shape.
    """
    told = [
        (row, [d.gap for d in row.dots if isfinite(d.gap)], inf in [d.gap for d in row.dots])
        for row in rows
    ]
    partly = any(known and unbounded for _, known, unbounded in told)
    axis = gap_axis([dot.gap for row in rows for dot in row.dots], unbounded=partly)
    left = 18 + LETTER * max(len(row.name) for row in rows)
    right, bottom = DISTANCES_WIDTH - BESIDE, ABOVE + ROW * len(rows)
    template = templates("solvent.report").get_template("distances.svg.j2")
    inside = template.render(
        title=title,
        quantity=quantity,
        rows=told,
        axis=axis,
        x=lambda gap: right - axis.share(gap) * (right - left),
        left=left,
        right=right,
        top=ABOVE,
        height=ROW,
        bottom=bottom,
        baseline=Mark("var(--baseline)", BASELINE_SHAPE),
        endless=f"{UNBOUNDED}: {NEVER_ENDS}",
        break_mark=break_mark,
        tick=tick,
        inf=inf,
        isfinite=isfinite,
    )
    legend, height = legend_of(names, BESIDE, DISTANCES_WIDTH, bottom + 40)
    return (
        f'<svg class="chart distances" viewBox="0 0 {DISTANCES_WIDTH} {height}" role="img">'
        f"{inside}{legend}</svg>"
    )


def tasks_chart(tasks: Sequence[TaskRecord], marks: _Marks) -> str:
    """Draw the normalized gaps of all algorithms, a row for each task.

    Args:
        tasks: The tasks of a bench.
        marks: The marks of their algorithms.
    """
    rows = []
    for task in tasks:
        dots = []
        for name in algorithms_of([task]):
            found = estimate(normalized_scores([task], name))
            if found is not None:
                gap, low, high = (max(1 - n, 0.0) for n in (found.mean, found.high, found.low))
                text = f"{name}: {small(gap)} [{small(low)}, {small(high)}]"
                dots.append(Dot(gap, text, mark=marks[name], ends=(low, high)))
        if dots:
            rows.append(GapRow(task.name, None, tuple(dots)))
    if not rows:
        return ""
    quantity = "gap as a share of that of uniform play"
    names = [(name, *marks[name]) for name in algorithms_of(tasks)]
    return distances("All tasks", quantity, rows, names)


def panels(task: TaskRecord, curves: Curves, marks: _Marks, unit: str = "") -> tuple[str, str]:
    """Draw the charts of a task: value with the optimum as a line, and gap in decades.

    For two the first is the exploitability, the mean of both seats, with 0 as the optimum's line.

    Args:
        task: The task with its agents and baselines.
        curves: The learning curves of the agents.
        marks: The marks of their algorithms.
        unit: The unit of values.
    """
    quantity, name, optimum, gap = "value", "value", task.optimum, "optimality gap"
    if task.for_two:
        quantity, name, optimum, gap = "gap", "exploitability", 0.0, "exploitability"
    levels = {baseline.name: getattr(baseline, quantity) for baseline in task.baselines}
    own = {agent.name: agent.algorithm for agent in task.agents}

    def drawn(name: str, *what: Any) -> str:
        title = f"Recorded {name} over the training on {task.title}"
        return _panel(title, named(name, unit), own, curves, marks, *what).drawn()

    return drawn(name, quantity, optimum, levels), drawn(gap, "gap")


def named(quantity: str, unit: str) -> str:
    """The name of an axis with its unit."""
    return f"{quantity} ({unit})" if unit else quantity


def ends(task: TaskRecord, curves: Curves) -> tuple[str, ...]:
    """Return remarks on curves that do not end at the steps and gaps of their agents.

    Args:
        task: The task, whose agents' gaps are computed from their policies.
        curves: The curves as recorded.
    """
    said = []
    for agent in task.agents:
        last = curves[agent.name][-1]
        pairs = ((last.gap, agent.gap), (last.mode_gap, agent.mode_gap))
        close = all(
            drawn == own or abs(drawn - own) <= _CURVE_ROUNDING * max(1.0, abs(own))
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


def _panel(
    title: str,
    name: str,
    algorithms: Mapping[str, str],
    curves: Curves,
    marks: _Marks,
    quantity: str,
    optimum: float | None = None,
    levels: Mapping[str, float] = {},
) -> Panel:
    """Draw each agent's curves, the sampled policy's dashed, with a legend below the chart.

    Args:
        title: The title of the chart.
        name: The name of the vertical axis.
        algorithms: The algorithm of each agent, by the agent's name.
        curves: The learning curves of the agents.
        marks: The marks of their algorithms.
        quantity: The quantity on the vertical axis, ``"value"`` or ``"gap"``.
        optimum: The optimum, drawn as a line; if left out, the axis is one of gaps in decades.
        levels: Further lines by their names, of which those on the axis are drawn.
    """
    both = (quantity, f"mode_{quantity}")
    numbers = [getattr(at, own) for curve in curves.values() for at in curve for own in both]
    y = gap_axis(numbers, unbounded=True) if optimum is None else value_axis([optimum, *numbers])
    panel = Panel(title, name, _steps(curves), y, _ALONG)
    if optimum is not None:
        panel.level(optimum, f"optimum {optimum:.4g}", "optimum")
        for text, value in levels.items():
            # Nothing is drawn on the line of the optimum itself.
            apart = abs(value - optimum) > 0.01 * (y.high - y.low)
            if apart and y.low < value <= y.high:
                panel.level(value, text, "baseline")
    for agent, algorithm in algorithms.items():
        colour, shape = marks[algorithm]
        for text, own, dashed in (
            (f"{agent}, sampled", both[0], True),
            (agent, both[1], False),
        ):
            points = [(point.timesteps, getattr(point, own)) for point in curves[agent]]
            # Figures that could not be proved are left out.
            known = [point for point in points if not isnan(point[1])]
            xs, ys = [x for x, _ in known], [y for _, y in known]
            text = f"{text}: {_ending(points[-1][1])} in the end, as recorded"
            panel.line(xs, ys, colour, text, dashed=dashed, shape="" if dashed else shape)
            endless = [point for point in known if isinf(point[1])]
            panel.dots([x for x, _ in endless], [y for _, y in endless], colour)
    for algorithm in dict.fromkeys(algorithms.values()):
        panel.key(algorithm, *marks[algorithm])
    return panel


def _ending(last: float) -> str:
    """The last figure of a curve in words."""
    if isnan(last):
        return "not proved"
    return f"{tick(last)} ({NEVER_ENDS})" if isinf(last) else signed(f"{last:.6g}")


def _steps(curves: Curves) -> Axis:
    last = max(point.timesteps for curve in curves.values() for point in curve)
    return Axis(0.0, float(max(last, 1)))


def profile_panel(tasks: Sequence[TaskRecord], marks: Mapping[str, Mark]) -> Panel | None:
    """Draw the share of runs above each normalized score, with a band from ten seeds on.

    Args:
        tasks: The tasks of a bench.
        marks: The marks of their algorithms.

    Returns:
        None if nothing can be normalized.
    """
    panel = Panel(
        "Performance profiles",
        "share of runs above",
        Axis(0.0, 1.0),
        Axis(0.0, 1.0),
        "normalized score (0 uniform, 1 optimal)",
    )
    for algorithm in algorithms_of(tasks):
        scores = normalized_scores(tasks, algorithm)
        if any(scores):
            profile = performance_profile(scores, _THRESHOLDS)
            text = f"{algorithm}: {profile.mean[90]:.0%} of the runs above 0.9"
            # Many curves end together; in the middle they are apart.
            half = max(int((profile.mean >= 0.5).sum()) - 1, 0)
            _draw(panel, profile, marks[algorithm], algorithm, text, half)
    return panel if panel.keys else None


def gap_band_panel(
    task: TaskRecord,
    curves: Mapping[str, Sequence[Evaluation]],
    marks: Mapping[str, Mark],
    policy: str = "greedy",
) -> Panel:
    """Draw the gap over the training: the interquartile mean over seeds, with its band.

    Args:
        task: The task with its agents.
        curves: The agents' learning curves, by the agent's name.
        marks: The marks of their algorithms.
        policy: ``"greedy"`` or ``"sampled"``.
    """
    quantity = PREFIXES[policy] + "gap"
    bands = {
        algorithm: _band(
            [curves[a.name] for a in task.agents if a.algorithm == algorithm], quantity
        )
        for algorithm in algorithms_of([task])
    }
    numbers = [float(n) for band in bands.values() for n in band.mean if not isnan(n)]
    gap = "exploitability" if task.for_two else "gap"
    panel = Panel(
        f"Recorded {gap} of the {policy} policies over seeds on {task.name}",
        f"{gap}, {policy}",
        _steps(curves),
        gap_axis(numbers, unbounded=True),
        _ALONG,
    )
    for algorithm, band in bands.items():
        last = _ending(float(band.mean[-1]))
        text = f"{algorithm}: interquartile mean {last} in the end, as recorded"
        _draw(panel, band, marks[algorithm], algorithm, text)
    return panel


def _band(curves: Sequence[Sequence[Evaluation]], quantity: str) -> Band:
    """The curves of an algorithm, as far as all of its runs go."""
    end = min(curve[-1].timesteps for curve in curves)
    points = [[(float(p.timesteps), float(getattr(p, quantity))) for p in own] for own in curves]
    return curve_band(points, np.linspace(0.0, end, _POINTS))


def _draw(panel: Panel, band: Band, mark: Mark, name: str, text: str, marked: int = -1) -> None:
    """Draw a curve with its band, and its shape at the point with the number `marked`."""
    # Figures that could not be proved are left out.
    known = ~np.isnan(band.mean)
    xs, ys = band.along[known].tolist(), band.mean[known].tolist()
    if band.low is not None and band.high is not None:
        bounded = np.isfinite(band.low) & np.isfinite(band.high)
        if bounded.any():
            low, high = band.low[bounded].tolist(), band.high[bounded].tolist()
            panel.band(band.along[bounded].tolist(), low, high, mark.colour)
    panel.line(xs, ys, mark.colour, text, dashed=False)
    if xs:
        panel.line(
            xs[marked:][:1], ys[marked:][:1], mark.colour, text, dashed=False, shape=mark.shape
        )
    panel.key(name, *mark)


@dataclass(frozen=True)
class Picture:
    """A chart as SVG; a notebook shows it.

    Attributes:
        svg: The text of the picture.
    """

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture to a file.

        Args:
            path: The file, ``.svg``.

        Raises:
            StoreError: If it cannot be written.
        """
        write_atomically(path, (self.svg + "\n").encode())


def plot(*runs: Any, quantity: str = "value") -> Picture:
    """Draw the exact learning curves of runs, with the optimum as a line.

    The dashed curve of a run is that of its policy as sampled, the other that of its greedy policy.

    Args:
        runs: Results of :func:`solvent.training.train` on one game, or their folders.
        quantity: ``"value"``, or ``"gap"`` for the optimality gap in decades.

    Raises:
        ValueError: If there are no runs, the quantity is another, or no value is finite.
        StoreError: If a folder has no learning curve, or a damaged one.
    """
    check_choice(quantity, "quantity", ("value", "gap"))
    if not runs:
        raise ValueError("no runs are given; give results of solvent.training.train or folders")
    curves: dict[str, Sequence[Evaluation]] = {}
    algorithms: dict[str, str] = {}
    for number, run in enumerate(runs):
        folder = Path(getattr(run, "folder", run))
        name = folder.name if folder.name not in curves else f"{folder.name} {number}"
        curves[name] = read_curve(folder / "curve.csv")
        algorithms[name] = getattr(run, "algorithm", name)
    optimum = None
    if quantity == "value":
        points = (point for curve in curves.values() for point in curve)
        optimum = next((best for p in points if isfinite(best := p.mode_value + p.mode_gap)), None)
        if optimum is None:
            raise ValueError("play never ends at any point of these runs; draw quantity='gap'")
    marks = algorithm_marks(algorithms.values())
    title = {"value": "Value", "gap": "Optimality gap"}[quantity]
    style = f"{_ALONE}.sampled{{stroke-dasharray:2 3;opacity:.6}}"
    return Picture(
        _panel(title, quantity, algorithms, curves, marks, quantity, optimum).alone(style)
    )


PARTS = ("approximation", "exploration", "estimation", "optimization")
"""The parts of a gap, as they are named in the results."""

Run = Mapping[str, Any]
"""A training under the microscope, as ``Microscopy.as_dict`` returns it."""


def microscope_section(runs: Sequence[Run]) -> Section:
    """Draw the readings of trainings on one game, and tabulate the parts of their gaps.

    Args:
        runs: The trainings, as ``Microscopy.as_dict`` returns them.

    """
    panels = [
        _readings(runs, "greedy_gap", "gap of the greedy policy"),
        _readings(runs, "gradient.cosine", "cosine with the true gradient"),
        _readings(runs, "bias", "bias of the estimate"),
        _readings(runs, "value_error", "value error; dashed: Bellman residual", "bellman_residual"),
    ]
    html = (
        templates("solvent.report")
        .get_template("microscope.html.j2")
        .render(
            panels=[panel.drawn() for panel in panels if panel is not None],
            runs=runs,
            parts=PARTS,
            number=lambda value: "–" if value is None else small(value),
        )
    )
    return Section("Under the microscope", html)


def _readings(runs: Sequence[Run], name: str, quantity: str, dashed: str = "") -> Panel | None:
    """Draw a quantity over each training; None if no reading has it.

    Args:
        runs: The trainings.
        name: Name of the quantity in a reading; of one of the gradient's, ``gradient.<name>``.
        quantity: Name of the axis.
        dashed: Name of a quantity to draw dashed on the same axis.
    """
    curves = [
        (run, points, bool(dashed) and own == dashed)
        for own in filter(None, (name, dashed))
        for run in runs
        if (points := _points(run, own))
    ]
    if not curves:
        return None
    numbers, y = [y for _, points, _ in curves for _, y in points], Axis(-1.0, 1.0)
    if name != "gradient.cosine":
        y = value_axis([*numbers, 0.0]) if name == "bias" else gap_axis(numbers)
    last = max(x for _, points, _ in curves for x, _ in points)
    panel = Panel(
        f"{quantity.capitalize()} over the training",
        quantity,
        Axis(0.0, float(max(last, 1))),
        y,
        _ALONG,
    )
    marks = algorithm_marks(run["algorithm"] for run in runs)
    if panel.y.low < 0:
        panel.level(0.0, "", "baseline")
    for run, points, is_dashed in curves:
        colour, shape = marks[run["algorithm"]]
        text = f"{run['algorithm']} seed {run['seed']}: {points[-1][1]:.3g} in the end"
        xs, ys = [x for x, _ in points], [y for _, y in points]
        panel.line(xs, ys, colour, text, dashed=is_dashed, shape="" if is_dashed else shape)
    for algorithm in dict.fromkeys(run["algorithm"] for run, _, _ in curves):
        panel.key(algorithm, *marks[algorithm])
    return panel


def _points(run: Run, name: str) -> list[tuple[int, float]]:
    """Return the steps and numbers of the readings that have a number of this name."""
    of_gradient, _, own = name.rpartition(".")
    found = []
    for reading in run["readings"]:
        numbers = (reading["gradient"] or {}) if of_gradient else reading
        if (value := numbers.get(own)) is not None and abs(value) < inf:
            found.append((reading["timesteps"], value))
    return found
