"""The value of every call of football against the other side's strategy, in all situations.

A call sheet shows more than two strategies: what a call that is not made would lose. Against the
defence's optimal strategy y the offence's calls are worth A y, at most the value of the matrix
game, and calls that are mixed all the same; against the offence's strategy x the defence's are
worth x A, at least the value. The field goal and the declaration of punt formation are worth what
they are worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from solvent.games.football.packed import PackedRules
from solvent.games.football.solver.values import (
    BY_VALUE,
    Tables,
    rate_calls,
    rate_results,
    tables_of,
)
from solvent.model.arrays import Floats


@dataclass(frozen=True, eq=False)
class CallValues:
    """Points to the offence, by situation.

    Attributes:
        offence: [S, A] of the offence's actions against the defence's strategy; NaN where illegal.
        defence: [S, m] of the defence's calls against the offence's strategy.
    """

    offence: Floats
    defence: Floats


def call_values(
    rules: PackedRules, view: Floats, offence_strategy: Floats, defence_strategy: Floats
) -> CallValues:
    """Rate all calls of all situations.

    Args:
        rules: Chart and ruleset.
        view: [2(S+2)] of the offence, such as that of a solution.
        offence_strategy: [S, A].
        defence_strategy: [S, m].
    """
    return CallValues(*_call_values(tables_of(rules), view, offence_strategy, defence_strategy))


@njit(cache=True)
def _call_values(
    tables: Tables, view: Floats, offence_strategy: Floats, defence_strategy: Floats
) -> tuple[Floats, Floats]:
    situations, actions = offence_strategy.shape
    defences = defence_strategy.shape[1]
    worth = np.zeros((len(tables.branch_start) - 1) // situations)
    payoff = np.zeros((actions, defences))
    by_value = np.full(len(tables.option), BY_VALUE)
    offence = np.full((situations, actions), np.nan)
    defence = np.zeros((situations, defences))
    for s in range(situations):
        rate_results(tables, s, view, 1.0, by_value, worth)
        for i in range(rate_calls(tables, s, worth, payoff)):
            action = tables.row_action[tables.row_start[s] + i]
            total = 0.0
            for d in range(defences):
                total += payoff[i, d] * defence_strategy[s, d]
                defence[s, d] += offence_strategy[s, action] * payoff[i, d]
            offence[s, action] = total
    return offence, defence
