"""The report of a bench with ten seeds, and the files that it writes beside."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from submitted import NOISE, SUITE

from solvent.benchmark.records import FailureRecord, read_bench, write_results
from solvent.benchmark.summary import FILES, POLICIES, as_csv, bibtex, summarize
from solvent.model.text import brief
from solvent.report import write_report
from solvent.report.page import render

TASKS = [task.name for task in SUITE.tasks]


@pytest.fixture(scope="module")
def written(bench_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    write_report(bench_folder, out / "page.html", summary=out / "summary")
    return out


@pytest.fixture(scope="module")
def page(written: Path) -> str:
    return (written / "page.html").read_text()


def test_the_files_are_beside(written: Path) -> None:
    names = {path.name for path in (written / "summary").iterdir()}
    curves = {f"curves-{task}-{policy}.svg" for task in TASKS for policy in ("greedy", "sampled")}
    assert names == {*FILES, *curves, "profiles.svg", "tasks.svg"}


def test_the_page_has_the_means_of_the_summary(bench_folder: Path, page: str) -> None:
    bench = read_bench(bench_folder)
    summary = summarize(bench.tasks, bench.suite)
    for algorithm in NOISE:
        [row] = re.findall(rf'<tr data-overall="{algorithm}">(.*?)</tr>', page, re.DOTALL)
        judged, greedy, sampled = (summary.row(algorithm, policy=name) for name in POLICIES)
        assert judged is not None
        assert greedy is not None
        assert sampled is not None
        shown = [float(value) for value in re.findall(r'data-value="([^"]+)"', row)]
        expected = [judged.iqm, judged.iqm_over_tasks, judged.median, judged.mean]
        expected += [judged.over_constant, greedy.iqm, sampled.iqm]
        assert shown == pytest.approx([one.mean for one in expected if one is not None])
        for one in expected:
            assert one is not None
            assert f"[{brief(one.low)}, {brief(one.high)}]" in row
    [matrix] = re.findall(r'<table class="narrow improvement">(.*?)</table>', page, re.DOTALL)
    shown = [float(value) for value in re.findall(r'data-value="([^"]+)"', matrix)]
    assert shown == pytest.approx([one.probability.mean for one in summary.improvements])
    assert bibtex(bench.suite) in page


def test_the_summary_is_of_the_policies_and_not_of_the_claims(
    bench_folder: Path, written: Path, tmp_path: Path
) -> None:
    """Figures that are not those of the policies are refused before anything is written."""
    folder = Path(shutil.copytree(bench_folder, tmp_path / "bench"))
    path = folder / "results.json"
    text = path.read_text()
    number = re.search(r'"mode_normalized": ([\d.]+)', text)
    assert number is not None
    path.write_text(text.replace(number[0], '"mode_normalized": 1.5', 1))
    with pytest.raises(ValueError, match=r"mode_normalized is stated as 1\.5"):
        write_report(folder, tmp_path / "page.html", summary=tmp_path / "summary")
    assert not (tmp_path / "summary").exists()
    bench = read_bench(bench_folder)
    rows = (written / "summary" / "summary.csv").read_text().splitlines()
    assert len(rows) == len(as_csv(summarize(bench.tasks)).splitlines())


def test_runs_that_failed_are_listed(bench_folder: Path, page: str, tmp_path: Path) -> None:
    assert "data-failure" not in page
    folder = Path(shutil.copytree(bench_folder, tmp_path / "bench"))
    lost = FailureRecord(TASKS[0], "steady", 10, "ValueError: <b>no</b>")
    write_results(folder, replace(read_bench(folder), failures=(lost,)))
    [row] = re.findall("<tr data-failure>.*?</tr>", render(folder))
    assert re.findall(">([^<>]+)</t", row) == [
        TASKS[0],
        "steady",
        "10",
        "ValueError: &lt;b&gt;no&lt;/b&gt;",
    ]
