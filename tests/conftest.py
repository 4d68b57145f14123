"""A folder of results as a bench writes it, of perturbed optimal policies of small games.

And torch on one thread, so that trainings repeat.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import solvent
from solvent import make_game
from solvent.baselines import make_baseline
from solvent.exact import Score, Solution, save_policy, score, solve
from solvent.model import TabularGame, TabularPolicy, compile_game

if importlib.util.find_spec("hypothesis"):
    from hypothesis import settings

    # Imported here, as after gc.freeze() it is too late: Hypothesis looks for who refers to an
    # object.
    settings.register_profile("fewer", max_examples=40, deadline=None)

COMBAT = {"skill_difference": [-1, 1], "stamina": 6, "opponent_stamina": 5, "luck": 4}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """What is imported and collected stays: no search for garbage looks through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Caches are in a folder of this run of tests, shared by its workers and their programs."""
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOLVENT_CACHE", str(run / "cache"))
        yield


COMPILING = "SOLVENT_TESTS_COMPILE"
"""Set while a whole run of tests finds no kernel compiled."""


def pytest_configure(config: pytest.Config) -> None:
    """Set the number of examples; see, before there are workers, what is to be compiled.

    Hypothesis reads its own option later, which therefore counts.
    """
    if importlib.util.find_spec("hypothesis") and "not slow" in config.getoption("markexpr"):
        settings.load_profile("fewer")
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    place = os.environ.get("NUMBA_CACHE_DIR") or Path(solvent.__file__).parent
    if whole and not any(Path(place).rglob("*.nbi")):
        os.environ[COMPILING] = "1"


@pytest.fixture(autouse=True, scope="session")
def compiled(own_cache: None) -> None:
    """Workers that start with nothing compiled share the work, or each would do all of it."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None and COMPILING in os.environ:
        workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for compile_some in COMPILES[int(worker[2:]) :: workers]:
            compile_some()


def _steps(env_id: str) -> None:
    import gymnasium as gym

    env = gym.make_vec(env_id, 2, vectorization_mode="vector_entry_point")
    env.reset(seed=0)
    env.step(np.zeros(2, np.int64))


def _solve_frozen_lake() -> None:
    import gymnasium as gym

    from solvent.model.gymnasium_table import GymnasiumTable

    solve(GymnasiumTable.from_env(gym.make("FrozenLake-v1")))


COMPILES = (
    lambda: solve(make_game("pig", target=8)),
    lambda: solve(make_game("football-strategy")),
    lambda: _steps("solvent/FootballHalf-v0"),
    _solve_frozen_lake,
    lambda: _steps("solvent/GreedSmall-v0"),
    lambda: _steps("solvent/FFCombat-v0"),
)
"""What needs most of the kernels, the longest first."""


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Combat with four agents; for two, Pig and Greed."""
    folder = tmp_path_factory.mktemp("results")
    tasks = [
        make_task(folder, "solvent/Combat-v0", "ff-combat", COMBAT, [("ppo", 3), ("dqn", 1)]),
        make_task(folder, "solvent/Pig-v0", "pig", {"target": 8}, [("ppo", 1)]),
        make_task(folder, "solvent/Greed-v0", "greed", {"limit": 9, "sides": 4}, [("ppo", 2)]),
    ]
    (folder / "results.json").write_text(json.dumps({"tasks": tasks}))
    return folder


@pytest.fixture(scope="session")
def task_maker() -> Callable[..., dict[str, Any]]:
    """:func:`make_task`, for tests of games that are not in `results`."""
    return make_task


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
            {"name": name, **figures([score(table, policy, solution) for policy in policies])}
            for name, policies in {
                "uniform": [TabularPolicy.uniform(table, player=p) for p in seats(table)],
                "first-legal": [make_baseline("first-legal", table, p) for p in seats(table)],
                "optimal": solution.policies[: game.info.players],
            }.items()
        ],
    }


def seats(table: TabularGame) -> range:
    return range(table.info.players)


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
    sampled = []
    for player in seats(table):
        mask = table.mask[player]
        noise = np.where(mask, random.random(mask.shape), 0)
        best = solution.policies[player].probabilities
        weights = np.where(random.random((len(mask), 1)) < 0.3, noise, best + 0.1 * noise)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        name = f"{algorithm} {seed}"
        sampled.append(TabularPolicy.of(table, weights, player=player, name=name))
    mode = [policy.mode() for policy in sampled]
    ends = ["_0", "_1"] if len(seats(table)) == 2 else [""]
    for end, policy, most_probable in zip(ends, sampled, mode, strict=True):
        save_policy(place / f"policy{end}.npz", policy)
        save_policy(place / f"policy_mode{end}.npz", most_probable)
    exact, exact_mode = (
        figures([score(table, policy, solution) for policy in policies])
        for policies in (sampled, mode)
    )
    optimum = exact["value"] + exact["gap"]
    lines = ["timesteps,value,gap,mode_value,mode_gap,seconds"]
    for timesteps in (0, 500, 1000):
        part = timesteps / 1000
        value, mode_value = exact["value"] * part, exact_mode["value"] * part
        gaps = optimum - value, optimum - mode_value
        lines.append(f"{timesteps},{value!r},{gaps[0]!r},{mode_value!r},{gaps[1]!r},{part}")
    (place / "curve.csv").write_text("\n".join([*lines, ""]))
    return {
        "name": f"{algorithm} {seed}",
        "algorithm": algorithm,
        "seed": seed,
        **exact,
        **{f"mode_{key}": value for key, value in exact_mode.items()},
        "timesteps": 1000,
        "cpu_seconds": 2.0,
        "folder": f"{task}/{algorithm}-{seed}",
    }


def figures(results: Sequence[Score]) -> dict[str, Any]:
    """The figures of a policy, or means over the policies of two seats."""
    n = len(results)
    own: dict[str, Any] = {
        "value": sum(result.value for result in results) / n,
        "gap": sum(result.optimality_gap for result in results) / n,
        "normalized": sum(result.normalized for result in results) / n,
        "worst_start_gap": max(result.worst_start_gap for result in results),
    }
    if n == 2:
        own["exploitability"] = [result.optimality_gap for result in results]
    return own
