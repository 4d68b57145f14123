"""Positions: the states of Football Strategy."""

from __future__ import annotations

from typing import NamedTuple

from solvent.games.football.situation import Situation


class Position(NamedTuple):
    """A state of the game.

    Attributes:
        phase: ``"call"``, ``"choice"`` (a penalty or the play), ``"kickoff"``, ``"free kick"`` or
            ``"over"``.
        offence: The player who has the ball or is about to kick it.
        down: Down of the situation, 0 where there is none; likewise the next two.
        to_go: Yards to the line to gain.
        to_goal: Yards to the goal line that the offence attacks.
        punting: Whether punt formation is declared.
        choice: The code of the result that waits for a choice.
    """

    phase: str
    offence: int = 0
    down: int = 0
    to_go: int = 0
    to_goal: int = 0
    punting: bool = False
    choice: str = ""

    @property
    def situation(self) -> Situation:
        """The situation of the offence."""
        return Situation(self.down, self.to_go, self.to_goal, self.punting)


OVER = Position("over")
"""Play has ended; how, the reward has said."""

WAIT = 0
"""The action of a player who has no choice."""
