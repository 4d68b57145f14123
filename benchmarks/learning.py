"""How close to the optimum each algorithm comes, exactly, and at what cost.

Trains every algorithm with several seeds on the tuned hyperparameters and prints, for each task,
a row per training and for each algorithm the interquartile mean of the normalized value with its
stratified bootstrap interval. All values and gaps are exact; only the seeds differ. CPU seconds
depend on the machine, so compare them within one run.

Interrupted and run again with the same --out, it goes on where it was.

With --plain it compares instead what trains PPO here, which evaluates its network once for each
distinct observation, with Stable-Baselines3's own PPO on the same environment: the same seeds in
turns, a row for each, with exact gaps and CPU seconds.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table
from stable_baselines3 import PPO

from solvent.benchmark.bench import bench
from solvent.benchmark.records import TaskRecord
from solvent.benchmark.statistics import estimate
from solvent.benchmark.suites import Task
from solvent.training import ALGORITHMS, TrainingResult, train
from solvent.training.algorithms import Algorithm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="per algorithm, default start")
    parser.add_argument("--random-seeds", type=int, default=2, help="the same for random starts")
    parser.add_argument("--timesteps", type=int, help="instead of the tuned number, for a try")
    parser.add_argument("--processes", type=int, default=2, help="trainings at the same time")
    parser.add_argument("--out", type=Path, help="keep the results in this folder")
    parser.add_argument("--plain", action="store_true", help="against Stable-Baselines3's PPO")
    parser.add_argument("--env", default="solvent/FFCombat-v0", help="with --plain")
    arguments = parser.parse_args()
    if arguments.plain:
        compare(Console(width=100), arguments.env, arguments.seeds, arguments.timesteps)
        return

    seeds, few = arguments.seeds, arguments.random_seeds
    tasks = [
        Task(
            environment="solvent/FFCombat-v0",
            timesteps=arguments.timesteps,
            seeds=dict.fromkeys(("ppo", "maskable_ppo", "dqn", "masked_dqn"), seeds),
        ),
        Task(
            environment="solvent/FFCombatRandom-v0",
            timesteps=arguments.timesteps,
            seeds={"ppo": few, "dqn": few},
        ),
    ]
    out = arguments.out or Path(tempfile.mkdtemp(prefix="solvent-learning-"))
    try:
        results = bench(out, tasks, workers=arguments.processes).tasks
    finally:
        if arguments.out is None:
            shutil.rmtree(out)
    console = Console()
    for item in results:
        show(console, item)


def compare(console: Console, env: str, seeds: int, timesteps: int | None) -> None:
    """Train with plain PPO and with ours, in turns."""
    found: dict[str, list[TrainingResult]] = {"Stable-Baselines3": [], "ours": []}
    plain = Algorithm(PPO, "ppo", masked=False)
    for seed in range(-1, seeds):  # The first pair warms up and does not count.
        for name, results in found.items():
            algorithm = plain if name == "Stable-Baselines3" else ALGORITHMS["ppo"]
            steps = timesteps if seed >= 0 else 50_000
            with (
                patch.dict(ALGORITHMS, ppo=algorithm),  # type: ignore[arg-type]
                tempfile.TemporaryDirectory() as out,
            ):
                result = train(
                    env, "ppo", seed=max(seed, 0), timesteps=steps, folder=Path(out) / "run",
                    progress=False,
                )  # fmt: skip
            if seed >= 0:
                results.append(result)

    table = Table(title=f"{env}, PPO: exact gaps")
    for name in ("seed", *(f"{what}, {name}" for name in found for what in ("mode", "sampled"))):
        table.add_column(name, justify="right")
    gaps = np.array(
        [
            [gap for r in pair for gap in (r.mode_score.optimality_gap, r.score.optimality_gap)]
            for pair in zip(*found.values(), strict=True)
        ]
    )
    middle = np.sort(gaps, axis=0)[seeds // 4 : seeds - seeds // 4]
    rows = {str(seed): row for seed, row in enumerate(gaps)}
    rows |= {"mean": gaps.mean(axis=0), "median": np.median(gaps, axis=0)}
    for name, row in (rows | {"IQM": middle.mean(axis=0)}).items():
        table.add_row(name, *(f"{gap:.5f}" for gap in row))
    console.print(table)
    for name, results in found.items():
        seconds = [result.cpu_seconds for result in results]
        rate = results[0].timesteps / min(seconds)
        console.print(
            f"{name}: {np.mean(seconds):.1f} CPU s ({min(seconds):.1f} to {max(seconds):.1f}), "
            f"at best {rate:,.0f} steps per CPU second"
        )


def show(console: Console, item: TaskRecord) -> None:
    runs = Table(title=f"{item.env}, optimum {item.optimum:.5f}: exact gaps")
    runs.add_column("training")
    for name in ("mode", "sampled", "worst start (mode)", "timesteps", "CPU s"):
        runs.add_column(name, justify="right")
    for agent in item.agents:
        runs.add_row(
            agent.name,
            f"{agent.mode_gap:.5f}",
            f"{agent.gap:.5f}",
            f"{agent.mode_worst_start_gap:.4f}",
            f"{agent.timesteps:,}",
            f"{agent.cpu_seconds:.0f}",
        )
    console.print(runs)

    means = Table(title="over seeds")
    means.add_column("algorithm")
    for name in ("median gap (mode)", "normalized value (mode), IQM", "95% interval", "CPU s"):
        means.add_column(name, justify="right")
    for algorithm in dict.fromkeys(agent.algorithm for agent in item.agents):
        agents = [agent for agent in item.agents if agent.algorithm == algorithm]
        iqm = estimate([[agent.mode_normalized for agent in agents]])
        means.add_row(
            algorithm,
            f"{np.median([agent.mode_gap for agent in agents]):.5f}",
            "too few seeds" if iqm is None else f"{iqm.mean:.4f}",
            "" if iqm is None else f"{iqm.low:.4f} to {iqm.high:.4f}",
            f"{np.mean([agent.cpu_seconds for agent in agents]):.0f}",
        )
    console.print(means)


if __name__ == "__main__":
    main()
