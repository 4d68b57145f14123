"""The former place of trainings without a table, kept for one release."""

from __future__ import annotations

import warnings
from typing import Any

from solvent.training.train import TrainingResult, train


def train_simulated(
    env_id: str,
    algorithm: str = "maskable_ppo",
    *,
    past_selves: int | None = None,
    **arguments: Any,
) -> TrainingResult:
    """Train in a game that has no table: :func:`~solvent.training.train.train` does so, too.

    Args:
        env_id: The id of its environment.
        algorithm: A key of :data:`~solvent.training.algorithms.ALGORITHMS`.
        past_selves: How many snapshots are in the pool at most.
        arguments: The others of :func:`~solvent.training.train.train`.
    """
    warnings.warn("train_simulated is now train", DeprecationWarning, stacklevel=2)
    return train(env_id, algorithm, snapshots=past_selves, **arguments)
