"""Expressions mean what the page on the format says, and nothing of Python is run."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvent.games.gamebook.expressions import (
    ExpressionError,
    bounds,
    compiled,
    dice,
    distribution,
    evaluate,
    names,
    parse,
)
from solvent.model import dice_sum

RANGES = {"a": (-2, 3), "b": (0, 4), "flag": (0, 1)}
VALUES = {"a": 3, "b": 4, "flag": 1}

MEANINGS = {
    "1 + 2 * 3": 7,
    "(1 + 2) * 3": 9,
    "10 - 3 - 2": 5,
    "10 - (3 - 2)": 9,
    "-a + b": 1,
    "- -a": 3,
    "a - -b": 7,
    "min(a, b, 2) + max(a, b)": 6,
    "a < b": 1,
    "a >= b": 0,
    "a + 1 == b": 1,
    "a != 3": 0,
    "7 // 2": 3,
    "-7 // 2": -4,
    "7 // b * 3": 3,
    "3 * 7 // b": 5,
    "100 // 7 // 2": 7,
    "not a == 3": 0,
    "not flag and flag": 0,
    "not (flag and a > 5)": 1,
    "flag or flag and false": 1,
    "(flag or flag) and false": 0,
    "true and 7": 1,
    "2 * (a > 2) + (b > 9)": 2,
    "007": 7,
}

NO_EXPRESSIONS = [
    ("", "is no expression"),
    ("a +", "is no expression"),
    ("(a", "is no expression"),
    ("a) + (b", "is no expression"),
    ("a b", "is no expression"),
    ("a = 3", "equality is written =="),
    ("1 < a < 3", "a < b and b < c"),
    ("a / 2", "division //"),
    ("a /// 2", "is no expression"),
    ("//".join("1" * 123), "more than 120 operations within each other"),
    ("not " * 122 + "1", "more than 120 operations within each other"),
    ("-" * 499 + "1", "more than 120 operations within each other"),
    ("(" * 249 + "1" + ")" * 249, "is no expression"),
    ("a ** 2", "is no expression"),
    ("+a", "is no expression"),
    ("a.b", "has '.' in it"),
    ("a[0]", "has '[' in it"),
    ("'x'", 'has "\'" in it'),
    ("\N{MATHEMATICAL BOLD SMALL A}", "in it"),
    ("a # b", "has '#' in it"),
    ("and", "is no expression"),
    ("a if b else 1", "is no expression"),
    ("lambda", ""),
    ("min(a)", "is no expression"),
    ("min(*a, b)", "is no expression"),
    ("max(a, b, key)", ""),
    ("count(a + 1)", "is no expression"),
    ("room(a, b)", "is no expression"),
    ("print(1)", "is no expression"),
    ("(a, b)", "is no expression"),
    ("2d6(1)", "is no expression"),
    ("a 2d6", "is no expression"),
    ("__import__(os)", "is no expression"),
    ("0x10", "'0x10' is no number"),
    ("1e3", "'1e3' is no number"),
    ("1_000", "'1_000' is no number"),
    ("21d6", "21 is out of range"),
    ("0d6", "0 is out of range"),
    ("1d101", "101 is out of range"),
    ("1000001", "1000001 is out of range"),
    ("9" * 400, "999999999999 is out of range"),
    ("1 + " * 200 + "1", "write at most 500 characters"),
    ("20d100 + 20d100", "can fall in 3924361 ways"),
]


def test_what_an_expression_means() -> None:
    for text, value in MEANINGS.items():
        assert evaluate(parse(text), VALUES) == value, text


def test_what_is_no_expression() -> None:
    for text, fault in NO_EXPRESSIONS:
        if not fault:
            assert parse(text)
            continue
        with pytest.raises(ExpressionError) as error:
            parse(text)
        assert fault in str(error.value), text
        assert "; " in str(error.value)


OPERATORS = ("+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "and", "or")
TEXTS = st.recursive(
    st.one_of(st.integers(0, 5).map(str), st.sampled_from(sorted(RANGES))),
    lambda inner: st.one_of(
        inner.map(lambda x: f"(not {x})"),
        inner.map(lambda x: f"-{x}"),
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        st.tuples(inner, inner).map(lambda x: f"({x[0]} // max(1, {x[1]}))"),
        st.lists(inner, min_size=2, max_size=3).map(lambda x: f"min({', '.join(x)})"),
    ),
    max_leaves=8,
)
STATES = st.fixed_dictionaries({name: st.integers(*ends) for name, ends in RANGES.items()})


class Python(ast.NodeTransformer):
    """Makes truth values 0 or 1, so that Python itself can compute an expression of a book."""

    def visit(self, node: ast.AST) -> ast.AST:
        new = self.generic_visit(node)
        if isinstance(new, (ast.BoolOp, ast.Compare)) or isinstance(
            getattr(new, "op", None), ast.Not
        ):
            return ast.parse(f"int(bool({ast.unparse(new)}))", mode="eval").body
        return new


@given(TEXTS, STATES)
def test_all_ways_to_a_value_agree(text: str, state: dict[str, int]) -> None:
    expression = parse(text)
    value = evaluate(expression, state)
    assert value == eval(ast.unparse(Python().visit(ast.parse(text, mode="eval"))), {}, state)
    order = sorted(state)
    function = compiled(expression, {name: place for place, name in enumerate(order)})
    assert function([state[name] for name in order]) == value
    low, high = bounds(expression, RANGES)
    assert low <= value <= high
    arrays: Any = {name: np.array([number, number]) for name, number in state.items()}
    assert np.array_equal(np.broadcast_to(evaluate(expression, arrays), 2), [value, value])
    needed = {name: state[name] for name in names(expression)}
    assert evaluate(expression, needed) == value
    for name in needed:
        with pytest.raises(KeyError):
            evaluate(expression, {n: v for n, v in needed.items() if n != name})


def test_dice_are_thrown_anew_wherever_they_stand() -> None:
    shifted = {total + 3: p for total, p in dice_sum(2).items()}
    assert distribution(parse("2d6 + 3")) == shifted
    assert distribution(parse("digit")) == {n: Fraction(1, 10) for n in range(10)}
    assert distribution(parse("4 * (1d2 == 2)")) == {0: Fraction(1, 2), 4: Fraction(1, 2)}
    assert distribution(parse("1d6 + 1d6")) == dice_sum(2)
    assert distribution(parse("1d6 - 1d6"))[0] == Fraction(1, 6)
    assert [(throw.count, throw.sides, throw.first) for throw in dice(parse("digit + 2d6"))] == [
        (1, 10, 0),
        (2, 6, 1),
    ]


def test_what_divides_has_to_be_1_at_least() -> None:
    for text in ("1 // a", "1 // (b - 1)", "flag // flag", "1 // 0", "b + 1 // -2"):
        with pytest.raises(ExpressionError, match=r"a divisor can be .*; it should be at least 1"):
            bounds(parse(text), RANGES)
