"""Files become plain data that knows its lines; what is dangerous or absurd is refused."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from solvent.games.gamebook import loader
from solvent.games.gamebook.loader import LARGEST_FILE, parse_source
from solvent.games.gamebook.values import BookError


def data(text: str, name: str = "book.yaml") -> object:
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
        assert data(f"key: {text}\n") == {"key": value}


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


def test_all_keys_that_stand_twice_are_named() -> None:
    with pytest.raises(BookError) as error:
        parse_source(b"a: {b: 1, c: 2, b: 3}\nd: 4\na: 5\nd: {a: 6}\n", "book.yaml")
    found = [(p.line, p.message.split()[0]) for p in error.value.problems]
    assert found == [(1, "'b'"), (3, "'a'"), (4, "'d'")]


def test_bytes_that_are_no_text() -> None:
    assert fault(b"a: 1\nb: \xff\n") == (2, "the text is not UTF-8")
    line, message = fault("a: 1\nb: \x00\n")
    assert line == 2
    assert "not allowed" in message


def test_a_large_file_is_refused_unread() -> None:
    assert fault(b"x" * (LARGEST_FILE + 1)) == (1, "the file is larger than 16 MB")


def test_many_values_are_refused_before_memory_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "MOST_VALUES", 1000)
    text = "a:\n" + "- x\n" * 2_000_000
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
        assert data(text, "book.json") == value
