"""The files of a bench say what its records and curves say."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from submitted import NOISE, SUITE

from solvent import __version__
from solvent.benchmark.records import BenchRecord, SuiteRecord, read_bench
from solvent.benchmark.statistics import (
    estimate,
    mean_over_tasks,
    median_over_tasks,
    probability_of_improvement,
)
from solvent.benchmark.summary import (
    Curves,
    Summary,
    as_csv,
    as_json,
    as_latex,
    bibtex,
    latex,
    normalized_scores,
    summarize,
)
from solvent.exact.learning_curve import Evaluation, read_curve

ROOT = Path(__file__).parents[2]
COMBAT, GREED = (task.name for task in SUITE.tasks)


@pytest.fixture(scope="module")
def bench(bench_folder: Path) -> BenchRecord:
    return read_bench(bench_folder)


@pytest.fixture(scope="module")
def curves(bench_folder: Path, bench: BenchRecord) -> Curves:
    return {
        (task.name, agent.name): read_curve(bench_folder / agent.folder / "curve.csv", Evaluation)
        for task in bench.tasks
        for agent in task.agents
    }


@pytest.fixture(scope="module")
def summary(bench: BenchRecord, curves: Curves) -> Summary:
    return summarize(bench.tasks, bench.suite, curves)


def test_the_rows_are_the_statistics_of_the_records(bench: BenchRecord, summary: Summary) -> None:
    for algorithm in NOISE:
        own = [[a for a in task.agents if a.algorithm == algorithm] for task in bench.tasks]
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
            row = summary.row(algorithm, policy=policy)
            assert row is not None
            assert row.runs == 20
            assert row.iqm == estimate(scores)
            assert row.median == estimate(scores, median_over_tasks)
            assert row.mean == estimate(scores, mean_over_tasks)
            assert row.gap is None
            assert row.iqm_over_tasks == estimate(scores, over_tasks=True)
            of_task = summary.row(algorithm, GREED, policy)
            assert of_task is not None
            assert of_task.iqm == estimate(scores[1:])
            assert of_task.gap == estimate([[getattr(a, f"{prefixes[1]}gap") for a in own[1]]])
            worst = [getattr(a, f"{prefixes[1]}worst_start_gap") for a in own[1]]
            assert of_task.worst_start_gap == max(worst)
            gaps = [getattr(a, f"{prefixes[1]}gap") for a in own[1]]
            assert of_task.log_gap == estimate([[math.log10(max(gap, 1e-9)) for gap in gaps]])
            constant = bench.tasks[1].constant
            assert constant is not None
            assert of_task.over_constant == estimate([[1 - gap / constant.gap for gap in gaps]])
    [one, other] = summary.improvements
    assert (one.first, one.second) == (other.second, other.first) == tuple(NOISE)
    both = [normalized_scores(bench.tasks, name) for name in NOISE]
    assert one.probability == probability_of_improvement(*both)
    assert one.over_tasks == probability_of_improvement(*both, over_tasks=True)


def test_a_run_without_a_score_does_not_take_its_task_away(bench: BenchRecord) -> None:
    """Left out, the task that went worst would make its algorithm the better."""
    first = bench.tasks[0]
    unproved = replace(first.agents[0], mode_normalized=math.nan)
    tasks = [replace(first, agents=(unproved, *first.agents[1:])), *bench.tasks[1:]]
    name = unproved.algorithm
    scores = normalized_scores(tasks, name)
    assert [len(own) for own in scores] == [10, 10]
    row = summarize(tasks).row(name)
    assert row is not None
    assert row.iqm is None
    # On a task on which uniform play is optimal nobody has a score, and the others count.
    nothing = replace(
        first,
        agents=tuple(
            replace(a, normalized=math.nan, mode_normalized=-math.inf) for a in first.agents
        ),
        baselines=(),
    )
    assert normalized_scores([nothing, *bench.tasks[1:]], name)[0] == []


def test_csv_has_every_row(summary: Summary) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(summary))))
    assert len(rows) == 2 * 3 * 3
    assert [row["task"] for row in rows] == [COMBAT] * 6 + [GREED] * 6 + [""] * 6
    last, found = rows[12], summary.rows[12].iqm
    assert found is not None
    assert (last["algorithm"], last["policy"]) == ("steady", "judged")
    assert (last["told"], last["tuning"]) == ("samples", "default settings")
    assert float(last["iqm"]) == found.mean
    assert last["iqm_ends"] == "interval"
    assert rows[0]["reached 10%"].isdecimal()
    assert last["gap"] == ""


def test_json_is_strict_and_complete(summary: Summary) -> None:
    def refuse(name: str) -> None:
        raise ValueError(name)

    content = json.loads(as_json(summary), parse_constant=refuse)
    assert content["solvent"] == __version__
    assert content["suite"]["name"] == "small"
    assert len(content["rows"]) == len(summary.rows)
    assert content["rows"][0]["iqm"]["mean"] == summary.rows[0].iqm.mean  # type: ignore[union-attr]
    assert content["citation"] == bibtex(summary.suite)


def test_latex_has_tables_that_add_up(summary: Summary) -> None:
    text = as_latex(summary)
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2
    for tabular, rows in zip(re.findall(r"\\begin.*?\\end", text, re.DOTALL), (2, 2), strict=True):
        columns = re.search(r"{(l+)}", tabular)
        assert columns is not None
        lines = [line for line in tabular.splitlines() if line.endswith(r"\\")]
        assert len(lines) == 1 + rows
        assert {line.count(" & ") for line in lines} == {len(columns[1]) - 1}
    assert r"wild\_one & samples & default settings & 20" in text
    assert latex("a_b%{c}\\~") == r"a\_b\%\{c\}\textbackslash{}\textasciitilde{}"


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
