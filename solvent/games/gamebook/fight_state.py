"""A moment of a fight in a book, whatever its rules."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Local: TypeAlias = tuple[int, ...]
"""Numbers that only the place knows where play is: of a fight, of a shop."""

FIGHT_ON, ESCAPE = 0, 1
"""The actions where an escape is open. The first also keeps the damage where LUCK may be tested."""


class FightState(NamedTuple):
    """A moment of a fight.

    Attributes:
        step: ``"begin"``; a decision: ``"escape"`` or, after a round, ``"won"`` or ``"lost"``; or
            how it is over: ``"victory"``, ``"defeat"`` or ``"escaped"``.
        local: What only the fight knows; nothing once it is over.
        hero: The values of the fields that change in the fight.
    """

    step: str
    local: Local
    hero: tuple[int, ...]
