"""The consequences of a result: the rules of football as pure functions.

A :class:`Situation` is all that matters of the team in possession; a *consequence* is one branch
of what follows from a result. Nothing here knows of scores or of who plays whom: points are those
of the team on offence (negative ones go to the other), and what follows is a situation of
whichever team has the ball, or a :class:`Restart`.

Yards are counted to the goal line that the offence attacks. A ball at `x` is at ``field - x`` for
the other team.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from solvent.games.football.results import Result
from solvent.games.football.ruleset import Ruleset, parse_kick

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


class Restart(Enum):
    """A kick that follows instead of a situation; the consequence says who kicks."""

    KICKOFF = "kickoff"
    FREE_KICK = "free kick"


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


def consequences(ruleset: Ruleset, situation: Situation, result: Result) -> tuple[Consequence, ...]:
    """Return the consequences of a result, distinct and with probabilities that sum to 1.

    Args:
        ruleset: The numbers in the rules.
        situation: Situation before the call.
        result: The chart's result, anything but a choice.

    Raises:
        ValueError: If the result is a choice, which waits for somebody to take an option.
    """
    rules, at = ruleset, situation
    match result.kind:
        case "gain":
            return tuple(_gain(rules, at, result.yards, out_of_bounds=result.out_of_bounds))
        case "long-gain":
            return merged(
                branch._replace(probability=probability * branch.probability)
                for yards, probability in rules.long_gain
                for branch in _gain(rules, at, yards)
            )
        case "incomplete":
            return (_advance(rules, at, 0, rules.dead_ball_seconds),)
        case "fumble":
            ball = at.to_goal - result.yards
            return tuple(_lost(rules, ball, rules.dead_ball_seconds))
        case "interception":
            return tuple(_intercepted(rules, at, result))
        case "offence-penalty" | "defence-penalty":
            return (_penalty(rules, at, result),)
        case "punt" | "fumbled-punt" | "blocked-punt":
            return tuple(_punt(rules, at, result))
    raise ValueError(f"{result.code!r} is a choice; ask for the consequences of its options")


def chooser(result: Result) -> int:
    """Return the team that takes the choice, the one that was offended: OFFENCE or DEFENCE.

    The options are weighed before any dice of a long gain are rolled.
    """
    return DEFENCE if result.options[0].kind == "offence-penalty" else OFFENCE


def field_goal(ruleset: Ruleset, situation: Situation) -> tuple[Consequence, ...]:
    """Return the consequences of trying a field goal, which do not depend on the defence.

    After a miss the other team has the ball where it was kicked, or at its touchback line if that
    is better for it.

    Raises:
        ValueError: If there is no chance from there.
    """
    chance = ruleset.field_goal_chance(situation.to_goal)
    if chance == 0:
        raise ValueError(f"no field goal is tried from {situation.to_goal} yards")
    seconds = ruleset.dead_ball_seconds
    made = Consequence(chance, ruleset.field_goal, Restart.KICKOFF, True, seconds)
    own_line = max(situation.to_goal + ruleset.field_goal_spot, ruleset.touchback)
    missed = Consequence(
        1 - chance, 0, first_down_at(ruleset, ruleset.field - own_line), False, seconds
    )
    return (made, missed) if chance < 1 else (made,)


def declare_punt(situation: Situation) -> Consequence:
    """Punt formation is declared: the same situation in it, and no time taken."""
    return Consequence(Fraction(1), 0, situation._replace(punting=True), True, 0)


def kick(ruleset: Ruleset, table: str) -> tuple[Consequence, ...]:
    """Return the consequences of a kickoff or free kick; the *kicker* stands for the offence.

    Args:
        ruleset: The numbers in the rules.
        table: ``"kickoff"``, ``"onside"`` or ``"free_kick"``.
    """
    seconds = ruleset.dead_ball_seconds
    branches = []
    for end, probability in getattr(ruleset, table):
        spot = parse_kick(end)
        if spot.run_back:
            for yards, chance in ruleset.long_gain:
                line = yards + spot.line
                if line < ruleset.field:
                    ball = first_down_at(ruleset, ruleset.field - line)
                    branches.append(Consequence(probability * chance, 0, ball, False, seconds))
                else:
                    branches += [
                        touchdown._replace(
                            probability=probability * chance * touchdown.probability,
                            points=-touchdown.points,
                            same_side=False,
                        )
                        for touchdown in _touchdown(ruleset, seconds)
                    ]
        else:
            to_goal = spot.line if spot.kept else ruleset.field - spot.line
            ball = first_down_at(ruleset, to_goal)
            branches.append(Consequence(probability, 0, ball, spot.kept, seconds))
    return merged(branches)


def first_down_at(ruleset: Ruleset, to_goal: int) -> Situation:
    """First down, with ten yards to go or the goal if it is nearer."""
    return Situation(1, min(ruleset.first_down, to_goal), to_goal)


def ordinal(down: int) -> str:
    """A down as it is called: 1st, 2nd, 3rd, 4th."""
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(down, f"{down}th")


def situation_text(ruleset: Ruleset, situation: Situation) -> str:
    """Such as ``3rd and 7 at the other's 34``."""
    down, to_go, to_goal, punting = situation
    own = ruleset.field - to_goal
    line = f"its own {own}" if own < to_goal else f"the other's {to_goal}"
    distance = "goal" if to_go == to_goal else str(to_go)
    return f"{ordinal(down)} and {distance} at {line}{', punt formation' if punting else ''}"


def situation_index(ruleset: Ruleset, situation: Situation) -> int:
    """The number of a situation, see :mod:`solvent.games.football.packed`."""
    down, to_go, to_goal, punting = situation
    lines = ruleset.field * (ruleset.field - 1) // 2
    block = ruleset.downs if punting else down - 1
    return block * lines + (to_goal - 1) * to_goal // 2 + to_go - 1


def legal_actions(ruleset: Ruleset, plays: int, situation: Situation) -> tuple[int, ...]:
    """The offence's legal actions, ascending.

    With n plays: 0..n-1 call plays 1..n, n is the quick kick, n + 1 the field goal, and n + 2
    declares punt formation on the last down or, in punt formation, punts. In punt formation the
    plays are fakes, and neither quick kick nor field goal is on offer.
    """
    called = [
        play - 1 for play in range(1, plays + 1) if not ruleset.is_barred(play, situation.to_goal)
    ]
    if situation.punting:
        return (*called, plays + 2)
    last_down = situation.down == ruleset.downs
    called.append(plays)
    if ruleset.field_goal_chance(situation.to_goal) > 0 and (
        last_down or ruleset.early_field_goals
    ):
        called.append(plays + 1)
    if last_down:
        called.append(plays + 2)
    return tuple(called)


def merged(branches: Iterable[Consequence]) -> tuple[Consequence, ...]:
    """Put equal branches together, in the order in which they first come."""
    total: dict[tuple[int, Next, bool, int], Fraction] = {}
    for probability, *rest in branches:
        key = tuple(rest)
        total[key] = total.get(key, Fraction(0)) + probability  # type: ignore[index,arg-type]
    return tuple(Consequence(probability, *key) for key, probability in total.items())


def _gain(
    rules: Ruleset, at: Situation, yards: int, *, out_of_bounds: bool = False
) -> Iterator[Consequence]:
    """A run or a completed pass. A gain beyond the goal line ends there, also for the clock."""
    if at.punting:
        yards -= rules.fake_punt_penalty
    yards = min(yards, at.to_goal)
    long = yards > rules.long_play
    seconds = rules.long_play_seconds if long else rules.play_seconds
    if out_of_bounds:
        seconds -= rules.out_of_bounds_seconds
    if yards == at.to_goal:
        yield from _touchdown(rules, seconds)
    elif at.to_goal - yards >= rules.field:
        yield _safety(rules, seconds)
    else:
        yield _advance(rules, at, yards, seconds)


def _advance(rules: Ruleset, at: Situation, yards: int, seconds: int) -> Consequence:
    """Return the consequence of moving the ball: first down, next down, or ball lost on downs."""
    to_goal = at.to_goal - yards
    if yards >= at.to_go:
        return Consequence(Fraction(1), 0, first_down_at(rules, to_goal), True, seconds)
    if at.down == rules.downs:
        return _handed_over(rules, to_goal, seconds)
    following = Situation(at.down + 1, at.to_go - yards, to_goal)
    return Consequence(Fraction(1), 0, following, True, seconds)


def _touchdown(rules: Ruleset, seconds: int) -> Iterator[Consequence]:
    """A touchdown of the offence, with and without the extra point; the scorer kicks off."""
    for probability, points in ((rules.extra_point, 1), (1 - rules.extra_point, 0)):
        if probability > 0:
            yield Consequence(probability, rules.touchdown + points, Restart.KICKOFF, True, seconds)


def _defensive_touchdown(rules: Ruleset, seconds: int) -> Iterator[Consequence]:
    for branch in _touchdown(rules, seconds):
        yield branch._replace(points=-branch.points, same_side=False)


def _safety(rules: Ruleset, seconds: int) -> Consequence:
    """Down behind its own goal line: points for the other team, and a free kick to it."""
    return Consequence(Fraction(1), -rules.safety, Restart.FREE_KICK, True, seconds)


def _handed_over(rules: Ruleset, to_goal: int, seconds: int) -> Consequence:
    """The other team's first down where the ball is, `to_goal` yards as the offence counts."""
    following = first_down_at(rules, rules.field - to_goal)
    return Consequence(Fraction(1), 0, following, False, seconds)


def _lost(rules: Ruleset, ball: int, seconds: int) -> Iterator[Consequence]:
    """The other team has the ball in its end zone, behind the offence's goal line, or between."""
    if ball <= 0:
        yield _handed_over(rules, rules.touchback, seconds)
    elif ball >= rules.field:
        yield from _defensive_touchdown(rules, seconds)
    else:
        yield _handed_over(rules, ball, seconds)


def _intercepted(rules: Ruleset, at: Situation, result: Result) -> Iterator[Consequence]:
    """Caught by the other team and returned; caught in its end zone it is a touchback."""
    ball = at.to_goal - result.yards
    if ball > 0:
        ball += result.return_yards
    return _lost(rules, ball, rules.interception_seconds)


def _penalty(rules: Ruleset, at: Situation, result: Result) -> Consequence:
    """Move the ball and repeat the down, in normal formation.

    A penalty on the defence that makes the line to gain is a first down, and so is one whose
    result says so.
    """
    by_offence = result.kind == "offence-penalty"
    distance = rules.field - at.to_goal if by_offence else at.to_goal
    limit = distance // 2 if rules.half_the_distance else distance - 1
    moved = min(result.yards, limit) * (-1 if by_offence else 1)
    to_goal = at.to_goal - moved
    if moved >= at.to_go or result.first_down:
        following = first_down_at(rules, to_goal)
    else:
        following = Situation(at.down, at.to_go - moved, to_goal)
    return Consequence(Fraction(1), 0, following, True, rules.dead_ball_seconds)


def _punt(rules: Ruleset, at: Situation, result: Result) -> Iterator[Consequence]:
    """A punt from the line: a touchback if it reaches the goal line, else returned.

    A dropped punt is the kickers' ball where it came down. A blocked one is the other team's
    behind the line, or a safety behind the goal line.
    """
    seconds = rules.dead_ball_seconds
    if result.kind == "blocked-punt":
        ball = at.to_goal + rules.blocked_punt_loss
        blocked_out = ball >= rules.field
        yield _safety(rules, seconds) if blocked_out else _handed_over(rules, ball, seconds)
        return
    ball = at.to_goal - result.yards
    if ball <= 0:
        yield _handed_over(rules, rules.touchback, seconds)
    elif result.kind == "fumbled-punt":
        yield Consequence(Fraction(1), 0, first_down_at(rules, ball), True, seconds)
    else:
        yield from _lost(rules, ball + result.return_yards, seconds)
