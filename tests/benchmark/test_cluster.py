"""A bench whose runs are done by the processes of a Ray cluster, of this machine's own here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from solvent.benchmark.bench import bench
from solvent.benchmark.records import AgentRecord, read_bench
from solvent.benchmark.suites import Task

TASK = Task(
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

    here = bench(tmp_path / "here", [TASK], progress=False)
    machines = Machines()
    try:
        machines.add()
        there = bench(tmp_path / "there", [TASK], on=machines.address, progress=False)
        assert untimed(there.tasks[0].agents) == untimed(here.tasks[0].agents)
        assert read_bench(tmp_path / "there") == there
        # What is finished is read back, not done again.
        again = bench(tmp_path / "there", [TASK], on=machines.address, progress=False)
        assert again == there
    finally:
        machines.close()
