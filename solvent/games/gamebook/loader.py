"""Reading a gamebook file: text to plain data to the models of a book.

Nothing that a file says is run. A book is validated in steps, so that what later parts name is
known by then: constants, the hero, combat and endings, and then the whole. Every fault that the
models find is reported at once, up to :data:`MOST_PROBLEMS`; how the parts of a book go together is
checked when each of them is all right (:mod:`solvent.games.gamebook.checker`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from solvent.games.gamebook import values
from solvent.games.gamebook.book import Book, Frame
from solvent.games.gamebook.checker import check_whole
from solvent.games.gamebook.hero import Constants, Hero, Known
from solvent.games.gamebook.source import Source, parse_source, read_content
from solvent.games.gamebook.values import BookError, Problem
from solvent.model.parameters import shown

MOST_PROBLEMS = 100
"""Largest number of errors that are reported for a file."""


def load_book(path: str | Path) -> Book:
    """Read a book that can be played and solved.

    Raises:
        BookError: If there is an error in it; warnings do not matter.
        OSError: If the file cannot be read.
    """
    return parse_book(read_content(path), str(path))


def parse_book(content: bytes, file: str = "book.yaml") -> Book:
    """Read a book from a file's content; see :func:`load_book`."""
    book, problems = _read(content, file)
    if book is None:
        raise BookError(problems)
    return book


def check_book(path: str | Path) -> list[Problem]:
    """Return every fault of a file, in the order of lines; none if the file is valid.

    Raises:
        OSError: If the file cannot be read.
    """
    return _read(read_content(path), str(path))[1]


def _read(content: bytes, file: str) -> tuple[Book | None, list[Problem]]:
    """Return the book, or None if it has an error, and all faults."""
    try:
        source = parse_source(content, file)
    except BookError as error:
        return None, list(error.problems[:MOST_PROBLEMS])
    known = Known()
    try:
        book = _validated(source.data, known)
    except ValidationError as error:
        found = [_problem(source, *fault) for fault in islice(_faults(error), MOST_PROBLEMS + 1)]
        problems = _in_order(found[:MOST_PROBLEMS])
        if len(found) > MOST_PROBLEMS:
            last, cure = problems[-1].line, "correct the others first"
            problems.append(Problem(file, last, None, "there are more errors", cure))
        return None, problems
    book._digest = hashlib.sha256(content).hexdigest()
    problems = [
        _problem(source, path, message, severity)
        for path, message, severity in check_whole(
            book, known.used, lambda path: source.at(path)[1]
        )
    ]
    has_errors = any(problem.severity == "error" for problem in problems)
    return None if has_errors else book, _in_order(problems)


def _validated(data: Any, known: Known) -> Book:
    """Return the models of a file's data.

    Raises:
        ValidationError: If there is an error in it.
    """
    sections = data.get("sections") if isinstance(data, dict) else None
    if isinstance(sections, dict):
        keys = (str(key) for key in sections)
        known.sections = frozenset(int(key) for key in keys if key.isdecimal() and len(key) <= 5)
    try:
        known.constants = Constants.model_validate(data, context=known).constants
        known.hero = Hero.model_validate(data, context=known)
        frame = Frame.model_validate(data, context=known)
        known.combat, known.endings, known.fallen = frame.combat, frame.endings, frame.fallen
    except ValidationError:
        pass  # The whole book has the same faults, and perhaps more.
    return Book.model_validate(data, context=known)


def _in_order(problems: list[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: problem.line)


def _problem(source: Source, path: values.Path, text: str, severity: Any = "error") -> Problem:
    """Return a fault at a place, from a text of a message and a cure."""
    section = str(path[1]) if len(path) > 1 and path[0] == "sections" else ""
    number = int(section) if section.isascii() and section.isdecimal() else None
    message, _, cure = text.partition("; ")
    place = ".".join(map(str, path[2:] if number is not None else path))
    return Problem(
        source.file,
        source.at(path)[0],
        number,
        f"{place}: {message}" if place else message,
        cure,
        severity,
    )


def _faults(error: ValidationError) -> Iterator[tuple[values.Path, str]]:
    """Return the errors that pydantic found, each as a path and a message with a cure."""
    for fault in error.errors(include_url=False):
        path = tuple(step for step in fault["loc"] if step != "[key]")
        found = fault.get("ctx", {}).get("error")
        if isinstance(found, values.ModelError):
            for inside, message in found.found:
                yield (*path, *inside), message
        elif found is not None:
            said = str(found)
            yield path, said if "; " in said else f"is {_shown(fault['input'])}; it {said}"
        elif fault["type"] == "missing":
            yield path, f"is missing; add {path[-1]}"
        else:
            yield path, f"is {_shown(fault['input'])}; {fault['msg'].replace('Input', 'it')}"


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return "empty" if value is None else shown(value)
