"""Which numbers an expression with dice can come out as, over all values that names can have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from solvent.games.gamebook.expressions import (
    OPERATORS,
    Dice,
    Expression,
    Name,
    Number,
    Operation,
    bounds,
)

MOST_PAIRS = 200_000
"""Of values that are combined; where there are more, all whole numbers between the ends count."""


def possible_results(
    expression: Expression, ranges: Mapping[str, tuple[int, int]]
) -> Sequence[int]:
    """The numbers that can come out, ascending.

    Parts are taken to be independent, so that of an expression in which a name stands twice some
    numbers may be given that it cannot be.

    Args:
        expression: With or without dice.
        ranges: Least and largest value of every name.
    """
    match expression:
        case Number(value):
            return (value,)
        case Name(name):
            low, high = ranges[name]
            return range(low, high + 1)
        case Dice(count, sides, first):
            return range(count * first, count * (first + sides - 1) + 1)
    assert isinstance(expression, Operation)
    parts = [possible_results(operand, ranges) for operand in expression.operands]
    pairs = 1
    for part in parts:
        pairs *= len(part)
    if pairs > MOST_PAIRS:
        low, high = bounds(expression, ranges)
        return range(low, high + 1)
    apply = OPERATORS[expression.operator]
    return sorted({apply(*values) for values in product(*parts)})
