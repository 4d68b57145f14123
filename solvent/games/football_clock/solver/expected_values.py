"""What states of football with a clock are worth when the strategies of one side or both are known.

For a situation, what every result and every cell of the chart is worth is computed for all columns
at once, as in :mod:`solvent.games.football_clock.solver.block_kernel`. With both strategies a
state's value is then one sum over cells; where one side answers, it is the largest or smallest of
such sums over its calls.

Agents that do not look at the score have the same strategy in long runs of columns: there the
weights of the cells are summed first, and each cell that has one is read once for the whole run. A
network has a strategy of its own in every column: there it is call by call, for all columns side by
side.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.games.football_clock.solver.block_kernel import (
    STATES_TOGETHER,
    rate_mixed_cells,
    rate_results,
)
from solvent.games.football_clock.solver.policies import RoleStrategies
from solvent.games.football_clock.solver.tables import Loops
from solvent.model.arrays import Floats, Ints

Numbers = NDArray[np.int32]
"""Of strategies."""

RUN = 8
"""Columns in a run from which on it pays to sum the weights of its cells first, about."""


@njit(cache=True, nogil=True, error_model="numpy")
def rate_block(
    loops: Loops,
    rows: Ints,
    lines: int,
    worth: Floats,
    attack: RoleStrategies,
    defend: RoleStrategies,
    offence_responds: bool,
    defence_responds: bool,
    values: Floats,
) -> None:
    """Write what the states of a block are worth to the side that has the ball.

    Args:
        loops: The rules.
        rows: Those of the block, by down, the punt formation last.
        lines: How many it has of each down.
        worth: [U, C] of the successors, to the same side.
        attack: What the offence does, unless it answers.
        defend: What the defence does, unless it answers.
        offence_responds: Whether the offence does what is best against the defence's strategies.
        defence_responds: The same for the defence. Not both.
        values: [rows, C], written.
    """
    columns = worth.shape[1]
    results = (len(loops.branch_start) - 1) // len(loops.contested)
    # Lines in which the same may be called are taken together.
    together = max(1, min(STATES_TOGETHER // columns, lines))
    by_row = np.zeros((results + len(loops.mixed_start) - 1, together * columns))
    weight = np.zeros(len(by_row))
    touched = np.zeros(len(by_row), np.int64)
    total = np.zeros(together * columns)
    # By legal action of the offence or by call of the defence.
    most = (loops.row_start[1:] - loops.row_start[:-1]).max()
    mixed = np.zeros((max(most, loops.cell.shape[1]), together * columns))
    # The last down may declare punt formation, which therefore comes first.
    for down_start in range(len(rows) - lines, -1, -lines):
        begin = down_start
        while begin < down_start + lines:
            end = begin + 1
            most_end = min(begin + together, down_start + lines)
            while end < most_end and loops.alike[rows[end] % len(loops.alike)]:
                end += 1
            states = (end - begin) * columns
            for i in range(begin, end):
                rate_results(loops, rows[i], results, worth, by_row, (i - begin) * columns)
            if end + lines <= len(rows):
                declared = values[begin + lines : end + lines]
                by_row[results - 1, :states] = declared.reshape(-1)
            x, y = attack.which[begin:end].reshape(-1), defend.which[begin:end].reshape(-1)
            _choose(
                loops, attack, defend, x, y, offence_responds, defence_responds, by_row,
            )  # fmt: skip
            rate_mixed_cells(loops, results, by_row)
            first, last = loops.row_start[rows[begin]], loops.row_start[rows[begin] + 1]
            found = values[begin:end].reshape(-1)
            if RUN * _runs(x, y, offence_responds, defence_responds) < states:
                _run_by_run(
                    loops, first, last, attack, defend, x, y, offence_responds, defence_responds,
                    by_row, weight, touched, total, found,
                )  # fmt: skip
            else:
                _side_by_side(
                    loops, first, last, attack, defend, x, y, offence_responds, defence_responds,
                    by_row, mixed, total, found,
                )  # fmt: skip
            begin = end


@njit(cache=True, nogil=True, error_model="numpy")
def _runs(x: Numbers, y: Numbers, offence_responds: bool, defence_responds: bool) -> int:
    """How many runs of columns there are in which the same strategies meet."""
    n = 1
    for c in range(1, len(x)):
        other_x = not offence_responds and x[c] != x[c - 1]
        other_y = not defence_responds and y[c] != y[c - 1]
        n += other_x or other_y
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _side_by_side(
    loops: Loops,
    first: int,
    last: int,
    attack: RoleStrategies,
    defend: RoleStrategies,
    x: Numbers,
    y: Numbers,
    offence_responds: bool,
    defence_responds: bool,
    by_row: Floats,
    mixed: Floats,
    total: Floats,
    values: Floats,
) -> None:
    """Write what the columns of a situation are worth, each with strategies of its own.

    `mixed` and `total` are for what is known of a call on the way; first and last are the
    situation's actions.
    """
    columns, defences = len(values), loops.cell.shape[1]
    if defence_responds:
        for c in range(columns):
            for row in range(first, last):
                mixed[row - first, c] = attack.calls[x[c], loops.row_action[row]]
        values[:] = np.inf
        for d in range(defences):
            total[:] = 0.0
            for row in range(first, last):
                worth, chance = by_row[loops.cell[loops.row_call[row], d]], mixed[row - first]
                for c in range(columns):
                    total[c] += chance[c] * worth[c]
            for c in range(columns):
                values[c] = min(values[c], total[c])
        return
    for c in range(columns):
        for d in range(defences):
            mixed[d, c] = defend.calls[y[c], d]
    values[:] = -np.inf if offence_responds else 0.0
    for row in range(first, last):
        call, action = loops.row_call[row], loops.row_action[row]
        total[:] = 0.0
        for d in range(defences):
            worth, chance = by_row[loops.cell[call, d]], mixed[d]
            for c in range(columns):
                total[c] += chance[c] * worth[c]
        if offence_responds:
            for c in range(columns):
                values[c] = max(values[c], total[c])
        else:
            for c in range(columns):
                values[c] += attack.calls[x[c], action] * total[c]


@njit(cache=True, nogil=True, error_model="numpy")
def _run_by_run(
    loops: Loops,
    first: int,
    last: int,
    attack: RoleStrategies,
    defend: RoleStrategies,
    x: Numbers,
    y: Numbers,
    offence_responds: bool,
    defence_responds: bool,
    by_row: Floats,
    weight: Floats,
    touched: Ints,
    total: Floats,
    values: Floats,
) -> None:
    """Write the values of a situation's columns, those together in which the same strategies meet.

    `weight` is of all cells, 0 before and after; `touched` are those that have one on the way.
    """
    columns, defences = len(values), loops.cell.shape[1]
    stop = 0
    while stop < columns:
        start = stop
        while stop < columns and (
            (offence_responds or x[stop] == x[start]) and (defence_responds or y[stop] == y[start])
        ):
            stop += 1
        if offence_responds:
            values[start:stop] = -np.inf
            for row in range(first, last):
                call = loops.row_call[row]
                n = 0
                for d in range(defences):
                    chance = defend.calls[y[start], d]
                    n = _add(weight, touched, n, loops.cell[call, d], chance)
                _sum(weight, touched, n, by_row, total, start, stop)
                for c in range(start, stop):
                    values[c] = max(values[c], total[c])
        elif defence_responds:
            values[start:stop] = np.inf
            for d in range(defences):
                n = 0
                for row in range(first, last):
                    chance = attack.calls[x[start], loops.row_action[row]]
                    n = _add(weight, touched, n, loops.cell[loops.row_call[row], d], chance)
                _sum(weight, touched, n, by_row, total, start, stop)
                for c in range(start, stop):
                    values[c] = min(values[c], total[c])
        else:
            n = 0
            for row in range(first, last):
                chance = attack.calls[x[start], loops.row_action[row]]
                if chance > 0:
                    call = loops.row_call[row]
                    for d in range(defences):
                        both = chance * defend.calls[y[start], d]
                        n = _add(weight, touched, n, loops.cell[call, d], both)
            _sum(weight, touched, n, by_row, total, start, stop)
            values[start:stop] = total[start:stop]


@njit(cache=True, nogil=True, error_model="numpy")
def _choose(
    loops: Loops,
    attack: RoleStrategies,
    defend: RoleStrategies,
    x: Numbers,
    y: Numbers,
    offence_responds: bool,
    defence_responds: bool,
    by_row: Floats,
) -> None:
    """Write what choices are worth in a situation; x and y are the strategies of its columns."""
    for k in range(len(loops.chosen_result)):
        penalty, play = by_row[loops.option[k, 0]], by_row[loops.option[k, 1]]
        chosen = by_row[loops.chosen_result[k]]
        for c in range(len(x)):
            if loops.chooser[k] == 0:
                if offence_responds:
                    chosen[c] = max(penalty[c], play[c])
                    continue
                takes = attack.choices[x[c], k]
            else:
                if defence_responds:
                    chosen[c] = min(penalty[c], play[c])
                    continue
                takes = defend.choices[y[c], k]
            chosen[c] = takes * penalty[c] + (1 - takes) * play[c]


@njit(cache=True, nogil=True, error_model="numpy")
def _add(weight: Floats, touched: Ints, n: int, cell: int, chance: float) -> int:
    """Add a chance to a cell's weight; n cells have one, their numbers are noted."""
    if chance <= 0:
        return n
    if weight[cell] == 0:
        touched[n] = cell
        n += 1
    weight[cell] += chance
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _sum(
    weight: Floats, touched: Ints, n: int, by_row: Floats, total: Floats, start: int, stop: int
) -> None:
    """Write the weighted sum of n cells in some columns, and clear their weights."""
    total[start:stop] = 0.0
    for k in range(n):
        cell = touched[k]
        share, worth = weight[cell], by_row[cell]
        weight[cell] = 0.0
        for c in range(start, stop):
            total[c] += share * worth[c]
