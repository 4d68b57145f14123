"""Faults of a gamebook file, each with its place and a cure."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]

Path: TypeAlias = tuple[Any, ...]
"""The keys and indices that lead to a place in a file."""

MOST_SUGGESTIONS = 200
"""Among more names than this, no similar one is looked for: a file may have many unknown names."""


MOST_ERRORS = 1_000
"""Errors of a file after which no more are looked for."""

LONGEST_MESSAGE = 300
"""Characters; of what is longer, such as a text taken for a name, the two ends are left."""


def one_line(message: str) -> str:
    """A message with nothing in it that would break its line, cut in the middle if it is long."""
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE // 2]}...{message[3 - LONGEST_MESSAGE // 2 :]}"
    return "".join(sign if sign.isprintable() else " " for sign in message)


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault.

    Attributes:
        file: Its name.
        line: Counted from 1.
        section: The number of the section, or None outside of all.
        message: What is wrong, in one line.
        cure: What to do about it.
        severity: With an error a book cannot be used; a warning is worth a look.
    """

    file: str
    line: int
    section: int | None
    message: str
    cure: str
    severity: Severity = "error"

    def __post_init__(self) -> None:
        """Keep what a file says from filling the message."""
        object.__setattr__(self, "message", one_line(self.message))

    def __str__(self) -> str:
        place = f", section {self.section}" if self.section is not None else ""
        return f"{self.file}:{self.line}{place}: {self.severity}: {self.message}; {self.cure}"


class BookError(ValueError):
    """A file is not a gamebook that can be used.

    Attributes:
        problems: All that was found, in the order of lines; at least one of them is an error.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        errors = [p for p in self.problems if p.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0]}{more}")


class Problems:
    """The faults found so far in a file.

    Args:
        file: Its name.
        line: The line of what a path leads to.

    Attributes:
        found: In the order in which they were found.
    """

    def __init__(self, file: str, line: Callable[[Path], int]) -> None:
        self._file = file
        self.line = line
        self.found: list[Problem] = []
        self._errors = 0

    def add(self, path: Path, message: str, cure: str, severity: Severity = "error") -> None:
        """Note a fault at the place to which a path leads."""
        self.add_at(self.line(path), section_of(path), message, cure, severity)

    def add_at(
        self, line: int, section: int | None, message: str, cure: str, severity: Severity = "error"
    ) -> None:
        """Note a fault in a line.

        Raises:
            BookError: If there are so many errors that no more are looked for.
        """
        self.found.append(Problem(self._file, line, section, message, cure, severity))
        self._errors += severity == "error"
        if self._errors == MOST_ERRORS:
            raise BookError(self.found)


def section_of(path: Path) -> int | None:
    """The number of the section that a path leads into."""
    if len(path) < 2 or path[0] != "sections":
        return None
    number = str(path[1])
    return int(number) if number.isascii() and number.isdecimal() else None


def similar(name: str, names: Collection[str]) -> str:
    """A cure for an unknown name: the nearest one, or those there are."""
    near = difflib.get_close_matches(name, names, 1) if len(names) <= MOST_SUGGESTIONS else []
    if near:
        return f"did you mean {near[0]!r}?"
    if not names:
        return "there are none in this book"
    shown = sorted(names)[:12]
    more = ", ..." if len(names) > len(shown) else ""
    return f"there are {', '.join(shown)}{more}"
