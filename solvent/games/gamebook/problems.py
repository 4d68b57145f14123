"""The faults of a gamebook file, each with its place and a cure."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]

MOST_SUGGESTIONS = 200
"""Among more names than this, no similar one is looked for: a file may have many unknown names."""

LONGEST_MESSAGE = 300
"""Characters. Of a longer message, such as one with a text taken for a name, both ends are kept."""


def one_line(message: str) -> str:
    """A message with nothing in it that would break its line, cut in the middle if it is long."""
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE // 2]}...{message[3 - LONGEST_MESSAGE // 2 :]}"
    return "".join(sign if sign.isprintable() else " " for sign in message)


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault.

    Attributes:
        file: Name of the file.
        line: Line in the file, counted from 1.
        section: Number of the section, or None outside of all.
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
        problems: Everything that was found, in the order of lines, at least one error among it.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        errors = [p for p in self.problems if p.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0]}{more}")


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
