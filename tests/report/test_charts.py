"""What the charts of the page show is what its numbers say."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from solvent.benchmark.records import AgentRecord, TaskRecord
from solvent.exact.learning_curve import Evaluation
from solvent.model.text import small
from solvent.report.charts import gap_panel
from solvent.report.colours import BASELINE_SHAPE, algorithm_marks

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


def test_a_break_is_between_the_decades_and_0(text: str) -> None:
    for chart in charts(text):
        axis = ticks(chart, "x")
        zero = axis.pop(0.0)
        [strip] = [part for part in chart.iter("rect") if part.get("class") == "break"]
        begin, wide = float(strip.get("x", 0)), float(strip.get("width", 0))
        assert max(axis.values()) < begin < begin + wide < zero


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
    chart = ElementTree.fromstring(gap_panel(task, curves, algorithm_marks(["ppo", "dqn"])))
    axis = ticks(chart, "y")
    ends = {}
    for line in chart.iter("polyline"):
        if line.get("class") == "mode":
            place = float(line.get("points", "").rpartition(",")[2])
            ends[(line[0].text or "").partition(":")[0]] = number_at(place, axis)
    assert set(ends) == set(last)
    assert all(same_gap(ends[name], gap) for name, gap in last.items())


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


def test_a_chart_names_its_algorithms_so_that_it_can_stand_alone(text: str) -> None:
    marks = algorithm_marks(["ppo", "dqn"])
    curves = re.findall(r'<svg class="chart" (?:(?!</svg>).)*?over the training(?:.*?)</svg>', text)
    assert len(curves) == 6
    for chart in curves:
        used = set(re.findall(r"<polyline[^>]*><title>([a-z]+)", chart))
        legend = re.findall(
            r'<path fill="([^"]+)" transform="[^"]*" d="([^"]+)"/><text[^>]*>([a-z]+)<', chart
        )
        assert {name for *_, name in legend} == used
        assert all((colour, shape) == marks[name] for colour, shape, name in legend)
