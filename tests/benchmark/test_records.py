"""What ``results.json`` says is what is read back, and files of the first format stay readable."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest

from solvent.benchmark.records import (
    AgentRecord,
    BaselineRecord,
    BenchRecord,
    FailureRecord,
    SuiteRecord,
    TaskRecord,
    read_bench,
    write_results,
)
from solvent.benchmark.suites import Task
from solvent.exact import StoreError

AGENT = AgentRecord(
    name="mine 0",
    algorithm="mine",
    seed=0,
    value=-inf,
    gap=inf,
    normalized=-inf,
    worst_start_gap=inf,
    mode_value=-13.0,
    mode_gap=0.0,
    mode_normalized=1.0,
    mode_worst_start_gap=0.0,
    timesteps=1_000,
    cpu_seconds=1.5,
    folder="CliffWalking-v1/mine-0",
    budget_timesteps=1_000,
    uses_model=True,
    hyperparameters={"learning_rate": 0.1, "schedule": None, "layers": [64, 64]},
    system={"versions": {"solvent": "0.2.0"}, "processors": 2},
)
BENCH = BenchRecord(
    tasks=(
        TaskRecord(
            env="CliffWalking-v1",
            game="CliffWalking-v1",
            parameters={},
            optimum=-13.0,
            bracket=(-13.0, -13.0),
            agents=(AGENT,),
            baselines=(BaselineRecord("uniform", -inf, inf, 0.0, inf),),
            task=Task(environment="CliffWalking-v1", timesteps=1_000, seeds={"mine": 1}),
            model_hash="ab",
        ),
    ),
    suite=SuiteRecord("textbook", "cd"),
    failures=(FailureRecord("CliffWalking-v1", "mine", 1, "ValueError: no"),),
)


def changed(folder: Path, change: Callable[[Any], object]) -> None:
    path = folder / "results.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_results(tmp_path, BENCH)
    assert read_bench(tmp_path) == BENCH
    assert read_bench(tmp_path).tasks == BENCH.tasks
    assert json.loads((tmp_path / "results.json").read_text())["format"] == 2


def test_files_of_the_first_format_are_read(results: Path) -> None:
    assert "format" not in json.loads((results / "results.json").read_text())
    bench = read_bench(results)
    assert (bench.suite, bench.failures) == (None, ())
    assert [task.name for task in bench.tasks] == [
        task.env.rpartition("/")[2] for task in bench.tasks
    ]
    assert all(agent.budget_timesteps is None for task in bench.tasks for agent in task.agents)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(format=3), "format is 3; this version reads up to 2"),
        (lambda c: c.update(format="2"), "format is '2'"),
        (lambda c: c["failures"][0].pop("error"), "lacks failures.0.error"),
        (lambda c: c["suite"].update(hash=3), "suite.hash is 3; input should be a valid string"),
        (
            lambda c: c["tasks"][0]["task"].update(steps=3),
            "tasks.0.task.steps is 3; unexpected keyword argument",
        ),
        (lambda c: c["tasks"][0]["task"].update(timesteps=-1), "tasks.0.task: CliffWalking-v1: "),
        (lambda c: c["tasks"][0].update(model_hash=None), "tasks.0.model_hash is None"),
        (
            lambda c: c["tasks"][0]["agents"][0].update(hyperparameters=[]),
            "agents.0.hyperparameters is []; input should be an object",
        ),
        (
            lambda c: c["tasks"][0]["agents"][0].update(uses_model=1),
            "agents.0.uses_model is 1; input should be a valid boolean",
        ),
        (
            lambda c: c["tasks"][0]["agents"][0].update(budget_timesteps=1.5),
            "agents.0.budget_timesteps is 1.5; input should be a valid integer",
        ),
    ],
)
def test_what_is_not_of_the_format_is_refused(
    change: Callable[[Any], object], message: str, tmp_path: Path
) -> None:
    write_results(tmp_path, BENCH)
    changed(tmp_path, change)
    with pytest.raises(StoreError) as caught:
        read_bench(tmp_path)
    assert message in str(caught.value)
