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


def interquartile_mean(*tasks: Floats, axis: int = -1) -> Floats:
    """Mean over the runs of all tasks without the lowest and the highest quarter.

    Args:
        tasks: The scores of each task's runs.
        axis: Along which the runs are. Of n runs in all, n // 4 are left out at either end.
    """
    # SciPy's statistics take a second to import, and most pages have no seeds to average.
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(np.concatenate(tasks, axis=axis), 0.25, axis=axis))


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
    from scipy.stats import bootstrap

    runs = [np.asarray(scores, float) for scores in tasks]
    # Runs of different tasks are samples of their own, drawn independently: that stratifies.
    interval = bootstrap(
        runs,
        interquartile_mean,
        n_resamples=repetitions,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Estimate(float(interquartile_mean(*runs)), float(interval.low), float(interval.high))
