"""Puterman's inventory: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.inventory.rules import Inventory

__all__ = ["Inventory"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.inventory.rules"))
