"""Football with a clock in the terminal: what happens on the field is told."""

from __future__ import annotations

from solvent.games.football.chart import Chart
from solvent.games.football.play import FootballCalls
from solvent.games.football.rules import FootballStrategy
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.transcript import roll_play
from solvent.model import Game, JointAction, Outcome
from solvent.play import Session


def session_of(game: Game) -> type[Session] | None:
    """Return the type of session for a form of the game."""
    if isinstance(game, TimedFootball):
        return FootballSession
    return FootballCalls if isinstance(game, FootballStrategy) else None


class FootballSession(FootballCalls):
    """A game with its score, its plays in words, and the person's value after each of them."""

    points = (0, 0)

    @property
    def rules(self) -> TimedFootball:
        """The game."""
        assert isinstance(self.game, TimedFootball)
        return self.game

    def chart(self, state: TimedPosition) -> Chart:
        """The only one."""
        return self.rules.loaded_chart

    def decides(self, state: TimedPosition) -> int:
        """The only player who decides, in any phase but ``"call"``."""
        return self.rules.who_decides(state)

    def follow(self, state: TimedPosition, joint: JointAction) -> Outcome:
        """Return the outcome of both sides' actions, told."""
        played = roll_play(self.rules, state, joint, self.dice)
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
