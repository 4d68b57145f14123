"""The Dyna maze of Sutton and Barto, Example 8.1: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.dyna_maze.rules import DynaMaze

__all__ = ["DynaMaze"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.dyna_maze.rules"))
