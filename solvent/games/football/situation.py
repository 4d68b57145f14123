"""The consequences of a result: the rules of football, for one situation or for many at once.

A :class:`Situation` is all that matters of the team in possession; a *consequence* is one branch of
what follows from a result. A :class:`Position` is a state of the game without a clock. Nothing here
knows of scores or of who plays whom: points are those of the team on offence (negative ones go to
the other), and what follows is a situation of whichever team has the ball, or a :class:`Restart`.

Yards are counted to the goal line that the offence attacks. A ball at `x` is at ``field - x`` for
the other team.

Each rule is written once, in :class:`Situations`, over arrays [S] of situations. A branch is a
tuple of arrays with weight 0 in the situations that do not have it. Weights are whole numbers over
the ruleset's common denominator, so equal branches are merged exactly. The functions for a single
situation read the same arrays with S = 1 and return exact fractions.

**Numbers.** Situations are numbered ``(down - 1) * N + (to_goal - 1) * to_goal / 2 + (to_go - 1)``
with ``N = field * (field - 1) / 2``: by down, then by yards to the goal, then by yards to go. Those
in punt formation follow after the last down, ``downs * N + (same within the down)``. On the full
field N = 4950, and there are 19,800 + 4,950 situations.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isqrt
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from solvent.games.football.chart import Result
from solvent.games.football.ruleset import Ruleset, parse_kick
from solvent.model.arrays import Bools, Ints
from solvent.model.parameters import shown

OFFENCE, DEFENCE = 0, 1


class Situation(NamedTuple):
    """The ball, as the team in possession sees it.

    Attributes:
        down: The down, from 1 to the ruleset's `downs`.
        to_go: Yards to the line to gain, at most `to_goal`: goal to go where they are equal.
        to_goal: Yards to the opponent's goal line, from 1 to the ruleset's ``field - 1``.
        punting: Whether punt formation has been declared, on the last down.
    """

    down: int
    to_go: int
    to_goal: int
    punting: bool = False


class Restart(IntEnum):
    """A kick that follows instead of a situation; the consequence says who kicks."""

    KICKOFF = -1
    FREE_KICK = -2


Next: TypeAlias = Situation | Restart


class Consequence(NamedTuple):
    """One branch of the consequences of a result.

    Attributes:
        probability: Exact.
        points: Points to the offence; negative ones go to the defence.
        next: The situation that follows, or the kick.
        same_side: Whether the team that was on offence has the ball then, or kicks.
        seconds: Time taken.
    """

    probability: Fraction
    points: int
    next: Next
    same_side: bool
    seconds: int


class Branch(NamedTuple):
    """A branch of one result in S situations.

    Attributes:
        weight: [S] over the ruleset's denominator; 0 where there is no such branch.
        points: [S] to the offence.
        next: [S] the number of the situation that follows, or a :class:`Restart`.
        same_side: [S] whether the team on offence has the ball then, or kicks.
        seconds: [S] time taken.
    """

    weight: Ints
    points: Ints
    next: Ints
    same_side: Bools
    seconds: Ints


@dataclass(frozen=True, eq=False)
class Situations:
    """Some situations under a ruleset, and what results do in them.

    Attributes:
        ruleset: The numbers in the rules.
        down: [S].
        to_go: [S] yards.
        to_goal: [S] yards.
        punting: [S].
    """

    ruleset: Ruleset
    down: Ints
    to_go: Ints
    to_goal: Ints
    punting: Bools

    @classmethod
    def of(cls, ruleset: Ruleset) -> Self:
        """All situations, in the order of their numbers."""
        lines = np.arange(1, ruleset.field)
        to_goal = np.repeat(lines, lines)
        to_go = np.arange(len(to_goal)) - (to_goal - 1) * to_goal // 2 + 1
        downs = [*range(1, ruleset.downs + 1), ruleset.downs]
        return cls(
            ruleset,
            np.repeat(downs, len(to_goal)),
            np.tile(to_go, len(downs)),
            np.tile(to_goal, len(downs)),
            np.repeat(np.arange(len(downs)) == ruleset.downs, len(to_goal)),
        )

    @cached_property
    def table(self) -> Any:
        """[S, 4] int16: down, to_go, to_goal and punting, 0 or 1."""
        columns = self.down, self.to_go, self.to_goal, self.punting
        return np.stack(columns, axis=1).astype(np.int16)

    def legal(self, plays: int) -> Bools:
        """[S, plays + 3] the offence's legal actions, see :func:`legal_actions`."""
        rules, last = self.ruleset, self.down == self.ruleset.downs
        legal = np.ones((len(self.down), plays + 3), bool)
        for yards, first, final in rules.barred:
            legal[self.to_goal <= yards, first - 1 : min(final, plays)] = False
        legal[:, plays] = ~self.punting
        tried = ~self.punting & (last | rules.early_field_goals)
        legal[:, plays + 1] = tried & (self._field_goal_weight > 0)
        legal[:, plays + 2] = last
        return legal

    @cached_property
    def _field_goal_weight(self) -> Ints:
        """[S] the chance of a field goal, over the ruleset's denominator."""
        rules = self.ruleset
        chances = [rules.field_goal_chance(x) * rules.denominator for x in range(rules.field)]
        return np.array([int(chance) for chance in chances])[self.to_goal]

    def after(self, result: Result) -> list[Branch]:
        """The branches of a result; a choice has none until somebody takes an option."""
        rules, line, yards = self.ruleset, self.to_goal, result.yards
        dead = rules.dead_ball_seconds
        match result.kind:
            case "gain":
                return self._gain(yards, out_of_bounds=result.out_of_bounds)
            case "long-gain":
                gains = (
                    branch._replace(weight=branch.weight // chance.denominator * chance.numerator)
                    for gained, chance in rules.long_gain
                    for branch in self._gain(gained)
                )
                return [Branch(*branch) for branch in merged_columns(gains)]
            case "incomplete":
                return [self._advance(np.zeros_like(line), dead)]
            case "fumble":
                return self._lost(line - yards, dead)
            case "interception":
                # Caught in the end zone it is a touchback, not returned.
                back = np.where(line > yards, result.return_yards, 0)
                return self._lost(line - yards + back, rules.interception_seconds)
            case "offence-penalty" | "defence-penalty":
                return [self._penalty(result)]
            case "punt":
                back = np.where(line > yards, result.return_yards, 0)
                return self._lost(line - yards + back, dead)
            case "fumbled-punt":
                # The kickers' ball where it came down, unless that is a touchback.
                kept = line > yards
                ball = np.where(kept, line - yards, rules.field - rules.touchback)
                return [self._branch(self._first_down(ball), kept, dead)]
            case "blocked-punt":
                ball = line + rules.blocked_punt_loss
                theirs = self._first_down(rules.field - ball)
                return [self._safety(self._branch(theirs, False, dead), ball >= rules.field)]
        return []

    def field_goal(self) -> list[Branch]:
        """The branches of a field goal, none from where there is no chance.

        After a miss the other team has the ball where it was kicked, or at its touchback line if
        that is better for it.
        """
        rules = self.ruleset
        chance = self._field_goal_weight
        own_line = np.maximum(self.to_goal + rules.field_goal_spot, rules.touchback)
        theirs = self._first_down(rules.field - own_line)
        missed = self._branch(theirs, False, rules.dead_ball_seconds)
        made = missed._replace(
            weight=chance,
            points=np.full_like(chance, rules.field_goal),
            next=np.full_like(chance, Restart.KICKOFF),
            same_side=np.ones_like(self.punting),
        )
        missed = missed._replace(weight=np.where(chance > 0, rules.denominator - chance, 0))
        return [made, missed]

    def declaration(self) -> list[Branch]:
        """Punt formation is declared on the last down; elsewhere there is no branch."""
        last = (self.down == self.ruleset.downs) & ~self.punting
        following = np.where(last, self._index(self.down + 1, self.to_go, self.to_goal), 0)
        declared = self._branch(following, last, 0)
        return [declared._replace(weight=last * self.ruleset.denominator)]

    def _index(self, down: Ints | int, to_go: Ints, to_goal: Ints) -> Ints:
        """The numbers of situations in normal formation."""
        return np.asarray(number_of(self.ruleset, down - 1, to_go, to_goal))

    def _first_down(self, to_goal: Ints) -> Ints:
        """First down, with ten yards to go or the goal if it is nearer."""
        return self._index(1, np.minimum(self.ruleset.first_down, to_goal), to_goal)

    def _branch(self, following: Ints, same_side: Bools | bool, seconds: Ints | int) -> Branch:
        """A branch that is certain and scores nothing."""
        size = len(self.down)
        return Branch(
            weight=np.full(size, self.ruleset.denominator),
            points=np.zeros(size, np.int64),
            next=following,
            same_side=np.broadcast_to(same_side, size),
            seconds=np.broadcast_to(seconds, size),
        )

    def _touchdown(self, branch: Branch, where: Bools, side: int) -> list[Branch]:
        """Replace a branch by touchdowns of a side, with and without the extra point.

        The side that scores kicks off.
        """
        rules, sign = self.ruleset, 1 if side == OFFENCE else -1
        point = int(rules.extra_point * rules.denominator)
        made = Branch(
            weight=np.where(where, point, branch.weight),
            points=np.where(where, sign * (rules.touchdown + 1), branch.points),
            next=np.where(where, Restart.KICKOFF, branch.next),
            same_side=np.where(where, side == OFFENCE, branch.same_side),
            seconds=branch.seconds,
        )
        missed = made._replace(
            weight=where * (rules.denominator - point),
            points=np.where(where, sign * rules.touchdown, 0),
        )
        return [made, missed]

    def _safety(self, branch: Branch, where: Bools) -> Branch:
        """Replace a branch by a safety: points for the other team, and a free kick to it."""
        return branch._replace(
            points=np.where(where, -self.ruleset.safety, branch.points),
            next=np.where(where, Restart.FREE_KICK, branch.next),
            same_side=branch.same_side | where,
        )

    def _gain(self, gained: int, *, out_of_bounds: bool = False) -> list[Branch]:
        """A run or a completed pass. A gain beyond the goal line ends there, also for the clock."""
        rules = self.ruleset
        yards = np.minimum(gained - rules.fake_punt_penalty * self.punting, self.to_goal)
        seconds = np.where(yards > rules.long_play, rules.long_play_seconds, rules.play_seconds)
        seconds = seconds - rules.out_of_bounds_seconds * out_of_bounds
        scored = yards == self.to_goal
        down_behind_own_goal = self.to_goal - yards >= rules.field
        moved = self._advance(yards, seconds)
        return self._touchdown(self._safety(moved, down_behind_own_goal), scored, OFFENCE)

    def _advance(self, yards: Ints, seconds: Ints | int) -> Branch:
        """Move the ball: a first down, the next down, or the ball lost on downs."""
        to_goal = self.to_goal - yards
        made = yards >= self.to_go
        lost = ~made & (self.down == self.ruleset.downs)
        following = np.where(
            made,
            self._first_down(to_goal),
            np.where(
                lost,
                self._first_down(self.ruleset.field - to_goal),
                self._index(self.down + 1, self.to_go - yards, to_goal),
            ),
        )
        return self._branch(following, ~lost, seconds)

    def _lost(self, ball: Ints, seconds: int) -> list[Branch]:
        """The other team has the ball in its end zone, behind the offence's goal line, or between.

        The first is a touchback, the second a touchdown.
        """
        rules = self.ruleset
        scored = ball >= rules.field
        there = np.where(ball <= 0, rules.touchback, np.where(scored, 1, ball))
        lost = self._branch(self._first_down(rules.field - there), False, seconds)
        return self._touchdown(lost, scored, DEFENCE)

    def _penalty(self, result: Result) -> Branch:
        """Move the ball and repeat the down, in normal formation.

        A penalty on the defence that makes the line to gain is a first down, and so is one whose
        result says so.
        """
        rules = self.ruleset
        by_offence = result.kind == "offence-penalty"
        distance = rules.field - self.to_goal if by_offence else self.to_goal
        limit = distance // 2 if rules.half_the_distance else distance - 1
        moved = np.minimum(result.yards, limit) * (-1 if by_offence else 1)
        to_goal = self.to_goal - moved
        made = (moved >= self.to_go) | result.first_down
        following = np.where(
            made, self._first_down(to_goal), self._index(self.down, self.to_go - moved, to_goal)
        )
        return self._branch(following, True, rules.dead_ball_seconds)


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


def _one(ruleset: Ruleset, situation: Situation) -> Situations:
    """A single situation as arrays."""
    return Situations(ruleset, *(np.array([entry]) for entry in situation))


@lru_cache(maxsize=65536)
def consequences(
    ruleset: Ruleset, situation: Situation, result: Result | str
) -> tuple[Consequence, ...]:
    """Return the consequences of a result, distinct and with probabilities that sum to 1.

    Args:
        ruleset: The numbers in the rules.
        situation: Situation before the call.
        result: The chart's result, anything but a choice; or a call whose consequences do not
            depend on the defence: ``"field_goal"``, or ``"declaration"`` of punt formation.
    """
    one = _one(ruleset, situation)
    branches = getattr(one, result)() if isinstance(result, str) else one.after(result)
    found = []
    for branch in branches:
        weight, points, number, same_side, seconds = (column.item() for column in branch)
        if weight:
            chance = Fraction(weight, ruleset.denominator)
            after = Restart(number) if number < 0 else situation_at(ruleset, number)
            found.append(Consequence(chance, points, after, bool(same_side), seconds))
    return tuple(found)


def chooser(result: Result) -> int:
    """Return the team that takes the choice, the one that was offended: OFFENCE or DEFENCE.

    The options are weighed before any dice of a long gain are rolled.
    """
    return DEFENCE if result.options[0].kind == "offence-penalty" else OFFENCE


def kick(ruleset: Ruleset, table: str) -> tuple[Consequence, ...]:
    """Return the consequences of a kickoff or free kick; the *kicker* stands for the offence.

    Args:
        ruleset: The numbers in the rules.
        table: ``"kickoff"``, ``"onside"`` or ``"free_kick"``.
    """
    chances: dict[tuple[int, Next, bool], Fraction] = {}
    ends: list[tuple[Fraction, tuple[int, Next, bool]]]
    scores = ((ruleset.extra_point, 1), (1 - ruleset.extra_point, 0))
    for end, probability in getattr(ruleset, table):
        spot = parse_kick(end)
        for yards, chance in ruleset.long_gain if spot.run_back else ((0, Fraction(1)),):
            line, share = yards + spot.line, probability * chance
            if line < ruleset.field:
                to_goal = line if spot.kept else ruleset.field - line
                ends = [(share, (0, first_down_at(ruleset, to_goal), spot.kept))]
            else:
                touchdown = ruleset.touchdown
                ends = [
                    (share * p, (-touchdown - n, Restart.KICKOFF, False)) for p, n in scores if p
                ]
            for p, after in ends:
                chances[after] = chances.get(after, Fraction(0)) + p
    seconds = ruleset.dead_ball_seconds
    return tuple(
        Consequence(chance, points, following, kept, seconds)
        for (points, following, kept), chance in chances.items()
    )


def first_down_at(ruleset: Ruleset, to_goal: int) -> Situation:
    """First down, with ten yards to go or the goal if it is nearer."""
    return Situation(1, min(ruleset.first_down, to_goal), to_goal)


def ordinal(down: int) -> str:
    """A down as it is called: 1st, 2nd, 3rd, 4th."""
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(down, f"{down}th")


def situation_text(ruleset: Ruleset, situation: Situation) -> str:
    """Such as ``3rd and 7 at the other's 34``."""
    down, to_go, to_goal, punting = situation
    distance = "goal" if to_go == to_goal else str(to_go)
    formation = ", punt formation" if punting else ""
    return f"{ordinal(down)} and {distance} at {line_name(ruleset, to_goal)}{formation}"


def line_name(ruleset: Ruleset, to_goal: int) -> str:
    """The name of a line to the side with the ball, such as ``its own 20``."""
    own = ruleset.field - to_goal
    return f"its own {own}" if own < to_goal else f"the other's {to_goal}"


def situation_index(ruleset: Ruleset, situation: Situation) -> int:
    """The number of a situation, see the module."""
    down, to_go, to_goal, punting = situation
    return int(number_of(ruleset, down - 1 + punting, to_go, to_goal))


def number_of(ruleset: Ruleset, block: Any, to_go: Any, to_goal: Any) -> Any:
    """The numbers of situations, or of one: blocks are downs from 0, the last punt formation."""
    lines = ruleset.field * (ruleset.field - 1) // 2
    return block * lines + (to_goal - 1) * to_goal // 2 + to_go - 1


def check_situation(rules: Ruleset, situation: Situation) -> None:
    """Raise unless a ruleset has the situation.

    Raises:
        ValueError: If it has not.
    """
    down, to_go, to_goal, punting = situation
    if not (1 <= down <= rules.downs and 1 <= to_go <= to_goal < rules.field) or (
        punting and down != rules.downs
    ):
        raise ValueError(
            f"{shown(tuple(situation))} is no situation; allowed are downs from 1 to "
            f"{rules.downs}, 1 to {rules.field - 1} yards to the goal and no more yards to go, "
            f"and punt formation on the last down"
        )


def situation_at(ruleset: Ruleset, index: int) -> Situation:
    """The situation of a number, see the module."""
    block, within = divmod(index, ruleset.field * (ruleset.field - 1) // 2)
    to_goal = (isqrt(8 * within + 1) + 1) // 2
    to_go = within - (to_goal - 1) * to_goal // 2 + 1
    punting = block == ruleset.downs
    return Situation(block + 1 - punting, to_go, to_goal, punting)


@lru_cache(maxsize=65536)
def legal_actions(ruleset: Ruleset, plays: int, situation: Situation) -> tuple[int, ...]:
    """The offence's legal actions, ascending.

    With n plays: 0..n-1 call plays 1..n, n is the quick kick, n + 1 the field goal, and n + 2
    declares punt formation on the last down or, in punt formation, punts. In punt formation the
    plays are fakes, and neither quick kick nor field goal is on offer.
    """
    return tuple(np.flatnonzero(_one(ruleset, situation).legal(plays)[0]).tolist())


class Position(NamedTuple):
    """A state of the game.

    Attributes:
        phase: ``"call"``, ``"choice"`` (a penalty or the play), ``"kickoff"``, ``"free kick"`` or
            ``"over"``.
        offence: The player who has the ball or is about to kick it.
        down: Down of the situation, 0 where there is none; likewise the next two.
        to_go: Yards to the line to gain.
        to_goal: Yards to the goal line that the offence attacks.
        punting: Whether punt formation is declared.
        choice: The code of the result that waits for a choice.
    """

    phase: str
    offence: int = 0
    down: int = 0
    to_go: int = 0
    to_goal: int = 0
    punting: bool = False
    choice: str = ""

    @property
    def situation(self) -> Situation:
        """The situation of the offence."""
        return Situation(self.down, self.to_go, self.to_goal, self.punting)


OVER = Position("over")
"""Play has ended; how, the reward has said."""

WAIT = 0
"""The action of a player who has no choice."""
