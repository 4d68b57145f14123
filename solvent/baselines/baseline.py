"""A policy that is known without learning: how it is made, and for which games."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from solvent.model import TabularGame, TabularPolicy


class Baseline(NamedTuple):
    """A policy that can be had for the asking.

    Attributes:
        make: From a game and a player to that player's policy.
        suits: Whether it is one for a game and a player. A game's own baselines are asked about
            tables of that game only.
        description: What it does, in one short sentence.
    """

    make: Callable[[TabularGame, int], TabularPolicy]
    suits: Callable[[TabularGame, int], bool]
    description: str = ""
