"""Jack's car rental of Sutton and Barto, Example 4.2: its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.car_rental.rules import CarRental

__all__ = ["CarRental"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__, dict.fromkeys(__all__, "solvent.games.car_rental.rules")
    )
