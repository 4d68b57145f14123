"""A bench of two small tasks, of policies that are noisy versions of the optimum."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from solvent import TabularPolicy
from solvent.benchmark.algorithms import Run, perform
from solvent.benchmark.policies import task_record
from solvent.benchmark.records import (
    AgentRecord,
    BenchRecord,
    SuiteRecord,
    figures,
    write_results,
)
from solvent.benchmark.suites import (
    Setting,
    Suite,
    Task,
    TaskGame,
    suite_hash,
    suite_seeds,
    task_game,
)
from solvent.exact import save_policy
from solvent.exact.learning_curve import Evaluation, write_curve
from solvent.exact.scoring import LEARNED, comparable_score

SUITE = Suite(
    "small",
    "Combat alone, and Greed by self-play",
    (
        Task(environment="solvent/FFCombat-v0", timesteps=1_000),
        Task(
            environment="solvent/GreedSmall-v0",
            self_play=True,
            env_kwargs={"limit": 9, "sides": 4},
            timesteps=2_000,
        ),
    ),
)

# The words of a submission.
WORDS: dict[str, Any] = {
    "authors": "A. Author",
    "code": "https://example.org/code",
    "budget": "as the suite says",
    "hardware": "one processor",
    "uses_model": False,
    "saw_solution": False,
}

# How noisy the policies of the last of ten seeds are; those of earlier ones are less.
NOISE = {"steady": 1.5, "wild_one": 6.0}


def write_bench(folder: Path, seeds: int) -> None:
    """Write a bench of SUITE.

    Args:
        folder: Where to.
        seeds: Of each algorithm.
    """
    games = [task_game(task) for task in SUITE.tasks]
    found = suite_hash(SUITE.tasks, [game.table.model_hash for game in games])
    tasks = []
    for game in games:
        agents = (agent_record(folder, game, name, seed) for name in NOISE for seed in range(seeds))
        tasks.append(replace(task_record(game, ["uniform"]), agents=tuple(agents)))
    write_results(folder, BenchRecord(tuple(tasks), SuiteRecord(SUITE.name, found)))


def noisy(game: TaskGame, algorithm: str, seed: int) -> list[TabularPolicy]:
    """The policy of a run, or those of both seats; without an entry in NOISE it errs a lot."""
    random = np.random.default_rng([seed, *algorithm.encode()])
    sampled = []
    for seat in game.seats:
        noise = random.random(game.table.mask[seat].shape) ** 4 * game.table.mask[seat]
        mixed = game.solution.policies[seat].probabilities
        mixed = mixed + NOISE.get(algorithm, 30.0) * (seed + 1) / 10 * noise
        mixed /= np.maximum(mixed.sum(axis=1, keepdims=True), 1e-300)
        sampled.append(TabularPolicy.of(game.table, mixed, player=seat))
    return sampled


def agent_record(folder: Path, game: TaskGame, algorithm: str, seed: int) -> AgentRecord:
    """Write the files of a run, whose curve has three points, and return its record."""
    place = f"{game.task.name}/{algorithm}-{seed}"
    (folder / place).mkdir(parents=True)
    sampled = noisy(game, algorithm, seed)
    greedy = [policy.mode() for policy in sampled]
    for own, mode in zip(sampled, greedy, strict=True):
        ending = f"_{own.player}" if len(sampled) == 2 else ""
        save_policy(folder / place / f"policy{ending}.npz", own)
        save_policy(folder / place / f"policy_mode{ending}.npz", mode)
    one, other = (
        figures([
            comparable_score(game.table, own, game.solution, tolerance=LEARNED) for own in policies
        ])
        for policies in (sampled, greedy)
    )  # fmt: skip
    steps, seconds, points = game.task.timesteps or 0, 2.0 + seed, []
    for part in (0, 1, 2):
        gaps = [(3 - part) * found["gap"] for found in (one, other)]
        values = [
            found["value"] + found["gap"] - gap
            for found, gap in zip((one, other), gaps, strict=True)
        ]
        numbers = values[0], gaps[0], values[1], gaps[1]
        points.append(Evaluation(part * steps // 2, *numbers, part * seconds / 2))
    write_curve(folder / place / "curve.csv", points)
    return AgentRecord(
        name=f"{algorithm} {seed}",
        algorithm=algorithm,
        seed=seed,
        **one,
        **{f"mode_{name}": figure for name, figure in other.items()},
        timesteps=steps,
        cpu_seconds=seconds,
        folder=place,
    )


def write_tasks(
    folder: Path, *tasks: tuple[str, bool, dict[str, Any], list[tuple[str, int]]]
) -> Path:
    """Write results of agents that mistake action values a little.

    Args:
        folder: Where to.
        tasks: The environment, whether by self-play, its arguments, and the seeds of algorithms.
    """
    records = []
    for env, self_play, arguments, algorithms in tasks:
        given: dict[str, Any] = {"self_play": self_play, "env_kwargs": arguments}
        task = Task(environment=env, name=env.partition("/")[2], timesteps=1000, **given)
        game = task_game(task)
        agents = tuple(
            agent_record(folder, game, algorithm, seed)
            for algorithm, seeds in algorithms
            for seed in range(seeds)
        )
        record = task_record(game, ["uniform", "first-legal", "optimal"])
        records.append(replace(record, agents=agents, constant=None))
    write_results(folder, BenchRecord(tuple(records)))
    return folder


def bench_here(
    out: Path, suite: Suite, name: str, source: str, seeds: int, setting: Setting | None = None
) -> BenchRecord:
    """Do in this process what a bench does in others, which take seconds to start."""
    games = [task_game(task) for task in suite.tasks]
    found = suite_hash(suite.tasks, [game.table.model_hash for game in games])
    tasks = []
    for game in games:
        agents = [
            perform(out, Run(game.task, name, source, seed, setting or Setting()))
            for seed in suite_seeds(found, seeds)
        ]
        tasks.append(replace(task_record(game), agents=tuple(agents)))
    record = BenchRecord(tuple(tasks), SuiteRecord(suite.name, found))
    write_results(out, record)
    return record
