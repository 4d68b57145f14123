"""Tic-tac-toe: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.tic_tac_toe.rules import TicTacToe

__all__ = ["TicTacToe"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__, dict.fromkeys(__all__, "solvent.games.tic_tac_toe.rules")
    )
