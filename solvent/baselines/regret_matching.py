"""Regret matching in the stage game of every state.

S. Hart and A. Mas-Colell, "A Simple Adaptive Procedure Leading to Correlated Equilibrium",
Econometrica 68, 2000. The regret of an action is what it would have gained so far over what was
played; each action is played in proportion to its positive regret:

    R(a)  <-  R(a) + q(a) - sum over a' of x(a') q(a'),        x(a) in proportion to max(R(a), 0),

with q(a) the value of a against the other's mixed strategy. Of two players who do so the *average*
strategies tend to an equilibrium of a zero-sum game, with an error of 1 / sqrt(t).

Regret matching+ (O. Tammelin, "Solving Large Imperfect Information Games Using CFR+",
arXiv:1407.5042, 2014) sets negative regrets to 0 at once, so that an action that becomes good comes
back at once; the players take turns, and the t-th strategy counts t times in the average.

:mod:`solvent.baselines.stage_games` says how values and sweeps go along with it.
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
from solvent.model import TabularGame
from solvent.model.arrays import Floats


class RegretMatching(StageGames):
    """Regret matching by sweeps; its policies are the averages.

    Args:
        game: A game for two; one player may have no choice.
        plus: Whether it is regret matching+.

    Raises:
        ValueError: If the game is for one player.
    """

    def __init__(self, game: TabularGame, *, plus: bool = True) -> None:
        self.name = "regret-matching+" if plus else "regret-matching"
        super().__init__(game)
        self.plus = plus
        first, second = (np.zeros_like(average) for average in self._strategies)
        self._regrets = first, second

    def _sweep(self) -> None:
        _sweep(self._table, self.values, *self._regrets, *self._strategies, self.sweeps, self.plus)


@njit(cache=True)
def _sweep(
    table: StageTable,
    values: Floats,
    first_regret: Floats,
    second_regret: Floats,
    first_average: Floats,
    second_average: Floats,
    t: int,
    plus: bool,
) -> None:
    """One step in each state, t from 1."""
    share = 2 / (t + 1) if plus else 1 / t
    for s in table.order:
        m, n = table.first_count[s], table.second_count[s]
        matrix = stage_game(table, s, m, n, values)
        x, y = _matched(first_regret[s, :m]), _matched(second_regret[s, :n])
        q = row_values(matrix, y)
        _add(first_regret[s, :m], q, x, plus)
        if plus:
            x = _matched(first_regret[s, :m])
        q = -column_values(matrix, x)
        _add(second_regret[s, :n], q, y, plus)
        if plus:
            y = _matched(second_regret[s, :n])
        first_average[s, :m] += share * (x - first_average[s, :m])
        second_average[s, :n] += share * (y - second_average[s, :n])
        values[s] = first_average[s, :m] @ row_values(matrix, second_average[s, :n])


@njit(cache=True)
def _matched(regret: Floats) -> Floats:
    """The strategy in proportion to positive regrets; uniform if there are none."""
    positive: Floats = np.maximum(regret, 0.0)
    total = positive.sum()
    if total > 0:
        positive /= total
    else:
        positive[:] = 1 / len(regret)
    return positive


@njit(cache=True)
def _add(regret: Floats, q: Floats, strategy: Floats, plus: bool) -> None:
    """Add the regrets of one more step, action values being q."""
    mean = 0.0
    for a in range(len(q)):
        mean += strategy[a] * q[a]
    for a in range(len(q)):
        regret[a] += q[a] - mean
        if plus and regret[a] < 0:
            regret[a] = 0.0
