"""The equilibrium of the simultaneous call in every situation of football at once.

A field goal and the declaration of punt formation have one value whatever the defence calls. The
value of a matrix with one more row that is constantly c is max(value, c): the game is solved
without such rows, and one of them is called for certain if its value is larger. The defence keeps
to the strategy that it would need if the offence did not: any other that holds the offence to c
would be optimal too, but it might be one against which the offence can go on for ever, taking
penalties back to its own goal line.

A call sheet shows more than two strategies: what a call that is not made would lose. Against the
defence's optimal strategy y the offence's calls have the values A y, at most that of the matrix
game, and equal to it where a call has a positive probability. Against the offence's strategy x the
defence's calls have the values x A, at least that of the game (:func:`call_values`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from solvent.exact.kernels.matrix_game import solve_in, work_for
from solvent.games.football.packed import PackedRules
from solvent.games.football.situation import Situation
from solvent.games.football.solver.values import (
    BY_VALUE,
    Tables,
    rate_calls,
    rate_results,
    tables_of,
)
from solvent.model.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Calls:
    """Equilibria of the calls in all situations.

    Attributes:
        values: [S] to the offence.
        offence_strategy: [S, A].
        defence_strategy: [S, m].
        duality_gap: [S] of each matrix game, in points.
    """

    values: Floats
    offence_strategy: Floats
    defence_strategy: Floats
    duality_gap: Floats


def solve_calls(
    tables: Tables, view: Floats, start: Calls, situations: Ints | None = None
) -> Calls:
    """Solve the matrix games of situations, penalties and plays being chosen by value.

    Args:
        tables: The rules.
        view: The offence's, see :mod:`solvent.games.football.solver.values`.
        start: Calls that may resemble the answer.
        situations: Which ones, all if left out; of others nothing is known, and all is 0.
    """
    if situations is None:
        situations = np.arange(len(tables.order))
    return Calls(
        *_solve_calls(tables, view, start.offence_strategy, start.defence_strategy, situations)
    )


@dataclass(frozen=True, eq=False)
class CallSheet:
    """The matrix game of one call.

    Attributes:
        situation: Where.
        actions: The offence's legal actions, the rows, by number.
        payoff: [rows, m] points to the offence.
        offence_strategy: [rows].
        defence_strategy: [m].
        value: Points to the offence.
        duality_gap: In points.
    """

    situation: Situation
    actions: tuple[int, ...]
    payoff: Floats
    offence_strategy: Floats
    defence_strategy: Floats
    value: float
    duality_gap: float


def call_sheet(rules: PackedRules, view: Floats, situation: Situation) -> CallSheet:
    """The equilibrium of the call in one situation.

    Args:
        rules: Chart and ruleset.
        view: [2(S+2)] of the offence, such as that of a solution.
        situation: Where.
    """
    tables = tables_of(rules)
    s = rules.index(situation)
    actions = np.flatnonzero(rules.legal[s])
    result_values = np.zeros(rules.n_results)
    payoff = np.zeros((len(actions), rules.chart.defences))
    rate_results(tables, s, view, 1.0, np.full(len(tables.option), BY_VALUE), result_values)
    rate_calls(tables, s, result_values, payoff)
    found = solve_calls(tables, view, uniform_calls(rules), np.array([s]))
    return CallSheet(
        situation=situation,
        actions=tuple(actions.tolist()),
        payoff=payoff,
        offence_strategy=found.offence_strategy[s, actions],
        defence_strategy=found.defence_strategy[s],
        value=float(found.values[s]),
        duality_gap=float(found.duality_gap[s]),
    )


def uniform_calls(rules: PackedRules) -> Calls:
    """Every legal action with equal probability; values and gaps are not known."""
    situations, defences = rules.n_situations, rules.chart.defences
    unknown = np.full(situations, np.nan)
    return Calls(
        unknown,
        rules.legal / rules.legal.sum(axis=1, keepdims=True),
        np.full((situations, defences), 1 / defences),
        unknown,
    )


@njit(cache=True)
def _solve_calls(
    tables: Tables, view: Floats, offence_start: Floats, defence_start: Floats, which: Ints
) -> tuple[Floats, Floats, Floats, Floats]:
    """The arrays of :func:`solve_calls`."""
    situations, defences = defence_start.shape
    result_values = np.zeros((len(tables.branch_start) - 1) // situations)
    payoff = np.zeros((offence_start.shape[1], defences))
    by_value = np.full(len(tables.option), BY_VALUE)
    values, gaps = np.zeros(situations), np.zeros(situations)
    offence_strategy = np.zeros(offence_start.shape)
    defence_strategy = np.zeros(defence_start.shape)
    row_strategy = np.zeros(offence_start.shape[1])
    work = work_for(*payoff.shape)
    for s in which:
        rate_results(tables, s, view, 1.0, by_value, result_values)
        rows = rate_calls(tables, s, result_values, payoff)
        first = tables.row_start[s]
        contested = tables.contested[s]
        for i in range(contested):
            row_strategy[i] = offence_start[s, tables.row_action[first + i]]
        defence_strategy[s] = defence_start[s]
        values[s], gaps[s], _ = solve_in(
            work, payoff[:contested], row_strategy[:contested], defence_strategy[s]
        )
        certain = -1
        for i in range(contested, rows):
            if payoff[i, 0] > values[s]:
                values[s], certain = payoff[i, 0], i
        if certain >= 0:
            offence_strategy[s, tables.row_action[first + certain]] = 1.0
        else:
            for i in range(contested):
                offence_strategy[s, tables.row_action[first + i]] = row_strategy[i]
    return values, offence_strategy, defence_strategy, gaps


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
    result_values = np.zeros((len(tables.branch_start) - 1) // situations)
    payoff = np.zeros((actions, defences))
    by_value = np.full(len(tables.option), BY_VALUE)
    offence = np.full((situations, actions), np.nan)
    defence = np.zeros((situations, defences))
    for s in range(situations):
        rate_results(tables, s, view, 1.0, by_value, result_values)
        for i in range(rate_calls(tables, s, result_values, payoff)):
            action = tables.row_action[tables.row_start[s] + i]
            total = 0.0
            for d in range(defences):
                total += payoff[i, d] * defence_strategy[s, d]
                defence[s, d] += offence_strategy[s, action] * payoff[i, d]
            offence[s, action] = total
    return offence, defence
