"""Puterman's replacement of equipment: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.equipment_replacement.rules import EquipmentReplacement

__all__ = ["EquipmentReplacement"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__, dict.fromkeys(__all__, "solvent.games.equipment_replacement.rules")
    )
