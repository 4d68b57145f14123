"""The mean of an algorithm over seeds, and how far its runs are from each other.

The interquartile mean and its stratified bootstrap interval are those of R. Agarwal et al., "Deep
reinforcement learning at the edge of the statistical precipice", NeurIPS 2021: the quarter of the
runs at either end is left out; to bootstrap, runs are drawn with replacement within each task.
Three runs bear no interval: of fewer than ten, the least and the largest are told instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvent.model.arrays import Floats

LEAST_SEEDS = 10
"""With fewer runs of a task there is no interval but the range of the runs."""
REPETITIONS = 10_000
"""Of the bootstrap."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An interquartile mean over runs.

    Attributes:
        mean: The mean.
        low: The least run, or the lower end of the interval.
        high: The largest run, or the upper end of the interval.
        is_interval: Whether `low` and `high` are the ends of the 95% bootstrap interval.
    """

    mean: float
    low: float
    high: float
    is_interval: bool


def interquartile_mean(*tasks: Floats, axis: int = -1) -> Floats:
    """Mean over the runs of all tasks without the lowest and the highest quarter.

    Args:
        tasks: The scores of each task's runs.
        axis: Along which the runs are. Of n runs in all, n // 4 are left out at either end.
    """
    # SciPy's statistics take a second to import, and most pages have no seeds to average.
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(np.concatenate(tasks, axis=axis), 0.25, axis=axis))


def estimate(tasks: Sequence[Sequence[float]]) -> Estimate | None:
    """The interquartile mean over all runs of all tasks; the same scores give the same interval.

    Args:
        tasks: The scores of each task's runs.

    Returns:
        With an interval if every task has :data:`LEAST_SEEDS` runs, else with the range of all
        runs; None if there are no runs, or not all of them have a finite score.
    """
    runs = [np.asarray(scores, float) for scores in tasks if len(scores)]
    if not runs or not all(np.isfinite(scores).all() for scores in runs):
        return None
    mean = float(interquartile_mean(*runs))
    if min(map(len, runs)) < LEAST_SEEDS:
        every = np.concatenate(runs)
        return Estimate(mean, float(every.min()), float(every.max()), is_interval=False)
    from scipy.stats import bootstrap

    # Runs of different tasks are samples of their own, drawn independently: that stratifies.
    interval = bootstrap(
        runs,
        interquartile_mean,
        n_resamples=REPETITIONS,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Estimate(mean, float(interval.low), float(interval.high), is_interval=True)
