"""The rules of a chart and a ruleset as arrays, for kernels and tables.

They are the consequences of all results in all situations
(:class:`solvent.games.football.situation.Situations`), one after another.

**Situations** are numbered as in :mod:`solvent.games.football.situation`; S = 24,750 on the full
field.

**Results** are numbered as in ``chart.results``, 0..R-1, and two more follow that no chart holds:
R is the field goal and R + 1 the declaration of punt formation. The branches of result r in
situation s are ``branch_start[k] : branch_start[k + 1]`` with k = s * (R + 2) + r, all those of a
situation side by side. A choice has no branches of its own; its two options have. The field goal
has none where the ruleset gives it no chance, the declaration none where it is not allowed.

**Calls** are what the offence can send to the chart: 0..n-1 the plays 1..n, n the quick kick, n + 1
the field goal, n + 2 the declaration of punt formation, n + 3 the punt. The offence's *actions* are
numbered 0..n+2 in the same way, except that action n + 2 is call n + 2 in normal formation and call
n + 3 in punt formation. The cell of call c against defence d is
``cell_start[c * m + d] : cell_start[c * m + d + 1]``. In the rows of the field goal and of the
declaration all cells are the same.

Shapes, with S situations, R results of the chart, n plays, m defences, N branches, C entries of
cells and F branches of kicks:

=====================  =====================  =====================================================
``situation``          [S, 4] int16           down, to_go, to_goal, punting (0 or 1)
``legal``              [S, n+3] bool          the offence's legal actions; every defence is legal
``branch_start``       [S*(R+2)+1] int64      see above
``probability``        [N] float64            of a branch, the float nearest to the exact rational
``points``             [N] int16              to the offence; negative ones go to the defence
``next``               [N] int32              the situation that follows, of whoever has the ball
                                              then; or KICKOFF = -1, FREE_KICK = -2
``same_side``          [N] bool               whether it is still the offence's ball, or at a marker
                                              whether it is the offence that kicks
``seconds``            [N] int16              time taken
``option``             [R+2, 2] int32         the results a choice is between, penalty first; -1
``chooser``            [R+2] int8             who takes a choice: 0 the offence, 1 the defence; -1
``cell_start``         [(n+4)*m+1] int64      see above
``cell_result``        [C] int32              a result
``cell_probability``   [C] float64            its probability
``kick_start``         [4] int64              branches of the kicks: 0 kickoff, 1 onside, 2 free
                                              kick; the *kicker* stands in the offence's place
``kick_probability``   [F] float64            like those of the branches above
``kick_points``        [F] int16              to the kicker
``kick_next``          [F] int32              as above
``kick_same_side``     [F] bool               whether the kicker has the ball, or kicks again
``kick_seconds``       [F] int16              as above
=====================  =====================  =====================================================

With V the value of situations to the side in possession, K the value of receiving a kickoff and
L that of receiving a free kick, the value of result r in situation s to the offence is the sum over
its branches of ``probability * (points + sign * W(next))`` with sign = 1 if ``same_side``, else -1;
W is V for a situation, -K for a kickoff and -L for a free kick, since the side that kicks pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.games.football.chart import Cell, Chart
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import (
    FREE_KICK,
    KICKOFF,
    Restart,
    Situation,
    Situations,
    check_situation,
    chooser,
    kick,
    situation_at,
    situation_index,
)
from solvent.model.arrays import Bools, Floats, Ints

NORMAL_KICK, ONSIDE_KICK, SAFETY_KICK = 0, 1, 2
"""The kicks in the order of ``kick_start``."""

KICKS = ("kickoff", "onside", "free_kick")
"""The ruleset's tables of them, in the same order."""


@dataclass(frozen=True, eq=False)
class PackedRules:
    """A chart and a ruleset as arrays; the module's table gives their shapes."""

    chart: Chart
    ruleset: Ruleset
    situation: NDArray[np.int16]
    legal: Bools
    branch_start: Ints
    probability: Floats
    points: NDArray[np.int16]
    next: NDArray[np.int32]
    same_side: Bools
    seconds: NDArray[np.int16]
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
    kick_seconds: NDArray[np.int16]

    @property
    def n_situations(self) -> int:
        """S, the number of situations, those in punt formation included."""
        return len(self.situation)

    @property
    def n_results(self) -> int:
        """R + 2, the number of results with the field goal and the declaration."""
        return len(self.chooser)

    @property
    def by_defence(self) -> Bools:
        """[R + 2] whether a result is a penalty of the defence."""
        kinds = [result.kind for result in self.chart.results]
        return np.array([*(kind == "defence-penalty" for kind in kinds), False, False])

    def index(self, situation: Situation) -> int:
        """The number of a situation.

        Raises:
            ValueError: If the ruleset has no such situation.
        """
        check_situation(self.ruleset, situation)
        return situation_index(self.ruleset, situation)

    def situation_at(self, index: int) -> Situation:
        """The situation of a number."""
        return situation_at(self.ruleset, index)


@lru_cache(maxsize=4)
def pack_rules(chart: Chart, ruleset: Ruleset) -> PackedRules:
    """The arrays of a chart and a ruleset, which solvers, simulators and baselines share.

    Args:
        chart: The results of calls.
        ruleset: The consequences of results.

    Raises:
        ValueError: If the ruleset's probabilities have no common denominator below 2^53.
    """
    every = Situations.of(ruleset)
    of_all = [every.after(result) for result in chart.results]
    branch_start, branches = interleaved([*of_all, every.field_goal(), every.declaration()])
    weight, points, following, same_side, seconds = branches
    number = {result: r for r, result in enumerate(chart.results)}
    goal, declaration = (
        [((Fraction(1), len(chart.results) + k),)] * chart.defences for k in (0, 1)
    )
    columns: list[Sequence[Any]] = [*chart.cells, chart.quick_kick, goal, declaration, chart.punt]
    cells: list[Cell] = [cell for column in columns for cell in column]
    entries = [(p, number.get(result, result)) for cell in cells for p, result in cell]
    kicks = [kick(ruleset, name) for name in KICKS]
    ends = [branch for branches_of_one in kicks for branch in branches_of_one]
    markers = {Restart.KICKOFF: KICKOFF, Restart.FREE_KICK: FREE_KICK}
    options = [[number[o] for o in result.options] or [-1, -1] for result in chart.results]
    choosers = [chooser(result) if result.options else -1 for result in chart.results]
    return PackedRules(
        chart=chart,
        ruleset=ruleset,
        situation=every.table,
        legal=every.legal(chart.plays),
        branch_start=branch_start,
        probability=weight / ruleset.denominator,
        points=points.astype(np.int16),
        next=following.astype(np.int32),
        same_side=same_side,
        seconds=seconds.astype(np.int16),
        option=np.array([*options, [-1, -1], [-1, -1]], np.int32),
        chooser=np.array([*choosers, -1, -1], np.int8),
        cell_start=np.cumsum([0, *map(len, cells)]),
        cell_result=np.array([r for _, r in entries], np.int32),
        cell_probability=np.array([float(p) for p, _ in entries]),
        kick_start=np.cumsum([0, *map(len, kicks)]),
        kick_probability=np.array([float(c.probability) for c in ends]),
        kick_points=np.array([c.points for c in ends], np.int16),
        kick_next=np.array(
            [
                markers[c.next] if isinstance(c.next, Restart) else situation_index(ruleset, c.next)
                for c in ends
            ],
            np.int32,
        ),
        kick_same_side=np.array([c.same_side for c in ends]),
        kick_seconds=np.array([c.seconds for c in ends], np.int16),
    )


def interleaved(columns: Sequence[Sequence[tuple[Any, ...]]]) -> tuple[Ints, list[Any]]:
    """From branches by result, in all situations, to branches by situation, of all results.

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


__all__ = [
    "FREE_KICK",
    "KICKOFF",
    "KICKS",
    "NORMAL_KICK",
    "ONSIDE_KICK",
    "SAFETY_KICK",
    "PackedRules",
    "pack_rules",
]
