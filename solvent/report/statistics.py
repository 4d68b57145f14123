"""The mean of an algorithm over seeds, and how sure one can be of it.

The interquartile mean and its stratified bootstrap interval are those of R. Agarwal et al., "Deep
reinforcement learning at the edge of the statistical precipice", NeurIPS 2021: the quarter of the
runs at either end is left out; to bootstrap, runs are drawn with replacement within each task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvent.model.arrays import Floats

LEAST_SEEDS = 3
"""With fewer runs an interval means nothing and none is given."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An interquartile mean with its 95% interval."""

    mean: float
    low: float
    high: float


def interquartile_mean(scores: Floats) -> Floats:
    """Mean along the last axis without the lowest and the highest quarter, [..., n] -> [...].

    Of n scores, n // 4 are left out at either end.
    """
    ordered = np.sort(scores, axis=-1)
    count = ordered.shape[-1]
    cut = count // 4
    return np.asarray(ordered[..., cut : count - cut].mean(axis=-1))


def estimate(
    tasks: Sequence[Sequence[float]], *, repetitions: int = 10_000, seed: int = 0
) -> Estimate | None:
    """The interquartile mean over all runs of all tasks.

    Args:
        tasks: The scores of each task's runs.
        repetitions: Of the bootstrap.
        seed: Of the bootstrap; the same scores give the same interval.

    Returns:
        None if a task has fewer than :data:`LEAST_SEEDS` runs.
    """
    if not tasks or min(len(scores) for scores in tasks) < LEAST_SEEDS:
        return None
    random = np.random.default_rng(seed)
    drawn = [random.choice(np.asarray(scores), (repetitions, len(scores))) for scores in tasks]
    means = interquartile_mean(np.concatenate(drawn, axis=1))
    low, high = np.quantile(means, (0.025, 0.975))
    mean = interquartile_mean(np.concatenate([np.asarray(scores) for scores in tasks]))
    return Estimate(float(mean), float(low), float(high))
