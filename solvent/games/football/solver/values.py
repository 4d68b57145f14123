"""What results and calls of football are worth, given what the situations are worth.

**Views.** A *view* is what everything is worth to one side, the viewer, [2 (S + 2)]:

===================  ==============================================================================
index                value to the viewer
===================  ==============================================================================
0 .. S-1             of a situation, the viewer having the ball
S                    of being about to kick off
S + 1                of being about to give the ball up by a free kick
S + 2 + i            of the same as i, the other side having the ball or being about to kick
===================  ==============================================================================

A result's value to the offence is then one sum over its branches, whoever gets the ball:

    q(s, r) = sum of probability * (points + view[target])

with the offence's view. Where both sides play by the same values, the second half of the view is
the negative of the first (the view is *mirrored*); for a single drive it is given; against an
opponent with a fixed policy the two halves are solved for together.

**Choices** between a penalty and a play are an array [S, C] with the chance that the penalty is
taken; :data:`BY_VALUE` stands for whichever of the two is worth more to the side that chooses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.games.football.packed import FREE_KICK, KICKOFF, PackedRules
from solvent.model.arrays import Bools, Floats, Ints

BY_VALUE = -1.0
"""In an array of choices: the chooser takes what is worth more to it."""


class Tables(NamedTuple):
    """The packed rules in the form that the compiled loops read, all indices resolved.

    =====================  ====================  ==================================================
    ``order``              [S] int64             situations, those that play moves on to first
    ``row_start``          [S+1] int64           rows of situation s, one for each legal action
    ``row_action``         [rows] int64          the offence's action
    ``row_call``           [rows] int64          what it sends to the chart
    ``contested``          [S] int64             how many rows of s, which come first, depend on
                                                 the defence's call
    ``branch_start``       [S*R+1] int64         branches of result r in situation s, at s*R + r
    ``probability``        [N] float64           of a branch
    ``points``             [N] float64           to the offence
    ``target``             [N] int64             where it leads: an index into the offence's view
    ``chosen_result``      [C] int64             the results that are choices
    ``option``             [C, 2] int64          penalty and play
    ``chooser``            [C] int64             0 the offence, 1 the defence
    ``cell_start``         [calls*m+1] int64     entries of the cell of call c, defence d at c*m + d
    ``cell_result``        [entries] int64       a result
    ``cell_probability``   [entries] float64     its probability
    ``kick_start``         [4] int64             branches of kickoff, onside kick and free kick
    ``kick_probability``   [F] float64           of a branch
    ``kick_points``        [F] float64           to the side that kicks
    ``kick_target``        [F] int64             an index into the view of the side that kicks
    =====================  ====================  ==================================================

    R counts the two results that no chart holds. It is ``(len(branch_start) - 1) // S``.
    """

    order: Ints
    row_start: Ints
    row_action: Ints
    row_call: Ints
    contested: Ints
    branch_start: Ints
    probability: Floats
    points: Floats
    target: Ints
    chosen_result: Ints
    option: Ints
    chooser: Ints
    cell_start: Ints
    cell_result: Ints
    cell_probability: Floats
    kick_start: Ints
    kick_probability: Floats
    kick_points: Floats
    kick_target: Ints


def tables_of(rules: PackedRules) -> Tables:
    """Prepare packed rules for the compiled loops."""
    down, _, to_goal, punting = (column.astype(np.int64) for column in rules.situation.T)
    situations = len(down)
    declared = punting == 1
    rows, actions = np.nonzero(rules.legal)
    plays = rules.chart.plays
    calls = actions + ((actions == plays + 2) & declared[rows])
    contested = rules.legal[:, : plays + 1].sum(axis=1) + (rules.legal[:, plays + 2] & declared)
    choices = np.flatnonzero(rules.option[:, 0] >= 0)
    return Tables(
        # Most results gain yards and use up a down; a declaration leads to the punt formation.
        order=np.lexsort((~declared, -down, to_goal)).astype(np.int64),
        row_start=np.concatenate(([0], np.cumsum(rules.legal.sum(axis=1)))).astype(np.int64),
        row_action=actions.astype(np.int64),
        row_call=calls.astype(np.int64),
        contested=contested.astype(np.int64),
        branch_start=rules.branch_start.astype(np.int64),
        probability=rules.probability,
        points=rules.points.astype(float),
        target=_targets(rules.next, rules.same_side, situations),
        chosen_result=choices.astype(np.int64),
        option=rules.option[choices].astype(np.int64),
        chooser=rules.chooser[choices].astype(np.int64),
        cell_start=rules.cell_start.astype(np.int64),
        cell_result=rules.cell_result.astype(np.int64),
        cell_probability=rules.cell_probability,
        kick_start=rules.kick_start.astype(np.int64),
        kick_probability=rules.kick_probability,
        kick_points=rules.kick_points.astype(float),
        kick_target=_targets(rules.kick_next, rules.kick_same_side, situations),
    )


def _targets(following: NDArray[np.int32], same_side: Bools, situations: int) -> Ints:
    place = following.astype(np.int64)
    place[following == KICKOFF] = situations
    place[following == FREE_KICK] = situations + 1
    return place + np.where(same_side, 0, situations + 2)


@njit(cache=True)
def rate_results(
    tables: Tables, situation: int, view: Floats, pay: float, choices: Floats, worth: Floats
) -> None:
    """What each result is worth to the offence in a situation.

    Args:
        tables: The rules.
        situation: Where the play starts.
        view: The offence's.
        pay: 1 to count points, 0 to leave them out.
        choices: [C] in this situation, see the module.
        worth: [R], written.
    """
    first = situation * len(worth)
    for r in range(len(worth)):
        total = 0.0
        for b in range(tables.branch_start[first + r], tables.branch_start[first + r + 1]):
            total += tables.probability[b] * (pay * tables.points[b] + view[tables.target[b]])
        worth[r] = total
    for c in range(len(choices)):
        penalty, play = worth[tables.option[c, 0]], worth[tables.option[c, 1]]
        if choices[c] >= 0:
            value = choices[c] * penalty + (1 - choices[c]) * play
        elif tables.chooser[c] == 0:
            value = max(penalty, play)
        else:
            value = min(penalty, play)
        worth[tables.chosen_result[c]] = value


@njit(cache=True)
def rate_calls(tables: Tables, situation: int, worth: Floats, payoff: Floats) -> int:
    """Fill ``payoff[row, defence]`` for the legal actions of a situation; return how many."""
    first = tables.row_start[situation]
    rows = tables.row_start[situation + 1] - first
    defences = payoff.shape[1]
    for i in range(rows):
        cell = tables.row_call[first + i] * defences
        for d in range(defences):
            total = 0.0
            for entry in range(tables.cell_start[cell + d], tables.cell_start[cell + d + 1]):
                total += tables.cell_probability[entry] * worth[tables.cell_result[entry]]
            payoff[i, d] = total
    return int(rows)


@njit(cache=True)
def rate_kick(tables: Tables, kick: int, pay: float, view: Floats) -> float:
    """What a kick is worth to the side that kicks, whose view is given; 1 in `pay` as above."""
    total = 0.0
    for b in range(tables.kick_start[kick], tables.kick_start[kick + 1]):
        value = pay * tables.kick_points[b] + view[tables.kick_target[b]]
        total += tables.kick_probability[b] * value
    return total


@njit(cache=True)
def choices_by_value(tables: Tables, view: Floats, pay: float, choices: Floats) -> Floats:
    """The given choices [S, C], :data:`BY_VALUE` replaced by 1 (penalty) or 0 (play, in ties too).

    Args:
        tables: The rules.
        view: The offence's.
        pay: As in :func:`rate_results`.
        choices: [S, C].
    """
    situations = len(tables.order)
    worth = np.zeros((len(tables.branch_start) - 1) // situations)
    taken = choices.copy()
    for s in range(situations):
        rate_results(tables, s, view, pay, choices[s], worth)
        for c in range(len(tables.option)):
            if choices[s, c] < 0:
                better = worth[tables.option[c, 0]] - worth[tables.option[c, 1]]
                taken[s, c] = 1.0 if (better > 0 if tables.chooser[c] == 0 else better < 0) else 0.0
    return taken


def all_by_value(tables: Tables) -> Floats:
    """Choices [S, C] that are all made by value."""
    return np.full((len(tables.order), len(tables.option)), BY_VALUE)
