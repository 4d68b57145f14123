"""Checks of what users pass to games, with errors that name the value and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, TypeAlias

Spread: TypeAlias = int | Sequence[int] | Mapping[Any, Any]
"""An integer, a pair ``[low, high]`` for a uniform choice, or a mapping of values to weights."""


def check_integer(value: Any, name: str, low: int, high: int) -> int:
    """Return `value` as an int if it is one within `low`..`high`.

    Raises:
        ValueError: If it is not.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise ValueError(f"{name} is {value!r}; allowed are whole numbers from {low} to {high}")
    return int(value)


def check_rational(value: Any, name: str, low: Rational | int, high: Rational | int) -> Fraction:
    """Return `value` as a Fraction if it is a number within `low`..`high`.

    A float is read as the decimal it prints, a text as the number it spells ("0.8", "4/5").

    Raises:
        ValueError: If it is not.
    """
    if isinstance(value, (Rational, float, str)) and not isinstance(value, bool):
        try:
            # Through str, so that 0.1 means one tenth; "nan" and "inf" are refused here too.
            number = Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            number = None
        if number is not None and low <= number <= high:
            return number
    raise ValueError(f"{name} is {value!r}; allowed are numbers from {low} to {high}")


def check_choice(value: Any, name: str, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of the allowed names.

    Raises:
        ValueError: If it is not; the message suggests the nearest name.
    """
    names = sorted(allowed)
    if value in names:
        return str(value)
    near = difflib.get_close_matches(str(value), names, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name} is {value!r}; allowed are {', '.join(names)}.{hint}")


def spread(value: Spread, name: str, low: int, high: int) -> dict[int, Fraction]:
    """The distribution that a parameter describes, values ascending.

    Args:
        value: See :data:`Spread`. Weights are positive rationals (floats are read as the decimal
            they print); they are divided by their sum.
        name: For the error message.
        low: Least value allowed.
        high: Largest value allowed.

    Raises:
        ValueError: If `value` is none of the three kinds, or a value or weight is not allowed.
    """
    if isinstance(value, Mapping):
        if not value:
            raise ValueError(f"{name} is empty; a distribution needs at least one value")
        weights: dict[int, Fraction] = {}
        for key, weight in value.items():
            # The keys of a JSON object are text.
            whole = isinstance(key, str) and key.removeprefix("-").isdecimal()
            point = check_integer(int(key) if whole else key, name, low, high)
            if point in weights:
                raise ValueError(f"{name} gives the value {point} twice")
            weights[point] = _weight(weight, f"{name}[{key!r}]")
        total = sum(weights.values())
        return {point: weights[point] / total for point in sorted(weights)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != 2:
            raise ValueError(f"{name} is {value!r}; a range is a pair [low, high]")
        first, last = (check_integer(v, name, low, high) for v in value)
        if first > last:
            raise ValueError(f"{name} is {value!r}; the range is upside down")
        count = last - first + 1
        return {point: Fraction(1, count) for point in range(first, last + 1)}
    return {check_integer(value, name, low, high): Fraction(1)}


def _weight(value: Any, name: str) -> Fraction:
    if isinstance(value, (Rational, float, str)) and not isinstance(value, bool):
        try:
            # Through str, so that 0.1 means one tenth; "nan" and "inf" are refused here too.
            weight = Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            weight = Fraction(0)
        if weight > 0:
            return weight
    raise ValueError(f"{name} has weight {value!r}; allowed are positive numbers")
