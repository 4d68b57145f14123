"""The trainer's algorithms as a benchmark runs them, each under its own name.

There is one for each key of :data:`solvent.training.algorithms.SELF_PLAY_ALGORITHMS`, with the
hyperparameters tuned for the task and the trainer's own checkpoints.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from solvent.benchmark.algorithms import Algorithm, Budget, MakeEnv
from solvent.benchmark.policies import Learned
from solvent.benchmark.run import RunCallback
from solvent.benchmark.suites import Task
from solvent.benchmark.task_game import TaskGame
from solvent.envs.registration import ENVIRONMENTS
from solvent.training.algorithms import ALGORITHMS, SELF_PLAY_ALGORITHMS
from solvent.training.exploring_starts import act_at_once
from solvent.training.hyperparameters import prepare, requested
from solvent.training.train import train


def entry(name: str) -> Algorithm:
    """Return an algorithm of the trainer.

    Args:
        name: A key of :data:`solvent.training.algorithms.SELF_PLAY_ALGORITHMS`.
    """
    return Algorithm(
        partial(_train, name),
        one_seat=name in ALGORITHMS,
        self_play=True,
        observation="onehot",
        refuses=partial(_refuses, name),
        timesteps=partial(_tuned_timesteps, name),
    )


def _train(name: str, make: MakeEnv, seed: int, budget: Budget, callback: RunCallback) -> Any:
    """Train in the folder of the run, where the benchmark finds the record of the training.

    A single seat learns from the task's own starts only, like every other algorithm.
    """
    task = make.task
    published = task.environment not in ENVIRONMENTS
    result = train(
        make.simulator if published else task.environment,
        name,
        self_play=task.self_play,
        seed=seed,
        timesteps=budget.timesteps,
        folder=callback.folder,
        exploring_starts=None if task.self_play else 0.0,
        env_kwargs={} if published else task.env_kwargs,
        progress=lambda moment: callback.progress(moment.timesteps, moment.evaluation),
    )
    callback.adopt(result.curve)
    learned = [Learned(*pair) for pair in zip(result.policies, result.modes, strict=True)]
    return learned if task.self_play else learned[0]


def _refuses(name: str, game: TaskGame) -> str | None:
    """Return the reason why the trainer cannot learn a task; None if it can."""
    if game.task.cpu_seconds is not None:
        return "it has no limit of CPU time"
    if name not in ALGORITHMS and not act_at_once(game.table).any():
        return "it is for games in which both act at once"
    return None


def _tuned_timesteps(name: str, task: Task) -> int:
    """Return the number of steps for which an algorithm is tuned on a task."""
    chosen = SELF_PLAY_ALGORITHMS[name]
    return prepare(requested(chosen.hyperparameters, task.environment), chosen.model).n_timesteps


def __getattr__(name: str) -> Algorithm:
    """Return an entry by its name, as in ``solvent.training.entries:ppo``."""
    if name in SELF_PLAY_ALGORITHMS:
        return entry(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
