"""One layer of football with a clock: all calls of one moment, solved column by column.

For a situation, what every result is worth is computed for all columns at once, as sums of rows of
``problem.worth``; then each column's payoffs are picked from it and the matrix game is solved. The
punt formation comes first, since the last down may declare it.

A field goal and the declaration are worth the same whatever the defence calls, so the game is
solved without them and has the value of the greatest (see
:mod:`solvent.games.football.solver.calls`).

**Warm starts** are the supports of the same state's mixed strategies a tick before; where there are
none, those of the column before. Both are of the same line, so the cut in blocks changes nothing.
Those of a tick before are tried in many columns at once (:mod:`.simd_supports`); only what that
does not solve is solved column by column.

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
from solvent.games.football_clock.solver.simd_supports import ENOUGH, lanes_for, try_supports
from solvent.games.football_clock.solver.tables import Loops
from solvent.model.arrays import Bools, Floats

STATES_TOGETHER = 256
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


NO_STRATEGIES = BlockStrategies(*(np.zeros((0, 0, 0, 0)) for _ in range(3)))


def solve_block(
    problem: LayerProblem,
    first_line: int,
    last_line: int,
    strategies: BlockStrategies = NO_STRATEGIES,
    start: WarmStart | None = None,
) -> BlockResult:
    """Solve the situations of some lines, all downs and the punt formation.

    What is returned does not depend on how a layer is cut into blocks. It runs without Python's
    lock, so blocks may be solved by threads at the same time; ask for ``problem.constant`` first
    then, so that it is computed once.

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
                if not pending[at]:
                    continue
                for row in range(rows):
                    here[row] = by_row[row, at]
                for i in range(contested):
                    for j in range(defences):
                        payoff[i, j] = here[cell[i, j]]
                hint = at if support[at, 0] or at % columns == 0 else at - 1
                _unpack(support[hint, 0], x[:contested])
                _unpack(support[hint, 1], y)
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
