"""The gambler's problem of Sutton and Barto, Example 4.3: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.gambler.rules import Gambler

__all__ = ["Gambler"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.gambler.rules"))
