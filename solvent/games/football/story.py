"""The outcome of a call, in words."""

from __future__ import annotations

from typing import Any

from solvent.games.football.results import Result
from solvent.games.football.situation import Consequence, Restart, Situation

_WORDS = {
    "offence-penalty": "penalty of {} on the offence",
    "defence-penalty": "penalty of {} on the defence",
    "punt": "punt of {}",
    "fumbled-punt": "punt of {}, dropped",
    "blocked-punt": "punt blocked",
    "long-gain": "long gain",
}
"""Words for kinds of results, with the yards put in; other kinds are called by their names."""


def told_result(game: Any, state: Any, branch: Consequence | None, result: Result | None) -> str:
    """Describe a play and its outcome, such as ``gain of 7, first down``.

    Args:
        game: The rules, which name the players.
        state: Position before the call or the kick, with a clock or without.
        branch: The consequence; None if somebody has yet to take the penalty or the play.
        result: The chart's result; None for anything not on it, such as a field goal or a kickoff.
    """
    if branch is None:
        assert result is not None
        return " or ".join(_result_words(option) for option in result.options)
    told = []
    kept = isinstance(branch.next, Situation) and branch.same_side
    if result is not None:
        told.append(_result_words(result))
        if result.kind == "long-gain" and isinstance(branch.next, Situation) and kept:
            told[0] += f" of {state.to_goal - branch.next.to_goal}"
    elif not state.down:
        has_it = state.offence if branch.same_side else 1 - state.offence
        caught = f"{game.player_name(has_it)} has the ball"
        told.append("run back all the way" if isinstance(branch.next, Restart) else caught)
    elif branch.seconds == 0:
        told.append("punt formation")
    elif not branch.points:
        told.append("field goal missed")
    if branch.points:
        told.append(_score_words(game, state, branch, result))
    elif result is not None and isinstance(branch.next, Situation):
        plain = result.kind in ("gain", "long-gain", "incomplete")
        if plain and not kept:
            told.append("lost on downs")
        elif kept and branch.next.down == 1 and (plain or state.down > 1):
            told.append("first down")
    return ", ".join(told)


def _result_words(result: Result) -> str:
    """A result of the chart in words, the dice of a long gain not yet rolled."""
    yards = result.yards
    if result.kind == "gain":
        moved = f"gain of {yards}" if yards > 0 else f"loss of {-yards}" if yards else "no gain"
        return moved + " out of bounds" * result.out_of_bounds
    back = f", returned {result.return_yards}" if result.return_yards else ""
    return _WORDS.get(result.kind, result.kind).format(yards) + back


def _score_words(game: Any, state: Any, branch: Consequence, result: Result | None) -> str:
    scorer = state.offence if branch.points > 0 else 1 - state.offence
    if branch.next is Restart.FREE_KICK:
        kind = "safety"
    elif result is None and state.down:
        kind = "field goal"
    elif abs(branch.points) > game.loaded_ruleset.touchdown:
        kind = "touchdown and extra point"
    else:
        kind = "touchdown, extra point missed"
    return f"{kind} for {game.player_name(scorer)}"
