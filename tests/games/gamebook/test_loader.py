"""A file becomes the book that it describes; what is dangerous or absurd is refused."""

from __future__ import annotations

import copy
import json
import pickle
import re
import tracemalloc
from fractions import Fraction
from pathlib import Path

import pytest
from gamebooks import MILL, changed, mill, refused

from solvent.games.gamebook import loader
from solvent.games.gamebook.book import WAYS_ON, Book, Fight, Node
from solvent.games.gamebook.hero import read_rational
from solvent.games.gamebook.loader import (
    LARGEST_FILE,
    BookError,
    load_book,
    parse_book,
    parse_source,
)
from solvent.games.gamebook.rules import Gamebook


@pytest.fixture(scope="module")
def book() -> Book:
    return load_book(MILL)


def root(book: Book, section: int) -> Node:
    return book.nodes[section, 0]


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
    text = json.dumps(parse_source(mill().encode(), "mill.yaml").data)
    again = parse_book(text.encode(), "mill.json")
    assert again.sections == book.sections
    assert again.fields == book.fields
    assert copy.deepcopy(Gamebook(book)).book.sections == book.sections
    assert pickle.dumps(Gamebook(book))


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


def content_of(text: str, name: str = "book.yaml") -> object:
    return parse_source(text.encode(), name).data


def fault(text: str | bytes, name: str = "book.yaml") -> tuple[int, str]:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(BookError) as error:
        parse_source(content, name)
    [problem] = error.value.problems
    assert problem.file == name
    assert problem.cure
    return problem.line, problem.message


@pytest.fixture(params=["C", "Python"])
def each_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of PyYAML's parsers: some builds have only the slow one."""
    if request.param == "Python":
        monkeypatch.setattr(loader, "LOADER", loader.yaml.SafeLoader)


@pytest.mark.usefixtures("each_parser")
def test_what_a_scalar_means() -> None:
    for text, value in [
        ("3", 3),
        ("-3", -3),
        ("true", True),
        ("~", None),
        # Everything else is text, whatever YAML 1.1 makes of it.
        ("no", "no"),
        ("1:30", "1:30"),
        ("0x10", "0x10"),
        ("010", "010"),
        ("0.35", "0.35"),
        ("1/3", "1/3"),
        ("2026-01-01", "2026-01-01"),
        ("<<", "<<"),
        ("'3'", "3"),
        ('"true"', "true"),
        ("9" * 30, "9" * 30),
    ]:
        assert content_of(f"key: {text}\n") == {"key": value}


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
    assert {path: read.at(path)[0] for path in lines} == lines


@pytest.mark.usefixtures("each_parser")
def test_what_is_refused() -> None:
    for text, line, message in [
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
    ]:
        found_line, found = fault(text)
        assert message in found
        assert found_line == line


def test_bytes_that_are_no_text() -> None:
    assert fault(b"a: 1\nb: \xff\n") == (2, "the text is not UTF-8")
    line, message = fault("a: 1\nb: \x00\n")
    assert line == 2
    assert "not allowed" in message


def test_a_large_file_is_refused_unread() -> None:
    assert fault(b"x" * (LARGEST_FILE + 1)) == (1, "the file is larger than 16 MB")


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


def test_nesting_without_end_is_refused() -> None:
    assert fault("[" * 100_000) == (1, "nested more than 60 deep")


def test_json_is_read() -> None:
    value = {"title": 'Snow ❄ 🐺 / \\ " \t\n', "n": [1, {"a": True, "b": None}], "1": {}, "e": ""}
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert content_of(text, "book.json") == value


PAGE = (Path(__file__).parents[3] / "docs" / "gamebook-format.md").read_text(encoding="utf-8")


def test_every_key_of_a_fight_is_described() -> None:
    table = PAGE[PAGE.index("| `rules` | that of") : PAGE.index("Rounds are counted through")]
    described = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE)))
    assert sorted(described) == sorted(Fight.model_fields)


def test_every_way_on_is_described() -> None:
    table = PAGE[PAGE.index("| way on | meaning |") : PAGE.index("Wherever a way on leads")]
    assert re.findall(r"^\| `(\w+):", table, re.MULTILINE) == list(WAYS_ON)
