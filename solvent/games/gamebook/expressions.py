"""The expressions of a gamebook: whole numbers, names, comparisons, and dice.

A condition such as ``gold >= 3 and not cursed`` and an amount such as ``2d6 + 3`` are written in
one small language. Every value is a whole number: a comparison is 1 if it holds and 0 if not, and
a condition holds unless it is 0. So ``rope`` means "at least one rope", and ``4 * shield`` is 4
with a shield and 0 without.

The operators ``+ - * //``, the comparisons, ``and``, ``or``, ``not``, ``min`` and ``max`` mean and
bind what they do in Python, so Python's own parser builds the syntax tree. Nothing is executed:
:func:`parse` accepts a few kinds of nodes and refuses all others. ``2d6`` is the sum of two dice,
``digit`` a digit from 0 to 9; each is thrown anew wherever it stands.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import count, product
from math import prod
from typing import Any, TypeAlias

from solvent.model import dice_sum

# Largest number of characters of an expression.
_LONGEST = 500

# Deepest nesting of operations, so that functions over expressions may be recursive.
_MOST_LEVELS = 120

LARGEST_NUMBER = 10**6
"""The largest number that may be written in an expression."""

# The largest single throw is ``20d100``.
_MOST_DICE, _MOST_SIDES = 20, 100

MOST_RESULTS = 10_000
"""Largest number of combinations of throws of one expression."""

RESERVED = frozenset({"and", "or", "not", "digit", "true", "false", "min", "max", "count", "room"})
"""Words that cannot be names."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}", re.ASCII)


class ExpressionError(ValueError):
    """A text that is not an expression; the message quotes it, and ends with a cure."""


@dataclass(frozen=True, slots=True)
class Dice:
    """The sum of `count` fair dice, whose faces are the `sides` numbers from `first` upwards."""

    count: int
    sides: int
    first: int = 1


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator of :data:`OPERATORS` and its operands."""

    operator: str
    operands: tuple["Expression", ...]


Expression: TypeAlias = int | str | Dice | Operation
"""A number, the name of a field, a throw, or an operation."""

Faces: TypeAlias = tuple[int, ...]
"""The results of an expression's throws, from left to right."""

# By the names of Python's own classes of operators. Written so that they work for numbers and,
# element by element, for NumPy arrays.
OPERATORS: Mapping[str, Callable[..., Any]] = {
    "Add": lambda *terms: sum(terms),
    "Sub": lambda a, b: a - b,
    "Mult": lambda a, b: a * b,
    "FloorDiv": lambda a, b: a // b,
    "USub": lambda a: -a,
    "Eq": lambda a, b: (a == b) * 1,
    "NotEq": lambda a, b: (a != b) * 1,
    "Lt": lambda a, b: (a < b) * 1,
    "LtE": lambda a, b: (a <= b) * 1,
    "Gt": lambda a, b: (a > b) * 1,
    "GtE": lambda a, b: (a >= b) * 1,
    "Not": lambda a: (a == 0) * 1,
    "And": lambda *several: reduce(lambda a, b: ((a != 0) & (b != 0)) * 1, several),
    "Or": lambda *several: reduce(lambda a, b: ((a != 0) | (b != 0)) * 1, several),
    "min": lambda *several: reduce(lambda a, b: a + (b - a) * (b < a), several),
    "max": lambda *several: reduce(lambda a, b: a + (b - a) * (b > a), several),
}

# The operators whose result is 0 or 1.
_LOGICAL = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "And", "Or", "Not"})

Meaning: TypeAlias = Callable[[str, str], Expression]
"""Looks up a name, given its call (``"count"``, ``"room"``, or ``""`` for none) and the name.

Raises a ValueError for an unknown name.
"""

_STRAY = re.compile(r"[^\w\s+\-*/<>=!(),]", re.ASCII)
_WORD = re.compile(r"\w+", re.ASCII)
_DICE = re.compile(r"(\d+)d(\d+)", re.ASCII)


def parse(text: str, meaning: Meaning = lambda call, name: name) -> Expression:
    """Read an expression.

    Args:
        text: The expression.
        meaning: Looks up names. If left out, every name stands for itself.

    Raises:
        ExpressionError: If it is not an expression, or too long, too deep, or its numbers or dice
            are too large.
        ValueError: From `meaning`.
    """
    if len(text) > _LONGEST:
        raise ExpressionError(f"{text[:40]!r}... is too long; write at most {_LONGEST} characters")
    stray = _STRAY.search(text)
    if stray:
        raise ExpressionError(f"{text!r} has {stray[0]!r} in it; expressions have no such sign")
    try:
        # A field may be called `class`, so no name reaches the parser as it is.
        tree = ast.parse(_WORD.sub(_word, " ".join(text.split())), mode="eval")
        expression = _read(tree.body, meaning, _MOST_LEVELS)
    except (SyntaxError, RecursionError, MemoryError):
        raise ExpressionError(
            f"{text!r} is no expression; equality is written ==, division //, and between two "
            "limits a < b and b < c"
        ) from None
    results = prod(throw.count * (throw.sides - 1) + 1 for throw in dice(expression))
    if results > MOST_RESULTS:
        raise ExpressionError(
            f"{text!r} can fall in {results} ways; at most {MOST_RESULTS} are allowed"
        )
    return expression


def _word(match: re.Match[str]) -> str:
    """Return a word in the parser's form: names begin with ``_``, throws are lists."""
    word = match[0]
    if word in ("and", "or", "not"):
        return word
    if not word[0].isdigit():
        return f"_{word}"
    throw = _DICE.fullmatch(word)
    if throw:
        return f"[{_number(throw[1], 1, _MOST_DICE)}, {_number(throw[2], 1, _MOST_SIDES)}]"
    return str(_number(word, 0, LARGEST_NUMBER))


def _number(digits: str, least: int, largest: int) -> int:
    if not digits.isdecimal():
        raise ExpressionError(f"{digits!r} is no number; names begin with a letter")
    # The length comes first: to read a number of very many digits takes long.
    if len(digits) > len(str(largest)) or not least <= int(digits) <= largest:
        raise ExpressionError(f"{digits[:12]} is out of range; write {least} to {largest}")
    return int(digits)


def _read(node: ast.expr, meaning: Meaning, levels: int) -> Expression:
    """Return the expression of a node, with operations nested up to a limit.

    Raises:
        SyntaxError: If the node is of a kind that expressions do not have.
    """
    if levels < 0:
        message = f"an expression has more than {_MOST_LEVELS} operations within each other"
        raise ExpressionError(f"{message}; divide it")

    operands: list[ast.expr]
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.List(elts=[ast.Constant(value=int(number)), ast.Constant(value=int(sides))]):
            return Dice(number, sides)
        case ast.Name(id="_digit"):
            return Dice(1, 10, 0)
        case ast.Name(id="_true" | "_false" as word):
            return int(word == "_true")
        case ast.Name(id=word):
            return meaning("", word[1:])
        case ast.Call(func=ast.Name(id="_count" | "_room" as call), args=[ast.Name(id=name)],
                      keywords=[]):  # fmt: skip
            return meaning(call[1:], name[1:])
        case ast.Call(func=ast.Name(id="_min" | "_max" as call), args=[_, _, *_], keywords=[]):
            operator, operands = call[1:], node.args
        case ast.UnaryOp(op=op, operand=operand):
            operator, operands = type(op).__name__, [operand]
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ):
            operator, operands = type(op).__name__, [left, right]
        case ast.BoolOp(op=op, values=operands):
            operator = type(op).__name__
        case _:
            operator, operands = "", []
    if operator not in OPERATORS:
        raise SyntaxError
    return Operation(operator, tuple(_read(inner, meaning, levels - 1) for inner in operands))


def compiled(expression: Expression, position: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return an expression as a function of values.

    Args:
        expression: The expression to compute.
        position: The index of each name in the values. The faces of throws follow after these, in
            their order.

    Raises:
        KeyError: If a name has no position.
    """
    face = count(len(position))

    def function(part: Expression) -> Callable[[Any], Any]:
        if isinstance(part, int):
            return lambda values: part
        if not isinstance(part, Operation):
            place = position[part] if isinstance(part, str) else next(face)
            return lambda values: values[place]
        apply = OPERATORS[part.operator]
        operands = tuple(map(function, part.operands))
        if len(operands) == 2:
            left, right = operands
            return lambda values: apply(left(values), right(values))
        return lambda values: apply(*[operand(values) for operand in operands])

    return function(expression)


def evaluate(expression: Expression, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression without dice.

    Args:
        expression: The expression to compute.
        values: The value of every name: integers, or NumPy arrays that broadcast together.

    Raises:
        KeyError: If a name has no value.
    """
    return compiled(expression, {name: name for name in values})(values)


def falls(expression: Expression) -> list[tuple[Faces, Fraction]]:
    """Return every result of the dice of an expression, with its probability."""
    throws = [_faces(throw).items() for throw in dice(expression)]
    return [
        (tuple(face for face, _ in fallen), prod((p for _, p in fallen), start=Fraction(1)))
        for fallen in product(*throws)
    ]


@cache
def _faces(throw: Dice) -> dict[int, Fraction]:
    shift = throw.count * (throw.first - 1)
    return {total + shift: p for total, p in dice_sum(throw.count, throw.sides).items()}


def add(odds: dict[Any, Fraction], target: Any, probability: Fraction) -> None:
    """Add to the probability of one of several results.

    Args:
        odds: The probability of each result so far, changed.
        target: The result.
        probability: The probability to add.
    """
    odds[target] = odds[target] + probability if target in odds else probability


def gathered(results: Iterable[tuple[Any, Fraction]]) -> dict[Any, Fraction]:
    """Return the probability of each of some results, of which several may be equal."""
    odds: dict[Any, Fraction] = {}
    for target, probability in results:
        add(odds, target, probability)
    return odds


def distribution(expression: Expression) -> dict[int, Fraction]:
    """The distribution of an expression without names, ascending; every throw is independent."""
    value = compiled(expression, {})
    found = gathered((int(value(faces)), p) for faces, p in falls(expression))
    return dict(sorted(found.items()))


def total(parts: tuple[Expression, ...]) -> Expression:
    """Return the sum of some expressions; 0 if there are none."""
    return Operation("Add", parts) if parts else 0


def parts_of(expression: Expression) -> Iterator[Expression]:
    """An expression and everything inside it, from left to right."""
    yield expression
    if isinstance(expression, Operation):
        for operand in expression.operands:
            yield from parts_of(operand)


def names(expression: Expression) -> frozenset[str]:
    """The names that an expression reads."""
    return frozenset(part for part in parts_of(expression) if isinstance(part, str))


def dice(expression: Expression) -> Iterator[Dice]:
    """The throws in an expression, from left to right."""
    return (part for part in parts_of(expression) if isinstance(part, Dice))


Range: TypeAlias = tuple[int, int]


def bounds(expression: Expression, ranges: Mapping[str, Range]) -> Range:
    """Return bounds on the value of an expression.

    Args:
        expression: The expression, which may have dice.
        ranges: The least and largest value of every name.

    Raises:
        KeyError: If a name has no range.
        ExpressionError: If a divisor could be less than 1.
    """
    match expression:
        case int():
            return expression, expression
        case str():
            return ranges[expression]
        case Dice(number, sides, first):
            return number * first, number * (first + sides - 1)
    some, *others = [bounds(operand, ranges) for operand in expression.operands]
    operator = expression.operator
    if operator in _LOGICAL:
        return 0, 1
    if operator == "FloorDiv" and others[0][0] < 1:
        raise ExpressionError(
            f"a divisor can be {others[0][0]}; it should be at least 1: write max(1, ...)"
        )
    # The others rise or fall with each operand, so that ends come from ends.
    apply = OPERATORS[operator]
    if not others:
        ends = [apply(end) for end in some]
        return min(ends), max(ends)
    for other in others:
        ends = [apply(x, y) for x in some for y in other]
        some = min(ends), max(ends)
    return some
