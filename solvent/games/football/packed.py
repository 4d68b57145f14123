"""The rules of a chart and a ruleset as arrays, for tables, solvers, scores and samplers.

They are the consequences of all results in all situations
(:class:`solvent.games.football.situation.Situations`), one after another.

**Situations** are numbered as in :mod:`solvent.games.football.situation`; S = 24,750 on the full
field. *Rows* S and S + 1 stand for a kickoff and for the free kick after a safety.

**Results** are numbered as in ``chart.results``; after those come the field goal and, the last of
R, the declaration of punt formation. A choice has no branches of its own; its two options have. The
field goal has none where the ruleset gives it no chance, the declaration none where it is not
allowed.

**Successors.** A *successor* is what one branch of a result or kick leads to, all that its value
depends on: the row that follows and whose ball or kick it is, the points, the time taken, and
whether an untimed down would follow if that time ran out. Few of the two million branches of the
standard chart differ in all of these, some fifty thousand. Successors are numbered by *groups* that
take the same time; those of the declaration, which takes none, are the last and in no group.

**Calls** are what the offence can send to the chart: 0..n-1 the plays 1..n, n the quick kick, n + 1
the field goal, n + 2 the declaration of punt formation, n + 3 the punt. The offence's *actions* are
numbered 0..n+2 in the same way, except that action n + 2 is call n + 2 in normal formation and call
n + 3 in punt formation.

**Cells.** The value of a cell of the chart is a row of an array: rows 0..R-1 are results, and then
come the distinct cells that hold more than one result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.chart import Chart, Result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import (
    Restart,
    Situation,
    Situations,
    check_situation,
    chooser,
    kick,
    situation_index,
)
from solvent.model.arrays import Bools, Floats, Ints

NORMAL_KICK, ONSIDE_KICK, SAFETY_KICK = 0, 1, 2
"""The kicks in the order of their branches."""

KICKS = ("kickoff", "onside", "free_kick")
"""The ruleset's tables of them, in the same order."""

SUCCESSOR = np.dtype(
    [
        ("row", np.int32),
        ("points", np.int16),
        ("group", np.int16),
        ("seconds", np.int16),
        ("same_side", np.bool_),
    ],
    align=True,
)
"""The row that follows, points to the offence, the group, the time taken, and whether the side that
was on offence, or kicked, has the ball, or kicks, in what follows."""


class Arrays(NamedTuple):
    """The arrays that compiled loops read; S situations, R results, U successors, n plays.

    =====================  ====================  ==================================================
    ``results``            int                   R
    ``successor``          [U] SUCCESSOR         see the module
    ``branch_start``       [S*R+4] int64         branches of result r in situation s, at s*R + r,
                                                 after them those of the three kicks, in which the
                                                 kicker stands in the offence's place
    ``branch_successor``   [N] int32             a successor
    ``branch_probability`` [N] float64           its probability, the float nearest to the rational
    ``chosen_result``      [c] int64             the results that are choices
    ``option``             [c, 2] int64          penalty and play
    ``chooser``            [c] int64             0 the offence, 1 the defence
    ``mixed_start``        [M+1] int64           entries of the cells with more than one result
    ``mixed_result``       [entries] int64       a result
    ``mixed_probability``  [entries] float64     its probability
    ``cell``               [n+4, m] int64        the row of the value of call against defence
    ``row_start``          [S+1] int64           legal actions of situation s, in their order
    ``row_action``         [rows] int64          the offence's action
    ``row_call``           [rows] int64          what it sends to the chart
    ``contested``          [S] int64             how many of them, the first, depend on the defence
    ``alike``              [lines] bool          whether the legal actions of all situations of a
                                                 line are those of the line before
    =====================  ====================  ==================================================
    """

    results: int
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


@dataclass(frozen=True, eq=False)
class PackedRules:
    """A chart and a ruleset as arrays.

    Attributes:
        chart: The results of calls.
        ruleset: The consequences of results.
        situation: [S, 4] int16 down, to_go, to_goal, punting (0 or 1).
        legal: [S, n+3] the offence's legal actions; every defence is legal.
        groups: Seconds taken, and whether an untimed down may follow, of each group of successors.
        members: The successors of each group.
        arrays: The rest.
    """

    chart: Chart
    ruleset: Ruleset
    situation: NDArray[np.int16]
    legal: Bools
    groups: tuple[tuple[int, bool], ...]
    members: tuple[slice, ...]
    arrays: Arrays

    @property
    def n_situations(self) -> int:
        """S, the number of situations, those in punt formation included."""
        return len(self.situation)

    @property
    def branches(self) -> NDArray[Any]:
        """[N] :data:`SUCCESSOR`, what every branch leads to."""
        return np.asarray(self.arrays.successor[self.arrays.branch_successor])

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
        starts = (arrays.branch_start, arrays.mixed_start)
        branches, entries = (int(np.diff(start).max(initial=1)) for start in starts)
        calls: int = int(arrays.contested.max()) + arrays.cell.shape[1]
        return 1 + 2 * (branches + entries) + 12 + 3 * calls + 4

    def index(self, situation: Situation) -> int:
        """The number of a situation.

        Raises:
            ValueError: If the ruleset has no such situation.
        """
        check_situation(self.ruleset, situation)
        return situation_index(self.ruleset, situation)


@lru_cache(maxsize=4)
def pack_rules(chart: Chart, ruleset: Ruleset) -> PackedRules:
    """The arrays of a chart and a ruleset, which solvers, simulators and baselines share.

    Args:
        chart: The results of calls.
        ruleset: The consequences of results.

    Raises:
        ValueError: If the ruleset's probabilities have no common denominator below 2^53.
    """
    every, plays = Situations.of(ruleset), chart.plays
    of_all = [every.after(result) for result in chart.results]
    start, columns = interleaved([*of_all, every.field_goal(), every.declaration()])
    situations, results = len(every.down), len(chart.results) + 2
    kicks = [kick(ruleset, name) for name in KICKS]
    ends = [branch for branches in kicks for branch in branches]
    kicked = [
        (
            c.points,
            c.next if isinstance(c.next, Restart) else situation_index(ruleset, c.next),
            c.same_side,
            c.seconds,
        )
        for c in ends
    ]
    weight, *branch = columns
    points, row, same_side, seconds = (
        np.concatenate((column, of_kicks))
        for column, of_kicks in zip(branch, zip(*kicked, strict=True), strict=True)
    )
    # The kicks after a score and a safety are the last rows.
    row = np.where(row < 0, situations - 1 - row, row)
    result = np.tile(np.arange(results), situations).repeat(np.diff(start))
    result = np.concatenate((result, np.full(len(ends), -1)))
    by_defence = [r.kind == "defence-penalty" for r in chart.results]
    untimed = np.array([*by_defence, False, False, False])[result]
    declared = result == results - 1
    durations = ("play", "long_play", "out_of_bounds", "dead_ball", "interception")
    unit = gcd(*(getattr(ruleset, f"{name}_seconds") for name in durations)) or 1
    found, number = _distinct(declared, seconds // unit, untimed, points, same_side, row)
    found[:, 1] *= unit
    groups, first, group = np.unique(found[:, :3], axis=0, return_index=True, return_inverse=True)
    successor = np.zeros(len(found), SUCCESSOR)
    successor["group"] = group.ravel()
    for name, column in zip(("points", "same_side", "row"), found[:, 3:].T, strict=True):
        successor[name] = column
    successor["seconds"] = found[:, 1]
    legal, punting = every.legal(plays), every.punting
    at, actions = np.nonzero(legal)
    numbers = {result: r for r, result in enumerate(chart.results)}
    choices = [result for result in chart.results if result.options]
    chances = [float(c.probability) for c in ends]
    by_line = legal.reshape(ruleset.downs + 1, -1, legal.shape[1])
    arrays = Arrays(
        results,
        successor,
        np.concatenate((start, start[-1] + np.cumsum([*map(len, kicks)]))),
        number,
        np.concatenate((weight / ruleset.denominator, chances)),
        np.array([numbers[choice] for choice in choices], np.int64),
        np.array([[numbers[o] for o in c.options] for c in choices], np.int64).reshape(-1, 2),
        np.array([chooser(choice) for choice in choices], np.int64),
        *_cells(chart, numbers, results),
        np.concatenate(([0], np.cumsum(legal.sum(axis=1)))),
        actions,
        actions + ((actions == plays + 2) & punting[at]),
        legal[:, : plays + 1].sum(axis=1) + (legal[:, plays + 2] & punting),
        np.append(False, (by_line[:, 1:] == by_line[:, :-1]).all(axis=(0, 2))),
    )
    return PackedRules(
        chart=chart,
        ruleset=ruleset,
        situation=every.table,
        legal=legal,
        # The last group is the declaration's.
        groups=tuple((seconds, bool(untimed)) for _, seconds, untimed in groups[:-1].tolist()),
        members=tuple(map(slice, first[:-1], first[1:])),
        arrays=Arrays(results, *map(read_only, arrays[1:])),
    )


def interleaved(columns: Sequence[Sequence[tuple[Any, ...]]]) -> tuple[Ints, list[Any]]:
    """Convert branches by result, in all situations, to branches by situation, of all results.

    Args:
        columns: The branches of each of K results, tuples of arrays [S] with the weight first.

    Returns:
        CSR: ``start`` [S*K+1], where branches of result k in situation s begin at entry s * K + k,
        and the arrays of all branches whose weight is positive, in the order of the tuples.
    """
    example = next(branch for branches in columns for branch in branches)
    none = np.zeros(len(example[0]), np.int64)
    count = np.stack([sum((b[0] > 0 for b in branches), none) for branches in columns], axis=1)
    start = np.concatenate(([0], np.cumsum(count)))
    together = [np.zeros(int(start[-1]), column.dtype) for column in example]
    for k, branches in enumerate(columns):
        place = start[:-1].reshape(count.shape)[:, k].copy()
        for branch in branches:
            there = branch[0] > 0
            for target, column in zip(together, branch, strict=True):
                target[place[there]] = column[there]
            place += there
    return start, together


def _distinct(*columns: NDArray[Any]) -> tuple[Ints, NDArray[np.int32]]:
    """The distinct rows of some columns of whole numbers, ascending, and the number of each row."""
    lowest = [int(column.min()) for column in columns]
    above = [column - low for column, low in zip(columns, lowest, strict=True)]
    sizes = tuple(int(column.max()) + 1 for column in above)
    keys, number = np.unique(np.ravel_multi_index(above, sizes), return_inverse=True)
    return np.stack(np.unravel_index(keys, sizes), axis=1) + lowest, number.astype(np.int32)


def _cells(
    chart: Chart, numbers: dict[Result, int], results: int
) -> tuple[Ints, Ints, Floats, Ints]:
    """The distinct cells with more than one result, and the rows of all cells, [n+4, m]."""
    mixed: dict[Any, int] = {}
    calls = [
        [
            numbers[cell[0][1]] if len(cell) == 1 else results + mixed.setdefault(cell, len(mixed))
            for cell in column
        ]
        for column in chart.columns.values()
    ]
    constant = [[results - 2 + k] * chart.defences for k in (0, 1)]
    entries = [entry for cell in mixed for entry in cell]
    return (
        np.cumsum([0, *map(len, mixed)]),
        np.array([numbers[result] for _, result in entries], np.int64),
        np.array([float(probability) for probability, _ in entries], np.float64),
        np.array([*calls[:-1], *constant, calls[-1]]),
    )


def read_only(array: Any) -> Any:
    """Return an array as another process sends it, so that the loops are compiled once for both."""
    view = array.view()
    view.flags.writeable = False
    return view
