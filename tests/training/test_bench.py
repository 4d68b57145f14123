"""The main job: everything scored, and the same table however often it was interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from solvent.benchmark.records import TaskRecord, read_results
from solvent.envs.registration import ENVIRONMENTS
from solvent.exact import StoreError, exploitability, load_policy, score, solve
from solvent.exact.learning_curve import read_curve
from solvent.games import Greed
from solvent.model import TabularPolicy, compile_game
from solvent.model.registry import BenchTask
from solvent.training.bench import bench, runs_of, tasks_of
from solvent.training.callback import SelfPlayEvaluation
from solvent.training.environments import game_of

ENV = "solvent/FFCombat-v0"
GREED = "solvent/GreedSmall-v0"


def without_times(results: tuple[TaskRecord, ...]) -> tuple[TaskRecord, ...]:
    return tuple(
        replace(item, agents=tuple(replace(agent, cpu_seconds=0.0) for agent in item.agents))
        for item in results
    )


def lines_of(log: str) -> list[str]:
    """What a bench has told, without the clock."""
    assert all(re.match(r"\[\d:\d\d:\d\d\] ", line) for line in log.splitlines())
    return [line.partition("] ")[2] for line in log.splitlines()]


def test_results_are_the_scores_of_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [BenchTask(environment=ENV, timesteps=2_500, seeds={"ppo": 1, "dqn": 1})]
    returned = bench(tmp_path, tasks=tasks, processes=1)
    told = lines_of(capsys.readouterr().out)
    assert read_results(tmp_path) == returned
    results = json.loads((tmp_path / "results.json").read_text())
    [item] = results["tasks"]
    game = game_of(ENV)
    solution = solve(game)
    assert item["env"] == ENV
    assert item["game"] == game.info.name
    assert item["optimum"] == solution.value
    low, high = item["bracket"]
    assert low <= item["optimum"] <= high
    assert [agent["name"] for agent in item["agents"]] == ["ppo 0", "dqn 0"]
    for agent in item["agents"]:
        folder = tmp_path / agent["folder"]
        for prefix, file in (("", "policy.npz"), ("mode_", "policy_mode.npz")):
            found = score(game, load_policy(folder / file, game), solution)
            assert agent[f"{prefix}value"] == pytest.approx(found.value, abs=1e-12)
            assert agent[f"{prefix}gap"] == pytest.approx(found.optimality_gap, abs=1e-12)
            assert agent[f"{prefix}normalized"] == pytest.approx(found.normalized, abs=1e-12)
            assert agent[f"{prefix}worst_start_gap"] == pytest.approx(found.worst_start_gap)
        assert read_curve(folder / "curve.csv")[-1].timesteps == agent["timesteps"]
    baselines = {entry["name"]: entry for entry in item["baselines"]}
    assert baselines["uniform"]["value"] == pytest.approx(0.5889, abs=5e-5)
    assert baselines["uniform"]["normalized"] == 0
    assert baselines["optimal"]["gap"] == pytest.approx(0, abs=1e-12)

    # What it told as it went on, without a terminal: a line for each event.
    assert told[0] == f"training  2 networks, 1 at the same time, into {tmp_path}"
    assert f"solved    FFCombat-v0: optimum {item['optimum']:.6f}" in told
    for agent in item["agents"]:
        name = f"FFCombat-v0 {agent['name']}"
        begun, ended = (
            i for i, line in enumerate(told) if line.split(":")[0].endswith(f"  {name}")
        )
        assert told[begun] == f"started   {name}"
        assert told[ended].startswith(
            f"finished  {name}: gap {agent['mode_gap']:.6f}, {agent['cpu_seconds']:.1f} CPU-s"
        )
    assert told[-1] == f"written   {tmp_path / 'results.json'}"
    assert len(told) == 7

    # Called again, it only reads.
    times = {f: f.stat().st_mtime_ns for f in tmp_path.rglob("policy.npz")}
    assert bench(tmp_path, tasks=tasks, processes=1) == returned
    told = lines_of(capsys.readouterr().out)
    assert [line for line in told if line[:4] in ("kept", "star", "resu", "fini")] == [
        f"kept      FFCombat-v0 {agent['name']}: finished, gap {agent['mode_gap']:.6f}"
        for agent in item["agents"]
    ]
    assert times == {f: f.stat().st_mtime_ns for f in tmp_path.rglob("policy.npz")}


def test_what_it_does_by_default_is_what_the_project_promises() -> None:
    assert {
        (run.env, run.algorithm): run.seed + 1 for task in tasks_of() for run in runs_of(task)
    } == {
        (ENV, "ppo"): 3,
        (ENV, "dqn"): 3,
        ("solvent/FFCombatRandom-v0", "ppo"): 1,
        ("solvent/FFCombatRandom-v0", "dqn"): 1,
        ("solvent/Gamebook-v0", "ppo"): 1,
        ("solvent/Gamebook-v0", "masked_dqn"): 1,
        (GREED, "ppo"): 1,
        (GREED, "maskable_ppo"): 1,
    }
    assert {(run.env, run.timesteps) for task in tasks_of() for run in runs_of(task)} == {
        (ENV, None),
        ("solvent/FFCombatRandom-v0", None),
        ("solvent/Gamebook-v0", None),
        (GREED, None),
    }


@pytest.mark.slow
def test_self_play_has_figures_of_both_seats(tmp_path: Path) -> None:
    tasks = [BenchTask(environment=GREED, timesteps=2048, seeds={"maskable_ppo": 1})]
    returned = bench(tmp_path, tasks=tasks, processes=1, progress=False)
    assert read_results(tmp_path) == returned
    results = json.loads((tmp_path / "results.json").read_text())
    [item] = results["tasks"]
    assert item["parameters"] == ENVIRONMENTS[GREED].parameters
    game = compile_game(Greed(20, 4))
    solution = solve(game)
    assert item["optimum"] == solution.value
    [agent] = item["agents"]
    for prefix in ("", "mode_"):
        scores = [
            score(
                game, load_policy(tmp_path / agent["folder"] / f"policy_{prefix}{seat}.npz", game)
            )
            for seat in (0, 1)
        ]
        gaps = [result.optimality_gap for result in scores]
        assert agent[f"{prefix}exploitability"] == pytest.approx(gaps, abs=1e-12)
        assert agent[f"{prefix}gap"] == pytest.approx(sum(gaps) / 2, abs=1e-12)
        assert agent[f"{prefix}worst_start_gap"] == pytest.approx(max(gaps), abs=1e-12)
        assert agent[f"{prefix}value"] == pytest.approx(-sum(gaps) / 2, abs=1e-12)
    last = read_curve(tmp_path / agent["folder"] / "curve.csv", SelfPlayEvaluation)[-1]
    assert last.gap == pytest.approx(agent["gap"], abs=1e-12)
    baselines = {entry["name"]: entry for entry in item["baselines"]}
    for seat in (0, 1):
        uniform = TabularPolicy.uniform(game, player=seat)
        assert baselines["uniform"]["exploitability"][seat] == pytest.approx(
            exploitability(game, uniform), abs=1e-12
        )
    assert baselines["optimal"]["exploitability"] == pytest.approx([0, 0], abs=1e-12)
    assert bench(tmp_path, tasks=tasks, processes=1, progress=False) == returned


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        f"BenchTask(environment={ENV!r}, timesteps=60_000, seeds=dict(ppo=2, dqn=1))",
        f"BenchTask(environment={GREED!r}, timesteps=120_000, seeds=dict(maskable_ppo=2))",
    ],
)
def test_killed_halfway_it_ends_with_the_same_table(
    call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [eval(call)]
    whole = bench(tmp_path / "whole", tasks=tasks, progress=False)
    out = tmp_path / "killed"
    code = (
        "from solvent.model.registry import BenchTask\n"
        "from solvent.training.bench import bench\n"
        "if __name__ == '__main__':\n"
        f"    bench({str(out)!r}, tasks=[{call}])\n"
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
    time.sleep(1)  # The workers notice that their parent is gone.
    states = {f: f.read_bytes() for f in out.rglob("curve.csv")}
    time.sleep(1)
    assert states == {f: f.read_bytes() for f in out.rglob("curve.csv")}, "a worker lives on"
    capsys.readouterr()
    assert without_times(bench(out, tasks=tasks)) == without_times(whole)
    told = lines_of(capsys.readouterr().out)
    kept = {line.split(": ")[0].removeprefix("kept      ") for line in told if line[:4] == "kept"}
    resumed = {
        line.split(": ")[0].removeprefix("resumed   ") for line in told if line[:4] == "resu"
    }
    assert kept >= resumed
    assert resumed


@pytest.mark.slow
def test_a_failing_training_stops_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "FFCombat-v0" / "ppo-0"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("damaged")
    with pytest.raises(StoreError, match=r"run\.json: not the record"):
        bench(
            tmp_path,
            tasks=[BenchTask(environment=ENV, timesteps=2_500, seeds={"ppo": 1, "dqn": 2})],
            processes=1,
            progress=False,
        )
    assert not (tmp_path / "results.json").exists()


@pytest.mark.parametrize(
    ("env", "algorithm", "message"),
    [(ENV, "pop", "algorithm is 'pop'"), ("solvent/FF-v0", "ppo", "environment is 'solvent/FF")],
)
def test_bad_tasks_are_refused_at_once(
    env: str, algorithm: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        bench(tmp_path, tasks=[BenchTask(environment=env, seeds={algorithm: 1})], progress=False)
    assert list(tmp_path.iterdir()) == []
