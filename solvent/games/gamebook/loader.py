"""Reading a gamebook file, in three steps: text to data, data to models, models to a book.

Nothing that a file says is run. As many faults as possible come to light at once: a section that
does not have the shape of one is left out, and the others are looked at nevertheless.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from solvent.games.gamebook.book import Book
from solvent.games.gamebook.checker import check_whole
from solvent.games.gamebook.lowering import lower
from solvent.games.gamebook.problems import BookError, Problem, Problems
from solvent.games.gamebook.source import Source, parse_source, read_content
from solvent.games.gamebook.validation import validated


def load_book(path: str | Path) -> Book:
    """Read a book that can be played and solved.

    Raises:
        BookError: If there is an error in it; warnings do not matter.
        OSError: If it cannot be read.
    """
    book, problems = _read(read_content(path), str(path))
    if book is None:
        raise BookError(problems)
    return book


def parse_book(content: bytes, file: str = "book.yaml") -> Book:
    """Read a book from a file's content; see :func:`load_book`."""
    book, problems = _read(content, file)
    if book is None:
        raise BookError(problems)
    return book


def check_book(path: str | Path) -> list[Problem]:
    """Every fault of a file, in the order of lines; none if it is all right.

    Raises:
        OSError: If it cannot be read.
    """
    return _read(read_content(path), str(path))[1]


def _read(content: bytes, file: str) -> tuple[Book | None, list[Problem]]:
    """The book, or None if there is an error in it; and all faults."""
    try:
        return _understood(parse_source(content, file), content)
    except BookError as error:
        return None, _in_order(error.problems)


def _understood(source: Source, content: bytes) -> tuple[Book | None, list[Problem]]:
    """The same for content that is YAML or JSON.

    Raises:
        BookError: If there are so many errors that no more are looked for.
    """
    problems = Problems(source.file, source.line)
    model, is_whole = validated(source.data, problems)
    if model is None:
        return None, _in_order(problems.found)
    book = lower(model, problems, hashlib.sha256(content).hexdigest())
    check_whole(book, problems)
    found = _in_order(problems.found)
    errors = [problem for problem in found if problem.severity == "error"]
    if not is_whole:
        # With a part of the book missing, warnings say little.
        return None, errors
    return (None if errors else book), found


def _in_order(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: problem.line)
