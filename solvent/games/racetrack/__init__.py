"""The racetrack of Sutton and Barto, Exercise 5.12: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.racetrack.rules import Racetrack

__all__ = ["Racetrack"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.racetrack.rules"))
