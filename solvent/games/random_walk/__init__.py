"""The random walk of Sutton and Barto, Example 6.2: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.random_walk.rules import RandomWalk

__all__ = ["RandomWalk"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__, dict.fromkeys(__all__, "solvent.games.random_walk.rules")
    )
