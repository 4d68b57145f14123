"""The gridworld of Sutton and Barto, Examples 3.5 and 3.8: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.gridworld.rules import Gridworld

__all__ = ["Gridworld"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.gridworld.rules"))
