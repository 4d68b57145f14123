"""One play of football with a clock, rolled with its dice and told in words.

:meth:`TimedFootball.transition` puts equal branches together and forgets what led to them. Here the
chart's result is drawn first and then what comes of it, with the same probabilities, so that an
interception can be told from a fumble.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, TypeVar

from solvent.games.football.calls import KICKOFFS, what_follows_call
from solvent.games.football.results import Result, parse_result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Consequence, Restart, Situation, consequences, kick
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.model import JointAction, Outcome

Drawn = TypeVar("Drawn")


class Played(NamedTuple):
    """What has happened.

    Attributes:
        outcome: Of the branch that was drawn; its probability is that of all its dice.
        words: Such as ``gain of 7, first down``; empty if nothing was played.
        points: To player 0; negative ones go to player 1.
    """

    outcome: Outcome
    words: str
    points: int = 0


def roll_play(
    game: TimedFootball, state: TimedPosition, joint_action: JointAction, dice: random.Random
) -> Played:
    """Roll what follows a position when both have decided.

    Args:
        game: The rules.
        state: In which play goes on.
        joint_action: Of both players, legal.
        dice: Where chance comes from.
    """
    decided = joint_action[game.who_decides(state)]
    rules = game.loaded_ruleset
    result: Result | None = None
    match state.phase:
        case "time-out":
            [outcome] = game.transition(state, joint_action)
            called = decided == game.actions.timeout
            return Played(outcome, f"player {state.asked} calls a time-out" if called else "")
        case "call":
            defence = joint_action[1 - state.offence] - game.actions.defence
            found = what_follows_call(game.loaded_chart, rules, state.situation, decided, defence)
            _, result, branches = _drawn(list(found), dice)
            if result is not None and result.options:
                waiting = state._replace(phase="choice", choice=result.code)
                return Played(Outcome(Fraction(1), waiting), _choice_words(result))
        case "choice":
            result = parse_result(state.choice).options[decided - game.actions.choice]
            branches = consequences(rules, state.situation, result)
        case "kickoff":
            branches = kick(rules, KICKOFFS[decided - game.actions.kick])
        case _:
            branches = kick(rules, "free_kick")
    branch = _drawn(branches, dice)
    outcome = game.flow.after_play(state, branch, result)
    words = ", ".join(_words(rules, state, branch, result))
    return Played(outcome, words, branch.points if state.offence == 0 else -branch.points)


def _drawn(branches: Sequence[Drawn], dice: random.Random) -> Drawn:
    """One of several tuples that begin with their probabilities."""
    weights = [float(branch[0]) for branch in branches]  # type: ignore[index]
    return dice.choices(branches, weights)[0]


def _choice_words(result: Result) -> str:
    penalty, play = (_result_words(option) for option in result.options)
    return f"{penalty} or {play}"


def _words(
    rules: Ruleset, state: TimedPosition, branch: Consequence, result: Result | None
) -> list[str]:
    """What was played, then what came of it."""
    told = []
    if result is not None and result.kind != "long-gain":
        told.append(_result_words(result))
    elif result is not None:
        told.append(_long_gain_words(state, branch))
    elif not state.down:
        told.append(_kick_words(state, branch))
    elif branch.seconds == 0:
        told.append("punt formation")
    elif not branch.points:
        told.append("field goal missed")
    if branch.points:
        told.append(_score_words(rules, state, branch, result))
    elif result is not None and isinstance(branch.next, Situation):
        plain = result.kind in ("gain", "long-gain", "incomplete")
        if plain and not branch.same_side:
            told.append("lost on downs")
        elif branch.same_side and branch.next.down == 1 and (plain or state.down > 1):
            told.append("first down")
    return told


def _result_words(result: Result) -> str:
    """A result of the chart in words, the dice of a long gain not yet rolled."""
    yards = result.yards
    back = f", returned {result.return_yards}" if result.return_yards else ""
    match result.kind:
        case "gain":
            moved = f"gain of {yards}" if yards > 0 else f"loss of {-yards}" if yards else "no gain"
            return moved + (" out of bounds" if result.out_of_bounds else "")
        case "incomplete":
            return "incomplete"
        case "fumble":
            return "fumble"
        case "interception":
            return f"interception{back}"
        case "offence-penalty":
            return f"penalty of {yards} on the offence"
        case "defence-penalty":
            return f"penalty of {yards} on the defence"
        case "punt":
            return f"punt of {yards}{back}"
        case "fumbled-punt":
            return f"punt of {yards}, dropped"
        case "blocked-punt":
            return "punt blocked"
    return "long gain"


def _long_gain_words(state: TimedPosition, branch: Consequence) -> str:
    kept = isinstance(branch.next, Situation) and branch.same_side
    return f"long gain of {state.to_goal - branch.next.to_goal}" if kept else "long gain"  # type: ignore[union-attr]


def _kick_words(state: TimedPosition, branch: Consequence) -> str:
    if isinstance(branch.next, Restart):
        return "run back all the way"
    player = state.offence if branch.same_side else 1 - state.offence
    return f"player {player} has the ball"


def _score_words(
    rules: Ruleset, state: TimedPosition, branch: Consequence, result: Result | None
) -> str:
    scorer = state.offence if branch.points > 0 else 1 - state.offence
    if branch.next is Restart.FREE_KICK:
        kind = "safety"
    elif result is None and state.down:
        kind = "field goal"
    elif abs(branch.points) > rules.touchdown:
        kind = "touchdown and extra point"
    else:
        kind = "touchdown, extra point missed"
    return f"{kind} for player {scorer}"
