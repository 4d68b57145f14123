"""Benchmark entries of the trainer's algorithms.

There is one entry for each key of :data:`solvent.training.algorithms.SELF_PLAY_ALGORITHMS`. It uses
the hyperparameters tuned for the task, and its learning curve is the trainer's own.
"""

from functools import partial
from typing import Any

from solvent.benchmark.algorithms import Algorithm, Budget, MakeEnv, RunCallback
from solvent.benchmark.policies import Learned
from solvent.benchmark.suites import TaskGame
from solvent.envs.registration import ENVIRONMENTS
from solvent.training.algorithms import ALGORITHMS, EXPLORING, SELF_PLAY_ALGORITHMS, tuned
from solvent.training.environments import act_at_once
from solvent.training.train import train

# Number of points of a learning curve after the first.
_EVALUATIONS = 10


def _train(
    name: str,
    make: MakeEnv,
    seed: int,
    budget: Budget,
    callback: RunCallback,
    evaluations: int = _EVALUATIONS,
    **settings: Any,
) -> Any:
    """Train in the run's folder, where the benchmark looks for the record of the training.

    Without self-play, episodes begin only in the task's own starts, as for other algorithms.
    Settings are the same for all tasks: they change the defaults of the algorithm, not what is
    tuned for an environment.
    """
    if EXPLORING in settings:
        raise ValueError(
            f"{EXPLORING} is no setting of a benchmark, whose episodes begin in the task's own "
            f"starts; drop it, or train with solvent.training.train"
        )
    if settings:
        settings = tuned(SELF_PLAY_ALGORITHMS[name].hyperparameters, None) | settings
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
        hyperparameters=settings,
        evaluations=evaluations,
        progress=lambda moment: callback.progress(moment.timesteps, moment.evaluation),
    )
    callback.adopt(result.curve)
    learned = [Learned(*pair) for pair in zip(result.policies, result.modes, strict=True)]
    return learned if task.self_play else learned[0]


def _refuses(name: str, game: TaskGame) -> str | None:
    """Return the reason why the trainer cannot learn a task; None if it can."""
    learns = name in ALGORITHMS or act_at_once(game.table).any()
    return None if learns else "it needs a game in which both players act at once"


def __getattr__(name: str) -> Algorithm:
    """Return an entry by its name, as in ``solvent.training.entries:ppo``."""
    if name not in SELF_PLAY_ALGORITHMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Algorithm(
        partial(_train, name),
        one_seat=name in ALGORITHMS,
        self_play=True,
        masked=SELF_PLAY_ALGORITHMS[name].masked,
        observation="onehot",
        refuses=partial(_refuses, name),
    )
