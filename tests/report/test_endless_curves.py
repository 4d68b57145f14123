"""Policies that never end an episode at a cost: in a lane of their own in every chart."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isinf, nan
from xml.etree import ElementTree

import numpy as np
import pytest

from solvent.benchmark.records import AgentRecord, BaselineRecord, TaskRecord
from solvent.benchmark.statistics import curve_band
from solvent.exact.learning_curve import Evaluation
from solvent.report.charts import distances, ends, gap_band_panel, gap_panel, rows_of, value_panel
from solvent.report.colours import algorithm_marks
from solvent.report.panel import Axis, gap_axis

MARKS = algorithm_marks(["dqn"])
STEPS = [0, 100, 200, 300]
GAPS = [inf, inf, 40.0, 0.0]
OPTIMUM = -13.0


def cliff(gaps: list[float] = GAPS) -> tuple[TaskRecord, dict[str, list[Evaluation]]]:
    """A training along the cliff that at first never ends an episode."""
    curve = [
        Evaluation(step, OPTIMUM - gap, gap, OPTIMUM - gap, gap, 1.0)
        for step, gap in zip(STEPS, gaps, strict=True)
    ]
    last = (OPTIMUM - gaps[-1], gaps[-1], 1.0, gaps[-1])
    agent = AgentRecord("dqn 0", "dqn", 0, *last, *last, STEPS[-1], 1.0, "dqn-0")
    baselines = (
        BaselineRecord("uniform", -60000.0, 59987.0, 0.0, 59987.0),
        BaselineRecord("first-legal", -inf, inf, -inf, inf),
    )
    task = TaskRecord(
        "CliffWalking-v1", "CliffWalking-v1", {}, OPTIMUM, (OPTIMUM, OPTIMUM), (agent,), baselines
    )
    return task, {"dqn 0": curve}


def drawn(text: str, kind: str = "mode") -> tuple[list[float], str, dict[str, float]]:
    """The heights of a curve's points, what is said of it, and the heights of the axis's labels."""
    chart = ElementTree.fromstring(text)
    [line] = [line for line in chart.iter("polyline") if line.get("class") == kind]
    heights = [float(point.partition(",")[2]) for point in line.get("points", "").split()]
    labels = {
        label.text or "": float(label.get("y", "")) - 4
        for label in chart.iter("text")
        if label.get("text-anchor") == "end"
    }
    return heights, line[0].text or "", labels


def test_a_value_without_bound_is_at_the_bottom_and_marked() -> None:
    text = value_panel(*cliff(), MARKS)
    heights, _, labels = drawn(text)
    assert len(heights) == len(STEPS)
    assert heights[:2] == pytest.approx([labels["−∞"]] * 2, abs=0.1)
    # SVG counts downwards: nothing is below, and the axis is broken between.
    finite = [height for label, height in labels.items() if label != "−∞"]
    assert max(finite) < labels["−∞"]
    assert max(heights[2:]) < labels["−∞"] - 10
    assert 'class="break"' in text
    # A point of the greedy policy and one of the sampled policy at each of the two steps.
    assert text.count("h0") == 4


def test_a_gap_without_bound_is_at_the_top_and_marked() -> None:
    task, curves = cliff()
    heights, said, labels = drawn(gap_panel(task, curves, MARKS))
    assert heights[:2] == pytest.approx([labels["∞"]] * 2, abs=0.1)
    assert min(heights[2:]) > labels["∞"] + 10
    assert labels["∞"] == min(labels.values())
    assert said == "dqn 0: 0 in the end, as recorded"
    # What is not proved has no place.
    curves["dqn 0"][1] = replace(curves["dqn 0"][1], mode_gap=nan)
    assert len(drawn(gap_panel(task, curves, MARKS))[0]) == 3


def test_all_or_nothing_is_unbounded() -> None:
    task, curves = cliff([inf] * 4)
    heights, said, labels = drawn(value_panel(task, curves, MARKS))
    assert heights == pytest.approx([labels["−∞"]] * 4, abs=0.1)
    assert said == "dqn 0: −∞ (play need not end) in the end, as recorded"
    assert ends(task, curves) == ()
    for panel in (value_panel, gap_panel):
        assert "∞" not in panel(*cliff([40.0, 3.0, 1.0, 0.0]), MARKS)


def test_an_axis_has_lanes_for_infinite_numbers() -> None:
    axis = Axis(2.0, 4.0, below=0.1, above=0.2)
    assert [axis.share(n) for n in (-inf, 2.0, 3.0, 4.0, inf)] == pytest.approx(
        [0.0, 0.1, 0.45, 0.8, 1.0]
    )
    assert axis.ticks()[0] == -inf
    assert axis.ticks()[-1] == inf
    assert not any(map(isinf, Axis(2.0, 4.0).ticks()))
    gaps = gap_axis([0.5, inf, 0.0], unbounded=True)
    assert gaps.share(inf) == 1
    assert gaps.share(1.0) == pytest.approx(1 - gaps.above)
    assert gaps.share(0.0) == 0
    assert gap_axis([0.5, inf]).ticks()[-1] == 1.0


def test_over_seeds_the_middle_half_is_what_counts() -> None:
    """Of four runs the best and the worst are left out; of the others none ends at first."""
    curves = [[(0.0, inf), (1.0, gap)] for gap in (inf, 4.0, 2.0, 1.0)]
    band = curve_band(curves, np.array([0.0, 1.0]))
    assert band.mean.tolist() == [inf, 3.0]
    assert np.isnan(band.low).all()
    task, own = cliff()
    text = gap_band_panel(task, own, MARKS).drawn()
    assert "∞" in text


def test_a_mark_without_bound_is_behind_all_decades() -> None:
    task, _ = cliff()
    [agent] = task.agents
    half = replace(task, agents=(replace(agent, gap=inf, value=-inf),))
    chart = ElementTree.fromstring(distances("title", "gap", rows_of(half, MARKS, {})))
    places = {
        dot.get("data-gap"): float((dot.get("transform") or "").partition("(")[2].split()[0])
        for dot in chart.iter("path")
        if dot.get("data-gap")
    }
    assert places["inf"] < places["59987.0"] < places["0.0"]
    # A baseline of which nothing is bounded says it in words.
    assert any("unbounded: play need not end" in (label.text or "") for label in chart.iter("text"))
