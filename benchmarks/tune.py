"""Hyperparameters searched by Optuna with rl-baselines3-zoo's samplers, against the exact gap.

    python benchmarks/tune.py --env solvent/GreedSmall-v0 --algorithm ppo --trials 50

The zoo's own search scores a trial by a mean over evaluation episodes, whose noise decides between
trials that are close. Here the objective is the exact gap of the greedy policy, and each point of
the exact learning curve is told to the pruner. The best trial is printed as an entry of
hyperparameters/<algorithm>.yml. Settings found in this way were chosen by exact scores, which a
learner without the model could not have done, and a table that uses them should say so.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

import optuna
import yaml
from rl_zoo3.hyperparams_opt import HYPERPARAMS_SAMPLER

from solvent.benchmark.progress import Moment
from solvent.training import train

SAMPLERS = {"ppo": "ppo", "maskable_ppo": "ppo", "dqn": "dqn", "masked_dqn": "dqn"}
"""The zoo's sampler of each algorithm."""


def main(arguments: list[str] | None = None) -> optuna.Study:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="solvent/FFCombat-v0")
    parser.add_argument("--algorithm", default="ppo", choices=SAMPLERS)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--timesteps", type=int, default=100_000, help="of each trial")
    parser.add_argument("--n-envs", type=int, default=8, help="of each trial")
    parser.add_argument("--seed", type=int, default=0, help="of the search and of all trials")
    asked = parser.parse_args(arguments)

    sampler = optuna.samplers.TPESampler(seed=asked.seed)
    study = optuna.create_study(sampler=sampler, pruner=optuna.pruners.MedianPruner())
    study.optimize(lambda trial: exact_gap(trial, asked), n_trials=asked.trials)
    best = study.best_trial
    print(
        f"# Chosen by the exact gap: {study.best_value:.6f} in trial {best.number} of "
        f"{len(study.trials)}"
    )
    print(yaml.safe_dump({asked.env: best.user_attrs["hyperparameters"]}, sort_keys=False))
    return study


def exact_gap(trial: optuna.Trial, asked: argparse.Namespace) -> float:
    """The exact gap of the greedy policy that a trial ends with."""
    sampled = HYPERPARAMS_SAMPLER[SAMPLERS[asked.algorithm]](trial, 0, asked.n_envs, {})
    chosen = {**sampled, "policy_kwargs": as_text(sampled["policy_kwargs"])}
    chosen |= {"n_envs": asked.n_envs, "n_timesteps": asked.timesteps}
    trial.set_user_attr("hyperparameters", chosen)

    def report(moment: Moment) -> None:
        point = moment.evaluation
        if point is None or not math.isfinite(point.mode_gap):  # type: ignore[attr-defined]
            return
        trial.report(point.mode_gap, point.timesteps)  # type: ignore[attr-defined]
        if trial.should_prune():
            raise optuna.TrialPruned

    with tempfile.TemporaryDirectory() as folder:
        result = train(
            asked.env, asked.algorithm, seed=asked.seed, timesteps=asked.timesteps,
            hyperparameters=chosen, folder=Path(folder) / "run", progress=report,
        )  # fmt: skip
    return result.mode_score.optimality_gap


def as_text(value: Any) -> str:
    """Keyword arguments of a network as hyperparameter files have them."""
    if isinstance(value, dict):
        return f"dict({', '.join(f'{key}={as_text(item)}' for key, item in value.items())})"
    return f"nn.{value.__name__}" if isinstance(value, type) else repr(value)


if __name__ == "__main__":
    main()
