"""The clock of football: how long a half is, where it stops, and what a time-out saves.

Time runs in *ticks*. A play takes some; if that would carry the clock past a stop, the end of a
quarter or the two-minute warning, the rest of its time is lost and the clock stands at the stop.
When a half has no time left it is over, with one exception: it does not end on a penalty of the
defence. One *untimed down* follows then, and ends it.

After every result the side that was on offence may call a time-out, then the other side, each if it
has one left and if it would change the clock. It takes time off the play: a play of 45 seconds
takes 15, any other none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from solvent.games.football.ruleset import Numbers, Ruleset
from solvent.model.parameters import check_integer, shown

DURATIONS = (
    "play_seconds",
    "long_play_seconds",
    "dead_ball_seconds",
    "interception_seconds",
)
"""The ruleset's lengths of plays, besides a play out of bounds."""


class TimeLeft(NamedTuple):
    """The clock after a play or kick, in ticks.

    Attributes:
        after: Ticks left if nobody calls a time-out.
        saved: Ticks left if somebody does.
        untimed: Whether an untimed down follows if nobody does; `after` is 0 then.
    """

    after: int
    saved: int
    untimed: bool


@dataclass(frozen=True)
class ClockRules(Numbers):
    """The numbers of the clock and of the score; they are checked when they are made.

    Args:
        tick: Seconds to a tick. All other times are multiples of it.
        half: Seconds in a half.
        stops: Seconds left in a half at which the clock stops, descending: the end of the first
            quarter of the half, and the two-minute warning.
        timeouts: Number of time-outs of each side in a half.
        timeout_saves: Seconds that a time-out takes off a play, which then takes none at least.
        untimed_down: Whether a half goes on for one play when its time runs out on a penalty of
            the defence. Whether a penalty on that play gives another is unknown; here it does not.
        largest_margin: A lead counts up to this many points, and what goes beyond it is lost.

    Raises:
        ValueError: If a number is not allowed, or is no multiple of the tick.
    """

    called = "clock"

    tick: int = 15
    half: int = 1800
    stops: tuple[int, ...] = (900, 120)
    timeouts: int = 3
    timeout_saves: int = 30
    untimed_down: bool = True
    largest_margin: int = 42

    def __post_init__(self) -> None:
        """Check every number, then how they fit."""
        check_integer(self.tick, "tick", 1, 900)
        check_integer(self.half, "half", self.tick, 7200)
        check_integer(self.timeouts, "timeouts", 0, 9)
        check_integer(self.timeout_saves, "timeout_saves", self.tick, 900)
        check_integer(self.largest_margin, "largest_margin", 1, 200)
        if not isinstance(self.untimed_down, bool):
            raise ValueError(
                f"untimed_down is {shown(self.untimed_down)}; allowed are true and false"
            )
        if not isinstance(self.stops, (tuple, list)):
            raise ValueError(f"stops is {shown(self.stops)}; allowed is a list of seconds")
        object.__setattr__(self, "stops", tuple(self.stops))
        for stop, before in zip(self.stops, (self.half, *self.stops), strict=False):
            check_integer(stop, "stops: seconds left", self.tick, before - 1)
        for name in ("half", "timeout_saves"):
            self._check_multiple(getattr(self, name), name)
        for stop in self.stops:
            self._check_multiple(stop, "stops")

    def check_fits(self, ruleset: Ruleset) -> None:
        """Raise unless every play of a ruleset takes whole ticks, and one at least.

        Raises:
            ValueError: If a length is no multiple of the tick, or is 0: a half in which plays take
                no time need not end.
        """
        lengths = {name: getattr(ruleset, name) for name in DURATIONS}
        for name in ("play_seconds", "long_play_seconds"):
            lengths[f"{name} - out_of_bounds_seconds"] = (
                getattr(ruleset, name) - ruleset.out_of_bounds_seconds
            )
        for name, seconds in lengths.items():
            self._check_multiple(seconds, name)
            if seconds == 0:
                raise ValueError(
                    f"{name} is 0; with a clock every play takes at least a tick, "
                    f"{self.tick} seconds"
                )

    def _check_multiple(self, seconds: int, name: str) -> None:
        if seconds % self.tick:
            raise ValueError(
                f"{name} is {seconds}; allowed are multiples of the tick, {self.tick} seconds"
            )

    @property
    def half_ticks(self) -> int:
        """Ticks in a half."""
        return self.half // self.tick

    @property
    def last_ticks(self) -> int:
        """Ticks left at the last stop; all of a half if there is none."""
        return self.stops[-1] // self.tick if self.stops else self.half_ticks

    def after(self, ticks: int, seconds: int) -> int:
        """Return the ticks left of a half after a play.

        Args:
            ticks: Ticks left before it, at least 1.
            seconds: Time that the play takes, in seconds.

        Returns:
            Ticks; 0 if the time has run out.
        """
        left = ticks * self.tick
        passed = [stop for stop in self.stops if left > stop > left - seconds]
        return max(0, left - seconds, *passed) // self.tick

    def text(self, ticks: int) -> str:
        """A time left as minutes and seconds."""
        minutes, seconds = divmod(ticks * self.tick, 60)
        return f"{minutes}:{seconds:02}"

    def with_timeout(self, seconds: int) -> int:
        """The seconds that a play takes if a time-out is called after it."""
        return max(0, seconds - self.timeout_saves)

    def left(self, ticks: int, seconds: int, *, penalty: bool) -> TimeLeft:
        """Return the clock after a play.

        Args:
            ticks: Ticks left before it; 0 on the untimed down.
            seconds: Time that the play takes, in seconds.
            penalty: Whether it was a penalty of the defence.
        """
        after = self.after(ticks, seconds)
        untimed = ticks > 0 and after == 0 and penalty and self.untimed_down
        return TimeLeft(after, self.after(ticks, self.with_timeout(seconds)), untimed)
