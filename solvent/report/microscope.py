"""The section of a page that shows trainings under the microscope.

It takes the numbers of :func:`solvent.training.microscope` as a dictionary, so that results that
were kept as JSON are drawn without PyTorch. A number that does not exist is None, and no chart has
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from solvent.model.text import small
from solvent.report.colours import algorithm_marks
from solvent.report.panel import Axis, Panel, gap_axis
from solvent.report.sections import Section, templates

PARTS = ("approximation", "exploration", "estimation", "optimization")
"""The parts of a gap, as they are named in the results."""

Run = Mapping[str, Any]
"""A training under the microscope, as ``Microscopy.as_dict`` returns it."""


def microscope_section(runs: Sequence[Run]) -> Section:
    """Draw the readings of trainings on one game, and tabulate the parts of their gaps.

    Args:
        runs: The trainings, as ``Microscopy.as_dict`` returns them.

    Raises:
        ValueError: If there are none.
    """
    if not runs:
        raise ValueError("runs is empty; a section needs at least one training")
    panels = [
        _panel(runs, "greedy_gap", "gap of the greedy policy"),
        _panel(runs, "gradient.cosine", "cosine with the true gradient"),
        _panel(runs, "bias", "bias of the estimate"),
        _panel(runs, "value_error", "value error; dashed: Bellman residual", "bellman_residual"),
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


def _panel(runs: Sequence[Run], name: str, quantity: str, dashed: str = "") -> Panel | None:
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
    numbers = [y for _, points, _ in curves for _, y in points]
    last = max(x for _, points, _ in curves for x, _ in points)
    panel = Panel(
        f"{quantity.capitalize()} over the training",
        quantity,
        Axis(0.0, float(max(last, 1))),
        _axis(name, numbers),
        "environment steps",
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


def _axis(name: str, numbers: Sequence[float]) -> Axis:
    """Return the vertical axis of a quantity."""
    if name == "gradient.cosine":
        return Axis(-1.0, 1.0)
    if name == "bias":
        low, high = min(*numbers, 0.0), max(*numbers, 0.0)
        margin = 0.06 * max(high - low, 1e-9)
        return Axis(low - margin, high + margin)
    return gap_axis(numbers)


def _points(run: Run, name: str) -> list[tuple[int, float]]:
    """Return the steps and numbers of the readings that have a number of this name."""
    of_gradient, _, own = name.rpartition(".")
    found = []
    for reading in run["readings"]:
        numbers = (reading["gradient"] or {}) if of_gradient else reading
        if (value := numbers.get(own)) is not None and abs(value) < inf:
            found.append((reading["timesteps"], value))
    return found
