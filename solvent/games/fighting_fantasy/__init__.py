"""Combat of the Fighting Fantasy gamebooks: rules, formulas, rules of thumb and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.fighting_fantasy.rules import FightingFantasy, ff_combat

__all__ = ["FightingFantasy", "ff_combat"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__, dict.fromkeys(__all__, "solvent.games.fighting_fantasy.rules")
    )
