"""What comes after a play of football with a clock: points, time, time-outs, the end of a half."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from solvent.games.football.results import Result
from solvent.games.football.situation import Consequence, Restart, Situation
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.position import TimedPosition
from solvent.model import Outcome


@dataclass(frozen=True)
class Flow:
    """The passage from one position to the next.

    Args:
        clock: The numbers of the clock.
        for_points: Whether points are what counts, not winning.
    """

    clock: ClockRules
    for_points: bool

    def after_play(
        self, state: TimedPosition, consequence: Consequence, result: Result | None = None
    ) -> Outcome:
        """One branch of what follows from a play or kick: its points, and its time.

        Args:
            state: Before it.
            consequence: Of the play.
            result: By the chart, if it has been one.
        """
        clock = self.clock
        points = consequence.points if state.offence == 0 else -consequence.points
        after = self._following(state, consequence, points)
        reward = points if self.for_points else 0
        if consequence.seconds == 0:
            # Punt formation has been declared; no play has been played.
            outcome = Outcome(Fraction(1), after._replace(ticks=state.ticks))
        elif state.ticks == 0:
            outcome = self._half_over(after)
        else:
            left = clock.after(state.ticks, consequence.seconds)
            saved = clock.after(state.ticks, clock.with_timeout(consequence.seconds))
            penalised = result is not None and result.kind == "defence-penalty"
            untimed = left == 0 and clock.untimed_down and penalised
            askable = [
                player for player in (state.offence, 1 - state.offence) if state.timeouts[player]
            ]
            if askable and saved != left:
                waiting = after._replace(
                    phase="time-out",
                    ticks=left,
                    follows=after.phase,
                    asked=askable[0],
                    other_too=len(askable) == 2,
                    saved=saved,
                    untimed=untimed,
                )
                outcome = Outcome(Fraction(1), waiting)
            else:
                outcome = self._goes_on(after, left, untimed=untimed)
        return Outcome(consequence.probability, outcome.state, outcome.reward + reward)

    def _following(
        self, state: TimedPosition, consequence: Consequence, points: int
    ) -> TimedPosition:
        """What a play leads to, time apart."""
        most = self.clock.largest_margin
        following = TimedPosition(
            "kickoff",
            state.half,
            margin=0 if self.for_points else max(-most, min(most, state.margin + points)),
            timeouts=state.timeouts,
            receiver=state.receiver,
            offence=state.offence if consequence.same_side else 1 - state.offence,
        )
        match consequence.next:
            case Situation() as situation:
                return following._replace(phase="call", **situation._asdict())
            case Restart.FREE_KICK:
                return following._replace(phase="free kick")
        return following

    def timeout_called(self, state: TimedPosition) -> Outcome:
        """The player who was asked has one time-out fewer, and the clock stands."""
        left = [count - (player == state.asked) for player, count in enumerate(state.timeouts)]
        return self._goes_on(
            state.settled._replace(timeouts=(left[0], left[1])), state.saved, untimed=False
        )

    def declined(self, state: TimedPosition) -> Outcome:
        """The other player is asked, or the clock has run."""
        if state.other_too:
            return Outcome(Fraction(1), state._replace(asked=1 - state.asked, other_too=False))
        return self._goes_on(state.settled, state.ticks, untimed=state.untimed)

    def _goes_on(self, following: TimedPosition, left: int, *, untimed: bool) -> Outcome:
        """The half goes on with a play or a kick, or it is over."""
        if left:
            return Outcome(Fraction(1), following._replace(ticks=left))
        if untimed:
            return Outcome(Fraction(1), following._replace(timeouts=(0, 0)))
        return self._half_over(following)

    def _half_over(self, last: TimedPosition) -> Outcome:
        """The second half begins, or the game is over."""
        if last.half == 1:
            clock = self.clock
            kickoff = TimedPosition(
                "kickoff",
                ticks=clock.half_ticks,
                margin=last.margin,
                timeouts=(clock.timeouts,) * 2,
                offence=1 - last.receiver,
            )
            return Outcome(Fraction(1), kickoff)
        over = TimedPosition("over", margin=last.margin)
        if self.for_points:
            return Outcome(Fraction(1), over)
        return Outcome(Fraction(1), over, Fraction(1 + (last.margin > 0) - (last.margin < 0), 2))
