"""The consequences of results, for all situations at once.

:class:`Columns` has the functions of :mod:`solvent.games.football.situation` in arrays. A result
has a few branches; a branch is a tuple of arrays [S] over all situations, numbered as in
:mod:`solvent.games.football.packed`, with weight 0 in situations that do not have it. Weights are
whole numbers over a common denominator, so that equal branches can be put together exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from solvent.games.football.results import Result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import (
    Consequence,
    Restart,
    Situation,
    consequences,
    field_goal,
    first_down_at,
    legal_actions,
)
from solvent.model.arrays import Bools, Ints

KICKOFF, FREE_KICK = -1, -2
"""Entries of ``next`` that are not situations."""

LARGEST_DENOMINATOR = 2**53
"""Weights are whole numbers that a float holds exactly."""


class BranchColumn(NamedTuple):
    """A branch of one result in all situations; its weight is 0 where there is no such branch."""

    weight: Ints
    points: Ints
    next: Ints
    same_side: Bools
    seconds: Ints


class Columns:
    """The functions of :mod:`solvent.games.football.situation` for all situations at once.

    What depends on nothing but the line of scrimmage is asked of them line by line. Gains and
    penalties depend on everything and are written again here, in arrays.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self.rules = ruleset
        lines = np.arange(1, ruleset.field)
        to_goal = np.repeat(lines, lines)
        to_go = np.arange(len(to_goal)) - (to_goal - 1) * to_goal // 2 + 1
        downs = [*range(1, ruleset.downs + 1), ruleset.downs]
        self.down = np.repeat(downs, len(to_goal))
        self.to_go = np.tile(to_go, len(downs))
        self.to_goal = np.tile(to_goal, len(downs))
        self.punting = np.repeat(np.arange(len(downs)) == ruleset.downs, len(to_goal))
        self.lines = len(to_goal)
        self.situation = np.stack(
            (self.down, self.to_go, self.to_goal, self.punting), axis=1
        ).astype(np.int16)
        chances = [ruleset.extra_point, *(p for _, p in ruleset.long_gain)]
        self.denominator = lcm(
            ruleset.extra_point.denominator * lcm(*(p.denominator for p in chances[1:])),
            *(p.denominator for _, p in ruleset.field_goals),
        )
        if self.denominator > LARGEST_DENOMINATOR:
            raise ValueError(
                f"the probabilities of the ruleset have the common denominator "
                f"{self.denominator}; allowed is at most 2^53"
            )

    def of(self, result: Result) -> list[BranchColumn]:
        """The branches of a result; a choice has none."""
        rules = self.rules
        match result.kind:
            case "gain":
                return self._gain(result.yards, out_of_bounds=result.out_of_bounds)
            case "incomplete":
                return [self._advance(np.zeros_like(self.down), rules.dead_ball_seconds)]
            case "long-gain":
                gains = (
                    branch._replace(weight=_times(branch.weight, probability))
                    for yards, probability in rules.long_gain
                    for branch in self._gain(yards)
                )
                return [BranchColumn(*branch) for branch in merged_columns(gains)]
            case "offence-penalty" | "defence-penalty":
                return [self._penalty(result)]
            case "choice":
                return []
        return self._by_line(lambda at: consequences(rules, at, result))

    def field_goal(self) -> list[BranchColumn]:
        """The branches of a field goal, none from where there is no chance."""
        return self._by_line(
            lambda at: (
                field_goal(self.rules, at) if self.rules.field_goal_chance(at.to_goal) else ()
            )
        )

    def declaration(self) -> list[BranchColumn]:
        """Punt formation is declared on the last down; elsewhere there is no branch."""
        last = (self.down == self.rules.downs) & ~self.punting
        nothing = np.zeros_like(self.down)
        following = np.where(last, np.arange(len(self.down)) + self.lines, 0)
        return [BranchColumn(last * self.denominator, nothing, following, last, nothing)]

    def legal(self, plays: int) -> Bools:
        """The offence's legal actions, [S, n+3]; they do not depend on the yards to go."""
        legal = np.zeros((len(self.down), plays + 3), bool)
        for index in np.flatnonzero(self.to_go == 1).tolist():
            down, to_go, to_goal, punting = self.situation[index].tolist()
            actions = legal_actions(
                self.rules, plays, Situation(down, to_go, to_goal, bool(punting))
            )
            legal[index : index + to_goal, list(actions)] = True
        return legal

    def next(self, consequence: Consequence) -> int:
        """The number of what follows, or the marker."""
        match consequence.next:
            case Restart.KICKOFF:
                return KICKOFF
            case Restart.FREE_KICK:
                return FREE_KICK
            case Situation(down, to_go, to_goal):
                return int(self._index(down, to_go, to_goal))

    def _index(self, down: Ints | int, to_go: Ints | int, to_goal: Ints | int) -> Ints:
        """The numbers of situations in normal formation."""
        return np.asarray((down - 1) * self.lines + (to_goal - 1) * to_goal // 2 + to_go - 1)

    def _first_down(self, to_goal: Ints) -> Ints:
        return self._index(1, np.minimum(self.rules.first_down, to_goal), to_goal)

    def _by_line(
        self, follow: Callable[[Situation], tuple[Consequence, ...]]
    ) -> list[BranchColumn]:
        """Branches that depend on nothing but the yards to the goal, asked of the rules."""
        rules = self.rules
        rows = [follow(first_down_at(rules, x)) for x in range(1, rules.field)]
        table = np.zeros((5, max(map(len, rows)), rules.field), np.int64)
        for x, branches in enumerate(rows, 1):
            for b, branch in enumerate(branches):
                table[:, b, x] = (
                    branch.probability * self.denominator,
                    branch.points,
                    self.next(branch),
                    branch.same_side,
                    branch.seconds,
                )
        columns = table[:, :, self.to_goal]
        return [
            BranchColumn(weight, points, following, same_side.astype(bool), seconds)
            for weight, points, following, same_side, seconds in columns.transpose(1, 0, 2)
        ]

    def _gain(self, gained: int, *, out_of_bounds: bool = False) -> list[BranchColumn]:
        rules = self.rules
        yards = np.minimum(gained - rules.fake_punt_penalty * self.punting, self.to_goal)
        seconds = np.where(yards > rules.long_play, rules.long_play_seconds, rules.play_seconds)
        seconds = seconds - rules.out_of_bounds_seconds * out_of_bounds
        scored = yards == self.to_goal
        down_behind_own_goal = self.to_goal - yards >= rules.field
        on_the_field = np.where(scored | down_behind_own_goal, 0, yards)
        first = self._advance(on_the_field, seconds)
        for where, weight, points, marker in (
            (scored, rules.extra_point, rules.touchdown + 1, KICKOFF),
            (down_behind_own_goal, Fraction(1), -rules.safety, FREE_KICK),
        ):
            first = BranchColumn(
                np.where(where, int(weight * self.denominator), first.weight),
                np.where(where, points, first.points),
                np.where(where, marker, first.next),
                first.same_side | where,
                seconds,
            )
        without_extra_point = first._replace(
            weight=scored * int((1 - rules.extra_point) * self.denominator),
            points=np.where(scored, rules.touchdown, 0),
        )
        return [first, without_extra_point]

    def _advance(self, yards: Ints, seconds: Ints | int) -> BranchColumn:
        to_goal = self.to_goal - yards
        made = yards >= self.to_go
        lost = ~made & (self.down == self.rules.downs)
        following = np.where(
            made,
            self._first_down(to_goal),
            np.where(
                lost,
                self._first_down(self.rules.field - to_goal),
                self._index(self.down + 1, self.to_go - yards, to_goal),
            ),
        )
        return self._certain(following, ~lost, seconds)

    def _penalty(self, result: Result) -> BranchColumn:
        rules = self.rules
        by_offence = result.kind == "offence-penalty"
        distance = rules.field - self.to_goal if by_offence else self.to_goal
        limit = distance // 2 if rules.half_the_distance else distance - 1
        moved = np.minimum(result.yards, limit) * (-1 if by_offence else 1)
        to_goal = self.to_goal - moved
        made = (moved >= self.to_go) | result.first_down
        following = np.where(
            made, self._first_down(to_goal), self._index(self.down, self.to_go - moved, to_goal)
        )
        return self._certain(following, np.ones_like(made), rules.dead_ball_seconds)

    def _certain(self, following: Ints, same_side: Bools, seconds: Ints | int) -> BranchColumn:
        """A branch that is certain and scores nothing."""
        size = len(following)
        return BranchColumn(
            weight=np.full(size, self.denominator),
            points=np.zeros(size, np.int64),
            next=following,
            same_side=same_side,
            seconds=np.broadcast_to(seconds, size),
        )


def _times(weight: Ints, probability: Fraction) -> Ints:
    return weight // probability.denominator * probability.numerator


def merged_columns(branches: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Put equal branches together, in the order in which they first come.

    Args:
        branches: Tuples of arrays [S], the weight first: in situation s two branches are equal
            if all their other entries are.

    Returns:
        As many, with weights that are 0 where a branch was put together with an earlier one.
    """
    kept: list[tuple[Any, ...]] = []
    for weight, *rest in branches:
        for k, (total, *others) in enumerate(kept):
            same = total > 0
            for one, other in zip(others, rest, strict=True):
                same = same & (one == other)
            kept[k] = (total + np.where(same, weight, 0), *others)
            weight = np.where(same, 0, weight)
        kept.append((weight, *rest))
    return kept


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
