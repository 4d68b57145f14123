"""The description of a baseline: a policy known without learning."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from solvent.model import TabularGame, TabularPolicy


class Baseline(NamedTuple):
    """A policy that is known without learning.

    Attributes:
        make: A function from a game and a player to that player's policy.
        suits: A function from a game and a player to whether the baseline exists for them. A game's
            own baselines receive tables of that game only.
        description: One short sentence about how it plays.
    """

    make: Callable[[TabularGame, int], TabularPolicy]
    suits: Callable[[TabularGame, int], bool]
    description: str = ""
