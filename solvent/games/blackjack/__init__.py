"""Blackjack with an infinite deck, Sutton and Barto's Examples 5.1 and 5.3: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.blackjack.rules import Blackjack

__all__ = ["Blackjack"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.blackjack.rules"))
