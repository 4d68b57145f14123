"""The rules of football as the kernels of the game with a clock read them.

**Successors.** A *successor* is what one branch of a result or kick leads to, all that its worth
depends on: the row of a layer that follows and whose ball or kick it is, the points, the time
taken, and whether an untimed down would follow if that time ran out. Few of the two million
branches of the standard chart differ in all of these, some fifty thousand; so what follows a
branch, time-outs included, is rated once a layer for each successor, and a branch is one row of
that.

Successors are numbered by *groups* that take the same time: ``groups[g]`` are the seconds and
whether an untimed down may follow, ``group_start[g] : group_start[g + 1]`` the successors.

**Cells.** What a cell of the chart is worth is a row of an array: rows 0..R-1 are results, the last
two of them the field goal and the declaration of punt formation, and then come the distinct cells
that hold more than one result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.packed import FREE_KICK, KICKOFF, PackedRules
from solvent.games.football.solver import values as football_values
from solvent.model.arrays import Bools, Floats, Ints


class Loops(NamedTuple):
    """What the compiled loops read.

    =====================  ====================  ==================================================
    ``branch_start``       [S*R+1] int64         branches of result r in situation s, at s*R + r;
                                                 the declaration has none
    ``branch_successor``   [N] int32             a successor
    ``branch_probability`` [N] float64           its probability
    ``chosen_result``      [c] int64             the results that are choices
    ``option``             [c, 2] int64          penalty and play
    ``chooser``            [c] int64             0 the offence, 1 the defence
    ``mixed_start``        [M+1] int64           entries of the cells with more than one result
    ``mixed_result``       [entries] int64       a result
    ``mixed_probability``  [entries] float64     its probability
    ``cell``               [calls, m] int64      what call against defence is worth: a row, 0..R+M-1
    ``row_start``          [S+1] int64           legal actions of situation s, in their order
    ``row_action``         [rows] int64          the offence's action
    ``row_call``           [rows] int64          what it sends to the chart
    ``contested``          [S] int64             how many of them, the first, depend on the defence
    ``alike``              [lines] bool          whether the legal actions of all situations of a
                                                 line are those of the line before
    ``kick_start``         [4] int64             branches of kickoff, onside kick and free kick
    ``kick_successor``     [F] int64             a successor
    ``kick_probability``   [F] float64           its probability
    =====================  ====================  ==================================================
    """

    branch_start: Ints
    branch_successor: NDArray[np.int32]
    branch_probability: Floats
    chosen_result: Ints
    option: Ints
    chooser: Ints
    mixed_start: Ints
    mixed_result: Ints
    mixed_probability: Floats
    cell: Ints
    row_start: Ints
    row_action: Ints
    row_call: Ints
    contested: Ints
    alike: Bools
    kick_start: Ints
    kick_successor: Ints
    kick_probability: Floats


class TimedTables(NamedTuple):
    """Successors and the loops' arrays; the same for all layers of a chart and a ruleset.

    Attributes:
        downs: D; the rows of a line are ``d * lines + line`` for d from 0 to D, the last for punt
            formation.
        lines: Pairs of yards to the goal and to go.
        groups: Seconds taken, and whether an untimed down may follow, of each group of successors.
        group_start: [groups + 1] successors.
        row: [U] of a layer, to which each successor leads.
        same_side: [U] whether it is still the offence's ball or the offence that kicks.
        score: [U] index into `points`.
        points: To the offence.
        roundings: Bound of the error of a value that is computed from exact ones, in units of half
            the distance from 1 to the next float times the largest worth.
        loops: The rest.
    """

    downs: int
    lines: int
    groups: tuple[tuple[int, bool], ...]
    group_start: Ints
    row: Ints
    same_side: Bools
    score: Ints
    points: tuple[int, ...]
    roundings: int
    loops: Loops


def timed_tables(rules: PackedRules) -> TimedTables:
    """Prepare packed rules for the kernels of the game with a clock."""
    plain = football_values.tables_of(rules)
    situations, results = rules.n_situations, rules.n_results
    branches = np.diff(rules.branch_start)
    # A declaration takes no time: it leads to another row of the same layer, not to a successor.
    declaration = np.zeros((situations, results), bool)
    declaration[:, -1] = True
    stays = declaration.ravel().repeat(branches)
    branches = np.where(declaration.ravel(), 0, branches)
    untimed = np.tile(rules.by_defence, situations).repeat(branches)
    place = np.concatenate((rules.next[~stays], rules.kick_next)).astype(np.int64)
    place[place == KICKOFF] = situations
    place[place == FREE_KICK] = situations + 1
    successors, number = _distinct(
        np.concatenate((rules.seconds[~stays], rules.kick_seconds)),
        np.concatenate((untimed, np.zeros(len(rules.kick_next), bool))),
        np.concatenate((rules.points[~stays], rules.kick_points)),
        np.concatenate((rules.same_side[~stays], rules.kick_same_side)),
        place,
    )
    groups, group_start = np.unique(successors[:, :2], axis=0, return_index=True)
    points, score = np.unique(successors[:, 2], return_inverse=True)
    kicks = len(rules.kick_next)
    cell, mixed_start, mixed_result, mixed_probability = _cells(rules)
    loops = Loops(
        branch_start=np.concatenate(([0], np.cumsum(branches))),
        branch_successor=number[:-kicks].astype(np.int32),
        branch_probability=rules.probability[~stays],
        chosen_result=plain.chosen_result,
        option=plain.option,
        chooser=plain.chooser,
        mixed_start=mixed_start,
        mixed_result=mixed_result,
        mixed_probability=mixed_probability,
        cell=cell,
        row_start=plain.row_start,
        row_action=plain.row_action,
        row_call=plain.row_call,
        contested=plain.contested,
        alike=_alike(rules),
        kick_start=plain.kick_start,
        kick_successor=number[-kicks:],
        kick_probability=plain.kick_probability,
    )
    return TimedTables(
        downs=rules.ruleset.downs,
        lines=situations // (rules.ruleset.downs + 1),
        groups=tuple((seconds, bool(untimed)) for seconds, untimed in groups.tolist()),
        group_start=np.append(group_start, len(successors)),
        row=_read_only(np.ascontiguousarray(successors[:, 4])),
        same_side=_read_only(successors[:, 3].astype(bool)),
        score=_read_only(score.ravel()),
        points=tuple(points.tolist()),
        roundings=_roundings(loops),
        loops=Loops(*map(_read_only, loops)),
    )


def _distinct(*columns: NDArray[Any]) -> tuple[Ints, Ints]:
    """The distinct rows of some columns of whole numbers, ascending, and the number of each row."""
    lowest = [int(column.min()) for column in columns]
    sizes = tuple(int(column.max()) - low + 1 for column, low in zip(columns, lowest, strict=True))
    shifted = (column.astype(np.int64) - low for column, low in zip(columns, lowest, strict=True))
    # One number for each row: to sort millions of rows as they are takes twenty times as long.
    keys, number = np.unique(np.ravel_multi_index(tuple(shifted), sizes), return_inverse=True)
    return np.stack(np.unravel_index(keys, sizes), axis=1) + lowest, number


def _roundings(loops: Loops) -> int:
    """Bound of the rounding of one value, in the units of :class:`TimedTables`.

    An expectation of n branches is right but for 2 n + 6, and what a strategy of m calls is sure of
    but for 3 m + 2. Points are added, then come results, cells, and both sides' strategies.
    """
    starts = (loops.branch_start, loops.kick_start, loops.mixed_start)
    branches, kicks, entries = (int(np.diff(start).max(initial=1)) for start in starts)
    calls: int = int(loops.contested.max()) + loops.cell.shape[1]
    return 1 + 2 * (max(branches, kicks) + entries) + 12 + 3 * calls + 4


def _read_only(array: Any) -> Any:
    """An array as it comes from another process, so that the loops are compiled once for both."""
    view = array.view()
    view.flags.writeable = False
    return view


def _alike(rules: PackedRules) -> Bools:
    """[lines] whether all legal actions of a line are those of the line before."""
    legal = rules.legal.reshape(rules.ruleset.downs + 1, -1, rules.legal.shape[1])
    return np.append(False, (legal[:, 1:] == legal[:, :-1]).all(axis=(0, 2)))


def _cells(rules: PackedRules) -> tuple[Ints, Ints, Ints, Floats]:
    """The rows of all cells [calls, m], and the distinct cells with more than one result."""
    numbers: dict[tuple[tuple[int, float], ...], int] = {}
    cell = []
    for k in range(len(rules.cell_start) - 1):
        entries = slice(rules.cell_start[k], rules.cell_start[k + 1])
        results = rules.cell_result[entries].tolist()
        if len(results) == 1:
            cell.append(results[0])
        else:
            content = tuple(zip(results, rules.cell_probability[entries].tolist(), strict=True))
            cell.append(rules.n_results + numbers.setdefault(content, len(numbers)))
    mixed = [entry for content in numbers for entry in content]
    return (
        np.array(cell).reshape(-1, rules.chart.defences),
        np.cumsum([0, *map(len, numbers)]),
        np.array([result for result, _ in mixed], np.int64),
        np.array([probability for _, probability in mixed], np.float64),
    )
