"""A YAML or JSON file as plain data that remembers the line of everything.

Only the events of a YAML parser are used, never one of its loaders, so that no file can name a
Python object. Scalars are read by the few rules of :func:`_scalar` (YAML's own turn ``no`` into a
truth value and ``1:30`` into ninety). Anchors, aliases, tags and keys that stand twice are
refused, and so is what is too large, before it takes up memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from solvent.games.gamebook.problems import BookError, Problem
from solvent.model.files import open_file

LARGEST_FILE = 16_000_000
"""Bytes."""

MOST_VALUES = 1_000_000
"""Scalars, lists and mappings of one file."""

MOST_KEYS = 30_000
"""Keys of one mapping; the largest that a book can have is that of its sections."""

DEEPEST = 60
"""Lists and mappings within each other."""

# The parser in C takes a tenth of the time; some builds of PyYAML lack it.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SURROGATES = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


@dataclass(slots=True)
class Mark:
    """Where a value stands.

    Attributes:
        line: Counted from 1; of a value in a mapping, the line of its key.
        inside: The marks of what is in it, by the text of the key, or by index.
    """

    line: int
    inside: dict[str, Mark] | list[Mark] | None = None


@dataclass(frozen=True)
class Source:
    """A file's content.

    Attributes:
        file: Its name, for messages.
        data: Mappings, lists, ints, bools, texts and None.
        mark: Where everything stands.
    """

    file: str
    data: Any
    mark: Mark

    def line(self, path: Iterable[Any]) -> int:
        """The line of what a path of keys and indices leads to, as far as it leads."""
        mark = self.mark
        for step in path:
            inside = mark.inside
            if isinstance(inside, dict):
                # A key may have been written as a text or as a number.
                found = inside.get(step if isinstance(step, str) else str(step))
            elif isinstance(inside, list) and isinstance(step, int) and step < len(inside):
                found = inside[step]
            else:
                found = None
            if found is None:
                break
            mark = found
        return mark.line


def read_content(path: str | Path) -> bytes:
    """The content of a file, or its beginning if it is larger than is allowed.

    Raises:
        OSError: If it cannot be read.
    """
    with open_file(path) as file:
        return file.read(LARGEST_FILE + 1)


def parse_source(content: bytes, file: str) -> Source:
    """Read a file's content.

    Args:
        content: Of the file.
        file: Its name, for messages; one that ends in ``.json`` is read as JSON.

    Raises:
        BookError: If it is not YAML or JSON, too large, or has in it what is refused.
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
        text = _SURROGATES.sub(_whole_character, text)
    try:
        return _Builder(file).build(yaml.parse(text, Loader=LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(filter(None, (error.context, error.problem)))
        line = mark.line + 1 if mark else 1
        raise _error(file, line, f"not YAML: {what}", "look for quotes and indentation") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position if isinstance(error.position, int) else 0) + 1
        what = f"character #x{error.character:04x}" if isinstance(error.character, int) else "bytes"
        raise _error(file, line, f"{what} is not allowed in a text", "remove it") from error


def _whole_character(match: re.Match[str]) -> str:
    high, low = (int(half, 16) for half in match.groups())
    return f"\\U{0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00:08X}"


class _Builder:
    """Turns a parser's events into data and marks, without recursion."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._doubles: list[Problem] = []

    def build(self, events: Iterator[yaml.Event]) -> Source:
        root: list[Any] = []
        root_mark = Mark(1, [])
        # For each open list or mapping: itself, its mark, and the key that waits for its value.
        open_: list[tuple[Any, Mark, list[tuple[Any, int]]]] = [(root, root_mark, [])]
        values = 0
        for event in events:
            if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)):
                line = _line(event)
                self._check_plain(event, line)
                values += 1
                if values > MOST_VALUES:
                    raise _error(self._file, line, f"more than {MOST_VALUES} values", "split it")
                if isinstance(event, yaml.ScalarEvent):
                    self._add(open_[-1], self._value(event, line), Mark(line))
                    continue
                if len(open_) > DEEPEST:
                    raise _error(
                        self._file, line, f"nested more than {DEEPEST} deep", "use more sections"
                    )
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                value: Any = {} if is_mapping else []
                mark = Mark(line, {} if is_mapping else [])
                self._add(open_[-1], value, mark)
                open_.append((value, mark, []))
            elif isinstance(event, yaml.CollectionEndEvent):
                open_.pop()
            elif isinstance(event, yaml.AliasEvent):
                line = _line(event)
                raise _error(self._file, line, "an alias (*)", "write it out where it is used")
        if len(root) != 1:
            many = "the file is empty" if not root else "the file holds several documents"
            raise _error(self._file, 1, many, "one book stands in one document")
        if self._doubles:
            raise BookError(self._doubles)
        assert isinstance(root_mark.inside, list)
        return Source(self._file, root[0], root_mark.inside[0])

    def _check_plain(self, event: Any, line: int) -> None:
        if event.anchor is not None:
            raise _error(self._file, line, "an anchor (&)", "write it out where it is used")
        if event.tag is not None:
            raise _error(self._file, line, f"the tag {event.tag!r}", "a book holds plain data only")

    def _value(self, event: yaml.ScalarEvent, line: int) -> Any:
        text = str(event.value)
        control = _CONTROL.search(text)
        if control is not None:
            raise _error(
                self._file, line, f"the control character {control[0]!r} in a text", "remove it"
            )
        return text if event.style else _scalar(text)

    def _add(
        self, container: tuple[Any, Mark, list[tuple[Any, int]]], value: Any, mark: Mark
    ) -> None:
        values, marks, waiting = container
        if isinstance(values, list):
            values.append(value)
            assert isinstance(marks.inside, list)
            marks.inside.append(mark)
            return
        assert isinstance(marks.inside, dict)
        if not waiting:
            if isinstance(value, (dict, list)):
                raise _error(self._file, mark.line, "a key that is no text", "write a text")
            name = str(value)
            if name in marks.inside:
                first = marks.inside[name].line
                message = f"{name!r} stands here a second time, first in line {first}"
                self._doubles.append(
                    Problem(self._file, mark.line, None, message, "keep one of the two")
                )
            if len(values) == MOST_KEYS:
                raise _error(self._file, mark.line, f"more than {MOST_KEYS} keys here", "split it")
            waiting.append((value, mark.line))
            return
        key, line = waiting.pop()
        values[key] = value
        mark.line = line
        marks.inside[str(key)] = mark


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _scalar(text: str) -> Any:
    """What a scalar without quotes means."""
    if text in ("", "null", "~"):
        return None
    if text in ("true", "false"):
        return text == "true"
    return int(text) if _INTEGER.fullmatch(text) else text


def _error(file: str, line: int, message: str, cure: str) -> BookError:
    return BookError([Problem(file, line, None, message, cure)])
