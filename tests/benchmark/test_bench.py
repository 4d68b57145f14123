"""The main job: everything scored, and the same table however often it was interrupted."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import own_algorithms
import pytest

from solvent.benchmark.bench import bench
from solvent.benchmark.records import AgentRecord, BenchRecord, TaskRecord, read_bench
from solvent.benchmark.suites import Suite, Task, task_game
from solvent.exact import ImproperGameError, StoreError, load_policy, score, solve
from solvent.exact.learning_curve import read_curve
from solvent.report.page import render

ENV = "solvent/FFCombat-v0"
GREED = "solvent/GreedSmall-v0"
COMBAT = Task(
    environment=ENV,
    env_kwargs={"stamina": 4, "opponent_stamina": [3, 5], "luck": [0, 3]},
    timesteps=500,
    seeds={"walk": 2, "fails": 2},
    name="combat",
)
NONTERMINATING = Task(
    environment="FrozenLake-v1",
    env_kwargs={"desc": ["SF", "FF"]},
    timesteps=500,
    name="nonterminating",
)


def without_times(bench: BenchRecord) -> tuple[TaskRecord, ...]:
    return tuple(
        replace(item, agents=tuple(replace(agent, cpu_seconds=0.0) for agent in item.agents))
        for item in bench.tasks
    )


def lines_of(log: str) -> list[str]:
    """What a bench has told, without the clock."""
    assert all(re.match(r"\[\d:\d\d:\d\d\] ", line) for line in log.splitlines())
    return [line.partition("] ")[2] for line in log.splitlines()]


def test_results_are_the_scores_of_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [Task(environment=ENV, timesteps=2_500, seeds={"q_learning": 2})]
    returned = bench(tmp_path, tasks, workers=1)
    capsys.readouterr()
    assert read_bench(tmp_path) == returned
    [item] = json.loads((tmp_path / "results.json").read_text())["tasks"]
    game = task_game(Task(environment=ENV)).table
    solution = solve(game)
    assert (item["env"], item["game"], item["optimum"]) == (ENV, game.info.name, solution.value)
    assert item["bracket"][0] <= item["optimum"] <= item["bracket"][1]
    assert [agent["name"] for agent in item["agents"]] == ["q_learning 0", "q_learning 1"]
    for agent in item["agents"]:
        folder = tmp_path / agent["folder"]
        for prefix, file in (("", "policy.npz"), ("mode_", "policy_mode.npz")):
            found = score(game, load_policy(folder / file, game), solution)
            assert {
                "value": agent[f"{prefix}value"],
                "optimality_gap": agent[f"{prefix}gap"],
                "normalized": agent[f"{prefix}normalized"],
                "worst_start_gap": agent[f"{prefix}worst_start_gap"],
            } == pytest.approx(
                {
                    name: getattr(found, name)
                    for name in ("value", "optimality_gap", "normalized", "worst_start_gap")
                },
                abs=1e-12,
            )
        assert read_curve(folder / "curve.csv")[-1].timesteps == agent["timesteps"]
    baselines = {entry["name"]: entry for entry in item["baselines"]}
    assert baselines["uniform"]["value"] == pytest.approx(0.5889, abs=5e-5)
    assert baselines["uniform"]["normalized"] == 0
    assert baselines["optimal"]["gap"] == pytest.approx(0, abs=1e-12)

    # Called again, it only reads.
    times = {f: f.stat().st_mtime_ns for f in tmp_path.rglob("policy.npz")}
    assert bench(tmp_path, tasks, workers=1) == returned
    told = lines_of(capsys.readouterr().out)
    assert sum(line.startswith("kept ") for line in told) == 2
    assert times == {f: f.stat().st_mtime_ns for f in tmp_path.rglob("policy.npz")}


@pytest.mark.slow
def test_killed_halfway_it_ends_with_the_same_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = f"Task(environment={ENV!r}, timesteps=60_000, seeds=dict(ppo=2, dqn=1))"
    tasks = [eval(call)]
    whole = bench(tmp_path / "whole", tasks, progress=False)
    out = tmp_path / "killed"
    code = (
        "from solvent.benchmark.suites import Task\n"
        "from solvent.benchmark.bench import bench\n"
        "if __name__ == '__main__':\n"
        f"    bench({str(out)!r}, [{call}])\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    log = tmp_path / "log.txt"
    with log.open("w") as file:
        process = subprocess.Popen([sys.executable, str(script)], stdout=file)
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline:
        curves = list(out.rglob("curve.csv"))
        if any(len(curve.read_text().splitlines()) > 8 for curve in curves):
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.01)
    process.wait()
    assert not (out / "results.json").exists(), "it ended before it could be killed"
    told = [line.split()[0] for line in lines_of(log.read_text())]
    assert told[0] == "training"
    assert "started" in told
    assert "kept" not in told
    assert list(out.rglob("checkpoint.npz"))
    # The workers notice that their parent is gone, and write nothing any more.
    before: dict[Path, bytes] = {}
    while before != (now := {f: f.read_bytes() for f in out.rglob("curve.csv")}):
        assert time.monotonic() < deadline, "a worker lives on"
        before = now
        time.sleep(1)
    capsys.readouterr()
    assert without_times(bench(out, tasks)) == without_times(whole)
    told = lines_of(capsys.readouterr().out)
    assert any(line.startswith("resumed") for line in told)


def test_an_interrupted_bench_does_not_wait_for_a_run_that_reports_nothing(tmp_path: Path) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out"
    script.write_text(
        "import signal\n"
        "from solvent.benchmark.bench import bench\n"
        "from solvent.benchmark.suites import Task\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"    task = Task(environment={GREED!r}, timesteps=500)\n"
        f"    bench({str(out)!r}, [task], {{'own': {own_algorithms.__file__ + ':sleeps'!r}}})\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not list(out.rglob("asleep.txt")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert told.endswith("KeyboardInterrupt\n")


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A bench of which much fails, and what came of it when it was called again, mended."""
    folder = tmp_path_factory.mktemp("troubled")
    damaged = folder / COMBAT.name / "damaged-0"
    damaged.mkdir(parents=True)
    (damaged / "run.json").write_text("damaged")
    algorithms = {
        "dies": own_algorithms.dies,
        "walk": own_algorithms.walk,
        "fails": own_algorithms.fails,
        "leaves": own_algorithms.leaves,
        "goes_on": f"{own_algorithms.__file__}:goes_on",
        "damaged": own_algorithms.walk,
    }
    log = io.StringIO()
    with redirect_stdout(log):
        first = bench(folder, [NONTERMINATING, COMBAT], algorithms, workers=1)
    assert read_bench(folder) == first
    # What died could not clear its folder, and is not mended.
    mended = algorithms | dict.fromkeys(("fails", "leaves"), own_algorithms.walk)
    del mended["dies"]
    again = bench(folder, [COMBAT], mended, workers=1, progress=False)
    told = lines_of(log.getvalue())
    return SimpleNamespace(folder=folder, first=first, told=told, again=again)


def test_those_that_failed_are_tried_again_and_the_others_are_read_back(troubled: Any) -> None:
    [task] = troubled.again.tasks
    assert [agent.name for agent in task.agents] == [
        "walk 0", "walk 1", "fails 0", "fails 1", "leaves 0", "goes_on 0",
    ]  # fmt: skip
    assert task.agents[:2] == troubled.first.tasks[0].agents
    # A hyperparameter without a name is the same in every process.
    assert "Network object" in task.agents[-1].hyperparameters["network"]
    assert [one.algorithm for one in troubled.again.failures] == ["damaged"]


def test_an_optimum_that_cannot_be_proved_is_a_failure(troubled: Any, tmp_path: Path) -> None:
    assert [task.name for task in troubled.first.tasks] == [COMBAT.name]
    failures = [one for one in troubled.first.failures if one.task == NONTERMINATING.name]
    assert len(failures) == 6
    assert all(one.error.startswith("ImproperGameError: ") for one in failures)
    assert COMBAT.name in render(troubled.folder)
    assert any(
        line.startswith("failed    nonterminating: no optimum is proved: ")
        for line in troubled.told
    )
    assert not list((troubled.folder / NONTERMINATING.name).rglob("own"))
    with pytest.raises(ImproperGameError):
        bench(tmp_path, [NONTERMINATING], {"walk": own_algorithms.walk}, progress=False)


def test_of_a_suite_an_algorithm_does_what_it_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = Task(environment=GREED, self_play=True, timesteps=300)
    algorithms = {"walk": own_algorithms.walk}
    suite = Suite("mine", "My own", (COMBAT, both))
    found = bench(tmp_path / "suite", suite, algorithms, workers=1)
    assert [len(task.agents) for task in found.tasks] == [2, 0]
    assert (found.suite.name, len(found.suite.hash)) == ("mine", 64)
    told = lines_of(capsys.readouterr().out)
    assert "left out  GreedSmall-v0-self-play walk: it does not learn by self-play" in told
    text = render(tmp_path / "suite")
    assert all(f'id="{task.name}"' in text and task.title in text for task in found.tasks)
    assert "GreedSmall-v0 by self-play" in text
    path = tmp_path / "suite" / "results.json"
    path.write_text(path.read_text().replace(found.tasks[0].model_hash, "ab" * 32))
    with pytest.raises(StoreError, match="is of the model abababababab"):
        render(tmp_path / "suite")
    changed = suite.with_timesteps(200)
    assert changed.name == "mine@200"
    with pytest.raises(ValueError, match="there is nothing to do"):
        bench(tmp_path / "none", Suite("mine", "", (both,)), algorithms)


def test_a_failure_costs_nobody_else(troubled: Any) -> None:
    """An exception, a script that leaves, a process that dies, and a damaged folder."""
    [task] = troubled.first.tasks
    assert [agent.name for agent in task.agents] == ["walk 0", "walk 1"]
    errors: dict[str, list[str]] = {}
    for one in troubled.first.failures:
        if one.task == COMBAT.name:
            errors.setdefault(one.algorithm, []).append(one.error)
    for algorithm, messages in {
        "fails": ["RuntimeError: no seed 0", "RuntimeError: no seed 1"],
        "leaves": ["SystemExit: no data"],
        "dies": ["its process died, as one does that runs out of memory"],
        "goes_on": ["RuntimeError: halfway"],
    }.items():
        assert errors[algorithm] == messages
        for seed, message in enumerate(messages):
            assert f"failed    {COMBAT.name} {algorithm} {seed}: {message}" in troubled.told
    [error] = errors["damaged"]
    assert error.startswith("StoreError: ")
    assert "run.json: not the record" in error


def test_what_cannot_be_done_is_refused_at_once(tmp_path: Path) -> None:
    def inner(make: Any, seed: int, budget: Any, callback: Any) -> None:
        raise AssertionError

    walk, bare = {"walk": own_algorithms.walk}, Task(environment=ENV)
    cases: list[tuple[Task, Any, str]] = [
        (Task(environment=ENV, seeds={"pop": 1}), None, "algorithm is 'pop'"),
        (
            Task(environment="solvent/FF-v0", seeds={"ppo": 1}),
            None,
            "no game or environment 'solvent/FF-v0'",
        ),
        (COMBAT, {"mine": inner}, r"mine cannot be sent .*file\.py:mine"),
        (bare, walk, "task FFCombat-v0 has no budget"),
        (COMBAT, {"../x": own_algorithms.walk}, "the name of an algorithm is"),
    ]
    for task, algorithms, message in cases:
        with pytest.raises(ValueError, match=message):
            bench(tmp_path, [task], algorithms, progress=False)
    assert list(tmp_path.iterdir()) == []


BRIEF = Task(
    environment="solvent/FFCombat-v0",
    env_kwargs={"stamina": 4, "opponent_stamina": [3, 5], "luck": [0, 3]},
    timesteps=500,
    seeds={"q_learning": 2},
)


def untimed(agents: tuple[AgentRecord, ...]) -> list[AgentRecord]:
    return [replace(agent, cpu_seconds=0.0) for agent in agents]


@pytest.mark.slow
def test_a_cluster_does_what_processes_do(tmp_path: Path) -> None:
    from ray_machines import Machines

    here = bench(tmp_path / "here", [BRIEF], progress=False)
    machines = Machines()
    try:
        machines.add()
        there = bench(tmp_path / "there", [BRIEF], on=machines.address, progress=False)
        assert untimed(there.tasks[0].agents) == untimed(here.tasks[0].agents)
        assert read_bench(tmp_path / "there") == there
        # What is finished is read back, not done again.
        again = bench(tmp_path / "there", [BRIEF], on=machines.address, progress=False)
        assert again == there
    finally:
        machines.close()
