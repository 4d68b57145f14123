"""Reading a gamebook file, YAML or JSON: text to plain data with its lines to the models of a book.

Only the events of a YAML parser are used, never one of its loaders, so that no file can name a
Python object. Scalars are read by few rules (YAML's own turn ``no`` into a truth value and ``1:30``
into ninety). Anchors, aliases, tags and keys that stand twice are refused, and so is what is too
large, before it takes up memory.

A book is validated in steps, so that what later parts name is known by then: constants and slots,
the hero, combat and endings, and then the whole. Every fault that a step finds is reported at once,
up to a hundred; how the parts of a book go together is checked when each of them is all
right (:mod:`solvent.games.gamebook.checker`).
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import attrgetter
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from solvent.games.gamebook.book import Book, Preamble
from solvent.games.gamebook.checker import Severity, check_whole
from solvent.games.gamebook.hero import Hero, ModelError, Preliminaries
from solvent.games.gamebook.hero import Path as Keys
from solvent.model.files import open_file
from solvent.model.parameters import brief, printable, shown

LARGEST_FILE = 16_000_000
"""Largest size of a file, in bytes."""

MOST_VALUES = 1_000_000
"""Largest number of scalars, lists and mappings of one file."""

# Largest number of keys of one mapping; a book's largest is that of its sections.
_MOST_KEYS = 30_000

# Deepest nesting of lists and mappings.
_DEEPEST = 60

# The parser in C takes a tenth of the time; some builds of PyYAML lack it.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# The words that are not read as texts, unless in quotes.
_WORDS: Mapping[str, bool | None] = {
    "": None,
    "null": None,
    "~": None,
    "true": True,
    "false": False,
}

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SURROGATES = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


# Largest number of characters of a message; of a longer one both ends are kept.
_LONGEST_MESSAGE = 300


def one_line(message: str) -> str:
    """Return a message without line breaks, cut in the middle if it is long."""
    return printable(brief(message, _LONGEST_MESSAGE))


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault.

    Attributes:
        file: Name of the file.
        line: Line in the file, counted from 1.
        section: Number of the section, or None outside of sections.
        message: Description of the fault, in one line.
        cure: Advice on how to correct the fault.
        severity: An error prevents the use of the book; a warning does not.
    """

    file: str
    line: int
    section: int | None
    message: str
    cure: str
    severity: Severity = "error"

    def __str__(self) -> str:
        place = f", section {self.section}" if self.section is not None else ""
        return f"{self.file}:{self.line}{place}: {self.severity}: {self.message}; {self.cure}"


class BookError(ValueError):
    """A file is not a gamebook that can be used.

    Attributes:
        problems: All faults, in the order of lines, including at least one error.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        errors = [p for p in self.problems if p.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0]}{more}")


class Source:
    """A file's content.

    Args:
        file: Name of the file, for messages.
        events: The events of a YAML parser.

    Attributes:
        file: Name of the file.
        data: Mappings, lists, integers, booleans, texts and None.

    Raises:
        BookError: If it is not one document, too large, or has content that is refused.
    """

    def __init__(self, file: str, events: Iterable[yaml.Event]) -> None:
        self.file, self._events, self._values = file, iter(events), 0
        # The line of each key and each item of a list, by the keys and indices as texts.
        self._lines: dict[tuple[str, ...], int] = {}
        self._doubles: list[Problem] = []
        nodes = (event for event in self._events if isinstance(event, yaml.NodeEvent))
        documents = [self._value(event, ()) for event in nodes]
        several = "the file holds several documents" if documents else "the file is empty"
        self._refuse(1, (len(documents) != 1, several, "one book stands in one document"))
        if self._doubles:
            raise BookError(self._doubles)
        [self.data] = documents

    def line(self, path: Iterable[Any]) -> int:
        """Return the line of what a path leads to, followed as far as it exists."""
        # A key may have been written as a text or as a number.
        steps = tuple(map(str, path))
        known = (self._lines.get(steps[:n]) for n in range(len(steps), -1, -1))
        return next(filter(None, known))

    def _refuse(self, line: int, *faults: tuple[Any, str, str]) -> None:
        """Refuse the file for the first of some faults that it has, each with its cure."""
        for found, message, cure in faults:
            if found:
                raise _error(self.file, line, message, cure)

    def _check(self, event: Any) -> None:
        """Count a key or a value, and refuse it if it is more than plain data."""
        self._values += 1
        tag = getattr(event, "tag", None)
        whole = "write it out where it is used"
        self._refuse(
            _line(event),
            (isinstance(event, yaml.AliasEvent), "an alias (*)", whole),
            (event.anchor is not None, "an anchor (&)", whole),
            (tag is not None, f"the tag {tag!r}", "a book holds plain data only"),
            (self._values > MOST_VALUES, f"more than {MOST_VALUES} values", "split it"),
        )

    def _value(self, event: Any, path: tuple[str, ...]) -> Any:
        """Return the value that an event begins, at a path."""
        self._check(event)
        self._lines.setdefault(path, _line(event))
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        deep = f"nested more than {_DEEPEST} deep"
        self._refuse(_line(event), (len(path) >= _DEEPEST, deep, "use more sections"))
        inside = takewhile(lambda e: not isinstance(e, yaml.CollectionEndEvent), self._events)
        if isinstance(event, yaml.SequenceStartEvent):
            return [self._value(item, (*path, str(i))) for i, item in enumerate(inside)]
        values: dict[Any, Any] = {}
        for item in inside:
            key = self._key(item, len(values))
            place = (*path, str(key))
            if place in self._lines:
                told = f"{place[-1]!r} stands here a second time, first in line"
                double = f"{told} {self._lines[place]}", "keep one of the two"
                self._doubles += _error(self.file, _line(item), *double).problems
            self._lines.setdefault(place, _line(item))
            values[key] = self._value(next(self._events), place)
        return values

    def _key(self, event: Any, keys: int) -> Any:
        """Return a key of a mapping, after a number of others."""
        self._check(event)
        is_text = isinstance(event, yaml.ScalarEvent)
        self._refuse(
            _line(event),
            (not is_text, "a key that is no text", "write a text"),
            (keys == _MOST_KEYS, f"more than {_MOST_KEYS} keys here", "split it"),
        )
        return self._scalar(event)

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        """Return the value of a scalar: in quotes a text, otherwise perhaps a number or nothing."""
        text = str(event.value)
        if control := _CONTROL.search(text):
            message = f"the control character {control[0]!r} in a text"
            self._refuse(_line(event), (True, message, "remove it"))
        if event.style:
            return text
        return int(text) if _INTEGER.fullmatch(text) else _WORDS.get(text, text)


# Largest number of errors that are reported for a file.
_MOST_PROBLEMS = 100


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
        return None, list(error.problems[:_MOST_PROBLEMS])
    known: Any = None
    try:
        # Each part is the context in which the next one is validated.
        for part in (Preliminaries, Hero, Preamble, Book):
            known = part.model_validate(source.data, context=known)
    except ValidationError as error:
        found = [_problem(source, *fault) for fault in islice(_faults(error), _MOST_PROBLEMS + 1)]
        problems = sorted(found[:_MOST_PROBLEMS], key=attrgetter("line"))
        if len(found) > _MOST_PROBLEMS:
            last, cure = problems[-1].line, "correct the others first"
            problems.append(Problem(file, last, None, "there are more errors", cure))
        return None, problems
    book: Book = known
    book._digest = hashlib.sha256(content).hexdigest()
    problems = [
        _problem(source, path, message, severity) for path, message, severity in check_whole(book)
    ]
    has_errors = any(problem.severity == "error" for problem in problems)
    return None if has_errors else book, sorted(problems, key=attrgetter("line"))


def _problem(source: Source, path: Keys, text: str, severity: Any = "error") -> Problem:
    """Return a fault at a place, from a text of a message and a cure."""
    section = str(path[1]) if len(path) > 1 and path[0] == "sections" else ""
    number = int(section) if section.isascii() and section.isdecimal() else None
    message, _, cure = text.partition("; ")
    place = ".".join(map(str, path[2:] if number is not None else path))
    return Problem(
        source.file,
        source.line(path),
        number,
        one_line(f"{place}: {message}" if place else message),
        cure,
        severity,
    )


def _faults(error: ValidationError) -> Iterator[tuple[Keys, str]]:
    """Return the errors that pydantic found, each as a path and a message with a cure."""
    for fault in error.errors(include_url=False):
        path = tuple(step for step in fault["loc"] if step != "[key]")
        found = fault.get("ctx", {}).get("error")
        match found:
            case ModelError():
                yield from (((*path, *inside), message) for inside, message in found.found)
            case None if fault["type"] == "missing":
                yield path, f"is missing; add {path[-1]}"
            case None if fault["type"] == "extra_forbidden":
                yield path, "is an unknown key; correct or remove it"
            case None if fault["type"] == "model_type":
                yield path, f"is {_shown(fault['input'])}; it should be a mapping"
            case None:
                yield path, f"is {_shown(fault['input'])}; {fault['msg'].replace('Input', 'it')}"
            case _:
                said = str(found)
                yield path, said if "; " in said else f"is {_shown(fault['input'])}; it {said}"


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return "empty" if value is None else shown(value)


def read_content(path: str | Path) -> bytes:
    """Return the content of a file, or its beginning if it is larger than allowed.

    Raises:
        OSError: If it cannot be read.
    """
    with open_file(path) as file:
        return file.read(LARGEST_FILE + 1)


def parse_source(content: bytes, file: str) -> Source:
    """Read a file's content.

    Args:
        content: The content of the file.
        file: Name of the file, for messages; one that ends in ``.json`` is read as JSON.

    Raises:
        BookError: If it is not YAML or JSON, too large, or has content that is refused.
    """
    if len(content) > LARGEST_FILE:
        raise _error(file, 1, f"the file is larger than {LARGEST_FILE // 10**6} MB", "split it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise _error(file, line, "the text is not UTF-8", "save it as UTF-8") from error
    if file.lower().endswith(".json"):
        # JSON writes characters beyond the first 65536 in two halves, which YAML does not know.
        text = _SURROGATES.sub(lambda pair: str(json.loads(f'"{pair[0]}"')), text)
    try:
        return Source(file, yaml.parse(text, Loader=LOADER))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        # Where a text may not be, the error has the index of the character instead of a mark.
        index = getattr(error, "position", None)
        line = mark.line if mark else text.count("\n", 0, index if isinstance(index, int) else 0)
        parts = (getattr(error, "context", None), getattr(error, "problem", None))
        what = " ".join(filter(None, parts)) or str(error).splitlines()[0]
        cure = "look for quotes and indentation"
        raise _error(file, line + 1, f"not YAML: {what}", cure) from error


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _error(file: str, line: int, message: str, cure: str) -> BookError:
    return BookError([Problem(file, line, None, one_line(message), cure)])
