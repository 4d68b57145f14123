"""Statistics over seeds and tasks: means with intervals, profiles and comparisons.

The statistics are those of R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville and M. G.
Bellemare, "Deep reinforcement learning at the edge of the statistical precipice", NeurIPS 2021.
Intervals are from their stratified bootstrap: runs are drawn with replacement within each task, and
the ends are the 2.5th and 97.5th percentiles of the statistic. Below :data:`LEAST_SEEDS` runs, the
smallest and the largest run are given instead. Such an interval is about these tasks. For a claim
about tasks like these, `over_tasks` draws tasks with replacement first, and then runs within each.

The scores of an algorithm are a sequence for each task, with one score for each run. A run that
loses without bound has the score minus infinity and is counted; then the range is given, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from solvent.model.arrays import Floats

LEAST_SEEDS = 10
"""The smallest number of runs of a task for a bootstrap interval; below it, the range is shown."""
# Repetitions of the bootstrap of a number.
_REPETITIONS = 10_000
# Repetitions of the bootstrap of a curve, at all of its points together.
_BAND_REPETITIONS = 2_000
# Numbers that are drawn at once.
_LARGEST_BATCH = 2**25

Scores = Sequence[Sequence[float]]
"""The scores of each task's runs."""

Statistic = Callable[..., Floats]
"""A statistic of the scores of several tasks, given one by one, with the runs along `axis`."""


@dataclass(frozen=True, slots=True)
class RunStatistic:
    """A statistic over runs.

    Attributes:
        mean: The interquartile mean, or the requested statistic.
        low: The least run, or the lower end of the interval.
        high: The largest run, or the upper end of the interval.
        is_interval: Whether `low` and `high` are the ends of the 95% bootstrap interval.
    """

    mean: float
    low: float
    high: float
    is_interval: bool


@dataclass(frozen=True, eq=False)
class Band:
    """A curve over runs.

    Attributes:
        along: [n] positions of its points: thresholds or steps.
        mean: [n] the curve.
        low: [n] the lower ends of the intervals, or the least run; None if there is no band.
        high: [n] the upper ends, or the largest run; None if there is no band.
        is_interval: Whether the band is of 95% bootstrap intervals, each for its own point.
    """

    along: Floats
    mean: Floats
    low: Floats | None
    high: Floats | None
    is_interval: bool


def interquartile_mean(*tasks: Floats, axis: int = -1) -> Floats:
    """Return the mean over the runs of all tasks without the lowest and the highest quarter.

    Args:
        tasks: The scores of each task's runs.
        axis: The axis of the runs. Of n runs in all, n // 4 are left out at either end.
    """
    # SciPy's statistics take a second to import, and most pages have no seeds to average.
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(np.concatenate(tasks, axis=axis), 0.25, axis=axis))


def median_over_tasks(*tasks: Floats, axis: int = -1) -> Floats:
    """Return the median over tasks of the mean over a task's runs.

    Args:
        tasks: The scores of each task's runs.
        axis: The axis of the runs.
    """
    return np.asarray(np.median([scores.mean(axis=axis) for scores in tasks], axis=0))


def mean_over_tasks(*tasks: Floats, axis: int = -1) -> Floats:
    """Return the mean over tasks of the mean over a task's runs.

    Args:
        tasks: The scores of each task's runs.
        axis: The axis of the runs.
    """
    return np.asarray(np.mean([scores.mean(axis=axis) for scores in tasks], axis=0))


def estimate(
    tasks: Scores, statistic: Statistic = interquartile_mean, *, over_tasks: bool = False
) -> RunStatistic | None:
    """Estimate a statistic over all runs of all tasks; the same scores give the same interval.

    Args:
        tasks: The scores of each task's runs; tasks without runs are left out.
        statistic: :func:`interquartile_mean`, :func:`median_over_tasks` or
            :func:`mean_over_tasks`.
        over_tasks: Whether the bootstrap draws tasks, too; every task then needs as many runs.

    Returns:
        With an interval if every task has :data:`LEAST_SEEDS` runs, all of them finite, else with
        the range of all runs; None if there are no runs, or one of them has no score.
    """
    samples = tuple((tuple(own),) for own in tasks if len(own))
    return _estimate(samples, statistic, over_tasks)


# A report asks for the same statistic in several tables and charts.
@lru_cache(maxsize=2**14)
def _estimate(
    tasks: tuple[tuple[tuple[float, ...], ...], ...], statistic: Statistic, over_tasks: bool
) -> RunStatistic | None:
    """Estimate a statistic of the samples of each task, which are one or two algorithms' runs."""
    samples = [tuple(np.array(own, float) for own in task) for task in tasks]
    runs = [own for task in samples for own in task]
    if not runs or any(np.isnan(own).any() for own in runs):
        return None
    mean = float(statistic(*runs))
    # The range of runs says something about a statistic of their scores, not of comparisons.
    every = np.concatenate(runs) if len(samples[0]) == 1 else np.array([mean])
    uneven = over_tasks and len({tuple(map(len, task)) for task in tasks}) > 1
    if min(map(len, runs)) < LEAST_SEEDS or uneven or not np.isfinite(every).all():
        return RunStatistic(mean, float(every.min()), float(every.max()), is_interval=False)
    low, high = _ends(samples, statistic, over_tasks=over_tasks)
    return RunStatistic(mean, float(low), float(high), is_interval=True)


def performance_profile(tasks: Scores, thresholds: Floats) -> Band:
    """Return the share of runs with a score above each threshold.

    The mean over tasks of the share of a task's runs: the run-score distribution of section 4.2 of
    the paper. The area between two profiles is the difference of their mean scores. A run without
    a score is above no threshold.

    Args:
        tasks: The scores of each task's runs; tasks without runs are left out.
        thresholds: [n] ascending.

    Returns:
        With intervals if every task has :data:`LEAST_SEEDS` runs, else without a band.
    """
    runs = [np.asarray(scores, float) for scores in tasks if len(scores)]
    above = [(scores > np.asarray(thresholds)[:, None]).astype(float) for scores in runs]
    mean = mean_over_tasks(*above)
    if min(map(len, runs)) < LEAST_SEEDS:
        return Band(thresholds, mean, None, None, is_interval=False)
    low, high = _interval(above, mean_over_tasks, _BAND_REPETITIONS)
    return Band(thresholds, mean, low, high, is_interval=True)


def probability_of_improvement(
    first: Scores, second: Scores, *, over_tasks: bool = False
) -> RunStatistic | None:
    """Return the probability that a run of one algorithm is better than one of another.

    This is the mean over tasks of the share of pairs of runs in which the first algorithm has the
    larger score; a tie counts half. It is Mann and Whitney's U divided by the number of pairs
    (section 4.3 of the paper).

    Args:
        first: The scores of each task's runs.
        second: Scores of the other algorithm in the same tasks; tasks in which either has no runs
            are left out.
        over_tasks: Whether the bootstrap draws tasks, too; every task then needs as many runs.

    Returns:
        With an interval if both have :data:`LEAST_SEEDS` runs in every task, else with the number
        itself as either end; None if there is no task left, or a run has no score.
    """
    pairs = zip(first, second, strict=True)
    samples = tuple((tuple(x), tuple(y)) for x, y in pairs if len(x) and len(y))
    return _estimate(samples, _improvement, over_tasks)


def curve_band(curves: Sequence[Sequence[tuple[float, float]]], along: Floats) -> Band:
    """Return the interquartile mean of curves over runs, with a band.

    Args:
        curves: The points of each run, times ascending, each with a number. Between two points a
            run has the number of the earlier one, before the first that of the first.
        along: [n] the times at which the curve is wanted.

    Returns:
        With intervals from :data:`LEAST_SEEDS` runs on, else with the range of the runs. Where a
        run has no number, nor has the curve; where one is infinite, there is no band.
    """
    columns = [np.asarray(curve, float).T for curve in curves]
    places = [np.searchsorted(times, along, side="right") - 1 for times, _ in columns]
    # A run has the number of the last point that is not later.
    held = [n[np.maximum(at, 0)] for (_, n), at in zip(columns, places, strict=True)]
    runs = np.array(held).T
    mean = interquartile_mean(runs)
    mean[np.isnan(runs).any(axis=1)] = np.nan
    finite, is_interval = np.isfinite(runs).all(axis=1), len(curves) >= LEAST_SEEDS
    low, high = np.full((2, len(along)), np.nan)
    if finite.any() and is_interval:
        ends = _interval([runs[finite]], interquartile_mean, _BAND_REPETITIONS)
        low[finite], high[finite] = ends
    elif finite.any():
        low[finite], high[finite] = runs[finite].min(axis=1), runs[finite].max(axis=1)
    return Band(np.asarray(along, float), mean, low, high, is_interval)


def _improvement(*runs: Floats, axis: int = -1) -> Floats:
    """Return the probability of improvement; the two algorithms' runs in each task take turns."""
    from scipy.stats import mannwhitneyu

    shares = [
        mannwhitneyu(x, y, axis=axis, method="asymptotic").statistic
        / (x.shape[axis] * y.shape[axis])
        for x, y in zip(runs[::2], runs[1::2], strict=True)
    ]
    return np.asarray(np.mean(shares, axis=0))


def _ends(
    tasks: Sequence[tuple[Floats, ...]], statistic: Statistic, *, over_tasks: bool
) -> tuple[Floats, Floats]:
    """Return the ends of the 95% bootstrap interval.

    Args:
        tasks: The samples of each task; with `over_tasks` of equal sizes in all of them.
        statistic: The statistic of the samples of all tasks in turn.
        over_tasks: Whether tasks are drawn before their runs.
    """
    if not over_tasks:
        return _interval([own for task in tasks for own in task], statistic)
    random, samples = np.random.default_rng(0), [np.stack(own) for own in zip(*tasks, strict=True)]
    drawn = []
    for _ in tasks:
        which = random.integers(len(tasks), size=(_REPETITIONS, 1))
        drawn += [
            own[which, random.integers(own.shape[1], size=(_REPETITIONS, own.shape[1]))]
            for own in samples
        ]
    low, high = np.percentile(statistic(*drawn), [2.5, 97.5])
    return low, high


def _interval(
    runs: Sequence[Floats], statistic: Statistic, repetitions: int = _REPETITIONS
) -> tuple[Floats, Floats]:
    """Return the ends of the 95% stratified bootstrap interval.

    Args:
        runs: [..., runs] values of each sample; all of a sample's rows are drawn alike.
        statistic: The statistic of the samples.
        repetitions: Number of draws of the runs.
    """
    from scipy.stats import bootstrap

    # Runs of different tasks are drawn independently, so the bootstrap is stratified.
    interval = bootstrap(
        runs,
        statistic,
        n_resamples=repetitions,
        batch=max(1, min(1_000, _LARGEST_BATCH // sum(own.size for own in runs))),
        vectorized=True,
        axis=-1,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return np.asarray(interval.low), np.asarray(interval.high)
