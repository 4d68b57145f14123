"""Best responses in football to fixed strategies, one call ahead and to the end.

**One call ahead** the offence's best response to the defence's strategy y is the row of the payoff
matrix with the largest entry of A y; the defence's to x, the column with the smallest of x A.

**To the end** it is a Markov decision process. The *free* side may be offence and defence by turns
(until the next score), or keep one *role* (in a drive). Policy iteration: answer one call ahead
everywhere, evaluate that (:mod:`solvent.games.football.solver.situation_chain`), answer again,
until nothing gets better.

What is maximized is points, or the number of calls: the latter bounds how long play can last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from solvent.games.football.packed import SAFETY_KICK
from solvent.games.football.solver.situation_chain import both_halves, mixed_chain, settle
from solvent.games.football.solver.values import (
    BY_VALUE,
    Tables,
    choices_by_value,
    rate_calls,
    rate_kick,
    rate_results,
)
from solvent.model.arrays import Floats, Ints

ATTACK, DEFEND = 0, 1
"""The roles; the values in a role stand in that half of a view."""

TIE = 1e-13
"""Actions closer than this are as good as each other: rounding must not make policies change."""

MOST_SWEEPS = 20_000
MOST_ROUNDS = 100


class Strategies(NamedTuple):
    """What a side does that does not answer: [S, A], [S, m] and, see `football_values`, [S, C]."""

    offence: Floats
    defence: Floats
    choices: Floats


class ResponseView(NamedTuple):
    """A best response.

    Attributes:
        view: [2(S+2)] of the side that answers.
        actions: [S] for each role: what it calls as offence, and as defence.
        residual: Most by which an answer one call ahead to the same view differs from it.
    """

    view: Floats
    actions: tuple[Ints, Ints]
    residual: float


def best_response_view(
    tables: Tables,
    fixed: Strategies,
    view: Floats,
    roles: Sequence[int],
    *,
    other: tuple[Tables, Strategies] | None = None,
    count_calls: bool = False,
    tolerance: float = 1e-12,
) -> ResponseView:
    """What a side gets that answers in the best way.

    Args:
        tables: The rules.
        fixed: What the other side does.
        view: [2(S+2)] of the side that answers: where to begin, and what play ends with.
        roles: Those in which it is free. With both, play goes on until the next score; with one,
            until the ball or the right to kick goes to the other side.
        other: The rules where the other side has the ball, and what it does there; `tables` and
            `fixed` if left out.
        count_calls: Whether to maximize the number of calls instead of points.
        tolerance: The residual that will do. If it is not reached, the residual says so.
    """
    situations = len(tables.order)
    of_role = (tables, fixed), other or (tables, fixed)
    view = view.copy()
    pay, toll = (0.0, 1.0) if count_calls else (1.0, 0.0)
    actions = [np.full(situations, -1), np.full(situations, -1)]
    residual = np.inf
    for _ in range(MOST_ROUNDS):
        residual = 0.0
        chains = []
        for role in roles:
            tables, fixed = of_role[role]
            seen = offence_view(view, role)
            choices = np.where(tables.chooser == role, BY_VALUE, fixed.choices)
            if role == ATTACK:
                best, actions[role] = respond_to_defence(
                    tables, seen, pay, choices, fixed.defence, actions[role]
                )
                strategies = (one_hot(actions[role], fixed.offence.shape[1]), fixed.defence)
            else:
                best, actions[role] = respond_to_offence(
                    tables, seen, pay, choices, fixed.offence, actions[role],
                    fixed.defence.shape[1],
                )  # fmt: skip
                best = -best
                strategies = (fixed.offence, one_hot(actions[role], fixed.defence.shape[1]))
            known = slice(role * (situations + 2), role * (situations + 2) + situations)
            residual = max(residual, float(np.abs(best + toll - view[known]).max()))
            chosen = choices_by_value(tables, seen, pay, choices)
            chain = mixed_chain(
                tables, *strategies, chosen, defending=role == DEFEND, free_kick=len(roles) == 2
            )
            if count_calls:
                chain = chain._replace(constant=np.ones(len(chain.place)))
            chains.append(chain)
        if len(roles) == 2:
            residual = max(residual, _free_kick_residual(tables, view, pay, toll))
        if residual <= tolerance:
            break
        pair = np.stack((view, np.zeros_like(view)), axis=1)
        chain = chains[0] if len(roles) == 1 else both_halves(*chains)
        change = settle(chain, pair, False, tolerance / 4, MOST_SWEEPS)
        if not change <= tolerance:
            residual = np.inf
            break
        view = pair[:, 0].copy()
    return ResponseView(view, (actions[0], actions[1]), residual)


def opposite(view: Floats) -> Floats:
    """The other side's view."""
    return -np.roll(view, len(view) // 2)


def offence_view(view: Floats, role: int) -> Floats:
    """The offence's view, from the view of a side in a role."""
    return view if role == ATTACK else opposite(view)


def one_hot(actions: Ints, width: int) -> Floats:
    """Strategies that call one action for certain."""
    strategies = np.zeros((len(actions), width))
    strategies[np.arange(len(actions)), actions] = 1.0
    return strategies


def _free_kick_residual(tables: Tables, view: Floats, pay: float, toll: float) -> float:
    kicking, receiving = len(view) // 2 - 1, len(view) - 1
    gains = rate_kick(tables, SAFETY_KICK, pay, view) - float(view[kicking])
    losses = -rate_kick(tables, SAFETY_KICK, pay, opposite(view)) - float(view[receiving])
    return max(abs(toll + gains), abs(toll + losses))


@njit(cache=True)
def respond_to_defence(
    tables: Tables, view: Floats, pay: float, choices: Floats, defence_strategy: Floats, usual: Ints
) -> tuple[Floats, Ints]:
    """The offence's largest value against the defence's strategies, and an action that gets it.

    Args:
        tables: The rules.
        view: The offence's.
        pay: 1 to count points, 0 to leave them out.
        choices: [S, C].
        defence_strategy: [S, m].
        usual: [S] actions that are preferred where they are as good as any; -1 for none.
    """
    situations, defences = defence_strategy.shape
    worth = np.zeros((len(tables.branch_start) - 1) // situations)
    values, actions = np.zeros(situations), usual.copy()
    payoff = np.zeros((_most_rows(tables), defences))
    for s in range(situations):
        rate_results(tables, s, view, pay, choices[s], worth)
        rows = rate_calls(tables, s, worth, payoff)
        first = tables.row_start[s]
        best, action, kept = -np.inf, -1, -np.inf
        for i in range(rows):
            value = 0.0
            for d in range(defences):
                value += payoff[i, d] * defence_strategy[s, d]
            if value > best:
                best, action = value, tables.row_action[first + i]
            if tables.row_action[first + i] == usual[s]:
                kept = value
        values[s] = best
        if kept < best - TIE:
            actions[s] = action
    return values, actions


@njit(cache=True)
def respond_to_offence(
    tables: Tables,
    view: Floats,
    pay: float,
    choices: Floats,
    offence_strategy: Floats,
    usual: Ints,
    defences: int,
) -> tuple[Floats, Ints]:
    """The smallest value to the offence that the defence can hold its strategies to, and a call."""
    situations = len(offence_strategy)
    worth = np.zeros((len(tables.branch_start) - 1) // situations)
    values, actions = np.zeros(situations), usual.copy()
    payoff = np.zeros((_most_rows(tables), defences))
    total = np.zeros(defences)
    for s in range(situations):
        rate_results(tables, s, view, pay, choices[s], worth)
        rows = rate_calls(tables, s, worth, payoff)
        first = tables.row_start[s]
        total[:] = 0.0
        for i in range(rows):
            x = offence_strategy[s, tables.row_action[first + i]]
            if x > 0:
                for d in range(defences):
                    total[d] += x * payoff[i, d]
        action = np.argmin(total)
        values[s] = total[action]
        if usual[s] < 0 or total[usual[s]] > total[action] + TIE:
            actions[s] = action
    return values, actions


@njit(cache=True)
def _most_rows(tables: Tables) -> int:
    """The largest number of legal actions in a situation."""
    return int(np.max(tables.row_start[1:] - tables.row_start[:-1]))
