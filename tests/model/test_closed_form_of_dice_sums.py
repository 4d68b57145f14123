"""The closed formula for sums of dice against repeated convolution, exactly."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvent.model import dice_sum, ways_to_sum


@given(st.integers(0, 12), st.integers(1, 12))
def test_both_give_the_same_chances_for_possible_and_impossible_sums(
    count: int, sides: int
) -> None:
    pmf = dice_sum(count, sides)
    for total in range(-3, count * sides + 4):
        assert Fraction(ways_to_sum(total, count, sides), sides**count) == pmf.get(total, 0)


def test_both_agree_for_every_roll_of_greed_to_100() -> None:
    for count in range(30):
        pmf = dice_sum(count)
        for total in range(6 * count + 1):
            assert Fraction(ways_to_sum(total, count), 6**count) == pmf.get(total, 0)


def test_in_floating_point_the_formula_gives_negative_chances() -> None:
    n, t = 29, 170
    terms = [
        (-1) ** k * float(comb(n, k)) * float(comb(t - 6 * k - 1, n - 1))
        for k in range((t - n) // 6 + 1)
    ]
    assert sum(terms) / 6.0**n < -1e-5
    assert 0 < ways_to_sum(t, n) / 6**n < 1e-17


@pytest.mark.parametrize(("count", "sides"), [(-1, 6), (2, 0)])
def test_impossible_dice_have_no_ways(count: int, sides: int) -> None:
    with pytest.raises(ValueError, match=r"-1|0"):
        ways_to_sum(3, count, sides)
