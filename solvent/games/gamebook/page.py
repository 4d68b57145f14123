"""A state of a gamebook: the page at which play has stopped."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from solvent.games.gamebook.combat import Local
from solvent.games.gamebook.effects import Values


class Page(NamedTuple):
    """Where play has stopped.

    Attributes:
        section: The number of the section; 0 before the first one.
        block: The index of the block in the section; in section 0 the disciplines picked so far.
        step: What is to be done: ``""`` to read on, choose or trade, ``"escape"`` to fight on or
            escape, ``"won"`` and ``"lost"`` to test LUCK or not after such a round; ``"over"`` if
            the episode has ended.
        values: Of every field, in the book's order; None where it matters no more.
        local: Of a fight, see its rules; of a shop, how often each limited trade has been made.
        ending: The name of the ending, if the episode has ended.
    """

    section: int
    block: int
    step: str
    values: Values
    local: Local = ()
    ending: str = ""

    @property
    def decision(self) -> Page:
        """What all pages at one decision of the book have in common, whatever the hero is."""
        return self._replace(values=(), local=())


class FinalState(NamedTuple):
    """How play ended.

    Attributes:
        ending: Its name.
        section: The number of the section.
        values: Of the fields that were asked for.
    """

    ending: str
    section: int
    values: Values


STEPS = ("", "escape", "won", "lost", "over")
"""Every :attr:`Page.step`."""

Position: TypeAlias = tuple[int, int, str, str]
"""What pages with the same live fields share: section, block, step and ending."""
