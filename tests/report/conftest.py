"""A folder of results as a bench writes it, of perturbed optimal policies of small games."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent.exact import Score, Solution, save_policy, score, solve
from solvent.games import make_game
from solvent.model import TabularGame, TabularPolicy, compile_game

COMBAT = {"skill_difference": [-1, 1], "stamina": 6, "opponent_stamina": 5, "luck": 4}


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks: combat with four agents, and Pig, which adds no sections of its own, with one."""
    folder = tmp_path_factory.mktemp("results")
    tasks = [
        make_task(folder, "solvent/Combat-v0", "ff-combat", COMBAT, [("ppo", 3), ("dqn", 1)]),
        make_task(folder, "solvent/Pig-v0", "pig", {"target": 8}, [("ppo", 1)]),
    ]
    (folder / "results.json").write_text(json.dumps({"tasks": tasks}))
    return folder


def make_task(
    folder: Path,
    env: str,
    name: str,
    parameters: dict[str, Any],
    algorithms: Sequence[tuple[str, int]],
) -> dict[str, Any]:
    """Write the files of a task's agents and return its record."""
    game = make_game(name, **parameters)
    table = compile_game(game)
    solution = solve(table)
    runs = [(algorithm, seed) for algorithm, seeds in algorithms for seed in range(seeds)]
    return {
        "env": env,
        "game": name,
        "parameters": dict(game.info.parameters),
        "optimum": solution.value,
        "bracket": [solution.lower, solution.upper],
        "agents": [
            make_agent(folder, env.partition("/")[2], table, solution, algorithm, seed, number)
            for number, (algorithm, seed) in enumerate(runs)
        ],
        "baselines": [
            {"name": "uniform", **figures(score(table, TabularPolicy.uniform(table), solution))},
            {"name": "optimal", **figures(score(table, solution.policies[0], solution))},
        ],
    }


def make_agent(
    folder: Path,
    task: str,
    table: TabularGame,
    solution: Solution,
    algorithm: str,
    seed: int,
    number: int,
) -> dict[str, Any]:
    """Write the files of an agent that mistakes action values a little, and return its record."""
    place = folder / task / f"{algorithm}-{seed}"
    place.mkdir(parents=True)
    random = np.random.default_rng(number)
    mask = table.mask[0]
    noise = np.where(mask, random.random(mask.shape), 0)
    best = solution.policies[0].probabilities
    weights = np.where(random.random((len(mask), 1)) < 0.3, noise, best + 0.1 * noise)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    sampled = TabularPolicy.of(table, weights, name=f"{algorithm} {seed}")
    mode = sampled.mode()
    save_policy(place / "policy.npz", sampled)
    save_policy(place / "policy_mode.npz", mode)
    exact, exact_mode = score(table, sampled, solution), score(table, mode, solution)
    lines = ["timesteps,value,gap,mode_value,mode_gap,seconds"]
    for timesteps in (0, 500, 1000):
        part = timesteps / 1000
        value, mode_value = exact.value * part, exact_mode.value * part
        gaps = solution.value - value, solution.value - mode_value
        lines.append(f"{timesteps},{value!r},{gaps[0]!r},{mode_value!r},{gaps[1]!r},{part}")
    (place / "curve.csv").write_text("\n".join([*lines, ""]))
    return {
        "name": f"{algorithm} {seed}",
        "algorithm": algorithm,
        "seed": seed,
        **figures(exact),
        **{f"mode_{key}": value for key, value in figures(exact_mode).items()},
        "timesteps": 1000,
        "cpu_seconds": 2.0,
        "folder": f"{task}/{algorithm}-{seed}",
    }


def figures(result: Score) -> dict[str, float]:
    return {
        "value": result.value,
        "gap": result.optimality_gap,
        "normalized": result.normalized,
        "worst_start_gap": result.worst_start_gap,
    }
