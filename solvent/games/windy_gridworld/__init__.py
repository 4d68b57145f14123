"""The windy gridworld of Sutton and Barto, Example 6.5: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.windy_gridworld.rules import WindyGridworld

__all__ = ["WindyGridworld"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__, dict.fromkeys(__all__, "solvent.games.windy_gridworld.rules")
    )
