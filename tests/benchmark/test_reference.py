"""The reference results in the documentation are those of their policies."""

from __future__ import annotations

import json
import runpy
import shutil
import sys
from pathlib import Path
from zlib import crc32

import pytest
from submitted import SUITE

from solvent.benchmark.submissions import check_submission, read_submission
from solvent.benchmark.suites import Suite, read_suite

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCRIPT = runpy.run_path(str(DOCS / "scripts" / "leaderboard.py"))
SUBMISSIONS = SCRIPT["submissions"]()
LARGEST = 10**7
"""Bytes of a submission of ten seeds."""


def suite_of(folder: Path) -> Suite:
    """A suite of the package, or one beside the results."""
    files = (DOCS / "leaderboard", ROOT / "solvent" / "games" / "suites")
    name = f"{folder.parent.name}.toml"
    return read_suite(next(place / name for place in files if (place / name).exists()))


def named(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def test_there_are_results_to_compare() -> None:
    assert len(SUBMISSIONS) >= 2


@pytest.mark.parametrize("folder", SUBMISSIONS, ids=named)
def test_a_sample_of_the_policies_scores_what_is_claimed(folder: Path) -> None:
    """One run of one task of each; which one, its name decides."""
    stated = read_submission(folder)
    number = crc32(named(folder).encode())
    task = stated.tasks[number % len(stated.tasks)].name
    seed = stated.card.seeds[number % len(stated.card.seeds)]
    [found] = check_submission(folder, suite_of(folder), sample={task: [seed]}).tasks
    assert [agent.seed for agent in found.agents] == [seed]


@pytest.mark.slow
@pytest.mark.parametrize("folder", SUBMISSIONS, ids=named)
def test_every_policy_scores_what_is_claimed(folder: Path) -> None:
    checked = check_submission(folder, suite_of(folder))
    assert [len(task.agents) for task in checked.tasks] == [
        len(checked.card.seeds) for _ in checked.tasks
    ]


@pytest.mark.parametrize("folder", SUBMISSIONS, ids=named)
def test_the_results_are_of_ten_seeds_and_small(folder: Path) -> None:
    stated = read_submission(folder)
    assert (stated.card.suite, stated.card.algorithm) == (folder.parent.name, folder.name)
    assert len(stated.card.seeds) == 10
    assert sum(file.stat().st_size for file in folder.rglob("*.*")) < LARGEST


def test_the_page_has_the_tables_of_the_results() -> None:
    page = (DOCS / "leaderboard.md").read_text(encoding="utf-8")
    assert SCRIPT["filled"](page) == page
    assert page.count("<!-- leaderboard -->") == 1


def test_the_target_packs_every_algorithm_that_did_the_whole_suite(
    bench_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`make reference`, with a bench that is done already."""
    work = Path(shutil.copytree(bench_folder, tmp_path / "work" / "small"))
    path = work / "results.json"
    content = json.loads(path.read_text())
    first = content["tasks"][0]
    first["agents"] = [one for one in first["agents"] if one["algorithm"] == "steady"]
    path.write_text(json.dumps(content))
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "leaderboard.py").write_text("")
    script = runpy.run_path(str(ROOT / "benchmarks" / "reference.py"))
    names = script["main"].__globals__
    monkeypatch.setitem(names, "DOCS", tmp_path)
    monkeypatch.setitem(names, "find_suite", lambda name: SUITE)
    monkeypatch.setitem(names, "command", lambda *given: [sys.executable, "-c", ""])
    monkeypatch.setattr(sys, "argv", ["reference.py", "small", "--work", str(tmp_path / "work")])
    for _ in range(2):  # What was packed before is replaced.
        script["main"]()
    told = capsys.readouterr().out
    assert f"left out  wild_one: no run in {SUITE.tasks[0].name}" in told
    found = tmp_path / "leaderboard" / "small"
    assert [one.name for one in found.iterdir()] == ["steady"]
    assert check_submission(found / "steady", SUITE).card.authors == "The Solvent authors"
