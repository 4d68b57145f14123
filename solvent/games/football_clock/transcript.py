"""Games of football with a clock told play by play with their odds.

    solution = TimedSolution.open("half")
    lines = transcript(solution, (solution.policy, solution.policy), seed=1)
    for row in table_of(solution.game, lines):
        print(*row, sep=" | ")

After every play stands the value of the game to player 0: its points so far and what is still to
come if both play optimally from there; in the forms that are won, the chance of winning with half
that of a tie. What changes it is dice, and the mistakes of a player who is not optimal.
"""

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from solvent.games.football.situation import situation_text
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.games.football_clock.solution import TimedSolution

Strategy: TypeAlias = Callable[[TimedPosition, int], Mapping[int, float]]
"""The probabilities of the actions that a player takes in a position."""


class TranscriptLine(NamedTuple):
    """One play, kick, decision about a penalty, or time-out that was called.

    Attributes:
        position: Position before it.
        decided: The call or decision, such as ``7 v C``; empty where there was none.
        words: Description of the outcome.
        score: The points of both players after it.
        value: Value of the game to player 0 after it.
    """

    position: TimedPosition
    decided: str
    words: str
    score: tuple[int, int]
    value: float


def transcript(
    solution: TimedSolution, players: tuple[Strategy, Strategy], *, seed: int
) -> tuple[TranscriptLine, ...]:
    """Play a game to its end.

    Args:
        solution: Solution of the game.
        players: Strategies of both players.
        seed: Seed of the dice and the strategies.
    """
    game, dice = solution.game, random.Random(seed)
    state, paid, score = solution.start, 0.0, (0, 0)
    lines = []
    while not game.is_terminal(state):
        mixed = [player(state, side) for side, player in enumerate(players)]
        joint = tuple(dice.choices([*one], [*one.values()])[0] for one in mixed)
        outcomes = game.transition(state, joint)
        [outcome] = dice.choices(outcomes, [float(o.probability) for o in outcomes])
        words, points = game.told(state, joint, outcome, dice)
        paid += float(outcome.reward)
        score = score[0] + max(0, points), score[1] + max(0, -points)
        if words:
            value = paid + solution.value_of(outcome.state)
            lines.append(TranscriptLine(state, _decided(game, state, joint), words, score, value))
        state = outcome.state
    return tuple(lines)


def table_of(game: TimedFootball, lines: tuple[TranscriptLine, ...]) -> list[tuple[str, ...]]:
    """Return a transcript as the rows of a table, the names of the columns first.

    Args:
        game: The game that was played.
        lines: Lines of :func:`transcript`.
    """
    header = ("left", "ball", "call", "what came of it", "score", "value")
    rows: list[tuple[str, ...]] = [header]
    half = 0
    for line in lines:
        at = line.position
        if game.form == "full" and at.half != half:
            half = at.half
            rows.append((f"half {half}", *("" for _ in header[1:])))
        left = game.loaded_clock.text(at.ticks) if at.ticks else "untimed"
        rows.append(
            (
                "" if at.phase == "time-out" else left,
                _ball(game, at),
                line.decided,
                line.words,
                f"{line.score[0]}-{line.score[1]}",
                f"{line.value:+z.2f}" if game.for_points else f"{100 * line.value:.1f}%",
            )
        )
    return rows


def _decided(game: TimedFootball, state: TimedPosition, joint: tuple[int, ...]) -> str:
    names = game.actions.names
    match state.phase:
        case "call":
            return f"{names[joint[state.offence]]} v {names[joint[1 - state.offence]]}"
        case "choice" | "kickoff":
            return names[joint[game.who_decides(state)]]
    return ""


def _ball(game: TimedFootball, state: TimedPosition) -> str:
    side = game.player_name(state.offence)
    if state.phase == "time-out":
        return ""
    if state.phase == "choice":
        return f"{game.player_name(game.who_decides(state))} decides"
    if state.down:
        return f"{side}: {situation_text(game.loaded_ruleset, state.situation)}"
    return f"{side} kicks{' off' if state.phase == 'kickoff' else ''}"
