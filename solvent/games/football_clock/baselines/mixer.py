"""A policy of football with a clock that is asked for whole sheets, asked for one position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.games.football_clock.solver.policies import Asked, SheetPolicy
from solvent.games.football_clock.solver.solution import Place, place_of
from solvent.model.arrays import Floats


@dataclass(frozen=True, eq=False)
class SheetMixer:
    """A policy as :func:`solvent.games.football_clock.transcript.transcript` asks for one.

    When it is asked for a time-out the play is over, and neither its length nor the time before it
    is known any more; a policy may go by what is left with a time-out and without it.

    Args:
        game: That is played.
        layout: Of its form.
        policy: Made for that layout. It may take long to answer for one position.
    """

    game: TimedFootball
    layout: Layout
    policy: SheetPolicy

    def __call__(self, position: TimedPosition, player: int) -> dict[int, float]:
        """The actions that a player takes there, with their probabilities."""
        legal = self.game.legal_actions(position)[player]
        if len(legal) == 1:
            return {legal[0]: 1.0}
        if position.phase == "call":
            shares = self._calls(position, player, legal)
        else:
            chance = self._first_of_two(position, player)
            shares = [chance, 1 - chance]
        return {action: share for action, share in zip(legal, shares, strict=True) if share > 0}

    def _calls(self, position: TimedPosition, player: int, legal: tuple[int, ...]) -> list[float]:
        """The probabilities of the legal calls."""
        calls = self._mixes(position, player)[0]
        # The offence's are numbered like its actions, the defence's from 0.
        own = calls[list(legal)] if player == position.offence else calls
        return [float(share) for share in own]

    def _first_of_two(self, position: TimedPosition, player: int) -> float:
        """The chance of the first action: the penalty, the ordinary kickoff, the time-out."""
        if position.phase == "choice":
            choices = self._mixes(position, player)[1]
            return float(choices[self.game.choices.index(position.choice)])
        if position.phase == "kickoff":
            place = place_of(self.layout, position)
            return 1 - float(self.policy.onside(place.sheet)[place.column])
        return self._timeout(position, player)

    def _mixes(self, position: TimedPosition, player: int) -> tuple[Floats, Floats]:
        """Its calls and its choices in a situation."""
        place = place_of(self.layout, position._replace(phase="call"))
        down, line = divmod(place.row, self.layout.lines)
        both = self.policy.mixes(place.sheet, (line, line + 1))
        role = both.attack if player == position.offence else both.defend
        number = role.which[down, place.column]
        return role.calls[number], role.choices[number]

    def _timeout(self, position: TimedPosition, player: int) -> float:
        """The chance that it calls a time-out."""
        follows: Place = place_of(self.layout, position._replace(phase=position.follows))
        mine = follows.player == player
        columns = self.layout.columns(position.half)
        timeouts = position.timeouts
        asked = Asked(
            # The time before the play was no less than what is saved.
            sheet=Sheet(position.half, position.saved, timeouts[player], timeouts[1 - player]),
            seconds=0,
            after=position.ticks,
            saved=position.saved,
            untimed=position.untimed,
            first=position.other_too,
            row=np.array([follows.row]),
            mine=np.array([mine]),
            column=np.array([[follows.column if mine else columns - 1 - follows.column]]),
        )
        return float(np.broadcast_to(self.policy.timeouts(asked), (1, 1))[0, 0])
