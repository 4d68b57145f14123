"""Nim, normal and misère: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.nim.rules import Nim

__all__ = ["Nim"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, dict.fromkeys(__all__, "solvent.games.nim.rules"))
