"""Greed, the dice game of The Dragon: rules, solvers, rules of thumb and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.greed.rules import Greed

__all__ = ["Greed"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.greed.rules"))
