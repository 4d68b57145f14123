"""A file becomes the book that it describes."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from fractions import Fraction
from pathlib import Path

import pytest
from gamebooks import HERO, MILL, changed, faults, mill, refused, small

from solvent.games.gamebook.book import Book, Fight, Node, Roll
from solvent.games.gamebook.expressions import parse
from solvent.games.gamebook.loader import MOST_PROBLEMS, load_book, parse_book, parse_source
from solvent.games.gamebook.rules import Gamebook
from solvent.games.gamebook.values import BookError, read_rational


@pytest.fixture(scope="module")
def book() -> Book:
    return load_book(MILL)


def root(book: Book, section: int) -> Node:
    return book.nodes[section, 0]


def fight(text: str, section: int = 8) -> Fight:
    found = root(parse_book(text.encode()), section).exit
    assert isinstance(found, Fight)
    return found


def test_fields_of_the_example(book: Book) -> None:
    dice = parse("1d6 + 6")
    found = {n: (f.kind, f.low, f.high, f.initial, f.slot) for n, f in book.fields.items()}
    assert found == {
        "skill": ("variable", 0, 12, 9, ""),
        "endurance": ("variable", 0, 14, dice, ""),
        "luck": ("variable", 0, 12, 7, ""),
        "gold": ("variable", 0, 20, 6, ""),
        "rested": ("flag", 0, 1, 0, ""),
        "axe": ("item", 0, 1, 0, "belt"),
        "meal": ("item", 0, 3, 1, "bag"),
        "rope": ("item", 0, 1, 0, "bag"),
        "hunting": ("discipline", 0, 1, 0, ""),
        "tracking": ("discipline", 0, 1, 0, ""),
        "swimming": ("discipline", 0, 1, 1, ""),
    }
    assert (book.disciplines.pick, book.picked) == (1, ("hunting", "tracking"))
    assert book.endings["escape"].score == Fraction(1, 2)
    assert (book.checks.c, book.checks.denominator, book.start) == (Fraction(21, 5), 10**9, 1)
    assert book.digest == hashlib.sha256(MILL.read_bytes()).hexdigest()


def test_sections_lead_where_the_example_says(book: Book) -> None:
    assert book.targets == {
        1: (2,), 2: (3, 5), 3: (4, 5), 4: (9, 5), 5: (7, 6), 6: (7,), 7: (8,), 8: (9,), 9: (),
    }  # fmt: skip
    order = book.in_order.sections
    assert all(order.index(n) < order.index(to) for n in order for to in book.targets[n])


def test_blocks_are_numbered_in_the_order_of_the_text(book: Book) -> None:
    source = parse_source(MILL.read_bytes(), "mill.yaml")
    lines = mill().splitlines()
    for number in book.sections:
        nodes = list(book.in_section(number))
        assert [node.place for node in nodes] == [(number, i) for i in range(len(nodes))]
        assert lines[source.at(nodes[0].path)[0] - 1] == f"  {number}:"
    repeat = root(book, 7)
    assert [(n.block.way_on, n.repeated) for n in book.in_section(7)] == [
        ("repeat", False),
        ("roll", True),
        ("branch", True),
        ("goto", True),
        ("again", True),
        ("again", True),
        ("goto", True),
    ]
    assert (repeat.end, repeat.inner[0].end) == (7, 7)


def test_texts_labels_and_rows(book: Book) -> None:
    choices = root(book, 2).exit.root
    assert [choice.when for choice in choices] == [1, 1, parse("gold >= 3")]
    assert choices[1].label == "Go on in the dark."
    assert root(book, 5).inner[0].block.text == "The rope holds."
    roll = root(book, 7).inner[0].exit
    assert isinstance(roll, Roll)
    assert roll.rows == ((1, 3), (4, 5), (6, 6))
    assert [roll.row(result) for result in (0, 1, 5, 6, 7)] == [None, 0, 1, 2, None]
    # Texts may look like numbers.
    like = small("  1: {title: 1984, text: 12, choices: [{label: 7, ending: won}]}\n")
    block = like.sections[1]
    assert (block.title, block.text) == ("1984", "12")
    assert root(like, 1).exit.root[0].label == "7"


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


def test_what_is_no_book_at_all() -> None:
    for value in ("[]", "3", "x", "{}", "{sections: 3}", "{sections: {}}", "{endings: []}"):
        assert refused(value).cure


def test_of_very_many_faults_some_are_told(tmp_path: Path) -> None:
    [found] = faults(mill() + "".join(f"key{i}: 1\n" for i in range(40_000)), tmp_path)
    assert found.message == "more than 30000 keys here"
    rows = "".join(f"  {i}: {{goto: 99999}}\n" for i in range(10, 2_000))
    for text in (mill() + rows.replace("goto", "guto"), HERO + "sections:\n" + rows):
        problems = faults(text, tmp_path)
        assert len(problems) == MOST_PROBLEMS + 1
        assert any("more errors" in problem.message for problem in problems)
