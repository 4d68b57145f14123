"""The expressions of a gamebook: whole numbers, names, comparisons, and dice.

A condition such as ``gold >= 3 and not cursed`` and an amount such as ``2d6 + 3`` are written in
one small language. Everything in it is a whole number: a comparison is 1 if it holds and else 0,
and where a condition is wanted, every number but 0 holds. So ``rope`` reads "at least one rope",
and ``4 * shield`` is 4 if there is a shield and else 0. From what binds least::

    or  ::=  and { "or" and }
    and ::=  not { "and" not }
    not ::=  "not" not | sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
    sum ::=  product { ("+" | "-") product }
    product ::=  factor { ("*" | "//") factor }
    factor  ::=  "-" factor | "(" or ")" | number | name | dice | "digit" | "true" | "false"
              |  ("min" | "max") "(" or "," or { "," or } ")"
              |  ("count" | "room") "(" name ")"

``2d6`` is the sum of two dice, ``digit`` a digit from 0 to 9; each is thrown anew wherever it
stands. ``a // b`` is the quotient rounded down; b may not be 0 or less, whatever the names in it
are. Texts are read by the parser below and never by Python's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import product
from typing import Any, TypeAlias

from solvent.model import dice_sum

LONGEST = 500
"""Characters of an expression."""

DEEPEST = 20
"""Parentheses, signs and calls within each other."""

WIDEST = 100
"""Parts of a sum or a product that are put together one after the other; more are halved first."""

MOST_LEVELS = 120
"""Operations within each other, so that whatever walks through an expression may be recursive."""

LARGEST_NUMBER = 10**6
"""A number written in an expression."""

MOST_DICE, MOST_SIDES = 20, 100
"""Of one throw such as ``20d100``."""

MOST_RESULTS = 10_000
"""Combinations of throws that one expression may have."""

COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
CALLS = ("min", "max", "count", "room")
RESERVED = frozenset({"and", "or", "not", "digit", "true", "false", *CALLS})
"""Words that cannot be names."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}", re.ASCII)

_TOKEN = re.compile(
    r"\s*(?:(?P<dice>[0-9]+d[0-9]+)|(?P<number>[0-9]+)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>==|!=|<=|>=|//|[-+*()<>,]))",
    re.ASCII,
)


class ExpressionError(ValueError):
    """An expression cannot be read; the message quotes it and says where."""


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """The value of a field."""

    name: str


@dataclass(frozen=True, slots=True)
class Dice:
    """The sum of `count` fair dice, whose faces are the `sides` numbers from `first` upwards."""

    count: int
    sides: int
    first: int = 1


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator, or the name of a call, and what it is applied to."""

    operator: str
    operands: tuple[Expression, ...]


Expression: TypeAlias = Number | Name | Dice | Operation

TRUE, FALSE = Number(1), Number(0)


# Written so that they work for numbers and, element by element, for NumPy arrays.
OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "negative": lambda a: -a,
    "==": lambda a, b: (a == b) * 1,
    "!=": lambda a, b: (a != b) * 1,
    "<": lambda a, b: (a < b) * 1,
    "<=": lambda a, b: (a <= b) * 1,
    ">": lambda a, b: (a > b) * 1,
    ">=": lambda a, b: (a >= b) * 1,
    "not": lambda a: (a == 0) * 1,
    "and": lambda a, b: ((a != 0) & (b != 0)) * 1,
    "or": lambda a, b: ((a != 0) | (b != 0)) * 1,
    "min": lambda *several: reduce(lambda a, b: a + (b - a) * (b < a), several),
    "max": lambda *several: reduce(lambda a, b: a + (b - a) * (b > a), several),
}


def parse(text: str) -> Expression:
    """Read an expression.

    Raises:
        ExpressionError: If it is not one, or too long, too deep, or names too large a number.
    """
    return _Parser(text).whole()


def joined(parts: Iterable[tuple[str, Expression]]) -> Expression:
    """Parts put together by operators that bind alike, from left to right.

    Very many are halved first, which changes nothing but how deep the expression is.

    Args:
        parts: Each with the operator before it; that of the first is not looked at.
    """
    signs, operands = zip(*parts, strict=True)
    if len(operands) <= WIDEST or "//" in signs:
        whole: Expression = operands[0]
        for sign, operand in zip(signs[1:], operands[1:], strict=True):
            whole = Operation(sign, (whole, operand))
        return whole
    middle = len(operands) // 2
    later = signs[middle:]
    if signs[middle] == "-":
        later = tuple("+" if sign == "-" else "-" for sign in later)
    halves = zip(signs, operands[:middle], strict=False), zip(later, operands[middle:], strict=True)
    return Operation(signs[middle], (joined(halves[0]), joined(halves[1])))


def evaluate(expression: Expression, values: Mapping[str, Any]) -> Any:
    """The value of an expression without dice.

    Args:
        expression: As :func:`parse` gives it, with ``count`` and ``room`` replaced.
        values: The value of every name: ints, or NumPy arrays that broadcast together.

    Raises:
        KeyError: If a name has no value.
        ValueError: If there are dice in it.
    """
    match expression:
        case Number(value):
            return value
        case Name(name):
            return values[name]
        case Operation(operator, operands):
            return OPERATORS[operator](*(evaluate(operand, values) for operand in operands))
    raise ValueError("an expression with dice has a distribution, not a value")


def distribution(expression: Expression, values: Mapping[str, int]) -> dict[int, Fraction]:
    """The distribution of an expression's value, ascending; every throw is independent.

    Args:
        expression: With any number of throws in it, or none.
        values: The value of every name.

    Raises:
        KeyError: If a name has no value.
    """
    result: dict[int, Fraction] = {}
    for fallen, probability in thrown(expression):
        value = int(evaluate(fallen, values))
        result[value] = result.get(value, Fraction(0)) + probability
    return dict(sorted(result.items()))


def thrown(expression: Expression) -> Iterator[tuple[Expression, Fraction]]:
    """Every way in which the dice in an expression can fall, put in their places."""
    throws = tuple(dice(expression))
    if not throws:
        yield expression, Fraction(1)
        return
    for faces in product(*(_faces(throw).items() for throw in throws)):
        probability = Fraction(1)
        for _, p in faces:
            probability *= p
        shown = iter(face for face, _ in faces)
        yield _with_throws(expression, shown), probability


def compiled(expression: Expression, position: Mapping[str, int]) -> Callable[[Sequence[Any]], Any]:
    """An expression without dice as a function of a sequence of values.

    Args:
        expression: What to compute.
        position: Where in the sequence the value of each name stands.

    Raises:
        KeyError: If a name has no position.
        ValueError: If there are dice in it.
    """
    match expression:
        case Number(value):
            return lambda values: value
        case Name(name):
            place = position[name]
            return lambda values: values[place]
        case Operation(operator, operands):
            apply = OPERATORS[operator]
            parts = tuple(compiled(operand, position) for operand in operands)
            if len(parts) == 1:
                [part] = parts
                return lambda values: apply(part(values))
            if len(parts) == 2:
                left, right = parts
                return lambda values: apply(left(values), right(values))
            return lambda values: apply(*(part(values) for part in parts))
    raise ValueError("an expression with dice has a distribution, not a value")


def names(expression: Expression) -> frozenset[str]:
    """The names that an expression reads."""
    return frozenset(part.name for part in _parts(expression) if isinstance(part, Name))


def dice(expression: Expression) -> Iterator[Dice]:
    """The throws in an expression, from left to right."""
    return (part for part in _parts(expression) if isinstance(part, Dice))


def replaced(
    expression: Expression, replacement: Callable[[Expression], Expression | None]
) -> Expression:
    """The expression with parts replaced, from the outside inwards.

    Args:
        expression: Where to replace.
        replacement: Gives what stands for a part, or None to look into it.
    """
    new = replacement(expression)
    if new is not None:
        return new
    if isinstance(expression, Operation):
        operands = tuple(replaced(operand, replacement) for operand in expression.operands)
        return Operation(expression.operator, operands)
    return expression


def bounds(expression: Expression, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Limits that the value of an expression cannot leave.

    Args:
        expression: Dice included.
        ranges: Least and largest value of every name.

    Raises:
        KeyError: If a name has no range.
        ExpressionError: If something could be divided by less than 1.
    """
    match expression:
        case Number(value):
            return value, value
        case Name(name):
            return ranges[name]
        case Dice(count, sides, first):
            return count * first, count * (first + sides - 1)
    assert isinstance(expression, Operation)
    operands = expression.operands
    parts = [bounds(operand, ranges) for operand in operands]
    lows, highs = zip(*parts, strict=True)
    match expression.operator:
        case "+":
            return sum(lows), sum(highs)
        case "-":
            return lows[0] - highs[1], highs[0] - lows[1]
        case "*":
            ends = [a * b for a in parts[0] for b in parts[1]]
            return min(ends), max(ends)
        case "//":
            if lows[1] < 1:
                raise ExpressionError(
                    f"the divisor {text_of(operands[1])} can be {lows[1]}; it should be at least 1"
                )
            ends = [a // b for a in parts[0] for b in parts[1]]
            return min(ends), max(ends)
        case "negative":
            return -highs[0], -lows[0]
        case "min":
            return min(lows), min(highs)
        case "max":
            return max(lows), max(highs)
    return 0, 1


def largest(expression: Expression, ranges: Mapping[str, tuple[int, int]]) -> int:
    """A number that no part of an expression can exceed, either side of 0.

    Raises:
        ExpressionError: If something could be divided by less than 1.
    """
    ends = (bounds(part, ranges) for part in _parts(expression))
    return max(max(-low, high) for low, high in ends)


BINDING: Mapping[str, int] = {
    "or": 1,
    "and": 2,
    "not": 3,
    **dict.fromkeys(COMPARISONS, 4),
    "+": 5,
    "-": 5,
    "*": 6,
    "//": 6,
    "negative": 7,
}
"""How strongly operators bind, from the weakest."""


def text_of(expression: Expression, within: int = 0) -> str:
    """The expression as text that :func:`parse` reads back, with no needless parentheses.

    Args:
        expression: What to write.
        within: How strongly the operator binds that it stands beside; see :data:`BINDING`.
    """
    match expression:
        case Number(value):
            return str(value)
        case Name(name):
            return name
        case Dice(count, sides, first):
            return "digit" if first == 0 else f"{count}d{sides}"
    assert isinstance(expression, Operation)
    operator, operands = expression.operator, expression.operands
    if operator in CALLS:
        return f"{operator}({', '.join(map(text_of, operands))})"
    binding = BINDING[operator]
    # Of equal operators the left is applied first; comparisons stand alone.
    left = text_of(operands[0], binding + (operator in COMPARISONS))
    if operator == "negative":
        text = f"-{left}"
    elif operator == "not":
        text = f"not {left}"
    else:
        text = f"{left} {operator} {text_of(operands[1], binding + 1)}"
    return f"({text})" if binding < within else text


def _parts(expression: Expression) -> Iterator[Expression]:
    yield expression
    if isinstance(expression, Operation):
        for operand in expression.operands:
            yield from _parts(operand)


def _levels(expression: Expression) -> int:
    """How many operations are within each other at most."""
    deepest = 0
    todo = [(expression, 0)]
    while todo:
        part, level = todo.pop()
        if isinstance(part, Operation):
            deepest = max(deepest, level + 1)
            todo += [(operand, level + 1) for operand in part.operands]
    return deepest


@cache
def _faces(throw: Dice) -> dict[int, Fraction]:
    shift = throw.count * (throw.first - 1)
    return {total + shift: p for total, p in dice_sum(throw.count, throw.sides).items()}


def _with_throws(expression: Expression, shown: Iterator[int]) -> Expression:
    return replaced(expression, lambda p: Number(next(shown)) if isinstance(p, Dice) else None)


MEANT = {"=": ("equality", "=="), "/": ("division, which rounds down,", "//")}
"""What somebody will have meant by a sign that is not known, and how it is written."""


class _Parser:
    """Recursive descent; each method reads what the rule of its name describes."""

    def __init__(self, text: str) -> None:
        self._text = text
        if len(text) > LONGEST:
            raise ExpressionError(
                f"{text[:40]!r}... has {len(text)} characters; allowed are {LONGEST}"
            )
        self._tokens = list(self._read_tokens())
        self._next = 0
        self._depth = 0

    def _read_tokens(self) -> Iterator[tuple[str, str, int]]:
        """The tokens, each with its kind and place, and an empty one at the end."""
        at = 0
        end = len(self._text.rstrip())
        while at < end:
            match = _TOKEN.match(self._text, at)
            if match is None:
                rest = self._text[at:].lstrip()
                meant = MEANT.get(rest[0])
                cure = f"; {meant[0]} is written {meant[1]}" if meant else ""
                raise ExpressionError(f"{self._text!r} has {rest[0]!r} in it{cure}")
            yield (
                str(match.lastgroup),
                match[match.lastgroup or 0],
                match.start(match.lastgroup or 0),
            )
            at = match.end()
        yield "end", "", end

    def whole(self) -> Expression:
        expression = self._or()
        if self._tokens[self._next][0] != "end":
            raise self._unexpected()
        if _levels(expression) > MOST_LEVELS:
            raise ExpressionError(
                f"{self._text!r} has more than {MOST_LEVELS} operations within each other"
            )
        throws = tuple(dice(expression))
        results = 1
        for throw in throws:
            results *= throw.count * (throw.sides - 1) + 1
        if results > MOST_RESULTS:
            raise ExpressionError(
                f"{self._text!r} can fall in {results} ways; allowed are {MOST_RESULTS}"
            )
        return expression

    def _or(self) -> Expression:
        return self._chain(("or",), self._and)

    def _and(self) -> Expression:
        return self._chain(("and",), self._not)

    def _not(self) -> Expression:
        if self._take("not"):
            with_depth = self._deeper(self._not)
            return Operation("not", (with_depth,))
        left = self._sum()
        sign = self._take(*COMPARISONS)
        if not sign:
            return left
        comparison = Operation(sign, (left, self._sum()))
        if self._tokens[self._next][1] in COMPARISONS:
            raise ExpressionError(
                f"{self._text!r} compares three things at once; write two comparisons with and"
            )
        return comparison

    def _sum(self) -> Expression:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Expression:
        return self._chain(("*", "//"), self._factor)

    def _chain(self, signs: tuple[str, ...], part: Callable[[], Expression]) -> Expression:
        parts = [("", part())]
        while sign := self._take(*signs):
            parts.append((sign, part()))
        return joined(parts)

    def _factor(self) -> Expression:
        if self._take("-"):
            return Operation("negative", (self._deeper(self._factor),))
        if self._take("("):
            inner = self._deeper(self._or)
            self._expect(")")
            return inner
        kind, token, _ = self._tokens[self._next]
        if kind == "number":
            self._next += 1
            return Number(self._number(token, LARGEST_NUMBER))
        if kind == "dice":
            self._next += 1
            count, sides = token.split("d")
            return Dice(self._number(count, MOST_DICE, 1), self._number(sides, MOST_SIDES, 1))
        if kind == "word" and token not in ("and", "or", "not"):
            self._next += 1
            return self._word(token)
        raise self._unexpected()

    def _word(self, word: str) -> Expression:
        if word == "digit":
            return Dice(1, 10, 0)
        if word in ("true", "false"):
            return TRUE if word == "true" else FALSE
        if word not in CALLS:
            return Name(word)
        self._expect("(")
        operands = [self._deeper(self._or)]
        while self._take(","):
            operands.append(self._deeper(self._or))
        self._expect(")")
        if word in ("min", "max"):
            if len(operands) < 2:
                raise ExpressionError(f"{self._text!r}: {word} takes at least two numbers")
        elif len(operands) != 1 or not isinstance(operands[0], Name):
            raise ExpressionError(f"{self._text!r}: {word} takes one name")
        return Operation(word, tuple(operands))

    def _number(self, digits: str, largest: int, least: int = 0) -> int:
        # The length comes first: to read a number of very many digits takes long.
        if len(digits) > len(str(largest)) or not least <= int(digits) <= largest:
            raise ExpressionError(
                f"{self._text!r}: {digits[:12]} is out of range; allowed is {least} to {largest}"
            )
        return int(digits)

    def _deeper(self, part: Callable[[], Expression]) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionError(f"{self._text!r} is nested more than {DEEPEST} deep")
        result = part()
        self._depth -= 1
        return result

    def _take(self, *tokens: str) -> str:
        """The next token if it is one of these, else nothing."""
        kind, token, _ = self._tokens[self._next]
        if token in tokens and kind in ("sign", "word"):
            self._next += 1
            return token
        return ""

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self._unexpected()

    def _unexpected(self) -> ExpressionError:
        _, token, at = self._tokens[self._next]
        if not token:
            return ExpressionError(f"{self._text!r} ends too early")
        return ExpressionError(f"{self._text!r}: did not expect {token!r} at character {at + 1}")
