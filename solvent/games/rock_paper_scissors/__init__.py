"""Rock-paper-scissors, plain and weighted: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.rock_paper_scissors.rules import RockPaperScissors

__all__ = ["RockPaperScissors"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__, dict.fromkeys(__all__, "solvent.games.rock_paper_scissors.rules")
    )
