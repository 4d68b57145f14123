"""Measure how close to the optimum each algorithm comes, exactly, and at what cost.

Trains every algorithm with several seeds on the tuned hyperparameters and prints, for each task and
algorithm, a row per training and the interquartile mean of the normalized value with its stratified
bootstrap interval. All values and gaps are exact; only the seeds differ. CPU seconds depend on the
machine, so compare them within one run.

Interrupted and run again with the same --out, it goes on where it was.

With --plain it compares instead what trains PPO here, which evaluates its network once for each
distinct observation, with Stable-Baselines3's own PPO on the same environment: the same seeds in
turns, a row for each, with exact gaps and CPU seconds.

With --env alone one environment is trained with the algorithms named by --algorithms.

With --starts as well, each algorithm is trained three times: from the game's own starts, with half
of the episodes from states drawn uniformly, and with half from states drawn by the importance of
their choice. The last learner is told where to look, since importance is computed from the
solution. The table says so. With --suite the settings and the budget are those of a suite.

With --expected networks learn from expectations, by approximate policy iteration as classification
(Lagoudakis and Parr 2003, *Reinforcement learning as classification*): in turns the greedy policy
is evaluated exactly, and the network is fitted to the action that is best if that policy goes on.
A state has the weight of what its worst action loses, plus that times how often the policy is
there. The optimum is not known to it, but the model is. It says what a network of this size can
reach without the noise of samples.

With --samples the model is not known either. So many samples of every action of every state, which
need a simulator that can be put into any state, give a learned model
(`learned_model.py`). The network is fitted to the optimum of that, with the same
weights, and scored in the game. A row begins with the gaps of that optimum itself, as a table.

With --goals and --env PPO is trained for half a million steps with its tuned settings and with some
of them changed. One more run with the changed settings is given exact advantages in place of its
estimates: what it comes closer is the part of the gap that estimation has. The changed settings are
trained with another observation, too (`with_levels`). With --out the numbers, with the microscope's
last readings, are written to that file, beside those of other environments. The changes were chosen
by exact scores on seeds from 2^24 on, which are not trained here. With --tried as well, those
trials are run instead: settings, observations, a bonus for entropy that falls to 0, and learners
that are told one thing exactly.
"""

import argparse
import gc
import json
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from learned_model import learned_model
from rich.console import Console
from rich.table import Table
from stable_baselines3 import PPO
from torch import nn

from solvent import TabularPolicy, policy_value, state_visitation
from solvent.benchmark.bench import bench
from solvent.benchmark.records import TaskRecord
from solvent.benchmark.run_folder import IMPORTANCE, UNIFORM
from solvent.benchmark.statistics import estimate, interquartile_mean
from solvent.benchmark.suites import Task, find_suite, task_game
from solvent.envs.sampling import observed
from solvent.exact import Solution, cached_solution, score, solve
from solvent.model import TabularGame
from solvent.training import ALGORITHMS, ExactAdvantages, Microscope, TrainingResult, train
from solvent.training.algorithms import EntropyCallback, Learner, tuned
from solvent.training.train import one_thread

# The settings that --plain compares with: combat's settings when the comparison was first made.
EARLIER = {
    "n_envs": 512, "n_steps": 32, "batch_size": 2048, "n_epochs": 5, "clip_range": "lin_0.2",
}  # fmt: skip
# Mean gaps of the mode that --goals is about.
GOALS = {
    "solvent/FFCombat-v0": 0.0003,
    "solvent/FFCombatRandom-v0": 0.001,
    "solvent/FootballDrive-v0": 0.005,
}
# The settings that --goals compares the tuned ones with, chosen for half a million steps.
CHANGED: Mapping[str, Mapping[str, Any]] = {
    "solvent/FFCombat-v0": {
        "n_envs": 512, "n_epochs": 20,
        "policy_kwargs": "dict(activation_fn=nn.ReLU, optimizer_kwargs=dict(eps=1e-5, fused=True))",
    },
}  # fmt: skip
# The seeds of --tried, of which other environments than combat take three.
TRIALS = range(2**24, 2**24 + 7)


class Trial(NamedTuple):
    """A learner that --tried trains.

    Attributes:
        settings: In place of the changed settings, or of the tuned ones where there are none.
        levels: Whether it observes levels (`with_levels`).
        part: ``"critic"`` or ``"dice"``: what is exact; ``"entropy"``: the bonus falls to 0.
        timesteps: Of each training.
    """

    settings: Mapping[str, Any] = {}
    levels: bool = False
    part: str = ""
    timesteps: int = 500_000


SMALL = {"n_envs": 256, "n_steps": 8, "batch_size": 2048, "n_epochs": 6}
LARGE = {"n_envs": 512, "n_steps": 32, "batch_size": 8192, "n_epochs": 10, "ent_coef": 0.05}
# The learners that --tried trains.
TRIED: Mapping[str, Mapping[str, Trial]] = {
    "solvent/FFCombat-v0": {
        "changed settings": Trial(),
        "256 environments, 8 steps, 6 epochs": Trial(SMALL),
        "the same, learning rate 0.004": Trial(SMALL | {"learning_rate": "lin_0.004"}),
        "the same, learning rate 0.008": Trial(SMALL | {"learning_rate": "lin_0.008"}),
        "changed settings, learning rate 0.006": Trial({"learning_rate": "lin_0.006"}),
        "changed settings, levels observed": Trial(levels=True),
        "changed settings, exact values for the critic's": Trial(part="critic"),
        "the same, λ of 0": Trial({"gae_lambda": 0.0}, part="critic"),
        "changed settings, expectations for the dice": Trial(part="dice"),
    },
    "solvent/FFCombatRandom-v0": {
        "tuned settings": Trial(timesteps=4_000_000),
        "tuned settings, levels observed": Trial(levels=True, timesteps=4_000_000),
        "larger rollouts, entropy bonus from 0.05 to 0, levels": Trial(
            LARGE, levels=True, part="entropy", timesteps=4_000_000
        ),
        "all starts uniform, levels": Trial(
            {"exploring_starts": 1.0}, levels=True, timesteps=12_000_000
        ),
    },
    "solvent/FootballDrive-v0": {
        "tuned settings": Trial(timesteps=3_000_000),
        "tuned settings, levels observed": Trial(levels=True, timesteps=3_000_000),
        "entropy bonus from 0.05 to 0": Trial(
            {"ent_coef": 0.05}, part="entropy", timesteps=10_000_000
        ),
        "entropy bonus from 0.05 to 0, levels": Trial(
            {"ent_coef": 0.05}, levels=True, part="entropy", timesteps=10_000_000
        ),
        "the same, rollouts of 64 steps, λ of 0.9": Trial(
            {"ent_coef": 0.05, "n_steps": 64, "batch_size": 16_384, "gae_lambda": 0.9},
            levels=True,
            part="entropy",
            timesteps=20_000_000,
        ),
    },
}
FIGURES = "bias", "value_error", "bellman_residual"
# What --goals keeps of a reading of the microscope.
OF_GRADIENT = "cosine", "exact_advantages", "exact_states", "unclipped", "no_entropy", "noise"
# Policies that are evaluated: with --expected for what is best, with --samples for weights.
ITERATIONS = {
    "solvent/FFCombat-v0": 10,
    "solvent/FFCombatRandom-v0": 20,
    "solvent/FootballDrive-v0": 10,
    "solvent/NinthTide-v0": 40,
}
# Numbers of samples of each action with --samples alone.
SAMPLES = {
    "solvent/FFCombat-v0": 10_000,
    "solvent/FFCombatRandom-v0": 10_000,
    "solvent/FootballDrive-v0": 10_000,
    "solvent/NinthTide-v0": 3_000,
}
# Gradient steps after each, states in each step, units in each of two layers, and Adam's learning
# rate, which falls to 0 in a line.
STEPS, BATCH, UNITS, RATE = 100, 2048, 128, 2e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="per algorithm, default start")
    parser.add_argument(
        "--first-seed",
        type=int,
        default=0,
        help="with --expected, --samples or --goals: of the seeds",
    )
    parser.add_argument("--random-seeds", type=int, default=2, help="the same for random starts")
    parser.add_argument("--timesteps", type=int, help="instead of the tuned number, for a try")
    parser.add_argument("--processes", type=int, default=2, help="trainings at the same time")
    parser.add_argument("--out", type=Path, help="keep the results in this folder")
    parser.add_argument("--plain", action="store_true", help="against Stable-Baselines3's PPO")
    parser.add_argument("--expected", action="store_true", help="learn from expectations")
    parser.add_argument(
        "--samples", type=int, nargs="?", const=0, help="learn from so many of each action"
    )
    parser.add_argument("--starts", action="store_true", help="with --env, by how episodes begin")
    parser.add_argument("--suite", help="with --starts, train as on this suite")
    parser.add_argument(
        "--goals", action="store_true", help="with --env, tuned and changed settings"
    )
    parser.add_argument("--tried", action="store_true", help="with --goals, what was tried")
    parser.add_argument("--env", help="train in this environment only")
    parser.add_argument("--algorithms", nargs="+", default=["ppo"], help="with --env")
    arguments = parser.parse_args()
    console, env, seeds = Console(width=100), arguments.env, arguments.seeds
    if arguments.plain:
        compare(console, env or "solvent/FFCombat-v0", seeds, arguments.timesteps)
        return
    if arguments.goals:
        known = TRIED if arguments.tried else CHANGED
        if env not in known:
            parser.error(f"--goals needs --env with one of {', '.join(known)}")
        first = arguments.first_seed
        chosen = range(first, first + seeds)
        steps = arguments.timesteps or 500_000
        found = try_out(console, env) if arguments.tried else pursue(console, env, chosen, steps)
        if arguments.out:
            keep(arguments.out, env, found)
        return
    if arguments.starts:
        if not env:
            parser.error("--starts needs --env")
        for algorithm in arguments.algorithms:
            compare_starts(console, env, algorithm, seeds, arguments.timesteps, arguments.suite)
        return
    if arguments.expected or arguments.samples is not None:
        if env and env not in SAMPLES and not (arguments.expected or arguments.samples):
            parser.error(
                f"--samples needs its number with --env {env}; without one allowed are "
                f"{', '.join(SAMPLES)}"
            )
        first = arguments.first_seed
        for name in [env] if env else ITERATIONS:
            samples = None if arguments.expected else arguments.samples or SAMPLES[name]
            iterate(console, name, range(first, first + seeds), samples)
        return

    few = arguments.random_seeds
    chosen = {
        "solvent/FFCombat-v0": dict.fromkeys(("ppo", "maskable_ppo", "dqn", "masked_dqn"), seeds),
        "solvent/FFCombatRandom-v0": {"ppo": few, "dqn": few},
    }
    if env:
        chosen = {env: dict.fromkeys(arguments.algorithms, seeds)}
    tasks = [
        Task(
            environment=name,
            timesteps=arguments.timesteps
            or int(tuned(ALGORITHMS[algorithm].hyperparameters, name)["n_timesteps"]),
            seeds={algorithm: count},
            name=f"{name.rpartition('/')[2]}-{algorithm}",
        )
        for name, counts in chosen.items()
        for algorithm, count in counts.items()
    ]
    out = arguments.out or Path(tempfile.mkdtemp(prefix="solvent-learning-"))
    try:
        results = bench(out, tasks, workers=arguments.processes).tasks
    finally:
        if arguments.out is None:
            shutil.rmtree(out)
    for item in results:
        show(console, item)


def iterate(console: Console, env: str, seeds: Sequence[int], samples: int | None) -> None:
    """Train by expectations or from samples of each action, and show what came of it."""
    game = task_game(Task(environment=env)).table
    rows = {}
    with one_thread():
        for seed in seeds:
            begun = time.process_time()
            model = learned_model(game, samples, seed=seed) if samples else game
            optimum = solve(model) if samples else None
            policies = improve(model, seed, ITERATIONS.get(env, 10), optimum)
            if optimum:
                policies = optimum.policies[0], *policies
            seconds = time.process_time() - begun
            solution = cached_solution(game)
            scores = [
                score(game, replace(p, model_hash=game.model_hash), solution) for p in policies
            ]
            gaps = ((each.optimality_gap, each.worst_start_gap) for each in scores)
            rows[str(seed)] = [*chain.from_iterable(gaps), seconds]
    means = f"{samples:,} samples of each action" if samples else "expectations"
    names = ["mode", "sampled"] if samples is None else ["table", "mode", "sampled"]
    show_figures(console, f"{env} by {means}: exact gaps", rows, names)


def improve(
    game: TabularGame, seed: int, iterations: int, optimum: Solution | None = None
) -> tuple[TabularPolicy, ...]:
    """Approximate policy iteration with a network, or distillation of an optimum.

    Args:
        game: A game in which only player 0 has a choice, or a learned model of one.
        seed: Of everything random.
        iterations: How often the policy of the network is evaluated.
        optimum: Of a learned model: what to distil.

    Returns:
        The network's mode and the network as it is sampled.
    """
    choice = np.flatnonzero(np.bincount(game.row_state, minlength=game.n_states) > 1)
    seen = torch.from_numpy(observed(game, 0, "onehot")[choice].astype(np.uint8))
    mask = game.mask[0][choice]
    legal, n_actions = torch.from_numpy(mask), mask.shape[1]
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    network = nn.Sequential(
        nn.Linear(seen.shape[1], UNITS), nn.ReLU(),
        nn.Linear(UNITS, UNITS), nn.ReLU(),
        nn.Linear(UNITS, n_actions),
    )  # fmt: skip
    adam = torch.optim.Adam(network.parameters(), lr=RATE)
    rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, iterations * STEPS)

    def logits(at: torch.Tensor) -> torch.Tensor:
        return network(seen[at].float()).masked_fill(~legal[at], -np.inf)

    def policies() -> tuple[TabularPolicy, TabularPolicy]:
        """The mode, and the network as it is sampled."""
        with torch.no_grad():
            parts = torch.arange(len(choice)).split(8192)
            chance = torch.cat([logits(at).softmax(dim=1) for at in parts]).double().numpy()
        best = np.eye(n_actions)[chance.argmax(axis=1)]
        found = []
        for own in (best, chance / chance.sum(axis=1, keepdims=True)):
            table = TabularPolicy.uniform(game).probabilities.copy()
            table[choice] = own
            found.append(TabularPolicy.of(game, table))
        return found[0], found[1]

    value = np.full((game.n_states, n_actions), -np.inf)
    for _ in range(iterations):
        mode, sampled = policies()
        values = optimum.action_values if optimum else game.expectation(policy_value(game, mode))
        value[game.row_state, game.row_action[0]] = values
        own = value[choice]
        most = np.where(mask, own.max(axis=1, keepdims=True) - own, 0).max(axis=1)
        # What is lost matters in all states, and as much again where the policy comes to.
        there = most * state_visitation(game, sampled)[choice]
        wanted = most / most.sum() + there / there.sum()
        drawn = wanted + 1 / len(choice)
        weight = torch.from_numpy(wanted / drawn).float()
        best, until = torch.from_numpy(own.argmax(axis=1)), drawn.cumsum() / drawn.sum()
        for _ in range(STEPS):
            at = torch.from_numpy(until.searchsorted(random.random(BATCH)))
            losses = nn.functional.cross_entropy(logits(at), best[at], reduction="none")
            adam.zero_grad()
            (weight[at] * losses).mean().backward()
            adam.step()
            rate.step()
    return policies()


def show_figures(
    console: Console,
    title: str,
    rows: Mapping[str, Sequence[float]],
    policies: Sequence[str] = ("mode", "sampled"),
) -> None:
    """A row for each seed, with two gaps for each policy and CPU seconds, and over all of them."""
    table = Table(title=title)
    table.add_column("seed", justify="right")
    for name in policies:
        for column in (name, "worst start"):
            table.add_column(column, justify="right")
    table.add_column("CPU s", justify="right")
    found = np.array(list(rows.values()))
    over = {
        "mean": found.mean(axis=0),
        "median": np.median(found, axis=0),
        "IQM": interquartile_mean(found, axis=0),
        "least": found.min(axis=0),
        "most": found.max(axis=0),
    }
    for name, row in {**rows, **over}.items():
        # A gap of nothing is not to be shown as less than nothing.
        table.add_row(name, *(f"{max(gap, 0):.5f}" for gap in row[:-1]), f"{row[-1]:.0f}")
    console.print(table)


def compare(console: Console, env: str, seeds: int, timesteps: int | None) -> None:
    """Train with plain PPO and with ours, in turns."""
    found: dict[str, list[TrainingResult]] = {"Stable-Baselines3": [], "ours": []}
    plain = Learner(PPO, "ppo", masked=False)
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
                    hyperparameters=EARLIER, progress=False,
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


def compare_starts(
    console: Console, env: str, algorithm: str, seeds: int, timesteps: int | None, name: str | None
) -> None:
    """Train with and without exploring starts, and with those that the solution tells."""
    settings = None
    if name:
        suite = find_suite(name)
        own = suite.algorithms[algorithm].settings
        settings = dict(tuned(ALGORITHMS[algorithm].hyperparameters, None) | own)
        [budget] = {task.timesteps for task in suite.tasks if task.environment == env}
        timesteps = timesteps or budget
    for starts, share, weights in (
        ("the game's starts", 0.0, UNIFORM),
        ("half exploring, uniform", 0.5, UNIFORM),
        ("half exploring, by importance", 0.5, IMPORTANCE),
    ):
        rows, seen = {}, ""
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as out:
                result = train(
                    env, algorithm, seed=seed, timesteps=timesteps, folder=Path(out) / "run",
                    hyperparameters=settings, exploring_starts=share, start_weights=weights,
                    evaluations=1, progress=False,
                )  # fmt: skip
            seen = f" (saw the solution: {', '.join(result.saw)})" if result.saw else ""
            gaps = (
                (s.optimality_gap, s.worst_start_gap) for s in (*result.mode_scores, *result.scores)
            )
            rows[str(seed)] = [*chain.from_iterable(gaps), result.cpu_seconds]
            # Models of Stable-Baselines3 refer to themselves, and a replay buffer has gigabytes.
            gc.collect()
        steps = f"{result.timesteps:,} steps"
        show_figures(console, f"{env}, {algorithm}, {steps}, {starts}{seen}: exact gaps", rows)


def trained(
    env: str,
    seed: int,
    timesteps: int,
    settings: Mapping[str, Any],
    callback: Any = None,
    *,
    levels: bool = False,
) -> TrainingResult:
    """Train PPO with the tuned settings but for some; with `levels` on that observation."""
    known: dict[str, Any] = {"game": env}
    if levels:
        table = with_levels(task_game(Task(environment=env)).table)
        known = {"game": table, "env_kwargs": {"observation": "vector"}}
    own = dict(tuned("ppo", env) | settings)
    starts = own.pop("exploring_starts", 0.0)
    with tempfile.TemporaryDirectory() as folder:
        return train(
            **known, algorithm="ppo", seed=seed, timesteps=timesteps, folder=Path(folder) / "run",
            hyperparameters=own, exploring_starts=starts, evaluations=1, progress=False,
            callback=callback,
        )  # fmt: skip


def pursue(console: Console, env: str, seeds: Sequence[int], timesteps: int) -> dict[str, Any]:
    """Train with tuned and changed settings, and find what exact advantages would change."""
    game = task_game(Task(environment=env)).table
    found: dict[str, Any] = {"tuned": tuned("ppo", env), "changed": CHANGED[env]}
    for name in ("before", "after", "levels"):
        rows = {}
        for seed in seeds:
            settings = {} if name == "before" else CHANGED[env]
            result = trained(env, seed, timesteps, settings, levels=name == "levels")
            assert not result.saw
            gaps = (
                (s.optimality_gap, s.worst_start_gap) for s in (result.mode_score, result.score)
            )
            rows[str(seed)] = [*chain.from_iterable(gaps), result.cpu_seconds]
            gc.collect()
        found[name] = rows
        show_figures(console, f"{env}, {result.timesteps:,} steps, {name}: exact gaps", rows)

    scope = Microscope(game, every=result.timesteps)
    trained(env, seeds[0], timesteps, CHANGED[env], scope)
    told = trained(env, seeds[0], timesteps, CHANGED[env], ExactAdvantages(game))
    last = next(one for one in reversed(scope.readings) if one.gradient)
    found["microscope"] = {
        "gap": scope.readings[-1].greedy_gap,
        "with_exact_advantages": told.mode_score.optimality_gap,
        "saw": told.saw,
        **{name: getattr(last, name) for name in FIGURES},
        **{name: getattr(last.gradient, name) for name in OF_GRADIENT},
    }
    console.print(found["microscope"])
    return found


def keep(out: Path, env: str, found: Mapping[str, Any]) -> None:
    """Write results to a file, in place of those of the same name and beside all others."""
    known = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    known[env] = known.get(env, {}) | rounded(found)
    out.write_text(json.dumps(known, indent=1, allow_nan=False) + "\n", encoding="utf-8")


class OneExact(ExactAdvantages):
    """Gives PPO exact values of its policy, or the expectation over the dice of its own values.

    Args:
        game: The table that the training environments sample.
        part: ``"critic"`` or ``"dice"``.
    """

    suffix = "+exact critic or dice"

    def __init__(self, game: TabularGame, part: str) -> None:
        super().__init__(game)
        self.part = part

    def _on_rollout_end(self) -> None:
        known, model = self.values, self.model
        assert isinstance(model, PPO)
        buffer = model.rollout_buffer
        seen = buffer.observations.reshape(-1, buffer.observations.shape[-1])
        states = known.states(seen).reshape(buffer.advantages.shape)
        if self.part == "critic":
            exact = known.value(known.policies()[0], estimated=True).v
            buffer.values[:] = exact[states]
            last = torch.tensor(exact[known.states(model._last_obs)])
            assert model._last_episode_starts is not None
            buffer.compute_returns_and_advantage(last, model._last_episode_starts)
        else:
            own = known.estimates()
            actions = buffer.actions.reshape(states.shape).astype(np.int64)
            buffer.advantages[:] = known.backed_up(own)[states, actions] - own[states]


def with_levels(game: TabularGame) -> TabularGame:
    """Return the game with an indicator of each value of an entry of an observation, and of values
    at least as large.

    The first tell values apart, the second let neighbouring values look alike.
    """
    columns = []
    for column in game.observation[0].T:
        levels = np.unique(column)
        if len(levels) > 1:
            columns.append(column[:, None] == levels)
        if len(levels) > 2:
            columns.append(column[:, None] >= levels[1:])
    return replace(game, observation=(np.hstack(columns).astype(np.float32),))


def try_out(console: Console, env: str) -> dict[str, Any]:
    """Train the learners of TRIED; return the gaps of their modes, seed by seed."""
    game = task_game(Task(environment=env)).table
    gaps: dict[str, Any] = {}
    worst: dict[str, Any] = {}
    for name, trial in TRIED[env].items():
        callback: Any = None
        if trial.part:
            callback = EntropyCallback() if trial.part == "entropy" else OneExact(game, trial.part)
        gaps[name], worst[name] = [], []
        for seed in TRIALS if env in CHANGED else TRIALS[:3]:
            own = CHANGED.get(env, {}) | trial.settings
            result = trained(env, seed, trial.timesteps, own, callback, levels=trial.levels)
            gaps[name].append(result.mode_score.optimality_gap)
            worst[name].append(result.mode_score.worst_start_gap)
            gc.collect()
        console.print(name, *(f"{gap:.5f}" for gap in gaps[name]))
    return {"tried": gaps, "worst": worst}


def tried_lines(results: Mapping[str, Any], env: str) -> list[str]:
    """Return the rows of a table of the page, of what --goals --tried has kept."""
    lines = []
    for name, gaps in results[env]["tried"].items():
        trial = TRIED[env][name]
        cells = [name, f"{np.mean(gaps):.4f} ({min(gaps):.4f} to {max(gaps):.4f})"]
        if env in CHANGED:
            told = "yes" if trial.part in ("critic", "dice") else "no"
            cells += [f"{np.median(gaps):.4f}", told]
        else:
            worst = max(results[env]["worst"][name])
            cells = [f"`{env}`", cells[0], f"{trial.timesteps / 1e6:g}", cells[1], f"{worst:.3f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def goal_lines(results: Mapping[str, Any]) -> list[str]:
    """Return the rows of the page's table, of what --goals has kept."""
    lines = []
    for name in CHANGED:
        found, cells, means = results[name], [], []
        for rows in (found["before"], found["after"], found["levels"]):
            gaps = [row[0] for row in rows.values()]
            means.append(np.mean(gaps))
            seconds = np.mean([row[-1] for row in rows.values()])
            cells.append(
                f"{np.mean(gaps):.4f} ({min(gaps):.4f} to {max(gaps):.4f}), {seconds:.0f} s"
            )
        goal = GOALS[name]
        reached = "yes" if min(means) <= goal else "no"
        seen = found["microscope"]
        cells += [
            reached, f"{seen['gap']:.4f}, {seen['with_exact_advantages']:z.4f}",
            f"{seen['cosine']:.2f}, {seen['exact_advantages']:.2f}",
        ]  # fmt: skip
        lines.append(" | ".join([f"| `{name}`", str(goal), *cells]) + " |")
    return lines


def rounded(found: Any) -> Any:
    """Return what is kept with six decimals."""
    if isinstance(found, dict):
        return {name: rounded(one) for name, one in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(one) for one in found]
    return round(found, 6) if isinstance(found, float) else found


def show(console: Console, item: TaskRecord) -> None:
    for algorithm in dict.fromkeys(agent.algorithm for agent in item.agents):
        agents = [agent for agent in item.agents if agent.algorithm == algorithm]
        rows = {
            str(agent.seed): [
                agent.mode_gap, agent.mode_worst_start_gap,
                agent.gap, agent.worst_start_gap, agent.cpu_seconds,
            ]
            for agent in agents
        }  # fmt: skip
        steps = f"{agents[0].timesteps:,} steps"
        show_figures(console, f"{item.env}, {algorithm}, {steps}: exact gaps", rows)
        iqm = estimate([[agent.mode_normalized for agent in agents]])
        if iqm is not None:
            kind = "95% interval" if iqm.is_interval else "range"
            console.print(
                f"normalized value of the mode, IQM and {kind}: {iqm.mean:.4f} "
                f"({iqm.low:.4f} to {iqm.high:.4f})"
            )


if __name__ == "__main__":
    main()
