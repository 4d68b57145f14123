"""Football under fixed strategies is a Markov chain: its rows, and its values by Gauss-Seidel.

Where both sides' strategies and choices are given, the value of a situation is linear in the view
(:mod:`solvent.games.football.solver.values`),

    view[place] = constant + sum of weight * view[target],

with weights that are not negative and sum to 1. A play moves on to later downs and, mostly,
towards the goal; with situations swept in that order, values travel through a whole drive in one
sweep, and the number of sweeps is that of the changes of possession until somebody scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvent.games.football.packed import SAFETY_KICK
from solvent.games.football.solver.values import Tables
from solvent.model.arrays import Floats, Ints

STRETCH = 25
"""Sweeps between two extrapolations."""

ENDLESS, PATIENCE = 1 - 1e-5, 500
"""Changes that shrink no faster, after so many sweeps, are taken for those of endless play."""


class SituationChain(NamedTuple):
    """Rows of a Markov chain in the order in which they are to be swept.

    ============  ================  =============================================================
    ``place``     [n] int64         the index in the view whose value a row gives
    ``start``     [n+1] int64       entries of each row
    ``target``    [entries] int64   indices into the view, distinct within a row
    ``weight``    [entries] float64 their probabilities
    ``constant``  [n] float64       points to the viewer
    ============  ================  =============================================================
    """

    place: Ints
    start: Ints
    target: Ints
    weight: Floats
    constant: Floats


def mixed_chain(
    tables: Tables,
    offence_strategy: Floats,
    defence_strategy: Floats,
    choices: Floats,
    *,
    defending: bool = False,
    free_kick: bool = True,
) -> SituationChain:
    """The chain of all situations under given strategies.

    Args:
        tables: The rules.
        offence_strategy: [S, A].
        defence_strategy: [S, m].
        choices: [S, C] probability of taking the penalty.
        defending: Whether the viewer is the defence: then the rows are those of the second half
            of the view.
        free_kick: Whether the free kick has a row too.
    """
    chain = SituationChain(
        *_compose(tables, offence_strategy, defence_strategy, choices, defending)
    )
    if free_kick:
        return chain
    return chain._replace(
        place=chain.place[:-1], start=chain.start[:-1], constant=chain.constant[:-1]
    )


def both_halves(first: SituationChain, second: SituationChain) -> SituationChain:
    """One chain from the rows of two."""
    return SituationChain(
        np.concatenate((first.place, second.place)),
        np.concatenate((first.start, second.start[1:] + first.start[-1])),
        np.concatenate((first.target, second.target)),
        np.concatenate((first.weight, second.weight)),
        np.concatenate((first.constant, second.constant)),
    )


@njit(cache=True)
def _compose(
    tables: Tables,
    offence_strategy: Floats,
    defence_strategy: Floats,
    choices: Floats,
    defending: bool,
) -> tuple[Ints, Ints, Ints, Floats, Floats]:
    """The arrays of :func:`mixed_chain`."""
    situations = len(tables.order)
    half = situations + 2
    results = (len(tables.branch_start) - 1) // situations
    sign, shift = (-1.0, half) if defending else (1.0, 0)

    place = np.zeros(situations + 1, np.int64)
    start = np.zeros(situations + 2, np.int64)
    constant = np.zeros(situations + 1)
    target = np.zeros(64 * situations, np.int64)
    weight = np.zeros(64 * situations)
    result_weight = np.zeros(results)
    place_weight = np.zeros(2 * half)
    seen = np.zeros(2 * half, np.int64)

    for k in range(situations + 1):
        count, points = 0, 0.0
        if k < situations:
            s = tables.order[k]
            _weigh_results(
                tables, s, offence_strategy[s], defence_strategy[s], choices[s], result_weight
            )
            for r in range(results):
                if result_weight[r] == 0:
                    continue
                row = s * results + r
                for b in range(tables.branch_start[row], tables.branch_start[row + 1]):
                    chance = result_weight[r] * tables.probability[b]
                    points += chance * tables.points[b]
                    count = _add(place_weight, seen, count, tables.target[b], chance)
        else:
            s = half - 1
            for b in range(tables.kick_start[SAFETY_KICK], tables.kick_start[SAFETY_KICK + 1]):
                chance = tables.kick_probability[b]
                points += chance * tables.kick_points[b]
                count = _add(place_weight, seen, count, tables.kick_target[b], chance)
        place[k] = s + shift
        constant[k] = sign * points
        begin = start[k]
        if begin + count > len(target):
            target = np.concatenate((target, np.zeros(len(target) + count, np.int64)))
            weight = np.concatenate((weight, np.zeros(len(weight) + count)))
        for i in range(count):
            target[begin + i] = (seen[i] + shift) % (2 * half)
            weight[begin + i] = place_weight[seen[i]]
            place_weight[seen[i]] = 0.0
        start[k + 1] = begin + count
    return place, start, target[: start[-1]].copy(), weight[: start[-1]].copy(), constant


@njit(cache=True)
def _weigh_results(
    tables: Tables,
    situation: int,
    offence_strategy: Floats,
    defence_strategy: Floats,
    choices: Floats,
    result_weight: Floats,
) -> None:
    """The probability of each result, choices replaced by what is chosen; [R], written."""
    result_weight[:] = 0.0
    defences = len(defence_strategy)
    for row in range(tables.row_start[situation], tables.row_start[situation + 1]):
        x = offence_strategy[tables.row_action[row]]
        if x == 0:
            continue
        cell = tables.row_call[row] * defences
        for d in range(defences):
            both = x * defence_strategy[d]
            if both == 0:
                continue
            for entry in range(tables.cell_start[cell + d], tables.cell_start[cell + d + 1]):
                result_weight[tables.cell_result[entry]] += both * tables.cell_probability[entry]
    for c in range(len(choices)):
        chosen = tables.chosen_result[c]
        result_weight[tables.option[c, 0]] += result_weight[chosen] * choices[c]
        result_weight[tables.option[c, 1]] += result_weight[chosen] * (1 - choices[c])
        result_weight[chosen] = 0.0


@njit(cache=True)
def _add(place_weight: Floats, seen: Ints, count: int, place: int, chance: float) -> int:
    """Add to the weight of a place, and to the list of places with weight; return its length."""
    if place_weight[place] == 0:
        seen[count] = place
        count += 1
    place_weight[place] += chance
    return count


def settle(chain: SituationChain, view: Floats, mirror: bool, tolerance: float, most: int) -> float:
    """Sweep over a chain until its values change by no more than `tolerance`.

    Where play is long, what remains of the error soon shrinks by the same factor f everywhere. So
    after every :data:`STRETCH` sweeps the last change is taken f / (1 - f) times more, which is
    the sum of all changes that would follow.

    Args:
        chain: The rows; places without a row keep their values.
        view: [2(S+2), 2], read and written. Column 0 counts points, column 1 does not: with -1 and
            1 at the kickoffs it becomes the derivative of the values by that of a kickoff.
        mirror: Whether the second half of the view is the negative of the first.
        tolerance: See above.
        most: Sweeps after which to give up.

    Returns:
        The largest change in the last sweep; more than `tolerance` if it was given up, which is
        also done as soon as changes do not shrink.
    """
    change, former, least = np.inf, 0.0, np.inf
    for done in range(0, most, STRETCH):
        before = _sweep(chain, view, mirror, tolerance, min(STRETCH, most - done) - 1)
        if before <= tolerance:
            return before
        known = view.copy()
        change = _sweep(chain, view, mirror, tolerance, 1)
        if change <= tolerance:
            return change
        factor = change / before
        if factor > ENDLESS and done >= PATIENCE:
            return change
        # Only while it helps, and if the factor is that of a stretch ago: else the sum is another.
        least = min(least, change)
        steady = abs(factor - former) < (1 - factor) / 10
        if 0.5 < factor < ENDLESS and steady and change < 10 * least:
            view += (view - known) * (factor / (1 - factor))
        former = factor
    return change


@njit(cache=True)
def _sweep(chain: SituationChain, view: Floats, mirror: bool, tolerance: float, most: int) -> float:
    """Some sweeps; the largest change in the last, which may come early with small changes."""
    half = len(view) // 2
    change = np.inf
    for _ in range(most):
        change = 0.0
        for k in range(len(chain.place)):
            value, slope = chain.constant[k], 0.0
            for i in range(chain.start[k], chain.start[k + 1]):
                value += chain.weight[i] * view[chain.target[i], 0]
                slope += chain.weight[i] * view[chain.target[i], 1]
            place = chain.place[k]
            change = max(change, abs(value - view[place, 0]), abs(slope - view[place, 1]))
            view[place, 0], view[place, 1] = value, slope
            if mirror:
                view[place + half, 0], view[place + half, 1] = -value, -slope
        if change <= tolerance:
            break
    return change
