"""The outcome of a call, in words."""

from __future__ import annotations

from typing import Protocol

from solvent.games.football.results import Result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Consequence, Restart, Situation


class Place(Protocol):
    """The part of a position read here, with a clock or without; `down` is 0 before a kick."""

    @property
    def offence(self) -> int: ...
    @property
    def down(self) -> int: ...
    @property
    def to_goal(self) -> int: ...


def told_result(
    rules: Ruleset, state: Place, branch: Consequence | None, result: Result | None
) -> str:
    """Describe a play and its outcome, such as ``gain of 7, first down``.

    Args:
        rules: The numbers in the rules.
        state: Position before the call or the kick.
        branch: The consequence; None if somebody has yet to take the penalty or the play.
        result: The chart's result; None for anything not on it, such as a field goal or a kickoff.
    """
    if branch is None:
        assert result is not None
        penalty, play = (_result_words(option) for option in result.options)
        return f"{penalty} or {play}"
    return ", ".join(_consequence_words(rules, state, branch, result))


def _consequence_words(
    rules: Ruleset, state: Place, branch: Consequence, result: Result | None
) -> list[str]:
    """Describe the play, then its outcome."""
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


def _long_gain_words(state: Place, branch: Consequence) -> str:
    kept = isinstance(branch.next, Situation) and branch.same_side
    return f"long gain of {state.to_goal - branch.next.to_goal}" if kept else "long gain"  # type: ignore[union-attr]


def _kick_words(state: Place, branch: Consequence) -> str:
    if isinstance(branch.next, Restart):
        return "run back all the way"
    player = state.offence if branch.same_side else 1 - state.offence
    return f"player {player} has the ball"


def _score_words(rules: Ruleset, state: Place, branch: Consequence, result: Result | None) -> str:
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
