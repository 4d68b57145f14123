"""How close to the optimum each algorithm comes, exactly, and at what cost.

Trains every algorithm with several seeds on the tuned hyperparameters and prints, for each task,
a row per training and for each algorithm the interquartile mean of the normalized value with its
stratified bootstrap interval. All values and gaps are exact; only the seeds differ. CPU seconds
depend on the machine, so compare them within one run.

Interrupted and run again with the same --out, it goes on where it was.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from solvent.exact.bench_records import TaskRecord
from solvent.model.registry import BenchTask
from solvent.report.statistics import estimate
from solvent.training.bench import bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="per algorithm, default start")
    parser.add_argument("--random-seeds", type=int, default=2, help="the same for random starts")
    parser.add_argument("--timesteps", type=int, help="instead of the tuned number, for a try")
    parser.add_argument("--processes", type=int, default=2, help="trainings at the same time")
    parser.add_argument("--out", type=Path, help="keep the results in this folder")
    arguments = parser.parse_args()

    seeds, few = arguments.seeds, arguments.random_seeds
    tasks = [
        BenchTask(
            environment="solvent/FFCombat-v0",
            timesteps=arguments.timesteps,
            seeds=dict.fromkeys(("ppo", "maskable_ppo", "dqn", "masked_dqn"), seeds),
        ),
        BenchTask(
            environment="solvent/FFCombatRandom-v0",
            timesteps=arguments.timesteps,
            seeds={"ppo": few, "dqn": few},
        ),
    ]
    out = arguments.out or Path(tempfile.mkdtemp(prefix="solvent-learning-"))
    try:
        results = bench(out, tasks=tasks, processes=arguments.processes)
    finally:
        if arguments.out is None:
            shutil.rmtree(out)
    console = Console()
    for item in results:
        show(console, item)


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
