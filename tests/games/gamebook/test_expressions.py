"""Expressions mean what the page on the format says, and nothing of Python."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvent.games.gamebook.checker import possible_results
from solvent.games.gamebook.expressions import (
    OPERATORS,
    Dice,
    Expression,
    ExpressionError,
    Name,
    Number,
    Operation,
    bounds,
    compiled,
    dice,
    distribution,
    evaluate,
    largest,
    names,
    parse,
    replaced,
    text_of,
)
from solvent.model import dice_sum

RANGES = {"a": (-2, 3), "b": (0, 4), "flag": (0, 1)}


def values(**given: int) -> dict[str, int]:
    return {"a": 3, "b": 4, "flag": 1, **given}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("-a + b", 1),
        ("- -a", 3),
        ("a - -b", 7),
        ("min(a, b, 2) + max(a, b)", 6),
        ("a < b", 1),
        ("a >= b", 0),
        ("a + 1 == b", 1),
        ("a != 3", 0),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("7 // b * 3", 3),
        ("3 * 7 // b", 5),
        ("100 // 7 // 2", 7),
        ("1 + b // 3", 2),
        ("not a == 3", 0),
        ("not a", 0),
        ("not flag and flag", 0),
        ("not (flag and a > 5)", 1),
        # and binds more than or
        ("flag or flag and false", 1),
        ("(flag or flag) and false", 0),
        ("true and 7", 1),
        ("4 * flag", 4),
        ("2 * (a > 2) + (b > 9)", 2),
    ],
)
def test_what_an_expression_is_worth(text: str, value: int) -> None:
    assert evaluate(parse(text), values()) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "ends too early"),
        ("a +", "ends too early"),
        ("(a", "ends too early"),
        ("a b", "did not expect 'b' at character 3"),
        ("a = 3", "equality is written =="),
        ("1 < a < 3", "compares three things"),
        ("a / 2", "has '/' in it; division, which rounds down, is written //"),
        ("a /// 2", "has '/' in it"),
        ("//".join("1" * 122), "has more than 120 operations within each other"),
        ("a ** 2", "did not expect '*'"),
        ("a.b", "has '.' in it"),
        ("a[0]", "has '[' in it"),
        ("'x'", 'has "\'" in it'),
        ("and", "did not expect 'and'"),
        ("min(a)", "at least two"),
        ("count(a + 1)", "takes one name"),
        ("room(a, b)", "takes one name"),
        ("print(1)", "did not expect '('"),
        ("__import__('os').system('true')", 'has "\'" in it'),
        ("21d6", "21 is out of range"),
        ("0d6", "0 is out of range"),
        ("1d101", "101 is out of range"),
        ("1000001", "1000001 is out of range"),
        ("9" * 400, "999999999999 is out of range"),
        ("1 + " * 200 + "1", "801 characters"),
        ("(" * 21 + "1" + ")" * 21, "nested more than 20 deep"),
        ("not " * 21 + "1", "nested more than 20 deep"),
        ("20d100 + 20d100", "can fall in 3924361 ways"),
    ],
)
def test_what_is_no_expression(text: str, fault: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse(text)
    assert fault in str(error.value)


def test_the_longest_expressions_can_be_worked_with() -> None:
    expression = parse("+".join(["a"] * 250))
    assert evaluate(expression, values()) == 750
    assert compiled(expression, {"a": 0})((3,)) == 750
    assert bounds(expression, RANGES) == (-500, 750)
    short = parse("+".join(["a"] * 100))
    assert parse(text_of(short)) == short


@pytest.mark.parametrize(
    "text",
    [
        "+".join(["a"] * 250),
        "-".join(["a"] * 250),
        "*".join(["1"] * 250),
        " or ".join(["a"] * 83),
        "//".join(["a"] * 121).replace("//a", "//2"),
        "not " * 20 + "a" + "+1" * 200,
    ],
)
def test_no_expression_is_so_deep_that_walking_through_it_fails(text: str) -> None:
    expression = parse(text)
    # Of all walks these two take the most levels of the stack.
    assert pickle.dumps(expression)
    assert replaced(expression, lambda part: None) == expression
    assert len(text_of(expression)) > 400


@given(st.lists(st.sampled_from("+-"), min_size=95, max_size=245))
def test_a_long_sum_is_added_up_from_left_to_right(signs: list[str]) -> None:
    text = "".join(f"{sign}{n % 3}" for n, sign in enumerate(["", *signs]))
    assert evaluate(parse(text), {}) == eval(text)


def test_dice_are_thrown() -> None:
    shifted = {total + 3: p for total, p in dice_sum(2).items()}
    assert distribution(parse("2d6 + 3"), {}) == shifted
    assert distribution(parse("digit"), {}) == {n: Fraction(1, 10) for n in range(10)}
    assert distribution(parse("a + b"), values()) == {7: Fraction(1)}
    assert distribution(parse("b * (1d2 == 2)"), values()) == {
        0: Fraction(1, 2),
        4: Fraction(1, 2),
    }


def test_every_throw_is_a_new_one() -> None:
    assert distribution(parse("1d6 + 1d6"), {}) == dice_sum(2)
    assert distribution(parse("1d6 - 1d6"), {})[0] == Fraction(1, 6)


def test_a_throw_has_no_value() -> None:
    with pytest.raises(ValueError, match="distribution"):
        evaluate(parse("1d6"), {})
    with pytest.raises(ValueError, match="distribution"):
        compiled(parse("1d6"), {})


def test_replacing_goes_from_the_outside_inwards() -> None:
    def constant(part: Expression) -> Expression | None:
        return Number(7) if part == Name("a") else None

    assert replaced(parse("a + max(a, b)"), constant) == parse("7 + max(7, b)")


BINARY = [o for o in OPERATORS if o not in ("not", "negative", "//")]
EXPRESSIONS = st.recursive(
    st.one_of(
        st.builds(Number, st.integers(0, 5)),
        st.builds(Name, st.sampled_from(sorted(RANGES))),
    ),
    lambda inner: st.one_of(
        st.builds(lambda o, x: Operation(o, (x,)), st.sampled_from(["not", "negative"]), inner),
        st.builds(lambda o, x, y: Operation(o, (x, y)), st.sampled_from(BINARY), inner, inner),
        st.builds(
            lambda x, y: Operation("//", (x, Operation("max", (Number(1), y)))), inner, inner
        ),
    ),
    max_leaves=8,
)
STATES = st.fixed_dictionaries({name: st.integers(*ends) for name, ends in RANGES.items()})


@given(EXPRESSIONS)
def test_text_is_read_back(expression: Expression) -> None:
    assert parse(text_of(expression)) == expression


@pytest.mark.parametrize(
    "text",
    [
        "a + b - 1",
        "a - (b - 1)",
        "(a + 1) * b",
        "not a == 3 and (b or flag)",
        "min(a, 2) + -b",
        "2d6 + digit",
        "2 * a // 3 * b",
        "a // (2 * max(1, b))",
        "(a + 1) // 2",
    ],
)
def test_text_has_no_needless_parentheses(text: str) -> None:
    assert text_of(parse(text)) == text


@given(EXPRESSIONS, STATES)
def test_all_ways_to_a_value_agree(expression: Expression, state: dict[str, int]) -> None:
    value = evaluate(expression, state)
    order = sorted(state)
    function = compiled(expression, {name: place for place, name in enumerate(order)})
    assert function([state[name] for name in order]) == value
    assert distribution(expression, state) == {value: 1}
    low, high = bounds(expression, RANGES)
    assert low <= value <= high
    assert abs(value) <= largest(expression, RANGES)
    assert value in possible_results(expression, RANGES)
    arrays: Any = {name: np.array([number, number]) for name, number in state.items()}
    assert np.array_equal(np.broadcast_to(evaluate(expression, arrays), 2), [value, value])


@given(EXPRESSIONS)
def test_only_names_that_are_read_are_needed(expression: Expression) -> None:
    state = {name: RANGES[name][0] for name in names(expression)}
    evaluate(expression, state)
    for name in state:
        with pytest.raises(KeyError):
            evaluate(expression, {other: 0 for other in state if other != name})


@pytest.mark.parametrize("text", ["1 // a", "1 // (b - 1)", "flag // flag", "1 // 0", "1 // -2"])
def test_what_divides_has_to_be_1_at_least(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"the divisor .* can be .*; it should be at least 1"):
        bounds(parse(text), RANGES)
    with pytest.raises(ExpressionError, match="the divisor"):
        largest(parse(f"b + ({text})"), RANGES)


def test_possible_results_of_dice() -> None:
    assert list(possible_results(parse("2d6 - b"), RANGES)) == list(range(-2, 13))
    assert list(possible_results(parse("3 * (1d6 > 2) + digit * 0"), RANGES)) == [0, 3]
    assert list(dice(parse("digit + 2d6"))) == [Dice(1, 10, 0), Dice(2, 6)]
