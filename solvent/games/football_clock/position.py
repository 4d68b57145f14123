"""Positions of football with a clock: the situation, and what time and score are."""

from __future__ import annotations

from typing import NamedTuple

from solvent.games.football.situation import Situation


class TimedPosition(NamedTuple):
    """A state of the game.

    Attributes:
        phase: ``"call"``, ``"choice"`` (a penalty or the play), ``"time-out"`` (whether to call
            one), ``"kickoff"``, ``"free kick"`` or ``"over"``.
        half: 1 or 2; 2 in every form but ``"full"``.
        ticks: Left in the half. With 0 the untimed down is played. When a time-out may be called,
            what will be left without it.
        margin: Player 0's points less player 1's, as far as they count; 0 where points are what
            counts, not winning.
        timeouts: Time-outs left to player 0 and to player 1; none on the untimed down.
        receiver: The player who receives the kickoff of the second half, in the first; else -1.
        offence: The player who has the ball or is about to kick it; when a time-out may be called,
            who will.
        down: Down of the situation, 0 where there is none; likewise the next two.
        to_go: Yards to the line to gain.
        to_goal: Yards to the goal line that the offence attacks.
        punting: Whether punt formation is declared.
        choice: The code of the result that waits for a choice.
        follows: The phase that comes when the matter of time-outs is settled; so with the rest,
            which are of the phase ``"time-out"`` only.
        asked: The player who may call a time-out, else -1.
        other_too: Whether the other player is asked if this one declines.
        saved: Ticks left in the half if a time-out is called.
        untimed: Whether an untimed down follows if none is called.
    """

    phase: str
    half: int = 2
    ticks: int = 0
    margin: int = 0
    timeouts: tuple[int, int] = (0, 0)
    receiver: int = -1
    offence: int = 0
    down: int = 0
    to_go: int = 0
    to_goal: int = 0
    punting: bool = False
    choice: str = ""
    follows: str = ""
    asked: int = -1
    other_too: bool = False
    saved: int = 0
    untimed: bool = False

    @property
    def situation(self) -> Situation:
        """The situation of the offence."""
        return Situation(self.down, self.to_go, self.to_goal, self.punting)

    @property
    def settled(self) -> TimedPosition:
        """The same without the matter of time-outs: the phase that follows, with no time left."""
        return self._replace(
            phase=self.follows,
            ticks=0,
            follows="",
            asked=-1,
            other_too=False,
            saved=0,
            untimed=False,
        )
