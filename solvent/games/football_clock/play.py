"""Football with a clock in the terminal: what happens on the field is told."""

from __future__ import annotations

from collections.abc import Mapping

from solvent.games.football.calls import call_sheet
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.story import roll_play
from solvent.model import Game, JointAction, Outcome
from solvent.play import Session


def session_of(game: Game) -> type[Session] | None:
    """How a form with a clock is played; None for one without, which is played as any game is."""
    return FootballSession if isinstance(game, TimedFootball) else None


class FootballSession(Session):
    """A game with its score, its plays in words, and the person's value after each of them."""

    points = (0, 0)

    @property
    def rules(self) -> TimedFootball:
        """The game."""
        assert isinstance(self.game, TimedFootball)
        return self.game

    def opening(self) -> list[str]:
        """What is said before the first position."""
        tie = ["A tie counts as half a win."] if self.scale.is_chance else []
        return tie + super().opening()

    def acting(self, state: TimedPosition) -> tuple[int, ...]:
        """The players who decide something: nobody has a free kick of another kind."""
        if state.phase == "call":
            return (0, 1)
        return () if state.phase == "free kick" else (self.rules.who_decides(state),)

    def menu(self, state: TimedPosition, names: Mapping[int, str]) -> str:
        """The calls, those whose names follow each other in short."""
        sheet = call_sheet(self.rules.loaded_chart, self.rules.actions, list(names))
        if state.phase != "call":
            return f"you: {sheet}"
        return f"you ({'offence' if state.offence == self.player else 'defence'}): {sheet}"

    def follow(self, state: TimedPosition, joint: JointAction) -> Outcome:
        """What comes of both sides' actions, told."""
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
