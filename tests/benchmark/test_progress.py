"""A bench and a training tell how far they have come, and how long it will take."""

from __future__ import annotations

import pytest
from rich.console import Console

from solvent.benchmark import progress
from solvent.benchmark.progress import BenchProgress, Moment, bar_for
from solvent.benchmark.records import AgentRecord, FailureRecord
from solvent.exact.learning_curve import Evaluation


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


def test_a_quiet_bench_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with BenchProgress({"A-v0 ppo 0": 1000}, shown=False) as told:
        told.write("anything")
        told.move("A-v0 ppo 0", at(500, 20.0))
        told.finish("A-v0 ppo 0", ended(0.0, 1.0))
    assert capsys.readouterr() == ("", "")


def test_a_training_without_a_terminal_tells_of_each_tenth(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with bar_for("A-v0 ppo seed 0") as report:
        report(Moment(0, 1000, None))
        for done in range(10, 1001, 10):
            clock.now = done / 10
            report(at(done, done / 10))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[0] == "[0:00:00] A-v0 ppo seed 0: 0% of 1,000 steps"
    assert lines[3] == ("[0:00:30] A-v0 ppo seed 0: 30% of 1,000 steps, gap 0.1000, 0:01:10 left")
    assert lines[-1].endswith("100% of 1,000 steps, gap 0.1000, 0:00:00 left")


def test_work_goes_on_when_nobody_reads_its_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> None:
        raise SystemExit(1)  # So Rich does when a pipe is closed.

    with BenchProgress({"A-v0 ppo 0": 1000}) as told:
        monkeypatch.setattr(Console, "print", closed)
        told.move("A-v0 ppo 0", at(500, 20.0))
        told.finish("A-v0 ppo 0", ended(0.01, 40.0))
