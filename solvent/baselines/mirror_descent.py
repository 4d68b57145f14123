"""Magnetic mirror descent in the stage game of every state.

S. Sokota et al., "A Unified Approach to Reinforcement Learning, Quantal Response Equilibria, and
Two-Player Zero-Sum Games", ICLR 2023. With the uniform strategy as its magnet, a step of size e at
the temperature h leads from the strategy x to the one in proportion to

    (x(a) exp(e q(a)))^(1 / (1 + e h)),

with q(a) the value of the action a against the other's mixed strategy. With h = 0 this is
multiplicative weights, which circles round an equilibrium. With h > 0 the strategies themselves,
not their averages, tend to an equilibrium of the game in which entropy is rewarded at the rate h.
So h falls, here as 1 / t; with 1 / sqrt(t) the policies came close more slowly. The players take
turns. Payoffs are measured in the range of the stage game's, so that one size of steps suits every
game and state.

:mod:`solvent.baselines.stage_games` says how values and sweeps go along with it. With networks, and
from samples, the algorithm is ``solvent.training.MirrorDescent``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvent.baselines.stage_games import (
    StageGames,
    StageTable,
    column_values,
    row_values,
    stage_game,
)
from solvent.model.arrays import Floats

STEP_SIZE = 4.0
"""Of a step, per range of the payoffs."""


class MirrorDescentSweeps(StageGames):
    """Magnetic mirror descent by sweeps; its policies are the latest ones."""

    name = "mirror-descent"

    def _sweep(self) -> None:
        _sweep(self._table, self.values, *self._strategies, STEP_SIZE, 1 / self.sweeps)


@njit(cache=True)
def _sweep(
    table: StageTable,
    values: Floats,
    first: Floats,
    second: Floats,
    size: float,
    temperature: float,
) -> None:
    """One step in each state."""
    for s in table.order:
        m, n = table.first_count[s], table.second_count[s]
        matrix = stage_game(table, s, m, n, values)
        span = matrix.max() - matrix.min()
        x, y = first[s, :m], second[s, :n]
        if span > 0:
            _step(x, row_values(matrix, y) / span, size, temperature)
            _step(y, -column_values(matrix, x) / span, size, temperature)
        values[s] = x @ row_values(matrix, y)


@njit(cache=True)
def _step(strategy: Floats, q: Floats, size: float, temperature: float) -> None:
    """Move a strategy by one step, action values being q."""
    # A probability that underflows could never come back.
    logits = (np.log(np.maximum(strategy, 1e-300)) + size * q) / (1 + size * temperature)
    strategy[:] = np.exp(logits - logits.max())
    strategy /= strategy.sum()
