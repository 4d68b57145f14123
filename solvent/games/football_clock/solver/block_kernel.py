"""One layer of football with a clock: all calls of one moment, solved column by column.

For a situation, what every result is worth is computed for all columns at once, as sums of rows of
``problem.worth``; then each column's payoffs are picked from it and the matrix game is solved. The
punt formation comes first, since the last down may declare it.

A field goal and the declaration are worth the same whatever the defence calls, so the game is
solved without them and has the value of the greatest (see
:mod:`solvent.games.football.solver.calls`).

**Warm starts** are the supports of the same state's mixed strategies a tick before; where there are
none, those of the column before. Those of a tick before are tried in many columns at once
(:mod:`.simd_supports`). Where they do not do, those that were just found in the line before are
tried in all columns of a line; only what that does not solve either is solved column by column.
The line before is looked at where it is taken together with this one, so values may differ in the
last bits by how a layer is cut into blocks, which is always alike.

**Constant columns**, in which everything that may follow is worth the same, are filled without
looking: near the end most leads are too large to be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from solvent.exact.kernels.matrix_game import solve_in, work_for
from solvent.exact.layered.game import Block, BlockResult, WarmStart
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, SAFETY_KICK
from solvent.games.football_clock.solver.problem import LayerProblem
from solvent.games.football_clock.solver.simd_supports import ENOUGH, Lanes, lanes_for, try_supports
from solvent.games.football_clock.solver.tables import Loops
from solvent.model.arrays import Bools, Floats, Ints

STATES_TOGETHER = 680
"""So many states, about, are looked at side by side."""


class BlockStrategies(NamedTuple):
    """Optimal strategies of the states of a block of n lines, zeros that are filled.

    Attributes:
        offence: [downs + 1, n, C, A] of the offence's actions.
        defence: [downs + 1, n, C, m].
        choices: [downs + 1, n, C, c] 1 where the penalty is taken; the play is in ties.
    """

    offence: Floats
    defence: Floats
    choices: Floats


class Few(NamedTuple):
    """Memory for the states of a line that are tried once more.

    Attributes:
        place: [C] which they are.
        support: [C, 2] what is tried.
        by_row: [rows, C] what results and cells are worth there.
        value: [C] of those that are solved.
        pending: [C] whether they are not.
    """

    place: Ints
    support: WarmStart
    by_row: Floats
    value: Floats
    pending: Bools


NO_STRATEGIES = BlockStrategies(*(np.zeros((0, 0, 0, 0)) for _ in range(3)))


def solve_block(
    problem: LayerProblem,
    first_line: int,
    last_line: int,
    strategies: BlockStrategies = NO_STRATEGIES,
    start: WarmStart | None = None,
) -> BlockResult:
    """Solve the situations of some lines, all downs and the punt formation.

    How a layer is cut into blocks changes nothing but last bits. It runs without Python's lock, so
    blocks may be solved by threads at the same time; ask for ``problem.constant`` first then, so
    that it is computed once.

    Args:
        problem: The layer.
        first_line: Of the block.
        last_line: The one after the last.
        strategies: Filled with optimal strategies, if they are wanted. Where everything that may
            follow is worth the same, they are the first call of both sides.
        start: [downs + 1, n, C, 2] the supports from which the games are started, in the form in
            which they are returned; None if there are none.

    Returns:
        The values [downs + 1, n, C] to the side that has the ball. What it leaves to start others
        from are the calls [downs + 1, n, C, 2] that each side randomizes over, as bit masks, the
        offence's first; bit i of the offence's is the i-th legal action. Calls beyond the 32nd are
        left out, and a field goal and a declaration are never in it: it is where the next tick's
        games start, not a policy.
    """
    tables = problem.tables
    worth = problem.worth
    shape = (tables.downs + 1, last_line - first_line, worth.shape[1])
    values = np.zeros(shape)
    supports = np.zeros((*shape, 2), np.uint32)
    if start is not None:
        supports[:] = start
    least, most = problem.extremes
    gap_and_counts = _solve_lines(
        tables.loops,
        worth,
        problem.constant,
        (most - least) - least,
        ENOUGH * (most - least),
        first_line,
        tables.lines,
        values,
        supports,
        strategies,
    )
    return BlockResult(values, supports, *gap_and_counts)


def kick_rows(problem: LayerProblem) -> Floats:
    """[2, C] what being about to kick off, and to give the ball up by a free kick, are worth.

    The kicker chooses the normal or the onside kick. With no time left nobody kicks: the half is
    over, and both rows are its final values.
    """
    if problem.layer.ticks == 0:
        return np.stack((problem.final, problem.final))
    kicks = kick_values(problem.tables.loops, problem.worth)
    return np.stack((np.maximum(kicks[NORMAL_KICK], kicks[ONSIDE_KICK]), kicks[SAFETY_KICK]))


def kick_values(loops: Loops, worth: Floats) -> Floats:
    """[3, C] what each kick is worth to the kicker, from what its successors are."""
    kicks = []
    for first, last in pairwise(loops.kick_start):
        base, *others = worth[loops.kick_successor[first:last]]
        # Differences, so that a column in which all is worth the same stays constant.
        chances = loops.kick_probability[first + 1 : last]
        kicks.append(
            base + sum(p * (other - base) for p, other in zip(chances, others, strict=True))
        )
    return np.stack(kicks)


def blocks_of(lines: int, size: int) -> Sequence[Block]:
    """All lines in blocks of a size; the last may be smaller."""
    return [(first, min(first + size, lines)) for first in range(0, lines, size)]


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_lines(
    loops: Loops,
    worth: Floats,
    constant: Bools,
    lift: float,
    enough: float,
    first_line: int,
    lines: int,
    values: Floats,
    supports: WarmStart,
    strategies: BlockStrategies,
) -> tuple[float, int, int]:
    """Fill the values and supports of a block; supports hold those to start from."""
    wanted = len(strategies.offence) > 0
    downs, n, columns = values.shape
    last_down = downs - 2
    results = (len(loops.branch_start) - 1) // (downs * lines)
    rows = results + len(loops.mixed_start) - 1
    # Lines in which the same may be called are taken together.
    together = max(1, STATES_TOGETHER // columns)
    by_row, here = np.zeros((rows, together * columns)), np.zeros(rows)
    most, defences = loops.contested.max(), loops.cell.shape[1]
    payoff, cell = np.zeros((most, defences)), np.zeros((most, defences), np.int64)
    x, y = np.zeros(most), np.zeros(defences)
    pending = np.zeros(together * columns, np.bool_)
    few = Few(
        np.zeros(columns, np.int64),
        np.zeros((columns, 2), np.uint32),
        np.zeros((rows, columns)),
        np.zeros(columns),
        np.zeros(columns, np.bool_),
    )
    work, lanes = work_for(most, defences), lanes_for(most, defences, together * columns)
    largest_gap, games = 0.0, 0
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and stop - start < together and loops.alike[first_line + stop]:
            stop += 1
        states = (stop - start) * columns
        for down in range(downs - 1, -1, -1):
            s = down * lines + first_line + start
            for line in range(stop - start):
                rate_results(loops, s + line, results, worth, by_row, line * columns)
            _rate_choices(loops, by_row)
            rate_mixed_cells(loops, results, by_row)
            if down == last_down:
                by_row[results - 1, :states] = values[downs - 1, start:stop].reshape(-1)
            first, contested = loops.row_start[s], loops.contested[s]
            for i in range(contested):
                cell[i] = loops.cell[loops.row_call[first + i]]
            value = values[down, start:stop].reshape(-1)
            support = supports[down, start:stop].reshape(-1, 2)
            value[:] = by_row[cell[0, 0], :states]
            for at in range(states):
                pending[at] = not constant[at % columns]
                games += pending[at]
            if not wanted:
                gap = try_supports(
                    lanes, by_row, cell[:contested], support, lift, enough, pending, value
                )
                largest_gap = max(largest_gap, gap)
            for at in range(states):
                if not wanted and at and at % columns == 0:
                    gap = _try_line_before(
                        few,
                        lanes,
                        by_row,
                        cell[:contested],
                        support,
                        lift,
                        enough,
                        pending,
                        value,
                        at,
                    )
                    largest_gap = max(largest_gap, gap)
                if not pending[at]:
                    continue
                for row in range(rows):
                    here[row] = by_row[row, at]
                for i in range(contested):
                    for j in range(defences):
                        payoff[i, j] = here[cell[i, j]]
                like = at if support[at, 0] or at % columns == 0 else at - 1
                _unpack(support[like, 0], x[:contested])
                _unpack(support[like, 1], y)
                value[at], gap, _ = solve_in(work, payoff[:contested], x[:contested], y)
                support[at, 0], support[at, 1] = _pack(x[:contested]), _pack(y)
                largest_gap = max(largest_gap, gap)
                if wanted:
                    line, c = start + at // columns, at % columns
                    strategies.defence[down, line, c] = y
                    for i in range(contested):
                        strategies.offence[down, line, c, loops.row_action[first + i]] = x[i]
                    _choose(loops, here, strategies.choices[down, line, c])
            for i in range(contested, loops.row_start[s + 1] - first):
                certain = by_row[loops.cell[loops.row_call[first + i], 0]]
                for at in range(states):
                    if wanted and certain[at] > value[at]:
                        offence = strategies.offence[down, start + at // columns, at % columns]
                        offence[:] = 0.0
                        offence[loops.row_action[first + i]] = 1.0
                    value[at] = max(value[at], certain[at])
            if wanted:
                for c in np.flatnonzero(constant):
                    strategies.offence[down, start:stop, c, loops.row_action[first]] = 1.0
                    strategies.defence[down, start:stop, c, 0] = 1.0
        start = stop
    return largest_gap, games, values.size - games


@njit(cache=True, nogil=True, error_model="numpy")
def _try_line_before(
    few: Few,
    lanes: Lanes,
    by_row: Floats,
    cell: Ints,
    support: WarmStart,
    lift: float,
    enough: float,
    pending: Bools,
    value: Floats,
    first: int,
) -> float:
    """Solve what is pending of a line by the supports of the line before, where they are others.

    Args:
        few: Memory for the columns of a line.
        lanes: Memory of :func:`try_supports`.
        by_row: [rows, L] what results and cells are worth.
        cell: As :func:`try_supports` takes it.
        support: [L, 2] as found, and where a state is pending as tried; written.
        lift: As :func:`try_supports` takes it.
        enough: As :func:`try_supports` takes it.
        pending: [L] the states that are not solved; written.
        value: [L], written.
        first: The first state of the line.

    Returns:
        The largest duality gap of what was accepted.
    """
    columns, taken = len(few.place), 0
    for at in range(first, first + columns):
        above = support[at - columns]
        if pending[at] and (above[0] != support[at, 0] or above[1] != support[at, 1]):
            few.place[taken] = at
            few.support[taken] = above
            few.pending[taken] = True
            taken += 1
    if taken == 0:
        return 0.0
    for row in range(len(by_row)):
        for i in range(taken):
            few.by_row[row, i] = by_row[row, few.place[i]]
    found = few.value[:taken]
    gap = try_supports(
        lanes, few.by_row, cell, few.support[:taken], lift, enough, few.pending, found
    )
    for i in range(taken):
        at = few.place[i]
        if not few.pending[i]:
            value[at], pending[at] = found[i], False
            support[at] = few.support[i]
    return gap


@njit(cache=True, nogil=True, error_model="numpy")
def _choose(loops: Loops, here: Floats, choices: Floats) -> None:
    """Write which choices are for the penalty; `here` is what results are worth."""
    for k in range(len(choices)):
        better = here[loops.option[k, 0]] - here[loops.option[k, 1]]
        choices[k] = (better > 0) if loops.chooser[k] == 0 else (better < 0)


@njit(cache=True, nogil=True, error_model="numpy")
def _rate_choices(loops: Loops, by_row: Floats) -> None:
    """Write what choices are worth, their options being written."""
    for k in range(len(loops.chosen_result)):
        penalty, play = by_row[loops.option[k, 0]], by_row[loops.option[k, 1]]
        chosen = by_row[loops.chosen_result[k]]
        if loops.chooser[k] == 0:
            for c in range(len(chosen)):
                chosen[c] = max(penalty[c], play[c])
        else:
            for c in range(len(chosen)):
                chosen[c] = min(penalty[c], play[c])


@njit(cache=True, nogil=True, error_model="numpy")
def rate_results(
    loops: Loops, s: int, results: int, worth: Floats, by_row: Floats, start: int = 0
) -> None:
    """Write what results are worth in a situation, but for choices and the declaration.

    Args:
        loops: The rules.
        s: The situation.
        results: R.
        worth: [U, C] of successors.
        by_row: [rows, at least start + C], of which C columns are written.
        start: The first of them.
    """
    columns = worth.shape[1]
    for r in range(results):
        first, last = loops.branch_start[s * results + r], loops.branch_start[s * results + r + 1]
        if first == last:
            continue
        total, base = by_row[r], worth[loops.branch_successor[first]]
        for c in range(columns):
            total[start + c] = base[c]
        # Differences, so that branches that are all worth the same give exactly that.
        for b in range(first + 1, last):
            p, branch = loops.branch_probability[b], worth[loops.branch_successor[b]]
            for c in range(columns):
                total[start + c] += p * (branch[c] - base[c])


@njit(cache=True, nogil=True, error_model="numpy")
def rate_mixed_cells(loops: Loops, results: int, by_row: Floats) -> None:
    """Write what cells with more than one result are worth, their results being written."""
    columns = by_row.shape[1]
    for k in range(len(loops.mixed_start) - 1):
        first, last = loops.mixed_start[k], loops.mixed_start[k + 1]
        total, base = by_row[results + k], by_row[loops.mixed_result[first]]
        total[:] = base
        for entry in range(first + 1, last):
            p, result = loops.mixed_probability[entry], by_row[loops.mixed_result[entry]]
            for c in range(columns):
                total[c] += p * (result[c] - base[c])


@njit(cache=True, nogil=True, error_model="numpy")
def _unpack(mask: np.uint32, strategy: Floats) -> None:
    """A strategy whose support is that of a mask."""
    for i in range(len(strategy)):
        strategy[i] = (mask >> np.uint32(i)) & np.uint32(1) if i < 32 else 0


@njit(cache=True, nogil=True, error_model="numpy")
def _pack(strategy: Floats) -> np.uint32:
    """The support of a strategy as a mask."""
    mask = np.uint32(0)
    for i in range(min(len(strategy), 32)):
        if strategy[i] > 0:
            mask |= np.uint32(1) << np.uint32(i)
    return mask
