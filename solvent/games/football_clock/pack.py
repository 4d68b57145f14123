"""The rules of football for compiled code: solvers, scores and samplers.

**Successors.** A *successor* is what one branch of a result or kick leads to, all that its value
depends on: the row of a layer that follows and whose ball or kick it is, the points, the time
taken, and whether an untimed down would follow if that time ran out. Few of the two million
branches of the standard chart differ in all of these, some fifty thousand; so what follows a
branch, time-outs included, is rated once a layer for each successor, and a branch is one row of
that.

Successors are numbered by *groups* that take the same time: ``groups[g]`` are the seconds and
whether an untimed down may follow, ``members[g]`` the successors.

**Cells.** The value of a cell of the chart is a row of an array: rows 0..R-1 are results, the last
two of them the field goal and the declaration of punt formation, and then come the distinct cells
that hold more than one result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.packed import FREE_KICK, KICKOFF, PackedRules
from solvent.model.arrays import Bools, Floats, Ints

SUCCESSOR = np.dtype(
    [("row", np.int32), ("points", np.int16), ("group", np.int16), ("same_side", np.bool_)],
    align=True,
)
"""The row that follows, points to the offence, the group, and whether the side that was on offence
has the ball, or kicks, in what follows."""


class Arrays(NamedTuple):
    """The arrays that compiled loops read; S situations, R results, U successors.

    =====================  ====================  ==================================================
    ``successor``          [U] SUCCESSOR         see the module
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
    ``cell``               [calls, m] int64      the row of the value of call against defence
    ``row_start``          [S+1] int64           legal actions of situation s, in their order
    ``row_action``         [rows] int64          the offence's action
    ``row_call``           [rows] int64          what it sends to the chart
    ``contested``          [S] int64             how many of them, the first, depend on the defence
    ``alike``              [lines] bool          whether the legal actions of all situations of a
                                                 line are those of the line before
    ``kick_start``         [4] int64             branches of kickoff, onside kick and free kick
    ``kick_successor``     [F] int32             a successor
    ``kick_probability``   [F] float64           its probability
    =====================  ====================  ==================================================
    """

    successor: NDArray[Any]
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
    kick_successor: NDArray[np.int32]
    kick_probability: Floats


@dataclass(frozen=True, eq=False)
class TimedPack:
    """Chart and ruleset prepared for the game with a clock; the same for all its layers.

    Attributes:
        downs: D; the rows of a line are ``d * lines + line`` for d from 0 to D, the last for punt
            formation.
        groups: Seconds taken, and whether an untimed down may follow, of each group of successors.
        members: The successors of each group.
        arrays: The rest.
    """

    downs: int
    groups: tuple[tuple[int, bool], ...]
    members: tuple[slice, ...]
    arrays: Arrays

    @cached_property
    def most_points(self) -> int:
        """The most points that a play or kick can bring one of the sides."""
        return int(np.abs(self.arrays.successor["points"]).max())

    @cached_property
    def roundings(self) -> int:
        """A bound of the rounding error of one value that is computed from exact ones.

        In units of half the distance from 1 to the next float times the largest value. An
        expectation of n branches is right but for 2 n + 6, and the security level of a strategy of
        m calls but for 3 m + 2. Points are added, then come results, cells, and both sides'
        strategies.
        """
        arrays = self.arrays
        starts = (arrays.branch_start, arrays.kick_start, arrays.mixed_start)
        branches, kicks, entries = (int(np.diff(start).max(initial=1)) for start in starts)
        calls: int = int(arrays.contested.max()) + arrays.cell.shape[1]
        return 1 + 2 * (max(branches, kicks) + entries) + 12 + 3 * calls + 4


@lru_cache(maxsize=4)
def timed_pack(rules: PackedRules) -> TimedPack:
    """Prepare packed rules for the game with a clock."""
    situations, results = rules.n_situations, rules.n_results
    # A declaration takes no time: it leads to another row of the same layer, not to a successor.
    declaration = np.zeros((situations, results), bool)
    declaration[:, -1] = True
    branches = np.diff(rules.branch_start)
    played = ~declaration.ravel().repeat(branches)
    branches = np.where(declaration.ravel(), 0, branches)
    untimed = np.tile(rules.by_defence, situations).repeat(branches)
    row = np.concatenate((rules.next[played], rules.kick_next)).astype(np.int64)
    row[row == KICKOFF] = situations
    row[row == FREE_KICK] = situations + 1
    found, number = _distinct(
        np.concatenate((rules.seconds[played], rules.kick_seconds)),
        np.concatenate((untimed, np.zeros(len(rules.kick_next), bool))),
        np.concatenate((rules.points[played], rules.kick_points)),
        np.concatenate((rules.same_side[played], rules.kick_same_side)),
        row,
    )
    groups, first, group = np.unique(found[:, :2], axis=0, return_index=True, return_inverse=True)
    successor = np.zeros(len(found), SUCCESSOR)
    successor["group"] = group.ravel()
    successor["points"], successor["same_side"], successor["row"] = found[:, 2:].T
    declared = rules.situation[:, 3] == 1
    plays, kicks = rules.chart.plays, len(rules.kick_next)
    rows, actions = np.nonzero(rules.legal)
    choices = np.flatnonzero(rules.chooser >= 0)
    contested = rules.legal[:, : plays + 1].sum(axis=1) + (rules.legal[:, plays + 2] & declared)
    cell, mixed_start, mixed_result, mixed_probability = _cells(rules)
    arrays = Arrays(
        successor=successor,
        branch_start=np.concatenate(([0], np.cumsum(branches))),
        branch_successor=number[:-kicks].astype(np.int32),
        branch_probability=rules.probability[played],
        chosen_result=choices,
        option=rules.option[choices].astype(np.int64),
        chooser=rules.chooser[choices].astype(np.int64),
        mixed_start=mixed_start,
        mixed_result=mixed_result,
        mixed_probability=mixed_probability,
        cell=cell,
        row_start=np.concatenate(([0], np.cumsum(rules.legal.sum(axis=1)))),
        row_action=actions,
        row_call=actions + ((actions == plays + 2) & declared[rows]),
        contested=contested.astype(np.int64),
        alike=_alike(rules),
        kick_start=rules.kick_start,
        kick_successor=number[-kicks:].astype(np.int32),
        kick_probability=rules.kick_probability,
    )
    return TimedPack(
        downs=rules.ruleset.downs,
        groups=tuple((seconds, bool(untimed)) for seconds, untimed in groups.tolist()),
        members=tuple(map(slice, first, [*first[1:], len(found)])),
        arrays=Arrays(*map(read_only, arrays)),
    )


def _distinct(*columns: NDArray[Any]) -> tuple[Ints, Ints]:
    """The distinct rows of some columns of whole numbers, ascending, and the number of each row."""
    lowest = [int(column.min()) for column in columns]
    sizes = tuple(int(column.max()) - low + 1 for column, low in zip(columns, lowest, strict=True))
    shifted = (column.astype(np.int64) - low for column, low in zip(columns, lowest, strict=True))
    # One number for each row: to sort millions of rows as they are takes twenty times as long.
    keys, number = np.unique(np.ravel_multi_index(tuple(shifted), sizes), return_inverse=True)
    return np.stack(np.unravel_index(keys, sizes), axis=1) + lowest, number


def read_only(array: Any) -> Any:
    """Return an array as another process sends it, so that the loops are compiled once for both."""
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
