"""The example book of the format's page, and books made from it by changing a line."""

from pathlib import Path

from solvent.games.gamebook.book import Book
from solvent.games.gamebook.loader import BookError, Problem, check_book, parse_book

MILL = Path(__file__).parents[1] / "golden" / "mill.yaml"


def mill() -> str:
    return MILL.read_text(encoding="utf-8")


def changed(*pairs: tuple[str, str]) -> str:
    """The example with texts replaced, each of which stands in it once."""
    text = mill()
    for old, new in pairs:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the example"
        text = text.replace(old, new)
    return text


def line_of(text: str, part: str) -> int:
    assert text.count(part) == 1, f"{part!r} stands {text.count(part)} times"
    return text[: text.index(part)].count("\n") + 1


def faults(text: str, tmp_path: Path, name: str = "book.yaml") -> list[Problem]:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return check_book(path)


def refused(text: str, name: str = "book.yaml") -> Problem:
    """The first error for which a text is no book."""
    try:
        parse_book(text.encode(), name)
    except BookError as error:
        return next(p for p in error.problems if p.severity == "error")
    raise AssertionError("the book was read")


# The beginning of a small book.
HERO = """\
format: solvent-gamebook
version: 1
title: Small
variables:
  gold: {initial: 5, max: 9}
  endurance: {initial: 8, max: 10}
  luck: {initial: 7, max: 12}
flags: {cursed: , rested: , warded: true}
slots:
  bag: {capacity: 3}
  belt: {capacity: 1, kinds: [weapon]}
items:
  rope: {slot: bag, max: 1}
  meal: {slot: bag, initial: 1}
  axe: {slot: belt, kind: weapon}
disciplines: {pick: 1, from: {hunting: , tracking: }}
endings: {won: {score: 1}, lost: {score: 0}}
"""


def small(sections: str, head: str = HERO) -> Book:
    return parse_book(f"{head}sections:\n{sections}".encode())
