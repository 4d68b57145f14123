"""A state of a gamebook: the page at which play has stopped."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Values: TypeAlias = tuple[int | None, ...]
"""The value of each field, in the book's order; None where it matters no more."""

Local: TypeAlias = tuple[int, ...]
"""Numbers that are known only where play is: in a fight, or in a shop."""


class Page(NamedTuple):
    """A place where play has stopped, and the hero's state.

    Attributes:
        section: The number of the section; 0 before the first one.
        block: The index of the block in the section; in section 0 the disciplines picked so far.
        step: What is to be done: ``""`` to read on, choose or trade, ``"escape"`` to fight on or
            escape, ``"won"`` and ``"lost"`` to test LUCK or not after such a round; ``"over"`` if
            the episode has ended.
        values: The value of every field, in the book's order; None where it matters no more.
        local: In a fight, see its rules; in a shop, how often each limited trade has been made.
        ending: The name of the ending, if the episode has ended.
    """

    section: int
    block: int
    step: str
    values: Values
    local: Local = ()
    ending: str = ""

    @property
    def at(self) -> Position:
        """The position of the page."""
        return self.section, self.block, self.step, self.ending

    @property
    def decision(self) -> Page:
        """The page without the hero's state: the same for all pages at one decision of the book."""
        return self._replace(values=(), local=())


class FinalState(NamedTuple):
    """The end of an episode.

    Attributes:
        ending: The name of the ending.
        section: The number of the section.
        values: The values of the fields that were asked for.
    """

    ending: str
    section: int
    values: Values


STEPS = ("", "escape", "won", "lost", "over")
"""Every :attr:`Page.step`."""

Position: TypeAlias = tuple[int, int, str, str]
"""Section, block, step and ending: pages that share them have the same live fields."""
