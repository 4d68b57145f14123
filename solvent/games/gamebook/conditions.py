"""Gaps between conditions and overlaps of them, over all values that names can have.

Conditions look at names through comparisons, so that most values make no difference: where a name
is only compared with numbers, one value stands for all between two of these numbers. The values
that are left are combined, and every condition is looked at for all combinations at once.

Left out are combinations that no state can have: more items than a slot holds, and more or fewer
disciplines than are picked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.games.gamebook.expressions import (
    COMPARISONS,
    Expression,
    Operation,
    bounds,
    evaluate,
    names,
)
from solvent.games.gamebook.hero import Hero

MOST_COMBINATIONS = 200_000
"""Largest number of combinations of values that are examined; beyond it, there is no verdict."""

MOST_NAMES = 24
"""Largest number of names in the conditions that are examined together."""


class Verdict(NamedTuple):
    """The gaps and overlaps of several conditions.

    Attributes:
        gap: Values for which no condition holds, as text; None if one always does.
        never: Indices of conditions that never hold.
        overlaps: Pairs of conditions that can hold at once, each with values, as text. Conditions
            that always hold are left out.
    """

    gap: str | None
    never: list[int]
    overlaps: list[tuple[int, int, str]]


def look_at(hero: Hero, conditions: Sequence[Expression]) -> Verdict | None:
    """Return the verdict on conditions; None if there are too many values to examine.

    Args:
        hero: The fields that bound the values.
        conditions: The conditions, in their order.
    """
    axes = _axes(hero, conditions)
    if axes is None:
        return None
    shape = tuple(len(values) for values in axes.values())
    values: dict[str, NDArray[np.int64]] = {}
    for place, (name, points) in enumerate(axes.items()):
        values[name] = np.array(points, np.int64).reshape(
            [-1 if place == axis else 1 for axis in range(len(axes))]
        )
    possible = _possible(hero, values, shape)
    holds = [
        np.broadcast_to(np.asarray(evaluate(condition, values)) != 0, shape) & possible
        for condition in conditions
    ]

    def example(where: NDArray[np.bool_]) -> str:
        at = np.unravel_index(int(np.argmax(where)), shape)
        return ", ".join(
            f"{name} = {points[i]}" for (name, points), i in zip(axes.items(), at, strict=True)
        )

    none = possible & ~np.logical_or.reduce(holds)
    some = [i for i, h in enumerate(holds) if not np.array_equal(h, possible)]
    overlaps = [
        (first, second, example(holds[first] & holds[second]))
        for first, second in combinations(some, 2)
        if np.any(holds[first] & holds[second])
    ]
    never = [i for i, h in enumerate(holds) if not np.any(h)]
    return Verdict(example(none) if np.any(none) else None, never, overlaps)


def _axes(hero: Hero, conditions: Sequence[Expression]) -> dict[str, list[int]] | None:
    """Return the values to examine for each name; None if there are too many."""
    axes: dict[str, list[int]] = {}
    for name in sorted(set().union(*map(names, conditions))):
        low, high = hero.ranges[name]
        cuts = [cut for condition in conditions for cut in _cuts(condition, name)]
        if None in cuts:
            if high - low >= MOST_COMBINATIONS:
                return None
            axes[name] = list(range(low, high + 1))
        else:
            # A number, and what lies just above it, begin new classes of values.
            starts = {low, *(c + d for c in cuts if c is not None for d in (0, 1))}
            axes[name] = sorted(point for point in starts if low <= point <= high)
    number = prod(len(points) for points in axes.values())
    if len(axes) > MOST_NAMES or number > MOST_COMBINATIONS:
        return None
    return axes


def _possible(
    hero: Hero, values: Mapping[str, NDArray[np.int64]], shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return whether each combination is possible in some state."""
    result = np.ones(shape, np.bool_)
    carried: dict[str, Any] = {}
    for name, numbers in values.items():
        slot = hero.fields[name].slot
        if slot:
            carried[slot] = carried.get(slot, 0) + numbers
    for slot, number in carried.items():
        result &= number <= hero.slots[slot].capacity
    asked = [name for name in hero.picked if name in values]
    if asked:
        picked = sum(values[name] for name in asked)
        count, others = hero.disciplines.pick, len(hero.picked) - len(asked)
        result &= (picked <= count) & (picked >= count - others)
    return result


def _cuts(expression: Expression, name: str) -> Iterator[int | None]:
    """Return the numbers with which a name is compared; None if it has another use."""
    if expression == name:
        yield 0  # Standing alone it is compared with 0.
        return
    if not isinstance(expression, Operation):
        return
    if expression.operator in ("and", "or", "not"):
        for operand in expression.operands:
            yield from _cuts(operand, name)
    elif expression.operator in COMPARISONS.values() and expression.operands[0] == name:
        right = expression.operands[1]
        if names(right):
            yield None
        else:
            yield bounds(right, {})[0]
    elif name in names(expression):
        yield None
