"""Sums of dice, as exact rationals."""

import random
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import comb
from types import MappingProxyType


@cache
def dice_sum(count: int, sides: int = 6) -> Mapping[int, Fraction]:
    """The distribution of the sum of fair dice.

    Args:
        count: Number of dice, at least 0. No dice sum to 0 for certain.
        sides: Faces of each die, numbered from 1.

    Returns:
        The probability of each possible sum, ascending; read-only, as all callers share it.

    Raises:
        ValueError: If `count` is negative or `sides` is not positive.
    """
    _check_dice(count, sides)
    sums, rolls = range(count, count * sides + 1), sides**count
    return MappingProxyType({n: Fraction(ways_to_sum(n, count, sides), rolls) for n in sums})


@cache
def probability_at_most(bound: int, count: int, sides: int = 6) -> Fraction:
    """The probability that fair dice sum to at most `bound`.

    Args:
        bound: The largest sum that counts.
        count: Number of dice, at least 0.
        sides: Faces of each die, numbered from 1.

    Raises:
        ValueError: If `count` is negative or `sides` is not positive.
    """
    pmf = dice_sum(count, sides)
    return sum((p for total, p in pmf.items() if total <= bound), Fraction(0))


def ways_to_sum(total: int, count: int, sides: int = 6) -> int:
    """Count the ways in which dice can sum to `total`, in closed form.

    With n = `count` dice of s = `sides` sides, the coefficient of x^t in (x + ... + x^s)^n is

        sum over k = 0 .. floor((t - n) / s) of (-1)^k C(n, k) C(t - s k - 1, n - 1)

    (Addis 2023, "A Guide to Optimization and Optimal Play in Greed"; the formula is de Moivre's).
    The terms alternate in sign and far exceed their sum, so they are added up as integers: in
    64-bit floats the 29 dice that show 170 come out with a probability of about -1e-4. The printed
    formula has no value for no dice, which sum to 0 in one way.

    Args:
        total: The sum.
        count: Number of dice, at least 0.
        sides: Faces of each die, numbered from 1.

    Raises:
        ValueError: If `count` is negative or `sides` is not positive.
    """
    _check_dice(count, sides)
    if count == 0:
        return int(total == 0)
    return sum(
        (-1) ** k * comb(count, k) * comb(total - sides * k - 1, count - 1)
        for k in range((total - count) // sides + 1)
    )


def dice_showing(total: int, count: int, sides: int, chance: random.Random) -> list[int]:
    """Draw fair dice that sum to `total`; all such rolls are equally likely.

    Each die is drawn with the number of ways in which the rest can complete the sum as its weight.

    Args:
        total: The sum.
        count: Number of dice.
        sides: Faces of each die, numbered from 1.
        chance: Draws the dice.

    Returns:
        [count] the faces.

    Raises:
        ValueError: If no roll has that sum.
    """
    if not ways_to_sum(total, count, sides):
        raise ValueError(f"total is {total}; {count} dice with {sides} sides cannot show it")
    shown = []
    for others in reversed(range(count)):
        faces = range(max(1, total - others * sides), min(sides, total - others) + 1)
        weights = [ways_to_sum(total - face, others, sides) for face in faces]
        [face] = chance.choices(faces, weights)
        shown.append(face)
        total -= face
    return shown


def _check_dice(count: int, sides: int) -> None:
    if count < 0:
        raise ValueError(f"count is {count}; a number of dice is at least 0")
    if sides < 1:
        raise ValueError(f"sides is {sides}; a die has at least 1 side")
