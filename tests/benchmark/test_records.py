"""What a bench writes and what it tells as it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from solvent.benchmark import progress
from solvent.benchmark.progress import BenchProgress, Moment
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
from solvent.exact.learning_curve import Evaluation

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
            lambda c: c["tasks"][0]["agents"][0].update(timesteps=1.5),
            "agents.0.timesteps is 1.5; input should be a valid integer",
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


# A bench and a training tell how far they have come, and how long it will take


class Clock:
    """A clock that is set by hand, in seconds."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def at(timesteps: int, seconds: float, *, resumed: bool = False) -> Moment:
    """A moment of a training of 1,000 steps that has just been evaluated."""
    return Moment(timesteps, 1000, Evaluation(timesteps, 0.5, 0.2, 0.6, 0.1, seconds), resumed)


def ended(gap: float, seconds: float) -> AgentRecord:
    numbers = 0.5, 0.2, 0.5, 0.2, 0.6, gap, 0.6, gap
    return AgentRecord("ppo 0", "ppo", 0, *numbers, 1000, seconds, "ppo-0")


def test_a_bench_tells_what_happens_and_the_time_that_is_left(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    totals = {"A-v0 ppo 0": 1000, "A-v0 ppo 1": 1000, "B-v0 dqn 0": 1000, "B-v0 dqn 1": 1000}
    with BenchProgress(totals) as told:
        told.finish("A-v0 ppo 0", ended(0.1, 10.0))
        clock.now = 5.0
        told.move("B-v0 dqn 0", at(500, 20.0, resumed=True))
        told.move("A-v0 ppo 1", at(50, 0.0))
        told.move("B-v0 dqn 0", at(510, 20.0))
        clock.now = 25.0
        told.move("B-v0 dqn 0", at(1000, 40.0))
        told.finish("B-v0 dqn 0", ended(0.01, 40.0))
        told.finish("A-v0 ppo 1", FailureRecord("A-v0", "ppo", 1, "ValueError: no"))
    # One that first tells late is not taken for one resumed.
    assert capsys.readouterr().out.splitlines() == [
        "[0:00:00] kept      A-v0 ppo 0: finished, gap 0.100000",
        "[0:00:05] resumed   B-v0 dqn 0: 50% of 1,000 steps, gap 0.1000",
        "[0:00:05] started   A-v0 ppo 1",
        "[0:00:25] finished  B-v0 dqn 0: gap 0.010000, 40.0 CPU-s, 0:01:18 left",
        "[0:00:25] failed    A-v0 ppo 1: ValueError: no",
    ]


def test_work_goes_on_when_nobody_reads_its_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> None:
        raise SystemExit(1)  # So Rich does when a pipe is closed.

    with BenchProgress({"A-v0 ppo 0": 1000}) as told:
        monkeypatch.setattr(Console, "print", closed)
        told.move("A-v0 ppo 0", at(500, 20.0))
        told.finish("A-v0 ppo 0", ended(0.01, 40.0))
