"""The contents of an address: a line of play, how far it is shown, and for whom.

The address determines what is on the board. Everything else that is kept, a policy that was loaded
and the games that were played, is of no use to anybody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from solvent.explore.line import Line
from solvent.model.parameters import shown

Query = Mapping[str, str]
"""The part of an address after its question mark."""

KEPT = ("game", "s", "line", "at", "me", "hide", "panel", "quiz", "queue")
"""The parameters that go on from one address of the board to the next."""

QUIZZES = ("drill", "mistakes")
"""Ways to be asked: positions drawn at random, and those of one's own mistakes."""


def link(page: str, **query: Any) -> str:
    """Return the address of a page on the server.

    Args:
        page: The word for the page.
        query: The parts of the query; those that are None or empty are left out, and of a mapping
            named `fixed` each entry is one of ``o0`` and so on.
    """
    fixed = query.pop("fixed", {})
    said = {name: value for name, value in query.items() if value is not None and value != ""}
    said |= {f"o{number}": value for number, value in fixed.items()}
    return f"/{page}?{urlencode(said, safe=',:.')}" if said else f"/{page}"


@dataclass(frozen=True, eq=False)
class View:
    """A view of the board.

    Attributes:
        query: The query of the address.
        line: The whole line.
        at: The number of moves that are shown.
        me: The person's side; None if a person chooses for both.
    """

    query: Query
    line: Line
    at: int
    me: int | None

    @cached_property
    def here(self) -> Line:
        """The line as far as it is shown."""
        return self.line.upto(self.at)

    @property
    def quiz(self) -> str:
        """The way in which the person is asked for the best action; empty if not at all."""
        return self.query.get("quiz", "")

    @property
    def hidden(self) -> bool:
        """Return whether values are hidden: while playing, if wished, and before an answer."""
        if self.quiz:
            return "answer" not in self.query
        return self.query.get("hide") == "1" and not self.here.over

    def address(self, **changes: Any) -> str:
        """Return the address of the same view with changes.

        Args:
            changes: Parts of the query; None leaves a part out.
        """
        return link("board", **{**{name: self.query.get(name) for name in KEPT}, **changes})


def number(query: Query, name: str, default: int, low: int, high: int) -> int:
    """A whole number of an address.

    Raises:
        ValueError: If it is none, or out of range.
    """
    text = query.get(name, "").strip()
    if not text:
        return default
    digits = text.removeprefix("-").removeprefix("−")
    if digits.isascii() and digits.isdecimal() and len(digits) < 16:
        found = int(digits) if digits == text else -int(digits)
        if low <= found <= high:
            return found
    raise ValueError(f"{name} is {shown(text)}; allowed are whole numbers from {low} to {high}")


def one_of(query: Query, name: str, allowed: Iterable[int]) -> int | None:
    """A number of an address that has to be one of several; None if it is left out.

    Raises:
        ValueError: If it is another.
    """
    text = query.get(name, "").strip()
    if not text:
        return None
    numbers = {str(one): one for one in allowed}
    if text not in numbers:
        listed = ", ".join(list(numbers)[:20])
        raise ValueError(f"{name} is {shown(text)}; allowed are {listed}")
    return numbers[text]
