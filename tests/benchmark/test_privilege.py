"""Whether a learner saw the solution is computed from the record of its run."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import own_algorithms
import pytest

from solvent.benchmark.algorithms import Budget, Run, perform
from solvent.benchmark.policies import task_record
from solvent.benchmark.records import BenchRecord, read_bench, write_results
from solvent.benchmark.run_folder import OPPONENT, STARTS, saw_solution, seen_of_solution
from solvent.benchmark.suites import Task, task_game
from solvent.benchmark.summary import as_csv, as_latex, summarize
from solvent.report.page import render

GREED: dict[str, Any] = {"environment": "solvent/Greed-v0", "env_kwargs": {}, "stakes": 0.0}


def test_what_was_seen_is_read_off_the_record() -> None:
    """Rows of settings, among them those of version 0.1, which named no weights."""
    rows: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({}, ()),
        ({"stakes": 0.0}, ()),
        ({"stakes": 0.5}, (STARTS,)),
        ({"stakes": 0.5, "start_weights": "importance"}, (STARTS,)),
        ({"stakes": 0.5, "start_weights": "uniform"}, ()),
        ({"stakes": 0.5, "start_weights": "of a later version"}, (STARTS,)),
        (GREED, (OPPONENT,)),
        (GREED | {"env_kwargs": {"opponent": "uniform"}}, ()),
        (GREED | {"env_kwargs": {"opponent": {"uniform": 1, "optimal": 1}}}, (OPPONENT,)),
        (GREED | {"env_kwargs": {"opponent": ["optimal"]}}, ()),
        (GREED | {"stakes": 0.5}, (STARTS, OPPONENT)),
        ({"environment": "solvent/Greed-v0", "env_kwargs": {}, "exploring": 0.1}, ()),
        ({"environment": "solvent/FootballHalf-v0", "env_kwargs": {"opponent": "self-play"}}, ()),
        ({"environment": "somebody/Else-v0", "env_kwargs": {"opponent": None}}, ()),
    ]
    for settings, seen in rows:
        assert seen_of_solution(settings) == seen, settings
        assert saw_solution(settings) is bool(seen)


@pytest.fixture(scope="module")
def told_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bench of an algorithm that the solution told where to begin, and that hides it."""
    folder = tmp_path_factory.mktemp("told")
    task = Task(
        environment="solvent/FFCombat-v0",
        env_kwargs={"stamina": 4, "opponent_stamina": 6, "luck": 3},
        timesteps=64,
    )
    agent = perform(folder, Run(task, "is_told", own_algorithms.is_told, 0, Budget(64)))
    record = replace(task_record(task_game(task)), agents=(agent,))
    write_results(folder, BenchRecord((record,)))
    return folder


def test_the_record_and_the_curve_of_a_run_say_it(told_folder: Path) -> None:
    [task] = read_bench(told_folder).tasks
    [agent] = task.agents
    assert (agent.algorithm, agent.name) == ("is_told+solution", "is_told+solution 0")
    assert json.loads((told_folder / agent.folder / "run.json").read_text())["saw"] == [STARTS]
    curve = (told_folder / agent.folder / "curve.csv").read_text()
    rows = list(csv.DictReader(curve.splitlines()))
    assert {row["saw_solution"] for row in rows} == {"1"}
    run = Run(task.task, "is_told", own_algorithms.is_told, 0, Budget(64))  # type: ignore[arg-type]
    assert perform(told_folder, run) == agent


def test_every_table_says_it(told_folder: Path) -> None:
    page, [task] = render(told_folder), read_bench(told_folder).tasks
    for text in ('data-agent="is_told+solution 0"', "is_told+solution</th>"):
        assert text in page
    summary = summarize([task])
    for table in (as_csv(summary), as_latex(summary).replace(r"\_", "_")):
        assert "is_told+solution" in table
        assert "is_told" not in table.replace("is_told+solution", "")


def test_results_that_name_no_weights_are_of_importance(told_folder: Path, tmp_path: Path) -> None:
    """As those of version 0.2 did, whose algorithms were called as any other."""
    [task] = read_bench(told_folder).tasks
    agent = replace(task.agents[0], algorithm="dqn", name="dqn 0", hyperparameters={"stakes": 0.5})
    write_results(
        tmp_path, replace(read_bench(told_folder), tasks=(replace(task, agents=(agent,)),))
    )
    [found] = read_bench(tmp_path).tasks[0].agents
    assert (found.algorithm, found.name) == ("dqn+solution", "dqn+solution 0")
