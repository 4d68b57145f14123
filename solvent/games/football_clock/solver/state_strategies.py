"""What both sides should do in single states, from the values of a solution, compiled.

A solution stores values only. What is best in one state follows from the values of what may come
after it: a matrix of worths, which is solved anew in some microseconds. Here that is done for a
batch of states, wherever they are, as players in an environment need it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.exact.kernels.matrix_game import solve_in, work_for
from solvent.games.football_clock.packed import pack_clock
from solvent.games.football_clock.solver.layout import FormLayout
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.model.arrays import Bools, Floats, Ints


class Solved(NamedTuple):
    """A solution and its rules as the kernel reads them; the arrays of packed rules are theirs.

    Attributes:
        values: [layers, S + 2, C] of all layers, in the layout's order.
        layer: [2, T+1, N+1, N+1] the place of a layer, by half - 1, ticks and time-outs.
        final: [2, C] of the end of a half.
        shifted: [2, 2 P + 1, C] the column after from -P to P points, the most a play can score.
        columns: [2] how many there are in each half.
        after: [T+1, L+1] ticks left when, of so many, so many are taken.
        saved: [L+1] ticks taken with a time-out.
        untimed_down: Whether a half may end with one.
        for_points: Whether points are what counts.
        by_defence: [R+2] whether a result is a penalty of the defence.
    """

    values: Floats
    layer: Ints
    final: Floats
    shifted: Ints
    columns: Ints
    after: NDArray[np.int32]
    saved: NDArray[np.int32]
    untimed_down: bool
    for_points: bool
    by_defence: Bools
    branch_start: Ints
    probability: Floats
    points: NDArray[np.int16]
    next: NDArray[np.int32]
    same_side: Bools
    taken: NDArray[np.int32]
    option: NDArray[np.int32]
    chooser: NDArray[np.int8]
    cell_start: Ints
    cell_result: NDArray[np.int32]
    cell_probability: Floats
    kick_start: Ints
    kick_probability: Floats
    kick_points: NDArray[np.int16]
    kick_next: NDArray[np.int32]
    kick_same_side: Bools
    kick_taken: NDArray[np.int32]
    legal: Bools
    situation: NDArray[np.int16]
    plays: int
    defences: int


class States(NamedTuple):
    """States of the game, whole numbers [k], as the side with the ball or the kick sees them.

    Attributes:
        half: 1 or 2.
        ticks: Left; before the play.
        own: Time-outs of that side.
        other: Of the other side.
        row: Of a layer.
        column: Of a layer.
    """

    half: Ints
    ticks: Ints
    own: Ints
    other: Ints
    row: Ints
    column: Ints


def solved_from(solution: TimedSolution) -> Solved:
    """Read a solution into memory, 8 bytes for each state and column."""
    layout, rules, clock = solution.layout, solution.layout.rules, solution.layout.clock
    most = max(layout.columns(half) for half in layout.halves)
    values = np.zeros((len(layout.layers), layout.rows, most))
    layer = np.full((2, layout.most_ticks + 1, clock.timeouts + 1, clock.timeouts + 1), -1)
    for place, at in enumerate(layout.layers):
        values[place, :, : layout.columns(at.half)] = solution.values(at)
        layer[at.half - 1, at.ticks, at.own, at.other] = place
    final = np.zeros((2, most))
    highest = layout.most_points
    shifted = np.zeros((2, 2 * highest + 1, most), np.int64)
    for half in layout.halves:
        columns = layout.columns(half)
        final[half - 1, :columns] = layout.final(half, _second_half(solution, layout, half))
        for points in range(-highest, highest + 1):
            shifted[half - 1, points + highest, :columns] = layout.after_points(half, points)
    return Solved(
        values=values,
        layer=layer,
        final=final,
        shifted=shifted,
        columns=np.array([layout.columns(half) if half in layout.halves else 0 for half in (1, 2)]),
        plays=rules.chart.plays,
        defences=rules.chart.defences,
        **pack_clock(rules, clock, for_points=layout.for_points)._asdict(),
        **rules.among(Solved._fields),
    )


def _second_half(solution: TimedSolution, layout: FormLayout, half: int) -> Floats | None:
    if half == 2:
        return None
    kicks: Floats = solution.values(layout.second_half)[layout.kickoff_row]
    return kicks


@njit(cache=True, inline="always")
def _moment(
    solved: Solved, half: int, ticks: int, own: int, other: int, row: int, column: int, same: bool
) -> float:
    """What a row is worth to a side, whose ball it is if `same`; the time-outs are the side's."""
    if ticks == 0:
        own, other = 0, 0
    value: float
    if same:
        value = solved.values[solved.layer[half - 1, ticks, own, other], row, column]
    else:
        flipped = solved.columns[half - 1] - 1 - column
        value = -solved.values[solved.layer[half - 1, ticks, other, own], row, flipped]
    return value


@njit(cache=True)
def _worth(
    solved: Solved,
    states: States,
    i: int,
    points: int,
    following: int,
    same: bool,
    taken: int,
    penalty: bool,
) -> float:
    """What a branch is worth to the side that was on offence or kicked, time-outs included."""
    half, ticks, own, other = states.half[i], states.ticks[i], states.own[i], states.other[i]
    highest = solved.shifted.shape[1] // 2
    column = solved.shifted[half - 1, points + highest, states.column[i]]
    paid = float(points) if solved.for_points else 0.0
    worth: float = solved.final[half - 1, column]
    if ticks == 0:
        return paid + worth
    row = following if following >= 0 else len(solved.situation) - 1 - following
    after, saved = solved.after[ticks, taken], solved.after[ticks, solved.saved[taken]]
    if after > 0 or (penalty and solved.untimed_down):
        worth = _moment(solved, half, after, own, other, row, column, same)
    if saved != after:
        if other > 0:
            called = _moment(solved, half, saved, own, other - 1, row, column, same)
            worth = min(worth, called)
        if own > 0:
            called = _moment(solved, half, saved, own - 1, other, row, column, same)
            worth = max(worth, called)
    return paid + worth


@njit(cache=True)
def _result_worth(solved: Solved, states: States, i: int, result: int) -> float:
    """What a result that is no choice is worth to the offence."""
    k = states.row[i] * len(solved.chooser) + result
    total = 0.0
    for j in range(solved.branch_start[k], solved.branch_start[k + 1]):
        total += solved.probability[j] * _worth(
            solved,
            states,
            i,
            solved.points[j],
            solved.next[j],
            solved.same_side[j],
            solved.taken[j],
            solved.by_defence[result],
        )
    return total


@njit(cache=True)
def rate_options(solved: Solved, states: States, result: Ints, worth: Floats) -> None:
    """Fill what both options of a choice are worth to the offence, [k, 2], penalty first."""
    for i in range(len(worth)):
        for o in range(2):
            worth[i, o] = _result_worth(solved, states, i, solved.option[result[i], o])


@njit(cache=True)
def rate_kicks(solved: Solved, states: States, worth: Floats) -> None:
    """Fill what the normal and the onside kick are worth to the kicker, [k, 2]."""
    for i in range(len(worth)):
        for kick in range(2):
            total = 0.0
            for j in range(solved.kick_start[kick], solved.kick_start[kick + 1]):
                total += solved.kick_probability[j] * _worth(
                    solved,
                    states,
                    i,
                    solved.kick_points[j],
                    solved.kick_next[j],
                    solved.kick_same_side[j],
                    solved.kick_taken[j],
                    False,
                )
            worth[i, kick] = total


@njit(cache=True)
def rate_timeouts(
    solved: Solved,
    states: States,
    mine: Bools,
    saved: Ints,
    both: Bools,
    untimed: Bools,
    worth: Floats,
) -> None:
    """Fill what calling a time-out and not calling one are worth to who is asked, [k, 2].

    Args:
        solved: The solution.
        states: What follows; its ticks are those that are left without a time-out.
        mine: [k] whether who is asked has the ball or the kick then.
        saved: [k] ticks left with a time-out.
        both: [k] whether the other side is asked next.
        untimed: [k] whether an untimed down follows if nobody calls.
        worth: Filled.
    """
    for i in range(len(worth)):
        half, row, same = states.half[i], states.row[i], mine[i]
        # From here on as who is asked sees it.
        column = states.column[i] if same else solved.columns[half - 1] - 1 - states.column[i]
        own = states.own[i] if same else states.other[i]
        other = states.other[i] if same else states.own[i]
        worth[i, 0] = _moment(solved, half, saved[i], own - 1, other, row, column, same)
        if states.ticks[i] == 0 and not untimed[i]:
            plain = solved.final[half - 1, column]
        else:
            plain = _moment(solved, half, states.ticks[i], own, other, row, column, same)
        if both[i]:
            called = _moment(solved, half, saved[i], own, other - 1, row, column, same)
            plain = min(plain, called)
        worth[i, 1] = plain


@njit(cache=True)
def solve_calls(solved: Solved, states: States, offence: Floats, defence: Floats) -> None:
    """Fill optimal strategies of situations: of the offence [k, n+3], of the defence [k, m].

    Args:
        solved: The solution.
        states: In which both sides call.
        offence: Zeros, filled.
        defence: Filled.
    """
    n, m = solved.plays, solved.defences
    results = len(solved.chooser)
    worth = np.empty(results)
    payoff, x, y = np.empty((n + 1, m)), np.zeros(n + 1), np.zeros(m)
    x_last, y_last = np.zeros(n + 1), np.zeros(m)
    work = work_for(n + 2, m)
    action = np.empty(n + 2, np.int64)
    for i in range(len(offence)):
        s = states.row[i]
        for r in range(results - 2):
            if solved.chooser[r] < 0:
                worth[r] = _result_worth(solved, states, i, r)
        for r in range(results - 2):
            if solved.chooser[r] >= 0:
                penalty, play = worth[solved.option[r, 0]], worth[solved.option[r, 1]]
                mine = solved.chooser[r] == 0
                worth[r] = max(penalty, play) if mine else min(penalty, play)
        punting = solved.situation[s, 3] == 1
        count = 0
        for a in range(n + 3):
            contested = a <= n or (a == n + 2 and punting)
            if not (solved.legal[s, a] and contested):
                continue
            call = a + (a == n + 2)
            for d in range(m):
                total = 0.0
                cell = call * m + d
                for e in range(solved.cell_start[cell], solved.cell_start[cell + 1]):
                    total += solved.cell_probability[e] * worth[solved.cell_result[e]]
                payoff[count, d] = total
            action[count] = a
            count += 1
        x[:] = x_last
        y[:] = y_last
        value, _, _ = solve_in(work, payoff[:count], x[:count], y)
        defence[i] = y
        best = -1
        if solved.legal[s, n + 1]:
            kicked = _result_worth(solved, states, i, results - 2)
            if kicked > value:
                value, best = kicked, n + 1
        if solved.legal[s, n + 2] and not punting:
            half, ticks = states.half[i], states.ticks[i]
            row = s + len(solved.situation) // (solved.situation[-1, 0] + 1)
            declared = _moment(
                solved, half, ticks, states.own[i], states.other[i], row, states.column[i], True
            )
            if declared > value:
                value, best = declared, n + 2
        if best >= 0:
            offence[i, best] = 1.0
        else:
            for k in range(count):
                offence[i, action[k]] = x[k]
