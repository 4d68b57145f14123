"""One step of backward induction: the values of a layer's states from those of what may follow.

For a situation, the value of every result and every cell of the chart is computed for all columns
at once, as sums of rows of the successors' values (:mod:`.layers`). The punt formation comes first,
since the last down may declare it. What is done with the cells depends on who the two sides are:

- **Both play a best response**: an equilibrium. Each column's payoffs are picked from the cells
  and the matrix game is solved. A field goal and the declaration have the same value whatever the
  defence calls, so the game is solved without them, and its value is the largest of all.
- **One side has a policy**: the largest or smallest of sums over cells, one for each call of the
  other side.
- **Both have one**: one sum over cells.

**Warm starts.** A matrix game is started from the mixed strategies of the state before: those of
the next column or line are mostly mixed of the same calls. So values may differ in the last bits by
how a layer is cut into blocks, which is always alike.

**Constant columns**, in which all successors have the same value, are filled without looking: near
the end most leads are too large to be lost.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.exact.compilation import inner, kernel
from solvent.exact.layered.game import Block, BlockResult
from solvent.exact.matrix_game import Work, solve_in, work_for
from solvent.games.football.packed import Arrays, PackedRules
from solvent.model.arrays import Bools, Floats, Ints

# Approximate number of states processed side by side.
_STATES_TOGETHER = 680

Numbers = NDArray[np.int32]
"""The array type of strategies."""


class RoleStrategies(NamedTuple):
    """A side's strategies in the states of a block, as offence or as defence.

    Attributes:
        calls: [K, A] or [K, m] probabilities of the offence's actions or of the defence's calls.
        choices: [K, choices] the probability that the penalty is taken, in the order of the
            chart's choices; entries of choices that the other side takes are not read.
        which: [rows, C] the number of the strategy of a state, 0..K-1; rows as in
            :meth:`~.layers.FootballLayers.block_rows`.
    """

    calls: Floats
    choices: Floats
    which: Numbers


class BlockGames(NamedTuple):
    """Inputs and results of matrix games, for a block of n lines.

    Attributes:
        constant: [C] the columns in which all successors have the same value.
        offence: [downs + 1, n, C, A] zeros that are filled with strategies, or empty.
        defence: [downs + 1, n, C, m] likewise.
        choices: [downs + 1, n, C, c] likewise, 1 where the penalty is taken; the play is in ties.
    """

    constant: Bools
    offence: Floats
    defence: Floats
    choices: Floats


class Workspace(NamedTuple):
    """Memory for the states that are looked at side by side, L of them.

    Attributes:
        cell: [m, n] the rows of a situation's payoffs.
        payoff: [m, n] one state's.
        x: [m] its strategies.
        y: [n] likewise.
        here: [rows] the values of its results and cells.
        mixed: [calls, L] the probabilities of calls.
        total: [L] sums.
        work: Memory of the matrix games.
    """

    cell: Ints
    payoff: Floats
    x: Floats
    y: Floats
    here: Floats
    mixed: Floats
    total: Floats
    work: Work


def backup(
    rules: PackedRules,
    values: Floats,
    block: Block,
    offence: RoleStrategies | None = None,
    defence: RoleStrategies | None = None,
    *,
    constant: Bools | None = None,
    strategies: tuple[Floats, Floats, Floats] | None = None,
) -> BlockResult:
    """Return the values of the situations of some lines, all downs and the punt formation.

    How a layer is cut into blocks changes nothing but last bits. It runs without Python's lock, so
    blocks may be rated by threads at the same time.

    Args:
        rules: The rules.
        values: [U, C] of successors to the side that has the ball.
        block: The first line, and the one after the last.
        offence: The offence's strategies; None for a best response.
        defence: The defence's strategies, likewise. If both are None, it is an equilibrium.
        constant: [C] the columns in which all values are the same, which are not looked at.
        strategies: The arrays of :class:`BlockGames` to be filled with optimal strategies of both
            sides and with choices, if they are wanted. In constant columns they are the first call
            of both sides.

    Returns:
        The values [downs + 1, n, C] to the side that has the ball.
    """
    first, last = block
    arrays, columns = rules.arrays, values.shape[1]
    shape = (rules.ruleset.downs + 1, last - first, columns)
    found = np.zeros(shape)
    if constant is None:
        constant = np.zeros(columns, bool)
    games = BlockGames(constant, *(strategies or [np.zeros((0, 0, 0, 0))] * 3))
    gap, solved = _backup(
        arrays,
        values,
        first,
        _given(offence, shape),
        _given(defence, shape),
        offence is None,
        defence is None,
        games,
        found,
    )
    if offence is None and defence is None:
        return BlockResult(found, gap, solved)
    return BlockResult(found, games=found.size)


def blocks_of(lines: int, size: int) -> Sequence[Block]:
    """Return all lines in blocks of a size; the last may be smaller."""
    return [(first, min(first + size, lines)) for first in range(0, lines, size)]


def _given(strategies: RoleStrategies | None, shape: tuple[int, ...]) -> RoleStrategies:
    """Strategies in the form that the loops read; anything where none are given."""
    if strategies is None:
        return RoleStrategies(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(shape, np.int32))
    rows = shape[0] * shape[1], shape[2]
    assert strategies.which.shape == rows, "one number for each state of the block"
    return RoleStrategies(
        np.ascontiguousarray(strategies.calls, np.float64),
        np.ascontiguousarray(strategies.choices, np.float64),
        np.ascontiguousarray(strategies.which, np.int32).reshape(shape),
    )


@inner
def rows_of(rules: Arrays) -> int:
    """The rows of the values of results and cells."""
    return int(rules.results + len(rules.mixed_start) - 1)


@inner
def workspace(rules: Arrays, states: int) -> Workspace:
    """Memory for so many states at once."""
    rows, defences, most = rows_of(rules), rules.cell.shape[1], rules.contested.max()
    actions = (rules.row_start[1:] - rules.row_start[:-1]).max()
    return Workspace(
        np.zeros((most, defences), np.int64),
        np.zeros((most, defences)),
        np.zeros(most),
        np.zeros(defences),
        np.zeros(rows),
        np.zeros((max(actions, defences), states)),
        np.zeros(states),
        work_for(most, defences),
    )


@kernel(largest=-1, allocates=True, nogil=True)
def _backup(
    rules: Arrays,
    following: Floats,
    first_line: int,
    attack: RoleStrategies,
    defend: RoleStrategies,
    offence_responds: bool,
    defence_responds: bool,
    games: BlockGames,
    values: Floats,
) -> tuple[float, int]:
    """Fill the values of a block; return the largest duality gap and how many games there were."""
    downs, n, columns = values.shape
    lines = len(rules.alike)
    # Lines in which the same may be called are taken together.
    together = max(1, _STATES_TOGETHER // columns)
    memory = workspace(rules, together * columns)
    by_row = np.zeros((rows_of(rules), together * columns))
    declaration = rules.results - 1
    # A literal would compile the loops that are called a second time.
    largest_gap, solved, begin = 0.0, 0, int(np.int64(0))
    while begin < n:
        end = begin + 1
        while end < n and end - begin < together and rules.alike[first_line + end]:
            end += 1
        for down in range(downs - 1, -1, -1):
            s = down * lines + first_line + begin
            for line in range(end - begin):
                _rate_results(rules, s + line, following, by_row, line * columns)
            value = values[down, begin:end].reshape(-1)
            x = attack.which[down, begin:end].reshape(-1)
            y = defend.which[down, begin:end].reshape(-1)
            for k in range(len(rules.chosen_result)):
                if rules.chooser[k] == 0:
                    _choose(rules, k, offence_responds, attack.choices, x, by_row)
                else:
                    _choose(rules, k, defence_responds, defend.choices, y, by_row)
            _rate_mixed_cells(rules, by_row)
            if down == downs - 2:
                by_row[declaration, : len(value)] = values[downs - 1, begin:end].reshape(-1)
            if offence_responds and defence_responds:
                gap, count = solve_lines(rules, games, memory, by_row, s, down, begin, value)
                largest_gap = max(largest_gap, gap)
                solved += count
            else:
                responds = offence_responds, defence_responds
                _rate_given(
                    rules, attack.calls, x, defend.calls, y, responds, memory, by_row, s, value
                )
        begin = end
    return largest_gap, solved


# The values of results and cells


@inner
def _rate_results(rules: Arrays, s: int, following: Floats, by_row: Floats, start: int) -> None:
    """Write the values of results in a situation, but for choices and the declaration.

    Args:
        rules: The rules.
        s: The situation.
        following: [U, C] of successors.
        by_row: [rows, at least start + C], of which C columns are written.
        start: The first of them.
    """
    columns = following.shape[1]
    results = rules.results
    for r in range(results - 1):
        first, last = rules.branch_start[s * results + r], rules.branch_start[s * results + r + 1]
        if first == last:
            continue
        total, base = by_row[r], following[rules.branch_successor[first]]
        for c in range(columns):
            total[start + c] = base[c]
        # Differences, so that branches that all have the same value give exactly that.
        for b in range(first + 1, last):
            p, branch = rules.branch_probability[b], following[rules.branch_successor[b]]
            for c in range(columns):
                total[start + c] += p * (branch[c] - base[c])


@inner
def _rate_mixed_cells(rules: Arrays, by_row: Floats) -> None:
    """Write the values of cells with more than one result, their results being written."""
    columns = by_row.shape[1]
    mixed = len(rules.mixed_start) - 1
    for k in range(mixed):
        first, last = rules.mixed_start[k], rules.mixed_start[k + 1]
        total, base = by_row[len(by_row) - mixed + k], by_row[rules.mixed_result[first]]
        total[:] = base
        for entry in range(first + 1, last):
            p, result = rules.mixed_probability[entry], by_row[rules.mixed_result[entry]]
            for c in range(columns):
                total[c] += p * (result[c] - base[c])


@inner
def _choose(
    rules: Arrays, k: int, responds: bool, choices: Floats, which: Numbers, by_row: Floats
) -> None:
    """Write the value of a choice, taken as is best or with the probabilities of a policy."""
    penalty, play = by_row[rules.option[k, 0]], by_row[rules.option[k, 1]]
    chosen, offence = by_row[rules.chosen_result[k]], rules.chooser[k] == 0
    if not responds:
        for c in range(len(which)):
            takes = choices[which[c], k]
            chosen[c] = takes * penalty[c] + (1 - takes) * play[c]
    elif offence:
        for c in range(len(chosen)):
            chosen[c] = max(penalty[c], play[c])
    else:
        for c in range(len(chosen)):
            chosen[c] = min(penalty[c], play[c])


# Equilibria


@inner
def solve_lines(
    rules: Arrays,
    games: BlockGames,
    memory: Workspace,
    by_row: Floats,
    s: int,
    down: int,
    begin: int,
    value: Floats,
) -> tuple[float, int]:
    """Solve the matrix games of the lines from `begin` on; the largest gap, and how many."""
    states, columns = len(value), len(games.constant)
    first, contested = rules.row_start[s], rules.contested[s]
    wanted = len(games.offence) > 0
    lines = slice(begin, begin + states // columns)
    cell, work, defences = memory.cell[:contested], memory.work, len(memory.y)
    here, payoff, x, y = memory.here, memory.payoff[:contested], memory.x[:contested], memory.y
    for i in range(contested):
        cell[i] = rules.cell[rules.row_call[first + i]]
    value[:] = by_row[cell[0, 0], :states]
    x[:], y[:] = 0.0, 0.0
    count, largest_gap = 0, 0.0
    for at in range(states):
        if not games.constant[at % columns]:
            count += 1
            for row in range(len(by_row)):
                here[row] = by_row[row, at]
            for i in range(contested):
                for j in range(defences):
                    payoff[i, j] = here[cell[i, j]]
            value[at], gap = solve_in(work, payoff, x, y)
            largest_gap = max(largest_gap, gap)
            if wanted:
                line, c = begin + at // columns, at % columns
                games.defence[down, line, c] = y
                for i in range(contested):
                    games.offence[down, line, c, rules.row_action[first + i]] = x[i]
                _note_choices(rules, here, games.choices[down, line, c])
    for i in range(contested, rules.row_start[s + 1] - first):
        certain = by_row[rules.cell[rules.row_call[first + i], 0]]
        for at in range(states):
            if wanted and certain[at] > value[at]:
                offence = games.offence[down, begin + at // columns, at % columns]
                offence[:] = 0.0
                offence[rules.row_action[first + i]] = 1.0
            value[at] = max(value[at], certain[at])
    if wanted:
        for column in np.flatnonzero(games.constant):
            games.offence[down, lines, column, rules.row_action[first]] = 1.0
            games.defence[down, lines, column, 0] = 1.0
    return largest_gap, count


@inner
def _note_choices(rules: Arrays, here: Floats, choices: Floats) -> None:
    """Write which choices are for the penalty; `here` has the values of results."""
    for k in range(len(choices)):
        better = here[rules.option[k, 0]] - here[rules.option[k, 1]]
        choices[k] = (better > 0) if rules.chooser[k] == 0 else (better < 0)


# Given strategies, and best responses to them


@inner
def _rate_given(
    rules: Arrays,
    attack: Floats,
    x: Numbers,
    defend: Floats,
    y: Numbers,
    responds: tuple[bool, bool],
    memory: Workspace,
    by_row: Floats,
    s: int,
    values: Floats,
) -> None:
    """Write the values of the states of a situation, each with strategies of its own.

    Args:
        rules: The rules.
        attack: [K, A] the offence's strategies.
        x: [states] the number of the offence's strategy in each state.
        defend: [K, m] the defence's strategies.
        y: [states] the number of the defence's strategy in each state.
        responds: Whether the offence plays a best response instead, and whether the defence does.
        memory: Memory for as many states.
        by_row: [rows, states] the values of results and cells.
        s: The situation.
        values: [states], written.
    """
    offence_responds, defence_responds = responds
    states, defences = len(values), rules.cell.shape[1]
    first, last = rules.row_start[s], rules.row_start[s + 1]
    mixed, total = memory.mixed, memory.total[:states]
    if defence_responds:
        for row in range(first, last):
            for c in range(states):
                mixed[row - first, c] = attack[x[c], rules.row_action[row]]
        values[:] = np.inf
        for d in range(defences):
            total[:] = 0.0
            for row in range(first, last):
                _add(total, mixed[row - first], by_row[rules.cell[rules.row_call[row], d]])
            for c in range(states):
                values[c] = min(values[c], total[c])
        return
    for d in range(defences):
        for c in range(states):
            mixed[d, c] = defend[y[c], d]
    values[:] = -np.inf if offence_responds else 0.0
    for row in range(first, last):
        total[:] = 0.0
        for d in range(defences):
            _add(total, mixed[d], by_row[rules.cell[rules.row_call[row], d]])
        for c in range(states):
            if offence_responds:
                values[c] = max(values[c], total[c])
            else:
                values[c] += attack[x[c], rules.row_action[row]] * total[c]


@inner
def _add(total: Floats, chance: Floats, values: Floats) -> None:
    """``total += chance * values``."""
    for c in range(len(total)):
        total[c] += chance[c] * values[c]
