"""A single drive of football for one player: rules and rules of thumb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.football_drive.rules import FootballDrive

__all__ = ["FootballDrive"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__, dict.fromkeys(__all__, "solvent.games.football_drive.rules")
    )
