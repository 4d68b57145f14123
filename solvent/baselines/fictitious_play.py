"""Fictitious play in the stage game of every state.

G. W. Brown, "Iterative Solution of Games by Fictitious Play", in *Activity Analysis of Production
and Allocation*, 1951. Each player plays a best response to the average of what the other has
played. The averages tend to an equilibrium of a zero-sum game (J. Robinson, "An Iterative Method of
Solving a Game", Annals of Mathematics 54, 1951), though slowly. As in Brown's paper the players
take turns. Uniform play counts as the first strategy of both; of equally good actions the first is
played.

O. J. Vrieze and S. H. Tijs, "Fictitious Play Applied to Sequences of Games and Discounted
Stochastic Games", International Journal of Game Theory 11, 1982, have the game of each state played
so while its payoffs still change. :mod:`solvent.baselines.stage_games` says how values and sweeps
go along with it.
"""

from __future__ import annotations

from numba import njit

from solvent.baselines.stage_games import (
    StageGames,
    StageTable,
    column_values,
    row_values,
    stage_game,
)
from solvent.model.arrays import Floats


class FictitiousPlay(StageGames):
    """Fictitious play by sweeps; its policies are the averages."""

    name = "fictitious-play"

    def _sweep(self) -> None:
        _sweep(self._table, self.values, *self._strategies, self.sweeps)


@njit(cache=True)
def _sweep(
    table: StageTable,
    values: Floats,
    first_average: Floats,
    second_average: Floats,
    t: int,
) -> None:
    """One step in each state, t from 1."""
    share = 1 / (t + 1)
    for s in table.order:
        m, n = table.first_count[s], table.second_count[s]
        matrix = stage_game(table, s, m, n, values)
        x, y = first_average[s, :m], second_average[s, :n]
        best = row_values(matrix, y).argmax()
        x *= 1 - share
        x[best] += share
        best = column_values(matrix, x).argmin()
        y *= 1 - share
        y[best] += share
        values[s] = x @ row_values(matrix, y)
