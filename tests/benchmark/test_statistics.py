"""Statistics over seeds: hand-computed cases, and the formulas of the paper written out again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from solvent.benchmark.statistics import (
    Band,
    CensoredTime,
    curve_band,
    estimate,
    interquartile_mean,
    mean_over_tasks,
    median_over_tasks,
    performance_profile,
    probability_of_improvement,
    time_to_gap,
)


def test_the_three_means_by_hand() -> None:
    tasks = [np.array([0.0, 0.4, 0.6, 1.0]), np.array([0.9, 1.0, 1.0, 0.7]), np.array([0.1] * 4)]
    # Of 12 runs, 3 are left out at either end: 0 .1 .1 and 1 1 1.
    every = sorted([0.0, 0.4, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 0.1, 0.1, 0.1, 0.1])
    assert interquartile_mean(*tasks) == pytest.approx(sum(every[3:9]) / 6)
    assert sum(every[3:9]) / 6 == pytest.approx((0.1 + 0.1 + 0.4 + 0.6 + 0.7 + 0.9) / 6)
    # The tasks' means are .5, .9 and .1.
    assert median_over_tasks(*tasks) == pytest.approx(0.5)
    assert mean_over_tasks(*tasks) == pytest.approx(0.5)
    assert median_over_tasks(*tasks[:2]) == pytest.approx(0.7)


@pytest.mark.parametrize("statistic", [interquartile_mean, median_over_tasks, mean_over_tasks])
def test_an_interval_is_that_of_a_bootstrap_within_tasks(statistic) -> None:  # type: ignore[no-untyped-def]
    random = np.random.default_rng(7)
    tasks = [random.random(12), 0.5 + random.random(10), 0.1 * random.random(11)]
    found = estimate([scores.tolist() for scores in tasks], statistic)
    assert found is not None
    assert found.is_interval
    assert estimate([scores.tolist() for scores in tasks], statistic) == found
    # Drawn here once more, in a loop, task by task.
    drawn = [
        statistic(*(random.choice(scores, len(scores)) for scores in tasks)) for _ in range(4_000)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    width = high - low
    assert found.mean == pytest.approx(statistic(*tasks))
    assert found.low == pytest.approx(low, abs=0.1 * width)
    assert found.high == pytest.approx(high, abs=0.1 * width)


def test_an_interval_about_tasks_draws_them_too() -> None:
    random = np.random.default_rng(7)
    tasks = [level + 0.1 * random.random(10) for level in (0.0, 0.3, 0.8, 0.9)]
    scores = [own.tolist() for own in tasks]
    within, over = (estimate(scores, mean_over_tasks, over_tasks=o) for o in (False, True))
    assert within is not None
    assert over is not None
    assert over.mean == within.mean
    # Drawn here once more, in a loop.
    drawn = [
        np.mean([random.choice(tasks[n], 10).mean() for n in random.integers(4, size=4)])
        for _ in range(4_000)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    assert (over.low, over.high) == pytest.approx((low, high), abs=0.1 * (high - low))
    assert over.high - over.low > 5 * (within.high - within.low)
    better = [(own + 0.05).tolist() for own in tasks]
    pair = [probability_of_improvement(better, scores, over_tasks=o) for o in (False, True)]
    assert [found.is_interval for found in pair if found] == [True, True]
    uneven = estimate([*scores[:3], scores[3] * 2], over_tasks=True)
    assert uneven is not None
    assert not uneven.is_interval


def test_a_run_that_loses_without_bound_counts() -> None:
    one = estimate([[-math.inf, *[0.5] * 11]])
    assert one is not None
    assert (one.mean, one.low, one.high, one.is_interval) == (0.5, -math.inf, 0.5, False)
    four = estimate([[-math.inf] * 4 + [0.5] * 8])
    assert four is not None
    assert four.mean == -math.inf
    assert estimate([[math.nan, 0.5]]) is None


def test_a_profile_by_hand() -> None:
    profile = performance_profile([[0.1, 0.5], [0.5, 0.9, 0.9]], np.array([0.0, 0.1, 0.5, 0.9]))
    # Above .1 is one of two and all of three; above .5 none of two and two of three.
    assert profile.mean.tolist() == pytest.approx([1.0, 0.75, 1 / 3, 0.0])
    assert profile.low is None
    assert not profile.is_interval


def test_the_probability_of_improvement_by_hand() -> None:
    found = probability_of_improvement([[1.0, 3.0], [5.0]], [[2.0, 3.0], [4.0, 6.0]])
    # 1 loses twice, 3 wins and ties: 1.5 of 4. And 5 wins one of two.
    assert found is not None
    assert found.mean == pytest.approx((1.5 / 4 + 1 / 2) / 2)
    assert not found.is_interval
    assert found.low == found.high == found.mean


def test_the_probability_of_improvement_is_that_of_mann_and_whitney() -> None:
    random = np.random.default_rng(3)
    first, second = random.integers(0, 6, (2, 4, 12)).astype(float)
    found, back = (
        probability_of_improvement(x.tolist(), y.tolist())
        for x, y in ((first, second), (second, first))
    )
    assert found is not None
    assert back is not None
    expected = [mannwhitneyu(x, y).statistic / 144 for x, y in zip(first, second, strict=True)]
    assert found.mean == pytest.approx(np.mean(expected))
    assert found.mean + back.mean == pytest.approx(1)
    assert found.is_interval
    assert 0 < found.low < found.mean < found.high < 1


def curves_of(times: list[float]) -> list[list[tuple[float, float]]]:
    return [[(0.0, 1.0), (time, 0.05), (time + 1, 0.2)] for time in times]


@pytest.mark.parametrize(
    ("never", "expected"),
    [
        (0, CensoredTime(3, 3, 200.0, 100.0, 900.0)),
        (1, CensoredTime(3, 4, 550.0, 100.0, math.inf)),
        (2, CensoredTime(3, 5, 900.0, 100.0, math.inf)),
        (3, CensoredTime(3, 6, math.inf, 100.0, math.inf)),
    ],
)
def test_the_time_to_a_gap_counts_the_runs_that_never_get_there(
    never: int, expected: CensoredTime
) -> None:
    curves = curves_of([900.0, 100.0, 200.0]) + [[(0.0, 1.0), (1000.0, 0.11)]] * never
    assert time_to_gap(curves, 0.1) == expected
    # A gap counts where it is reached, and where it begins.
    assert time_to_gap([[(0.0, 0.1)]], 0.1) == CensoredTime(1, 1, 0.0, 0.0, 0.0)
    assert time_to_gap([[(0.0, math.nan), (5.0, 0.0)]], 0.1).median == 5.0


def test_a_band_of_few_runs_is_their_range() -> None:
    curves = [[(0.0, 4.0), (10.0, 2.0)], [(0.0, 8.0), (20.0, 0.0)]]
    band = curve_band(curves, np.array([0.0, 9.0, 10.0, 25.0]))
    assert band.mean.tolist() == [6.0, 6.0, 5.0, 1.0]
    assert ends(band) == [(4.0, 8.0), (4.0, 8.0), (2.0, 8.0), (0.0, 2.0)]
    assert not band.is_interval


def test_a_curve_has_a_hole_where_a_run_has_no_number() -> None:
    curves = [[(0.0, math.nan), (1.0, 3.0)], [(0.0, 1.0), (1.0, 1.0)]]
    band = curve_band(curves, np.array([0.0, 1.0]))
    assert math.isnan(band.mean[0])
    assert band.mean[1] == 2.0


def ends(band: Band) -> list[tuple[float, float]]:
    assert band.low is not None
    assert band.high is not None
    return list(zip(band.low.tolist(), band.high.tolist(), strict=True))
