"""What the charts of the page show is what its numbers say."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from math import inf, isinf, nan
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from solvent.benchmark.records import AgentRecord, BaselineRecord, TaskRecord
from solvent.benchmark.summary import curve_band
from solvent.exact.learning_curve import Evaluation
from solvent.model.text import small
from solvent.report.charts import (
    distances,
    gap_band_panel,
    panels,
    rows_of,
)
from solvent.report.panel import BASELINE_SHAPE, Axis, algorithm_marks, gap_axis

NUMBERS = {"10⁻³": 1e-3, "10⁻⁴": 1e-4, "10⁻⁵": 1e-5}


def charts(text: str) -> list[Element]:
    """The charts of distances of all chapters."""
    found = re.findall(r'<svg class="chart distances".*?</svg>', text, re.DOTALL)
    return [ElementTree.fromstring(svg) for svg in found]


def ticks(chart: Element, along: str) -> dict[float, float]:
    """The places of the numbers of a chart's axis, of x or of y: a line across and its number."""
    return {
        NUMBERS.get(label.text or "") or float(label.text or "nan"): float(line.get(f"{along}1", 0))
        for line, label in pairwise(chart)
        if line.tag == "line"
        and line.get(f"{along}1") == line.get(f"{along}2")
        and re.match(r"\d", label.text or "")
    }


def number_at(place: float, axis: dict[float, float]) -> float:
    """The number for which a place on an axis stands."""
    if place == pytest.approx(axis[0.0], abs=0.05):
        return 0.0
    decades = sorted((number, at) for number, at in axis.items() if number)
    (low, first), (high, last) = decades[0], decades[-1]
    assert min(first, last) <= place <= max(first, last)
    return low * (high / low) ** ((place - first) / (last - first))


def same_gap(drawn: float, gap: float) -> bool:
    """Whether a gap is drawn where it is: 0 exactly at 0, others within the width of a line."""
    return (drawn == 0) == (small(gap) == "0") and drawn == pytest.approx(gap, rel=0.01, abs=1e-12)


def test_every_gap_is_where_the_axis_says(text: str, tasks: Any) -> None:
    """A gap of 0 is at the mark of 0, and nothing else is."""
    drawn = charts(text)
    assert len(drawn) == len(tasks)
    for chart, task in zip(drawn, tasks, strict=True):
        axis = ticks(chart, "x")
        assert len(axis) > 2
        dots = [path for path in chart.iter("path") if path.get("data-gap")]
        gaps = [float(dot.get("data-gap") or "nan") for dot in dots]
        records = (*task["agents"], *task["baselines"])
        expected = [one[key] for one in records for key in ("gap", "mode_gap") if key in one]
        assert sorted(gaps) == pytest.approx(sorted(expected), abs=1e-15)
        assert "0" in map(small, gaps)
        for dot, gap in zip(dots, gaps, strict=True):
            [place] = re.findall(r"translate\(([\d.]+) ", dot.get("transform") or "")
            assert same_gap(number_at(float(place), axis), gap)
            assert dot[0].text
            assert dot[0].text.endswith(f": gap {small(gap)}")


def test_rows_are_in_the_order_of_their_gaps(text: str) -> None:
    for chart in charts(text):
        nearest = []
        for group in chart.iter("g"):
            gaps = [float(dot.get("data-gap") or "nan") for dot in group if "hollow" not in
                    (dot.get("class") or "")]  # fmt: skip
            nearest.append(min(gaps))
        assert nearest == sorted(nearest)
        assert len(nearest) > 2


def test_a_curve_ends_where_the_axis_says() -> None:
    """A curve whose gap comes to 0 ends at the mark of 0; one of .003 is not drawn as .001."""
    last = {"ppo 0": 0.0, "dqn 0": 0.003, "dqn 1": 1e-13}

    def point(steps: int, gap: float) -> Evaluation:
        return Evaluation(steps, 0.3, 0.2, 0.5 - gap, gap, 1.0)

    curves = {name: [point(0, 0.4), point(9, gap)] for name, gap in last.items()}
    agents = tuple(
        AgentRecord(name, name[:3], 0, 0.3, 0.2, 0.5, 0.2, 0.5 - gap, gap, 1.0, gap, 9, 1.0, name)
        for name, gap in last.items()
    )
    task = TaskRecord("solvent/Test-v0", "test", {}, 0.5, (0.5, 0.5), agents, ())
    chart = ElementTree.fromstring(panels(task, curves, algorithm_marks(["ppo", "dqn"]))[1])
    axis = ticks(chart, "y")
    ends = {}
    for line in chart.iter("polyline"):
        if line.get("class") == "mode":
            place = float(line.get("points", "").rpartition(",")[2])
            ends[(line[0].text or "").partition(":")[0]] = number_at(place, axis)
    assert set(ends) == set(last)
    assert all(same_gap(ends[name], gap) for name, gap in last.items())


def test_a_point_without_a_proved_score_has_no_place_in_a_curve() -> None:
    unknown = Evaluation(0, nan, nan, nan, nan, 1.0)
    known = [Evaluation(n, 0.3, 0.2, 0.4, 0.1, 2.0) for n in (100, 200)]
    for pair in (None, (0.1, 0.3)):
        agent = AgentRecord(
            "ppo 0", "ppo", 0, 0.3, 0.2, 0.5, 0.2, 0.4, 0.1, 0.8, 0.1, 300, 3.0, "ppo", pair, pair
        )
        task = TaskRecord("solvent/Test-v0", "test", {}, 0.5, (0.5, 0.5), (agent,), ())
        for curve in ([unknown, *known], [known[0], unknown, known[1]]):
            for drawn in panels(task, {agent.name: curve}, algorithm_marks(["ppo"])):
                lines = re.findall(r'points="([^"]*)"', drawn)
                assert [len(line.split()) for line in lines] == [2, 2]
                assert "nan" not in drawn


def test_an_algorithm_has_one_colour_and_shape_in_all_charts(text: str) -> None:
    """In distances, curves, legends and tables of every chapter; baselines have others."""
    found: dict[str, set[tuple[str, str]]] = {}
    keys = r'<svg class="key"[^>]*><path fill="([^"]+)" d="([^"]+)"/></svg>\s*([a-z]+)'
    for colour, shape, name in re.findall(keys, text):
        found.setdefault(name, set()).add((colour, shape))
    curves = (
        r'stroke="([^"]+)" points="[^"]*"><title>([a-z]+) \d[^<]*</title></polyline>'
        r'<path class="end" fill="([^"]+)" transform="[^"]*" d="([^"]+)"/>'
    )
    for line, name, colour, shape in re.findall(curves, text):
        assert line == colour
        found.setdefault(name, set()).add((colour, shape))
    for chart in charts(text):
        for label, group in pairwise(chart):
            if label.get("class") in ("agent", "base"):
                own = (label.text or "") if label.get("class") == "agent" else "baseline"
                colour = (group.get("style") or "").removeprefix("color:")
                found.setdefault(own, set()).update((colour, dot.get("d", "")) for dot in group)
    marks = algorithm_marks(["ppo", "dqn"])
    assert found == {
        "ppo": {tuple(marks["ppo"])},
        "dqn": {tuple(marks["dqn"])},
        "baseline": {("var(--baseline)", BASELINE_SHAPE)},
    }
    sampled = re.findall(r'<polyline class="sampled" stroke="([^"]+)"[^>]*><title>([a-z]+)', text)
    assert {(name, colour) for colour, name in sampled} == {
        (name, marks[name].colour) for name in ("ppo", "dqn")
    }


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


def curve_drawn(text: str, kind: str = "mode") -> tuple[list[float], str, dict[str, float]]:
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
    text = panels(*cliff(), MARKS)[0]
    heights, _, labels = curve_drawn(text)
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
    heights, said, labels = curve_drawn(panels(task, curves, MARKS)[1])
    assert heights[:2] == pytest.approx([labels["∞"]] * 2, abs=0.1)
    assert min(heights[2:]) > labels["∞"] + 10
    assert labels["∞"] == min(labels.values())
    assert said == "dqn 0: 0 in the end, as recorded"
    # What is not proved has no place.
    curves["dqn 0"][1] = replace(curves["dqn 0"][1], mode_gap=nan)
    assert len(curve_drawn(panels(task, curves, MARKS)[1])[0]) == 3


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
