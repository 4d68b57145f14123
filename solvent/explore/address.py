"""Addresses of pages, and the view of the board that an address stands for.

The address of a page determines the board: a line of play, the part of it that is shown, and the
person's side. A loaded policy and the games played so far are not part of the address.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from solvent.model.parameters import check_integer
from solvent.play.line import Line

Query = Mapping[str, str]
"""The part of an address after its question mark."""

# The parameters that are carried over from one address of the board to the next.
_KEPT = ("game", "s", "line", "at", "me", "hide", "panel", "quiz", "queue")

QUIZZES = ("drill", "mistakes")
"""Kinds of quizzes: positions drawn at random, and the positions of one's own mistakes."""


def link(page: str, **query: Any) -> str:
    """Return the address of a page on the server.

    Args:
        page: The word for the page.
        query: The parts of the query; those that are None or empty are left out.
    """
    said = {name: value for name, value in query.items() if value is not None and value != ""}
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
        """Return whether values are hidden: on request while playing, and before an answer."""
        if self.quiz:
            return "answer" not in self.query
        return self.query.get("hide") == "1" and not self.here.over

    def address(self, **changes: Any) -> str:
        """Return the address of the same view with changes.

        Args:
            changes: Parts of the query; None leaves a part out.
        """
        return link("board", **{**{name: self.query.get(name) for name in _KEPT}, **changes})


def number(query: Query, name: str, default: int, low: int, high: int) -> int:
    """Return a whole number of an address.

    Raises:
        ValueError: If it is none, or out of range.
    """
    text = query.get(name, "").strip()
    if not text:
        return default
    whole = re.fullmatch("-?[0-9]{1,15}", text.replace("−", "-"))
    return check_integer(int(whole[0]) if whole else text, name, low, high)


def one_of(query: Query, name: str, allowed: Collection[int]) -> int | None:
    """Return a number of an address that has to be one of several; None if it is left out.

    Raises:
        ValueError: If it is another.
    """
    found = number(query, name, -1, 0, 10**9)
    if found == -1:
        return None
    if found not in allowed:
        listed = ", ".join(map(str, [*allowed][:20]))
        raise ValueError(f"{name} is {found}; allowed are {listed}")
    return found
