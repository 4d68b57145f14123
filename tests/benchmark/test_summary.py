"""The statistics over seeds, and the files of a bench that say them."""

from __future__ import annotations

import csv
import io
import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.stats import mannwhitneyu
from submitted import NOISE, SUITE

from solvent import __version__
from solvent.benchmark.records import BenchRecord, SuiteRecord, read_bench
from solvent.benchmark.statistics import (
    Band,
    curve_band,
    estimate,
    interquartile_mean,
    mean_over_tasks,
    median_over_tasks,
    performance_profile,
    probability_of_improvement,
)
from solvent.benchmark.summary import (
    Summary,
    as_csv,
    as_json,
    bibtex,
    normalized_scores,
    summarize,
)


def test_the_three_means_by_hand() -> None:
    tasks = [np.array([0.0, 0.4, 0.6, 1.0]), np.array([0.9, 1.0, 1.0, 0.7]), np.array([0.1] * 4)]
    # Of 12 runs, 3 are left out at either end: 0 .1 .1 and 1 1 1.
    every = sorted([0.0, 0.4, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 0.1, 0.1, 0.1, 0.1])
    assert interquartile_mean(*tasks) == pytest.approx(sum(every[3:9]) / 6)
    assert sum(every[3:9]) / 6 == pytest.approx((0.1 + 0.1 + 0.4 + 0.6 + 0.7 + 0.9) / 6)
    # The tasks' means are .5, .9 and .1.
    assert median_over_tasks(*tasks) == pytest.approx(0.5)
    assert mean_over_tasks(*tasks) == pytest.approx(0.5)
    assert median_over_tasks(*tasks[:2]) == pytest.approx(0.7)


@pytest.mark.parametrize("statistic", [interquartile_mean, median_over_tasks])
def test_an_interval_is_that_of_a_bootstrap_within_tasks(statistic) -> None:  # type: ignore[no-untyped-def]
    random = np.random.default_rng(7)
    tasks = [random.random(12), 0.5 + random.random(10), 0.1 * random.random(11)]
    found = estimate([scores.tolist() for scores in tasks], statistic)
    assert found.is_interval
    assert estimate([scores.tolist() for scores in tasks], statistic) == found
    # Drawn here once more, in a loop, task by task.
    drawn = [
        statistic(*(random.choice(scores, len(scores)) for scores in tasks)) for _ in range(4_000)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    width = high - low
    assert found.mean == pytest.approx(statistic(*tasks))
    assert found.low == pytest.approx(low, abs=0.1 * width)
    assert found.high == pytest.approx(high, abs=0.1 * width)


def test_an_interval_about_tasks_draws_them_too() -> None:
    random = np.random.default_rng(7)
    tasks = [level + 0.1 * random.random(10) for level in (0.0, 0.3, 0.8, 0.9)]
    scores = [own.tolist() for own in tasks]
    within, over = (estimate(scores, mean_over_tasks, over_tasks=o) for o in (False, True))
    assert over.mean == within.mean
    # Drawn here once more, in a loop.
    drawn = [
        np.mean([random.choice(tasks[n], 10).mean() for n in random.integers(4, size=4)])
        for _ in range(4_000)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    assert (over.low, over.high) == pytest.approx((low, high), abs=0.1 * (high - low))
    assert over.high - over.low > 5 * (within.high - within.low)
    uneven = estimate([*scores[:3], scores[3] * 2], over_tasks=True)
    assert not uneven.is_interval


def test_a_run_that_loses_without_bound_counts() -> None:
    one = estimate([[-math.inf, *[0.5] * 11]])
    assert (one.mean, one.low, one.high, one.is_interval) == (0.5, -math.inf, 0.5, False)
    four = estimate([[-math.inf] * 4 + [0.5] * 8])
    assert four.mean == -math.inf
    assert estimate([[math.nan, 0.5]]) is None


def test_a_profile_by_hand() -> None:
    profile = performance_profile([[0.1, 0.5], [0.5, 0.9, 0.9]], np.array([0.0, 0.1, 0.5, 0.9]))
    # Above .1 is one of two and all of three; above .5 none of two and two of three.
    assert profile.mean.tolist() == pytest.approx([1.0, 0.75, 1 / 3, 0.0])
    assert profile.low is None
    assert not profile.is_interval


def test_the_probability_of_improvement_is_that_of_mann_and_whitney() -> None:
    random = np.random.default_rng(3)
    first, second = random.integers(0, 6, (2, 4, 12)).astype(float)
    found, back = (
        probability_of_improvement(x.tolist(), y.tolist())
        for x, y in ((first, second), (second, first))
    )
    expected = [mannwhitneyu(x, y).statistic / 144 for x, y in zip(first, second, strict=True)]
    assert found.mean == pytest.approx(np.mean(expected))
    assert found.mean + back.mean == pytest.approx(1)
    assert found.is_interval
    assert 0 < found.low < found.mean < found.high < 1


def test_a_band_of_few_runs_is_their_range() -> None:
    curves = [[(0.0, 4.0), (10.0, 2.0)], [(0.0, 8.0), (20.0, 0.0)]]
    band = curve_band(curves, np.array([0.0, 9.0, 10.0, 25.0]))
    assert band.mean.tolist() == [6.0, 6.0, 5.0, 1.0]
    assert ends(band) == [(4.0, 8.0), (4.0, 8.0), (2.0, 8.0), (0.0, 2.0)]
    assert not band.is_interval
    # Of four runs the best and the worst are left out; of the others none ends at first.
    endless = [[(0.0, math.inf), (1.0, gap)] for gap in (math.inf, 4.0, 2.0, 1.0)]
    assert curve_band(endless, np.array([0.0, 1.0])).mean.tolist() == [math.inf, 3.0]


def ends(band: Band) -> list[tuple[float, float]]:
    return list(zip(band.low.tolist(), band.high.tolist(), strict=True))


ROOT = Path(__file__).parents[2]
COMBAT, GREED = (task.name for task in SUITE.tasks)


@pytest.fixture(scope="module")
def read(bench_folder: Path) -> BenchRecord:
    return read_bench(bench_folder)


@pytest.fixture(scope="module")
def summary(read: BenchRecord) -> Summary:
    return summarize(read.tasks, read.suite)


def test_the_rows_are_the_statistics_of_the_records(read: BenchRecord, summary: Summary) -> None:
    for algorithm in NOISE:
        own = [[a for a in task.agents if a.algorithm == algorithm] for task in read.tasks]
        # The first task is for one, the second for two.
        for policy, prefixes in (
            ("judged", ("mode_", "")),
            ("greedy", ("mode_", "mode_")),
            ("sampled", ("", "")),
        ):
            scores = [
                [getattr(a, f"{prefix}normalized") for a in agents]
                for prefix, agents in zip(prefixes, own, strict=True)
            ]
            gaps, worst = (
                [getattr(a, f"{prefixes[1]}{name}") for a in own[1]]
                for name in ("gap", "worst_start_gap")
            )
            over_all = {
                "runs": 20,
                "iqm": estimate(scores),
                "median": estimate(scores, median_over_tasks),
                "mean": estimate(scores, mean_over_tasks),
                "gap": None,
                "iqm_over_tasks": estimate(scores, over_tasks=True),
            }
            constant = read.tasks[1].constant
            of_task = {
                "iqm": estimate(scores[1:]),
                "gap": estimate([gaps]),
                "worst_start_gap": max(worst),
                "log_gap": estimate([[math.log10(max(gap, 1e-9)) for gap in gaps]]),
                "over_constant": estimate([[1 - gap / constant.gap for gap in gaps]]),
            }
            for task, expected in ((None, over_all), (GREED, of_task)):
                row = summary.row(algorithm, task, policy)
                assert {name: getattr(row, name) for name in expected} == expected
    [one, other] = summary.improvements
    assert (one.first, one.second) == (other.second, other.first) == tuple(NOISE)
    both = [normalized_scores(read.tasks, name) for name in NOISE]
    assert one.probability == probability_of_improvement(*both)
    assert one.over_tasks == probability_of_improvement(*both, over_tasks=True)


def test_a_run_without_a_score_does_not_take_its_task_away(read: BenchRecord) -> None:
    """Left out, the task that went worst would make its algorithm the better."""
    first = read.tasks[0]
    unproved = replace(first.agents[0], mode_normalized=math.nan)
    tasks = [replace(first, agents=(unproved, *first.agents[1:])), *read.tasks[1:]]
    name = unproved.algorithm
    scores = normalized_scores(tasks, name)
    assert [len(own) for own in scores] == [10, 10]
    row = summarize(tasks).row(name)
    assert row.iqm is None
    # On a task on which uniform play is optimal nobody has a score, and the others count.
    nothing = replace(
        first,
        agents=tuple(
            replace(a, normalized=math.nan, mode_normalized=-math.inf) for a in first.agents
        ),
        baselines=(),
    )
    assert normalized_scores([nothing, *read.tasks[1:]], name)[0] == []


def test_csv_has_every_row(summary: Summary) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(summary))))
    assert len(rows) == 2 * 3 * 3
    assert [row["task"] for row in rows] == [COMBAT] * 6 + [GREED] * 6 + [""] * 6
    last, found = rows[12], summary.rows[12].iqm
    told = [last[name] for name in ("algorithm", "policy", "told", "tuning", "iqm_ends", "gap")]
    assert told == ["steady", "judged", "samples", "default settings", "interval", ""]
    assert float(last["iqm"]) == found.mean


def test_json_is_strict_and_complete(summary: Summary) -> None:
    def refuse(name: str) -> None:
        raise ValueError(name)

    content = json.loads(as_json(summary), parse_constant=refuse)
    assert len(content["rows"]) == len(summary.rows)
    assert content["rows"][0]["iqm"]["mean"] == summary.rows[0].iqm.mean  # type: ignore[union-attr]
    assert content["citation"] == bibtex(summary.suite)


def test_the_citation_has_the_facts_of_the_file() -> None:
    facts = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    text = bibtex(SuiteRecord("core", "ab" * 32))
    assert f"{{{{{facts['title']}}}}}" in text
    assert facts["authors"] == [{"name": "The Solvent authors"}]
    assert "author = {{The Solvent authors}}" in text
    assert f"version = {{{facts['version']}}}" in text
    assert "suite core abababababababab" in text
    assert text.count("{") == text.count("}")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert facts["version"] == version == __version__
