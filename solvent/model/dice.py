"""Sums of dice, as exact rationals."""

from __future__ import annotations

from fractions import Fraction
from functools import cache


@cache
def dice_sum(count: int, sides: int = 6) -> dict[int, Fraction]:
    """The distribution of the sum of fair dice, by repeated convolution.

    Args:
        count: How many dice, at least 0. No dice sum to 0 for certain.
        sides: Faces of each die, numbered from 1.

    Returns:
        The probability of each possible sum, ascending.

    Raises:
        ValueError: If `count` is negative or `sides` is not positive.
    """
    if count < 0:
        raise ValueError(f"count is {count}; a number of dice is at least 0")
    if sides < 1:
        raise ValueError(f"sides is {sides}; a die has at least 1 side")
    ways = {0: 1}
    for _ in range(count):
        extended: dict[int, int] = {}
        for total, number in ways.items():
            for face in range(1, sides + 1):
                extended[total + face] = extended.get(total + face, 0) + number
        ways = extended
    return {total: Fraction(number, sides**count) for total, number in sorted(ways.items())}


def probability_at_most(bound: int, count: int, sides: int = 6) -> Fraction:
    """The probability that fair dice sum to at most `bound`."""
    pmf = dice_sum(count, sides)
    return sum((p for total, p in pmf.items() if total <= bound), Fraction(0))
