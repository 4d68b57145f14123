"""A whole game of football with a clock between two players, told play by play with its odds.

    solution = TimedSolution.open("half")
    optimal = partial(optimal_strategy, solution)
    print(transcript_text(solution.game, transcript(solution, (optimal, optimal), seed=1)))

After every play stands the value of the game to player 0: its points so far and what is still to
come if both play optimally from there; in the forms that are won, the chance of winning with half
that of a tie. What changes it is dice, and the mistakes of a player who is not optimal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from solvent.games.football.situation import situation_text
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.games.football_clock.story import roll_play
from solvent.games.football_clock.view import clock_text

Strategy: TypeAlias = Callable[[TimedPosition, int], Mapping[int, float]]
"""The probabilities of the actions that a player takes in a position."""


class Line(NamedTuple):
    """One play, kick, decision about a penalty, or time-out that was called.

    Attributes:
        position: Before it.
        decided: What was called or decided, such as ``7 v C``; empty where nothing was.
        words: What came of it.
        score: The points of both players after it.
        value: Of the game to player 0 after it.
    """

    position: TimedPosition
    decided: str
    words: str
    score: tuple[int, int]
    value: float


def transcript(
    solution: TimedSolution, players: tuple[Strategy, Strategy], *, seed: int
) -> tuple[Line, ...]:
    """Play a game to its end.

    Args:
        solution: Of the game.
        players: What both do.
        seed: Of the dice and the strategies.
    """
    game, dice = solution.game, random.Random(seed)
    state, paid, score = solution.start, 0.0, (0, 0)
    lines = []
    while not game.is_terminal(state):
        joint = tuple(_drawn(player(state, side), dice) for side, player in enumerate(players))
        played = roll_play(game, state, joint, dice)
        paid += float(played.outcome.reward)
        score = (score[0] + max(0, played.points), score[1] + max(0, -played.points))
        following = played.outcome.state
        if played.words:
            value = paid + solution.value_of(following)
            lines.append(Line(state, _decided(game, state, joint), played.words, score, value))
        state = following
    return tuple(lines)


def table_of(game: TimedFootball, lines: tuple[Line, ...]) -> list[tuple[str, ...]]:
    """A transcript as the rows of a table, the names of the columns first.

    Args:
        game: That was played.
        lines: Of :func:`transcript`.
    """
    header = ("left", "ball", "call", "what came of it", "score", "value")
    rows: list[tuple[str, ...]] = [header]
    half = 0
    for line in lines:
        if game.form == "full" and line.position.half != half:
            half = line.position.half
            rows.append((f"half {half}", *("" for _ in header[1:])))
        rows.append(
            (
                _left(game, line.position),
                _ball(game, line.position),
                line.decided,
                line.words,
                f"{line.score[0]}-{line.score[1]}",
                f"{line.value:+z.2f}" if game.for_points else f"{100 * line.value:.1f}%",
            )
        )
    return rows


def transcript_text(game: TimedFootball, lines: tuple[Line, ...]) -> str:
    """A transcript as text for people; the arguments are those of :func:`table_of`."""
    rows = table_of(game, lines)
    last = len(rows[0]) - 1
    widths = [max(len(row[column]) for row in rows) for column in range(last + 1)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in (0, last) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _drawn(strategy: Mapping[int, float], dice: random.Random) -> int:
    return dice.choices(list(strategy), list(strategy.values()))[0]


def _decided(game: TimedFootball, state: TimedPosition, joint: tuple[int, ...]) -> str:
    names = game.actions.names
    match state.phase:
        case "call":
            return f"{names[joint[state.offence]]} v {names[joint[1 - state.offence]]}"
        case "choice" | "kickoff":
            return names[joint[game.who_decides(state)]]
    return ""


def _left(game: TimedFootball, state: TimedPosition) -> str:
    if state.phase == "time-out":
        return ""
    return clock_text(game, state.ticks) if state.ticks else "untimed"


def _ball(game: TimedFootball, state: TimedPosition) -> str:
    if state.phase == "time-out":
        return ""
    if state.phase == "choice":
        return f"player {game.who_decides(state)} decides"
    if state.down:
        return f"{state.offence}: {situation_text(game.loaded_ruleset, state.situation)}"
    return f"{state.offence} kicks off" if state.phase == "kickoff" else f"{state.offence} kicks"
