"""Charts of algorithms over seeds: performance profiles, and learning curves with a band.

Both are of exact scores, with the intervals of :mod:`solvent.benchmark.statistics`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np

from solvent.benchmark.records import TaskRecord
from solvent.benchmark.statistics import Band, curve_band, performance_profile
from solvent.benchmark.summary import PREFIXES, algorithms_of, normalized_scores
from solvent.exact.learning_curve import Evaluation
from solvent.report.colours import ALGORITHMS, FURTHER, Mark, algorithm_marks
from solvent.report.curves import ALONG
from solvent.report.panel import LEVELS, STYLE, Axis, Panel, gap_axis

THRESHOLDS = np.append(np.linspace(0.0, 0.99, 100), 1.0 - 1e-9)
"""Of normalized scores, from uniform to optimal play: above the last one are the optimal runs,
which rounding puts to either side of 1."""

POINTS = 60
"""At which curves over seeds are drawn."""

ALONE = (
    f":root{{{';'.join(f'--series-{n}:{c}' for n, c in enumerate((*ALGORITHMS, *FURTHER)))}}}"
    f"{STYLE}{LEVELS}"
)
"""The style of such a chart that stands alone."""


def profile_panel(tasks: Sequence[TaskRecord], marks: Mapping[str, Mark]) -> Panel | None:
    """The share of runs above each normalized score, with a band from ten seeds on.

    Args:
        tasks: Those of a bench.
        marks: Of their algorithms.

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
    drawn = False
    for algorithm in algorithms_of(tasks):
        scores = normalized_scores(tasks, algorithm)
        if any(scores):
            drawn = True
            profile = performance_profile(scores, THRESHOLDS)
            text = f"{algorithm}: {profile.mean[90]:.0%} of the runs above 0.9"
            # Many curves end together; in the middle they are apart.
            half = max(int((profile.mean >= 0.5).sum()) - 1, 0)
            _draw(panel, profile, marks[algorithm], algorithm, text, half)
    return panel if drawn else None


def gap_band_panel(
    task: TaskRecord,
    curves: Mapping[str, Sequence[Evaluation]],
    marks: Mapping[str, Mark],
    policy: str = "greedy",
) -> Panel:
    """The gap over the training: the interquartile mean over seeds, with its band.

    Args:
        task: With its agents.
        curves: Their learning curves, by the agent's name.
        marks: Of their algorithms.
        policy: ``"greedy"`` or ``"sampled"``.
    """
    quantity = PREFIXES[policy] + "gap"
    last = max(point.timesteps for curve in curves.values() for point in curve)
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
        Axis(0.0, float(max(last, 1))),
        gap_axis(numbers, unbounded=True),
        ALONG,
    )
    for algorithm, band in bands.items():
        text = f"{algorithm}: interquartile mean {band.mean[-1]:.3g} in the end, as recorded"
        _draw(panel, band, marks[algorithm], algorithm, text)
    return panel


def pictures(
    tasks: Sequence[TaskRecord], curves: Mapping[str, Mapping[str, Sequence[Evaluation]]]
) -> dict[str, str]:
    """The charts of a bench as SVG, each by the name of its file.

    Args:
        tasks: Its tasks.
        curves: The learning curves by the name of the task and of the agent.
    """
    marks = algorithm_marks(algorithms_of(tasks))
    found = {}
    if (profiles := profile_panel(tasks, marks)) is not None:
        found["profiles.svg"] = profiles.alone(ALONE)
    for task in tasks:
        if own := curves.get(task.name):
            for policy in PREFIXES:
                panel = gap_band_panel(task, own, marks, policy)
                found[f"curves-{task.name}-{policy}.svg"] = panel.alone(ALONE)
    return found


def _band(curves: Sequence[Sequence[Evaluation]], quantity: str) -> Band:
    """The curves of an algorithm, as far as all of its runs go."""
    end = min(curve[-1].timesteps for curve in curves)
    points = [[(float(p.timesteps), float(getattr(p, quantity))) for p in own] for own in curves]
    return curve_band(points, np.linspace(0.0, end, POINTS))


def _draw(panel: Panel, band: Band, mark: Mark, name: str, text: str, marked: int = -1) -> None:
    """Draw a curve with its band, and its shape at the point with the number `marked`."""
    # What could not be proved has no place.
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
