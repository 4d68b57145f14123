"""Reading a gamebook file: text to plain data to the models of a book.

Nothing that a file says is run. A book is validated in steps, so that what later parts name is
known by then: constants, the hero, combat and endings, and then the whole. Every fault that the
models find is reported at once, up to :data:`MOST_PROBLEMS`; how the parts of a book go together is
checked when each of them is all right (:mod:`solvent.games.gamebook.checker`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, RootModel, ValidationError

from solvent.games.gamebook import values
from solvent.games.gamebook.book import Book, Frame
from solvent.games.gamebook.checker import check_whole
from solvent.games.gamebook.hero import Constants, Hero, Known
from solvent.games.gamebook.problems import BookError, Problem, similar
from solvent.games.gamebook.source import Source, parse_source, read_content

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
        problems = _in_order([_problem(source, *fault) for fault in _faults(error)])
        more = error.error_count() - MOST_PROBLEMS
        if more > 0:
            last = problems[-1].line
            message = f"there are {more} errors more"
            problems.append(Problem(file, last, None, message, "correct the others first"))
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
    """Return the errors that pydantic found, in the words of the format."""
    for fault in error.errors(include_url=False)[:MOST_PROBLEMS]:
        path = tuple(step for step in fault["loc"] if step != "[key]")
        found = fault.get("ctx", {}).get("error")
        if isinstance(found, values.ModelError):
            for inside, message in found.found:
                yield (*path, *inside), message
        else:
            yield path, _text(fault, path)


def _text(fault: Any, path: values.Path) -> str:
    """The message and the cure of one error."""
    kind, given, context = fault["type"], fault["input"], fault.get("ctx", {})
    wrong = f"is {_shown(given)}; it should be"
    match kind:
        case "missing":
            return f"is missing; add {path[-1]}"
        case "extra_forbidden":
            return f"is an unknown key; {similar(str(path[-1]), keys_at(path[:-1]))}"
        case "value_error":
            message = str(context["error"])
            return message if "; " in message else f"is {_shown(given)}; it {message}"
        case "greater_than_equal":
            return f"{wrong} at least {context['ge']}"
        case "greater_than":
            return f"{wrong} above {context['gt']}"
        case "less_than_equal":
            return f"{wrong} at most {context['le']}"
        case "too_short" | "string_too_short":
            return "is empty; add something, or leave it out"
        case "too_long":
            return f"has {len(given)} entries; at most {context['max_length']} are allowed"
        case "literal_error":
            return f"{wrong} {context['expected']}"
    return f"{wrong} {WANTED.get(kind, 'something else, see the page on the format')}"


WANTED = {
    "int_type": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
}
"""The expected value, by the type of the error."""


def keys_at(path: values.Path) -> list[str]:
    """Return the allowed keys of the mapping at a path, if it belongs to a model."""
    kind: Any = Book
    for step in path:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            fields = {field.alias or name: field for name, field in kind.model_fields.items()}
            kind = _plain(fields[step].annotation) if step in fields else None
        else:
            inside = get_args(kind)
            kind = _plain(inside[-1]) if inside else None
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return []
    return [field.alias or name for name, field in kind.model_fields.items()]


def _plain(kind: Any) -> Any:
    """Return a type without annotations and None; for a root model the type inside."""
    while True:
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        elif get_origin(kind) in (UnionType, Union):
            [kind] = [part for part in get_args(kind) if part is not type(None)]
        elif isinstance(kind, type) and issubclass(kind, RootModel):
            kind = kind.model_fields["root"].annotation
        else:
            return kind


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "empty"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
