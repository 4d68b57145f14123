"""Algorithms of one's own, as somebody outside writes them, for the tests of the benchmark."""

import os
import sys
import time
from typing import Any

import numpy as np

from solvent.benchmark.algorithms import Algorithm


def walk(make: Any, seed: int, budget: Any, callback: Any, share: float = 0.5) -> Any:
    """Plays uniformly, and returns a policy that prefers one action, as a function."""
    env = make()
    env.reset(seed=seed)
    env.action_space.seed(seed)
    for step in range(budget.timesteps):
        *_, terminated, _, _ = env.step(env.action_space.sample())
        if terminated:
            env.reset()
        if step % 100 == 0:
            callback.progress(step)
    n = env.action_space.n
    rows = np.full(n, (1 - share) / n)
    rows[seed % n] += share

    def policy(observations: Any) -> Any:
        return np.tile(rows, (len(observations), 1))

    callback(policy, budget.timesteps)
    return policy


def fails(make: Any, seed: int, budget: Any, callback: Any) -> Any:
    raise RuntimeError(f"no seed {seed}")


def leaves(make: Any, seed: int, budget: Any, callback: Any) -> Any:
    """Ends as a script does."""
    sys.exit("no data")


def dies(make: Any, seed: int, budget: Any, callback: Any) -> Any:
    """Ends as what the system kills."""
    os._exit(1)


def sleeps(make: Any, seed: int, budget: Any, callback: Any) -> Any:
    """Learns for long without a report."""
    (callback.folder / "asleep.txt").write_text("")
    time.sleep(600)


def interrupts(*_: Any) -> None:
    raise KeyboardInterrupt


class Network:
    """What has no name but its place in memory."""


NETWORK = Network()
BY_PAIR = {(1, 2): 3}


def goes_on(
    make: Any, seed: int, budget: Any, callback: Any, network: Network = NETWORK, by: Any = BY_PAIR
) -> Any:
    """Keeps something and fails; called again, it succeeds."""
    file = callback.folder / "kept.txt"
    if not file.exists():
        file.write_text("half")
        raise RuntimeError("halfway")
    return lambda seen: np.zeros(len(seen), np.int64)


def takes_turns(make: Any, seed: int, budget: Any, callback: Any) -> Any:
    """For two: always the first legal action, learned nowhere."""
    make.aec().reset(seed=seed)
    return lambda observations: np.zeros(len(observations), np.int64)


takes_turns.self_play = True  # type: ignore[attr-defined]
takes_turns.one_seat = False  # type: ignore[attr-defined]


def sweeps(make: Any, seed: int, budget: Any, callback: Any) -> Any:
    """Uses the table: action values of one backup."""
    rows = np.where(make.table.mask[0], 1.0, 0.0)
    return rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)


SWEEPS = Algorithm(sweeps, uses_model=True)


def checkpoints(make: Any, seed: int, budget: Any, callback: Any) -> Any:
    """Keeps how far it has come, and is interrupted once halfway."""
    file = callback.folder / "step.txt"
    step = int(file.read_text()) if file.exists() else 0
    began = step
    while step < budget.timesteps:
        step += 100
        callback(lambda seen: np.zeros(len(seen), np.int64), step)
        file.write_text(str(step))
        if began == 0 and step >= budget.timesteps // 2:
            raise KeyboardInterrupt
    return lambda seen: np.zeros(len(seen), np.int64)


def is_told(make: Any, seed: int, budget: Any, callback: Any) -> Any:
    """Trains a network from starts that the solution tells, and makes no note of it."""
    from solvent.training import train

    result = train(
        make.task.environment,
        seed=seed,
        timesteps=budget.timesteps,
        folder=callback.folder / "network",
        env_kwargs=make.task.env_kwargs,
        hyperparameters={"n_envs": 8, "n_steps": 8, "batch_size": 32},
        exploring_starts=0.5,
        start_weights="importance",
        evaluations=1,
        progress=False,
    )
    return result.policies[0]
