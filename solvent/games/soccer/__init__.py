"""Littman's soccer: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.soccer.rules import Soccer

__all__ = ["Soccer"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.soccer.rules"))
