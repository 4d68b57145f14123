"""The arrays of a game with its probabilities and rewards as exact rationals.

The floats of a :class:`~solvent.model.TabularGame` are the nearest to these. A game has few
different numbers, so each is kept once and outcomes say which.

====================  =============  ==========================================================
``numbers``           [M]            the different rationals
``probability``       [N] int32      of each outcome, an index of ``numbers``
``reward``            [N] int32      of each outcome, an index of ``numbers``
``initial``           mapping        the probability of each state in which an episode can begin
====================  =============  ==========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from solvent.model.tabular import TabularGame


@dataclass(frozen=True, eq=False)
class RationalGame:
    """A game's arrays and the rationals behind them; the module's table gives the shapes."""

    table: TabularGame
    numbers: tuple[Fraction, ...]
    probability: NDArray[np.int32]
    reward: NDArray[np.int32]
    initial: Mapping[int, Fraction]

    def __post_init__(self) -> None:
        """Check that the rationals are those of the table, and that an episode can begin."""
        floats = np.array([float(number) for number in self.numbers])
        for name in ("probability", "reward"):
            indices = getattr(self, name)
            of_table = (
                self.table.probability if name == "probability" else self.table.outcome_reward
            )
            if indices.shape != of_table.shape or (floats[indices] != of_table).any():
                raise ValueError(f"{name} does not agree with the table's")
        if sum(self.initial.values()) != 1:
            raise ValueError(f"initial probabilities sum to {sum(self.initial.values())}, not 1")
