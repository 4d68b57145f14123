"""Sums of dice against enumeration, and what parameters may be."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvent.model import dice_sum, probability_at_most
from solvent.model.parameters import check_choice, spread


@given(st.integers(0, 4), st.integers(1, 6))
def test_dice_sums_equal_enumeration(count: int, sides: int) -> None:
    rolls = [sum(roll) for roll in product(range(1, sides + 1), repeat=count)]
    expected = {t: Fraction(rolls.count(t), len(rolls)) for t in sorted(set(rolls))}
    assert dice_sum(count, sides) == expected
    for bound in range(-1, count * sides + 2):
        at_most = Fraction(sum(t <= bound for t in rolls), len(rolls))
        assert probability_at_most(bound, count, sides) == at_most


@pytest.mark.parametrize(("count", "sides"), [(-1, 6), (2, 0)])
def test_impossible_dice_are_refused(count: int, sides: int) -> None:
    with pytest.raises(ValueError, match=r"-1|0"):
        dice_sum(count, sides)


def test_a_spread_is_a_value_a_range_or_weights() -> None:
    assert spread(3, "x", 0, 9) == {3: 1}
    assert spread([2, 4], "x", 0, 9) == dict.fromkeys((2, 3, 4), Fraction(1, 3))
    assert spread({"-1": 0.1, "2": 0.3}, "x", -5, 5) == {-1: Fraction(1, 4), 2: Fraction(3, 4)}


@pytest.mark.parametrize(
    "value",
    [
        -1,
        10,
        2.5,
        float("nan"),
        True,
        None,
        "three",
        [1],
        [1, 2, 3],
        [4, 2],
        [0, 10],
        {},
        {1: 0},
        {1: -1},
        {1: float("nan")},
        {1: float("inf")},
        {11: 1},
        {"a": 1},
        {"--3": 1},
        {"3": 1, 3: 2},
    ],
)
def test_anything_else_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match="stamina"):
        spread(value, "stamina", 0, 9)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"opponent is 'hel-demon'.*Did you mean 'hell-demon'"):
        check_choice("hel-demon", "opponent", ["hell-demon", "dragon"])
