"""A whole game of football with a clock between two players, told play by play with its odds.

    solution = TimedSolution.open("half")
    both = solution.policy, solution.policy
    print(transcript_text(solution.game, transcript(solution, both, seed=1)))

After every play stands the value of the game to player 0: its points so far and what is still to
come if both play optimally from there; in the forms that are won, the chance of winning with half
that of a tie. What changes it is dice, and the mistakes of a player who is not optimal.

:meth:`TimedFootball.transition` puts equal branches together and forgets what led to them. Here
:meth:`~solvent.games.football.rules.ChartFootball.roll` draws the chart's result first, so that an
interception can be told from a fumble.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias, TypeVar

from solvent.games.football.play import FootballCalls
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.situation import situation_text
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.games.football_clock.solution import TimedSolution
from solvent.model import Game, JointAction, Outcome
from solvent.play import Session

Drawn = TypeVar("Drawn")

Strategy: TypeAlias = Callable[[TimedPosition, int], Mapping[int, float]]
"""The probabilities of the actions that a player takes in a position."""


class Line(NamedTuple):
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
) -> tuple[Line, ...]:
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
        joint = tuple(_action(player(state, side), dice) for side, player in enumerate(players))
        played = game.roll(state, joint, dice)
        paid += float(played.outcome.reward)
        score = (score[0] + max(0, played.points), score[1] + max(0, -played.points))
        following = played.outcome.state
        if played.words:
            value = paid + solution.value_of(following)
            lines.append(Line(state, _decided(game, state, joint), played.words, score, value))
        state = following
    return tuple(lines)


def table_of(game: TimedFootball, lines: tuple[Line, ...]) -> list[tuple[str, ...]]:
    """Return a transcript as the rows of a table, the names of the columns first.

    Args:
        game: The game that was played.
        lines: Lines of :func:`transcript`.
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
    return game.loaded_clock.text(state.ticks) if state.ticks else "untimed"


def _ball(game: TimedFootball, state: TimedPosition) -> str:
    side = game.player_name(state.offence)
    if state.phase == "time-out":
        return ""
    if state.phase == "choice":
        return f"{game.player_name(game.who_decides(state))} decides"
    if state.down:
        return f"{side}: {situation_text(game.loaded_ruleset, state.situation)}"
    return f"{side} kicks{' off' if state.phase == 'kickoff' else ''}"


def _action(strategy: Mapping[int, float], dice: random.Random) -> int:
    return dice.choices(list(strategy), list(strategy.values()))[0]


def session_of(game: Game) -> type[Session] | None:
    """Return the type of session for a form of the game."""
    if isinstance(game, TimedFootball):
        return FootballSession
    return FootballCalls if isinstance(game, FootballStrategy) else None


class FootballSession(FootballCalls):
    """A game with its score, its plays in words, and the person's value after each of them."""

    points = (0, 0)

    def follow(self, state: TimedPosition, joint: JointAction) -> Outcome:
        """Return the outcome of both sides' actions, told."""
        played = self.rules.roll(state, joint, self.dice)
        if played.words:
            self.show(f"{played.words[0].upper()}{played.words[1:]}.")
        if played.points:
            first, second = self.points
            self.points = (first + max(played.points, 0), second - min(played.points, 0))
            self.show(f"The score is {self.points[0]} to {self.points[1]}.")
        following: TimedPosition = played.outcome.state
        if self.hints and not self.rules.is_terminal(following):
            before = self.value(state)
            reward = float(played.outcome.reward)
            after = self.scale.of(self.solved.value_of(following) + reward)
            unit = "Your chance of winning" if self.scale.is_chance else "Your points to come"
            to_come = self.scale.text(self.value(following))
            self.show(f"{unit}: {to_come} ({self.scale.signed(after - before)}).")
        return played.outcome
