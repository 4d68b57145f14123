"""The faults of a gamebook file, each with its place and a cure."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]

MOST_SUGGESTIONS = 200
"""Largest number of names searched for a similar one, as a file may have many unknown names."""

LONGEST_MESSAGE = 300
"""Largest number of characters of a message; of a longer one both ends are kept."""


def one_line(message: str) -> str:
    """Return a message without line breaks, cut in the middle if it is long."""
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE // 2]}...{message[3 - LONGEST_MESSAGE // 2 :]}"
    return "".join(sign if sign.isprintable() else " " for sign in message)


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

    def __post_init__(self) -> None:
        """Shorten texts of the file in the message."""
        object.__setattr__(self, "message", one_line(self.message))

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


def similar(name: str, names: Collection[str]) -> str:
    """Return a cure for an unknown name: the nearest known name, or all of them."""
    near = difflib.get_close_matches(name, names, 1) if len(names) <= MOST_SUGGESTIONS else []
    if near:
        return f"did you mean {near[0]!r}?"
    if not names:
        return "there are none in this book"
    shown = sorted(names)[:12]
    more = ", ..." if len(names) > len(shown) else ""
    return f"there are {', '.join(shown)}{more}"
