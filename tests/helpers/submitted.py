"""A bench of two small tasks, of policies that are noisy versions of the optimum."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from solvent.benchmark.algorithms import Budget, Run, perform
from solvent.benchmark.policies import task_record
from solvent.benchmark.records import (
    AgentRecord,
    BenchRecord,
    SuiteRecord,
    TaskRecord,
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
from solvent.exact import Solution, save_policy
from solvent.exact.learning_curve import Evaluation, write_curve
from solvent.exact.scoring import LEARNED, comparable_score
from solvent.model import TabularPolicy

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

WORDS: dict[str, Any] = {
    "authors": "A. Author",
    "code": "https://example.org/code",
    "budget": "as the suite says",
    "hardware": "one processor",
    "uses_model": False,
    "saw_solution": False,
}
"""The words of a submission."""

NOISE = {"steady": 1.5, "wild_one": 6.0}
"""How noisy the policies of the last of ten seeds are; those of earlier ones are less."""


def write_bench(folder: Path, seeds: int) -> None:
    """Write a bench of SUITE.

    Args:
        folder: Where to.
        seeds: Of each algorithm.
    """
    games = [task_game(task) for task in SUITE.tasks]
    found = suite_hash(SUITE.tasks, [game.table.model_hash for game in games])
    tasks = tuple(with_agents(folder, game, seeds) for game in games)
    write_results(folder, BenchRecord(tasks, SuiteRecord(SUITE.name, found)))


def with_agents(folder: Path, game: TaskGame, seeds: int) -> TaskRecord:
    """Write the files of a task's agents and return its record."""
    agents = (agent_record(folder, game, name, seed) for name in NOISE for seed in range(seeds))
    return replace(task_record(game, ["uniform"]), agents=tuple(agents))


def agent_record(folder: Path, game: TaskGame, algorithm: str, seed: int) -> AgentRecord:
    solution = game.solution
    place = f"{game.task.name}/{algorithm}-{seed}"
    (folder / place).mkdir(parents=True)
    random = np.random.default_rng([seed, *algorithm.encode()])
    sampled = []
    for seat in game.seats:
        noise = random.random(game.table.mask[seat].shape) ** 4 * game.table.mask[seat]
        mixed = solution.policies[seat].probabilities + NOISE[algorithm] * (seed + 1) / 10 * noise
        mixed /= np.maximum(mixed.sum(axis=1, keepdims=True), 1e-300)
        sampled.append(TabularPolicy.of(game.table, mixed, player=seat))
    greedy = [policy.mode() for policy in sampled]
    for seat, (own, mode) in enumerate(zip(sampled, greedy, strict=True)):
        ending = f"_{seat}" if len(game.seats) == 2 else ""
        save_policy(folder / place / f"policy{ending}.npz", own)
        save_policy(folder / place / f"policy_mode{ending}.npz", mode)
    one, other = scored(game, solution, sampled), scored(game, solution, greedy)
    steps = game.task.timesteps or 0
    worst = 3.0 * one["gap"], 3.0 * other["gap"]
    write_curve(
        folder / place / "curve.csv",
        [
            Evaluation(0, one["value"] + one["gap"] - worst[0], worst[0],
                       one["value"] + one["gap"] - worst[1], worst[1], 0.0),
            Evaluation(steps, one["value"], one["gap"], other["value"], other["gap"], 2.0 + seed),
        ],
    )  # fmt: skip
    return AgentRecord(
        name=f"{algorithm} {seed}",
        algorithm=algorithm,
        seed=seed,
        **one,
        **{f"mode_{name}": figure for name, figure in other.items()},
        timesteps=steps,
        cpu_seconds=2.0 + seed,
        folder=place,
    )


def scored(game: TaskGame, solution: Solution, policies: list[TabularPolicy]) -> dict[str, object]:
    return figures(
        [comparable_score(game.table, own, solution, tolerance=LEARNED) for own in policies]
    )


def bench_here(
    out: Path, suite: Suite, name: str, source: str, seeds: int, setting: Setting | None = None
) -> BenchRecord:
    """Do in this process what a bench does in others, which take seconds to start."""
    games = [task_game(task) for task in suite.tasks]
    found = suite_hash(suite.tasks, [game.table.model_hash for game in games])
    tasks = []
    for game in games:
        budget = Budget(game.task.timesteps or 0)
        agents = [
            perform(out, Run(game.task, name, source, seed, budget, setting or Setting()))
            for seed in suite_seeds(found, seeds)
        ]
        tasks.append(replace(task_record(game), agents=tuple(agents)))
    record = BenchRecord(tuple(tasks), SuiteRecord(suite.name, found))
    write_results(out, record)
    return record
