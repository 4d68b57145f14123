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
from solvent.games.football.situation import consequences, kick
from solvent.games.football.story import told_result
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
                return Played(
                    Outcome(Fraction(1), waiting), told_result(rules, state, None, result)
                )
        case "choice":
            result = parse_result(state.choice).options[decided - game.actions.choice]
            branches = consequences(rules, state.situation, result)
        case "kickoff":
            branches = kick(rules, KICKOFFS[decided - game.actions.kick])
        case _:
            branches = kick(rules, "free_kick")
    branch = _drawn(branches, dice)
    outcome = game.flow.after_play(state, branch, result)
    words = told_result(rules, state, branch, result)
    return Played(outcome, words, branch.points if state.offence == 0 else -branch.points)


def _drawn(branches: Sequence[Drawn], dice: random.Random) -> Drawn:
    """One of several tuples that begin with their probabilities."""
    weights = [float(branch[0]) for branch in branches]  # type: ignore[index]
    return dice.choices(branches, weights)[0]
