"""Files of books: what they say, every fault with its place and a cure, and their commands."""

import ast
import copy
import json
import pickle
import random
import re
import tracemalloc
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer, refusal, run, said
from gamebooks import HERO, MILL, changed, faults, line_of, mill, refused, small
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_refused

from solvent.games.gamebook import loader
from solvent.games.gamebook.book import WAYS_ON, Book, Fight
from solvent.games.gamebook.checker import overlap
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
from solvent.games.gamebook.hero import read_rational
from solvent.games.gamebook.loader import (
    LARGEST_FILE,
    BookError,
    load_book,
    parse_book,
    parse_source,
)
from solvent.games.gamebook.rules import Gamebook
from solvent.games.gamebook.twee import (
    StoryError,
    book_text,
    parse_twee,
    read_story,
)
from solvent.model import dice_sum

# A file becomes the book that it describes; what is dangerous or absurd is refused


@pytest.fixture(scope="module")
def book() -> Book:
    return load_book(MILL)


def test_sections_lead_where_the_example_says(book: Book) -> None:
    assert book.targets == {
        1: (2,), 2: (3, 5), 3: (4, 5), 4: (9, 5), 5: (7, 6), 6: (7,), 7: (8,), 8: (9,), 9: (),
    }  # fmt: skip
    order, _ = book.in_order
    assert all(order.index(n) < order.index(to) for n in order for to in book.targets[n])


def test_a_rational_of_many_digits_is_read_exactly() -> None:
    for text, value in {
        "123456789012345/987654321098765": Fraction(123456789012345, 987654321098765),
        "0." + 99 * "0" + "1": Fraction(1, 10**100),
        f"{10**99}/{10**99 + 1}": Fraction(10**99, 10**99 + 1),
        "12.345678901234567890%": Fraction(1234567890123456789, 10**19),
        "-.5": Fraction(-1, 2),
    }.items():
        assert read_rational(text) == value
        found = parse_book(changed(("score: 1/2", f"score: {text}")).encode())
        assert found.endings["escape"].score == value


def test_the_same_book_as_json_and_as_a_copy(book: Book) -> None:
    again = parse_book(
        json.dumps(parse_source(mill().encode(), "mill.yaml").data).encode(), "a.json"
    )
    assert again.sections == book.sections
    assert again.fields == book.fields
    assert copy.deepcopy(Gamebook(book)).book.sections == book.sections
    assert pickle.dumps(Gamebook(book))
    value = {"title": 'Snow ❄ 🐺 / \\ " \t\n', "n": [1, {"a": True, "b": None}], "1": {}, "e": ""}
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert parse_source(text.encode(), "book.json").data == value


def test_a_book_with_errors_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    two = ("goto: 3\n      - label: Go", "goto: 33\n      - label: Go")
    path.write_text(changed(("goto: 6", "goto: 66"), two))
    with pytest.raises(BookError, match=r"bad.yaml:\d+, section 2: .* 33.*\(and 1 more\)") as error:
        load_book(path)
    assert [p.section for p in error.value.problems] == [2, 5]
    with pytest.raises(FileNotFoundError):
        load_book(tmp_path / "none.yaml")
    with pytest.raises(BookError) as error:
        parse_source(b"a: {b: 1, c: 2, b: 3}\nd: 4\na: 5\nd: {a: 6}\n", "book.yaml")
    named = [(p.line, p.message.split()[0]) for p in error.value.problems]
    assert named == [(1, "'b'"), (3, "'a'"), (4, "'d'")]


def test_what_is_no_book_at_all() -> None:
    for value in ("[]", "3", "x", "{}", "{sections: 3}", "{sections: {}}", "{endings: []}"):
        assert refused(value).cure


def fault(text: str | bytes) -> tuple[int, str]:
    with pytest.raises(BookError) as error:
        parse_source(text if isinstance(text, bytes) else text.encode(), "book.yaml")
    [problem] = error.value.problems
    assert problem.file == "book.yaml"
    assert problem.cure
    return problem.line, problem.message


@pytest.fixture(params=["C", "Python"])
def each_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of PyYAML's parsers: some builds have only the slow one."""
    if request.param == "Python":
        monkeypatch.setattr(loader, "LOADER", loader.yaml.SafeLoader)


@pytest.mark.usefixtures("each_parser")
def test_what_a_scalar_means() -> None:
    values = {
        "3": 3,
        "-3": -3,
        "true": True,
        "~": None,
        "'3'": "3",
        '"true"': "true",
        # Everything else is text, whatever YAML 1.1 makes of it.
        **{text: text for text in ("no", "1:30", "0x10", "010", "0.35", "1/3", "2026-01-01", "<<")},
        "9" * 30: "9" * 30,
    }
    for text, value in values.items():
        assert parse_source(f"key: {text}\n".encode(), "book.yaml").data == {"key": value}


@pytest.mark.usefixtures("each_parser")
def test_everything_knows_its_line() -> None:
    text = "a: 1\nb:\n  - x\n  -\n    c: [1,\n      2]\n7: |\n  long\n  text\nd: 5\n"
    read = parse_source(text.encode(), "book.yaml")
    assert read.data == {"a": 1, "b": ["x", {"c": [1, 2]}], 7: "long\ntext\n", "d": 5}
    lines = {
        (): 1,
        ("a",): 1,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 1): 5,
        ("b", 1, "c"): 5,
        ("b", 1, "c", 1): 6,
        (7,): 7,
        ("7",): 7,
        ("d",): 10,
        # As far as it leads.
        ("b", 1, "missing", 3): 5,
        ("b", 9): 2,
    }
    assert {path: read.line(path) for path in lines} == lines


@pytest.mark.usefixtures("each_parser")
def test_what_is_refused() -> None:
    rows: list[tuple[str | bytes, int, str]] = [
        ("a: 1\nb: &x 2\n", 2, "an anchor"),
        ("a: [1]\nb: *x\n", 2, "an alias"),
        ("a: 1\nb: !!python/object/apply:os.system ['true']\n", 2, "the tag"),
        ("a: !!int 3\n", 1, "the tag"),
        ("a: 1\nb: 2\na: 3\n", 3, "'a' stands here a second time, first in line 1"),
        ("1: x\n2: y\n'1': z\n", 3, "'1' stands here a second time, first in line 1"),
        ("? [a]\n: 1\n", 1, "a key that is no text"),
        ("", 1, "the file is empty"),
        ("a: 1\n---\nb: 2\n", 1, "several documents"),
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "not YAML"),
        ("a: 1\n\tb: 2\n", 2, "not YAML"),
        ('a: 1\nb: "\\e[2J"\n', 2, "the control character '\\x1b'"),
        ("a: " + "[" * 61 + "]" * 61, 1, "nested more than 60 deep"),
        ("[" * 100_000, 1, "nested more than 60 deep"),
        (b"a: 1\nb: \xff\n", 2, "the text is not UTF-8"),
        ("a: 1\nb: \x00\n", 2, "not allowed"),
        (b"x" * (LARGEST_FILE + 1), 1, "the file is larger than 16 MB"),
    ]
    for text, line, message in rows:
        found_line, found = fault(text)
        assert message in found
        assert found_line == line, message


def test_many_values_are_refused_before_memory_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "MOST_VALUES", 1000)
    text = "a:\n" + "- x\n" * 500_000
    tracemalloc.start()
    try:
        assert fault(text) == (999, "more than 1000 values")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(text)


PAGE = (Path(__file__).parents[3] / "docs" / "gamebook-format.md").read_text(encoding="utf-8")


def test_every_key_of_a_fight_and_every_way_on_is_described() -> None:
    table = PAGE[PAGE.index("| `rules` | that of") : PAGE.index("Rounds are counted through")]
    described = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE)))
    assert sorted(described) == sorted(Fight.model_fields)
    ways = PAGE[PAGE.index("| way on | meaning |") : PAGE.index("Wherever a way on leads")]
    assert re.findall(r"^\| `(\w+):", ways, re.MULTILINE) == list(WAYS_ON)


# Expressions mean what the page on the format says, and nothing of Python is run


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
    ("min(a)", "is no expression"),
    ("min(*a, b)", "is no expression"),
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
    # Words of Python are names like others, unless they are words of books too.
    assert all(map(parse, ("lambda", "max(a, b, key)")))


def test_what_is_no_expression() -> None:
    for text, fault in NO_EXPRESSIONS:
        with pytest.raises(ExpressionError, match=re.escape(fault)) as error:
            parse(text)
        assert "; " in str(error.value), text


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
    half = Fraction(1, 2)
    for text, expected in {
        "2d6 + 3": {total + 3: p for total, p in dice_sum(2).items()},
        "digit": {n: Fraction(1, 10) for n in range(10)},
        "4 * (1d2 == 2)": {0: half, 4: half},
        "1d6 + 1d6": dice_sum(2),
        "1d2 - 1d2": {-1: half / 2, 0: half, 1: half / 2},
    }.items():
        assert distribution(parse(text)) == expected, text
    thrown = [(throw.count, throw.sides, throw.first) for throw in dice(parse("digit + 2d6"))]
    assert thrown == [(1, 10, 0), (2, 6, 1)]


def test_what_divides_has_to_be_1_at_least() -> None:
    message = r"a divisor can be .*; it should be at least 1"
    texts = ("1 // a", "1 // (b - 1)", "flag // flag", "1 // 0", "b + 1 // -2")
    assert_refused(
        ((text, message) for text in texts),
        lambda text: bounds(parse(text), RANGES),
        ExpressionError,
    )


# Every fault that is known is found, with its line, its section and a cure


# What is replaced in the example; by what; where the fault is then found (a part of the text of
# its line, or None for the lines of what was put in); in which section; what is said.
ERRORS = [
    ("format: solvent-gamebook", "format: solvent-chart", None, None, "'solvent-chart'"),
    ("version: 1", "version: 2", None, None, "is 2; it should be 1"),
    ("title: The Mill\n", "\n", "format:", None, "title: is missing; add title"),
    ("author:", "autor:", None, None, "autor: is an unknown key; correct or remove it"),
    ("max: 20}", "maximum: 20}", None, None, "variables.gold.max: is missing"),
    ("max: 20}", "max: many}", None, None, "should be a valid integer"),
    ("max: 20}", "min: 30, max: 20}", None, None, "stay within 30..20"),
    ("max: 20}", "max: 5}", None, None, "variables.gold.initial: is 6"),
    ("initial: 1d6 + 6", "initial: 1d6 + 9", None, None, "from 10 to 15"),
    ("initial: 1d6 + 6", "initial: 1d6 + luck", None, None, "'luck' is no constant"),
    ("  gold: {", "  min: {", None, None, "a word of expressions"),
    ("  gold: {", "  1gold: {", None, None, "should be a name"),
    ("  rested: You", "  axe: You", "axe: {slot", None, "items.axe: is already the name of a flag"),
    ("{slot: belt,", "{slot: bolt,", None, None, "there is no slot 'bolt'"),
    ("kind: weapon}", "kind: wepon}", None, None, "'belt' does not hold it"),
    ("{slot: bag, initial: 1}", "{slot: bag, initial: 4}", None, None, "at most 3"),
    ("{slot: bag, initial: 1}", "many", None, None, "is 'many'; it should be a mapping"),
    ("{slot: bag, max: 1,", "{slot: bag, max: 3, initial: 3,", "bag: {c", None, "and 4 items"),
    ("pick: 1", "pick: 3", None, None, "3 of 2 disciplines; pick one at least"),
    ("pick: 1", "pick: 0", None, None, "0 of 2 disciplines; pick one at least"),
    ("c: 4.2", "c: -1", None, None, "greater than or equal to 0"),
    ("c: 4.2", "c: 1/0", None, None, "a number such as"),
    ("stamina: endurance", "stamina: rope", None, None, "there is no variable 'rope'"),
    ("initial: 7,", "initial: 7, min: 1,", "fighting-fantasy: {", None, "it should be 0"),
    ("luck: luck}", "luck: luck, damage: {lots: 3}}", None, None, "damage is 'lots'"),
    ("luck: luck}", "luck: luck, damage: {won: 0}}", None, None, "damage.won is 0"),
    ("[..-3, -2..2, 3..]", "[..-3, -1..2, 3..]", None, None, "column -1..2 does not fit"),
    ("[..-3, -2..2, 3..]", "[-9..-3, -2..2, 3..]", None, None, "column -9..-3 does not fit"),
    ("[..-3, -2..2, 3..]", "[..-3, -2..2, 3..9]", None, None, "column 3..9 does not fit"),
    ("[..-3, -2..2, 3..]", "[..3]", None, None, "at least 2 items"),
    ("[..-3, -2..2, 3..]", "[..-3, 2..-2, 3..]", None, None, "ends are in order"),
    ("0: [0/K, 2/5, 3/3]", "0: [0/K, 2/5]", None, None, "row 0 has 2 cells"),
    ("0: [0/K, 2/5, 3/3]", "0: [0/X, 2/5, 3/3]", None, None, "'0/X' is no result"),
    ("        0: [0/K, 2/5, 3/3]\n", "", "rows:", None, "row 0 has 0 cells"),
    ("endurance <= 0, ending", "endurence <= 0, ending", None, None, "'endurence' is unknown"),
    ("score: 1/2", "score: half", None, None, "a number such as"),
    ("    shop:\n", "    text: Again.\n    shop:\n", None, None, "second time, first in line"),
    ("money: gold", "money: rope", None, 1, "there is no variable 'rope'"),
    ("buy: 2, sell: 1", "buy: 2, sell: 2", None, 1, "could be traded for ever"),
    ("{item: rope, buy: 4}", "{item: rope}", None, 1, "has no price"),
    ("buy: 5, quantity: 1", "sell: 5, quantity: 1", None, 1, "quantity without buy"),
    ("gain: {endurance: 1d6}", "gain: {endurance: 1d}", None, 2, "'1d' is no number"),
    ("gain: {endurance: 1d6}", "take: {meal: 1d6 - 2}", None, 2, "can be -1; write max(0, ...)"),
    ("gain: {endurance: 1d6}", "empty: sack", None, 2, "there is no slot 'sack'"),
    ("- set: rested\n", "- set: restd\n", None, 2, "no variable or flag 'restd'"),
    ("when: gold >= toll", "when: 1d6 >= toll", None, 2, "has dice in it"),
    ("when: gold >= toll", "when: gold >= bag", None, 2, "write count(bag)"),
    ("when: gold >= toll", "when: room(weapon) >= toll", None, 2, "there is no slot 'weapon'"),
    ("when: gold >= toll", "when: luck*luck*gold*gold*9999 * 999999", None, 2, "can be too large"),
    ("- label: Sleep", "- lable: Sleep", None, 2, "label: is missing"),
    ("..2: {text", "..1: {text", "    roll:\n      dice: digit", 3, "no row for 2"),
    ("3..6: 4", "2..6: 4", None, 3, "the rows ..2 and 2..6 of the table overlap"),
    ("3..6: 4", "six: 4", None, 3, "should be a range"),
    ("7..: 5", "7..10: 5", "    roll:\n      dice: digit", 3, "no row for 11"),
    ("rules: fighting-fantasy\n", "rules: fisticuffs\n", None, 4, "'fighting-fantasy' or"),
    ("      rules: fighting-fantasy\n", "", "    fight:\n      enemies:", 4, "rules: is missing"),
    ("      - goto: 6\n", "", "branch:\n", 5, "the last case"),
    ("    branch:\n", "    branch:\n      - {goto: 6}\n", "    branch:\n", 5, "the last case"),
    ("base: 60%", "base: 160%", None, 6, "less than or equal to 1"),
    ("size: -5%, times", "size: -10001%, times", None, 6, "greater than or equal to -100"),
    ("4..5: again", "4..5: {choices: [{label: a, again: true}]}", None, 7, "no repeat around it"),
    ("4..5: again", "4..5: {repeat: {goto: 8}}", None, 7, "a repeat stands in another"),
    ("dealt: 1 + (gold >= 10)", "dealt: gold - 1", None, 8, "can be -1"),
    ("dealt: 1 + (gold >= 10)", "dealt: 1 + gold * 99999", None, 8, "at most 1000000 is allowed"),
    ("dealt: 1 + (gold >= 10)", "added: {hero: gold - 9}", None, 8, "'gold - 9' can be -9"),
    ("dealt: 1 + (gold >= 10)", "added: {foe: 1}", None, 8, "added.foe: is an unknown key"),
    ("dealt: 1 + (gold >= 10)", "invulnerable: {when: rope}", None, 8, "rounds: is missing"),
    ("      escape: {after: 1,", "      suffered: 0\n      escape: {after: 1,", None, 4,
     "suffered belongs to results-table combat"),
    ("      escape: {after: 1,", "      invulnerable: {rounds: 1}\n      escape: {after: 1,",
     None, 4, "invulnerable belongs to results-table combat"),
    ("rested: You slept in the hay.", "rested: {initial: maybe}", None, None, "valid boolean"),
    ("when: gold >= toll", "when: 9 // gold", None, 2, "a divisor can be 0; it"),
    ("score: 1/2", "score: 0." + 101 * "1", None, None, "at most 100 digits"),
    ("probability: 9/10", "probability: 8/10", "chances:", 9, "1/10 is missing"),
    ("endurance <= 0, ending", "endurance < gold, ending", "    fight:\n      rules: fighting-", 4,
     "add defeat"),
    ("  9:\n", "  09:\n", None, 9, "should be a valid integer"),
    ("    chances:\n", "    goto: 3\n    chances:\n", "  9:\n", 9, "goto and chances"),
]  # fmt: skip


WARNINGS = [
    ("  gold: {", "  hope: {initial: 1, max: 2}\n  gold: {", "hope:", None, "the variable 'hope'"),
    ("    tracking:", "    riding:\n    tracking:", "riding:", None, "the discipline 'riding'"),
    ("  escape: {s", "  defeat: {score: 0}\n  escape: {s", "defeat: {s", None, "'defeat'"),
    ("  9:\n", "  10: 9\n  9:\n", "  10: 9", 10, "section 10 cannot be reached"),
    ("..2: {text", "..-1: 5\n        0..2: {text", "..-1: 5", 3, "the row ..-1 can never apply"),
]  # fmt: skip


def test_a_fault_is_found_in_its_place(tmp_path: Path) -> None:
    assert faults(mill(), tmp_path) == []
    rows = [*(("error", *row) for row in ERRORS), *(("warning", *row) for row in WARNINGS)]
    for severity, old, new, place, section, fault in rows:
        text = changed((old, new))
        found = [p for p in faults(text, tmp_path) if fault in f"{p.message}; {p.cure}"]
        assert [p.severity for p in found] == [severity], (new, fault, found)
        where = text[: text.index(new)].count("\n") + 1 if place is None else line_of(text, place)
        # What was put in may have several lines.
        assert where <= found[0].line <= where + new.count("\n") * (severity == "error"), new
        assert found[0].section == section, new
        assert found[0].file.endswith("book.yaml")
        assert found[0].cure


SECTIONS = [
    (
        "  1: {branch: [{when: gold > 3, ending: won}, {when: cursed, ending: lost}, "
        "{ending: won}]}",
        ["1 warning: branch.1: the conditions of cases 0 and 1 both hold with cursed = 1, "
         "gold = 4, and the first applies"],
    ),
    (
        "  1: {branch: [{when: gold > 5, ending: won}, {when: gold <= 5, ending: lost}]}",
        ["1 error: branch: the last case, and only this one, should have no when"],
    ),
    (
        "  1: {choices: [{label: a, when: rope, ending: won}, {label: b, when: cursed, "
        "ending: lost}]}",
        ["1 error: choices: every choice has a when"],
    ),
    # Only what can be counts: no more in a slot than it holds, as many disciplines as are picked.
    ("  1: {branch: [{when: room(bag) > 0, ending: won}, {when: room(bag) == 0, ending: lost}, "
     "{ending: won}]}", []),
    ("  1: {branch: [{when: hunting, ending: won}, {when: tracking, ending: lost}, "
     "{ending: won}]}", []),
    ("  1: {branch: [{when: gold >= 2 * luck, ending: won}, {when: gold < 2 * luck, "
     "ending: lost}, {ending: won}]}", []),
    ("  1: {branch: [{ending: won}]}", []),
    (
        "  1: 2\n  2: {choices: [{label: a, goto: 3}, {label: b, goto: 5}]}\n"
        "  3: {roll: {dice: 1d2, results: {1: 4, 2: 5}}}\n  4: 2\n  5: {ending: won}",
        ["4 error: goto: the sections lead in a circle: 2 → 3 → 4 → 2"],
    ),
    (
        "  1: {choices: [{label: a, goto: 1}, {label: b, goto: 2}]}\n"
        "  2: {choices: [{label: a, goto: 3}, {label: b, ending: won}]}\n  3: 2",
        ["1 error: choices.0.goto: the sections lead in a circle: 1 → 1",
         "3 error: goto: the sections lead in a circle: 2 → 3 → 2"],
    ),
    # A repeat is no circle, but must lead out.
    (
        "  1: {repeat: {roll: {dice: 1d2, results: {1: again, 2: again}}}}",
        ["1 error: repeat: the repeat never ends"],
    ),
    (
        "  1: {roll: {dice: 2d6, results: {2..5: {ending: won}, 7..: {ending: lost}}}}",
        ["1 error: roll: the table has no row for 6"],
    ),
]  # fmt: skip


def test_what_is_wrong_between_the_parts_of_a_book(tmp_path: Path) -> None:
    for sections, expected in SECTIONS:
        found = faults(f"{HERO}sections:\n{sections}\n", tmp_path)
        told = [f"{p.section} {p.severity}: {p.message}" for p in found if p.section is not None]
        assert told == expected, sections


def test_a_column_in_which_nobody_dies(tmp_path: Path) -> None:
    text, replaced = re.subn(r"(?m)^( +\d): \[\d/.,", r"\1: [0/1,", mill())
    assert replaced == 10
    [problem] = faults(text, tmp_path)
    assert "in column ..-3 the enemy never loses anything" in problem.message


def test_whatever_a_file_says_faults_are_all_that_comes_of_it(tmp_path: Path) -> None:
    """Words and signs of the example are swapped, dropped and doubled at random."""
    words = re.findall(r"\w+|[^\w\s]|\n *| +", mill())
    others = sorted({*words, "null", "true", "-1", "9" * 11, "1d6", "again", '""', "[]", "{}", "|"})
    rng, good = random.Random(20), 0
    for _ in range(150):
        mutated = list(words)
        for _ in range(rng.choice([1, 1, 2, 3])):
            place = rng.randrange(len(mutated))
            mutated[place : place + rng.choice([0, 1])] = rng.choices(others, k=rng.choice([0, 1]))
        text = "".join(mutated)
        found = faults(text, tmp_path)
        good += not found
        assert all(1 <= p.line <= text.count("\n") + 1 and p.message and p.cure for p in found)
    assert 5 < good < 75


CONDITIONS = st.lists(
    st.sampled_from(
        ["gold > 3", "gold == 5", "not gold", "cursed", "rope and gold < 2", "meal + rope > 1",
         "gold - luck >= 0", "count(bag) == 3", "hunting", "tracking or not rested", "true"]
    ),
    min_size=1,
    max_size=3,
)  # fmt: skip
SMALL = small("  1: {ending: won}\n")


@given(CONDITIONS)
def test_an_overlap_is_one_of_all_states(texts: list[str]) -> None:
    conditions = [parse(text.replace("count(bag)", "(rope + meal)")) for text in texts]
    used = sorted(set().union(*map(names, conditions)))
    ranges = [range(SMALL.fields[n].low, SMALL.fields[n].high + 1) for n in used]
    holding = []
    for point in product(*ranges):
        state = dict(zip(used, point, strict=True))
        if state.get("rope", 0) + state.get("meal", 0) > 3:
            continue
        picked = state.get("hunting", 0) + state.get("tracking", 0)
        if picked > 1 or (picked == 0 and "hunting" in state and "tracking" in state):
            continue
        holding.append([bool(evaluate(c, state)) for c in conditions])
    expected = {
        (i, j)
        for i, j in combinations(range(len(conditions)), 2)
        if any(row[i] and row[j] for row in holding)
    }
    found = overlap(SMALL, conditions)
    assert found is None if not expected else found is not None and found[:2] in expected


def test_a_branch_of_many_cases_that_overlap_is_checked_at_once(tmp_path: Path) -> None:
    cases = "".join(f"{{when: gold + luck >= {n}, ending: won}}, " for n in range(1, 20))
    sections = "".join(f"  {n}: {{branch: [{cases}{{goto: {n + 1}}}]}}\n" for n in range(1, 100))
    found = faults(f"{HERO}sections:\n{sections}  100: {{ending: lost}}\n", tmp_path)
    assert [p.section for p in found if "both hold" in p.message] == list(range(1, 100))


# Stories of Twine become books with the same graph and text


TWEE = """\
:: StoryTitle
The Cellar

:: StoryData
{"ifid": "D674C58C-DEFA-4F70-B7A2-27742230C0FC", "start": "Stairs", "zoom": 0.25}

:: Well [deep water] {"position":"600,400","size":"100,200"}
Far down something moves.
\\:: it seems to say.

:: Stairs {"position":"100,100"}
You stand on the stairs.


It smells of "apples": sweet.

* [[Go down->Cellar]]
* [[Go back up<-nothing]]

:: A \\[small\\] door [exit]
Beyond it: the garden, [[Well]] and all.

:: Cellar
(set: $light to 3)The cellar is dark. [[Feel your way|A [small] door]][$lost to true]
[[Well]]

:: Code [script]
alert("[[no link]]")
"""
STORY = parse_twee(TWEE.replace("[[Go back up<-nothing]]", "[[A [small] door<-Go back up]]"))


def test_the_book_has_the_graph_and_the_text(tmp_path: Path) -> None:
    text = book_text(STORY)
    assert faults(text, tmp_path) == []
    book = parse_book(text.encode())
    sections = book.sections
    assert (book.title, book.start, sections[1].title) == ("The Cellar", 1, "Stairs")
    assert [section.text for section in sections.values()][:3] == [
        'You stand on the stairs.\n\nIt smells of "apples": sweet.',
        "Far down something moves.\n:: it seems to say.",
        "Beyond it: the garden, Well and all.",
    ]
    found = {
        section.title: [
            (choice.label, sections[choice.goto].title)
            for choice in section.choices or ()
            if choice.goto is not None
        ]
        for section in sections.values()
    }
    assert found == {
        "Stairs": [("Go down", "Cellar"), ("Go back up", "A [small] door")],
        "Well": [],
        "A [small] door": [("Well", "Well")],
        "Cellar": [("Feel your way", "A [small] door"), ("Well", "Well")],
    }
    assert sections[2].ending


def test_what_is_no_story_is_refused_with_the_place_in_it() -> None:
    rows = [
        ("Just text.", "begins with the passage 'Start', which is not there"),
        (":: Other\nText.\n", "begins with the passage 'Start', which is not there"),
        (":: Start\n\n:: Start\n", "story.twee:3: a second passage is named 'Start'"),
        (":: \n", "story.twee:1: the passage has no name"),
        (":: StoryData\n{nonsense\n:: Start\n", "story.twee:1: not JSON"),
        (f":: StoryData\n{'[' * 100_000}\n:: Start\n", "story.twee:1: not JSON"),
        (':: StoryData\n["x"]\n:: Start\n', "story.twee:1: not JSON"),
        (':: StoryData\n{"start": ["x"]}\n:: Start\n', "begins with the passage"),
    ]
    assert_refused(rows, parse_twee, StoryError)


def test_a_story_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.tw").write_bytes(b"\xef\xbb\xbf:: Start\r\nText.\r\n")
    (tmp_path / "a.twee").write_bytes(b":: Start\n\xff")
    assert read_story(tmp_path / "a.tw").passages["Start"][0] == "Text."
    rows = ((tmp_path / "a.twee", "UTF-8"), (tmp_path / "a.html", r"read from \.twee or \.tw"))
    assert_refused(rows, read_story, StoryError)


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_any_text_makes_a_readable_book(text: str, name: str, label: str) -> None:
    text, name, label = (part.replace("::", ":") for part in (text, name, label))
    story = parse_twee(f":: Start\n{text}[[{label}->low]]\n:: x{name}\n{text}\n:: low\n{text}")
    book = parse_book(book_text(story).encode())
    assert len(book.sections) == len(story.passages) >= 2
    assert book.sections[len(book.sections)].text == story.passages["low"][0]


# ``solvent book check``, ``solvent book solve`` and ``solvent book import``


def test_every_fault_is_a_line(tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.yaml"
    text = changed(("leave: 2", "leave: 20"), ("goto: 6", "goto: 66"))
    faulty.write_text(text, encoding="utf-8")
    result, missing = run("book", "check", faulty), "write it, or lead somewhere else"
    assert result.exit_code == 2
    first, second = line_of(text, "leave: 20"), line_of(text, "goto: 66")
    assert result.stdout.splitlines() == [
        f"{faulty}:{first}, section 1: error: shop.leave.goto: there is no section 20; {missing}",
        f"{faulty}:{second}, section 5: error: branch.1.goto: there is no section 66; {missing}",
    ]
    assert result.stderr == f"solvent: {faulty} has 2 errors\n"
    told = json.loads(run("book", "check", faulty, "--json").stdout)
    assert [(one["line"], one["section"]) for one in told] == [(first, 1), (second, 5)]


FERRY = """\
format: solvent-gamebook
version: 1
title: The Ferry
endings: {over: {score: 1}, drowned: {score: 0}}
sections:
  1:
    choices:
      - {label: Row., chances: [{probability: 1/6, ending: drowned},
          {probability: 1/6, text: A rock., ending: drowned}, {probability: 2/3, goto: 2}]}
      - {label: Swim., chances: [{probability: 1/2, ending: drowned}, {probability: 1/2, goto: 2}]}
  2: {ending: over}
"""


def test_a_book_is_solved_for_people_and_for_programs(tmp_path: Path) -> None:
    ferry = tmp_path / "ferry.yaml"
    ferry.write_text(FERRY, encoding="utf-8")
    assert said("book", "solve", ferry, "--exact").splitlines() == [
        "The Ferry: 6 states",
        "Winning probability: 0.6666666666666666 [2 / 3]",
        "0.6667  over (score 1)",
        "    0.6667  section 2",
        "0.3333  drowned (score 0)",
        "    0.3333  section 1",
        "Most important decisions (visits x loss by the second best choice):",
        "0.1667  section 1, visited 1.0000 times: Row. 100%",
    ]
    found = answer("book", "solve", ferry, "--json")
    assert found["value"] == pytest.approx(2 / 3)
    assert "value_exact" not in found
    assert found["ends"][0] == {"ending": "over", "section": 2, "probability": found["value"]}
    [decision] = found["decisions"]
    assert (decision["section"], decision["choices"]) == (1, {"Row.": 1.0})
    assert decision["stake"] == pytest.approx(1 / 6)
    exact = answer("book", "solve", ferry, "--json", "--exact", "--decisions", "0")
    assert (exact["value_exact"], exact["decisions"]) == ("2 / 3", [])


def test_import_makes_a_book_and_overwrites_nothing(tmp_path: Path) -> None:
    story, out = tmp_path / "s.twee", tmp_path / "new" / "s.yaml"
    story.write_text(":: Start\n(set: $x to 1)Here. [[On]]\n:: On\nDone.\n", encoding="utf-8")
    assert said("book", "import", story, "--out", out) == f"{out}: 2 sections\n"
    assert load_book(out).targets[1] == (2,)
    out.write_text("mine", encoding="utf-8")
    refusal("book", "import", story, "--out", out)
    assert out.read_text(encoding="utf-8") == "mine"
