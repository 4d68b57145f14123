"""The numbers in the rules of football and of its clock, each with its default and its meaning.

The defaults are those of Football Strategy as far as they are publicly known. Where a rule is not,
the parameter's description says *unknown* and what was chosen instead. A smaller football, with a
short field, fewer downs and tables to match, is the same rules with other numbers.

**Tables.** A table of chances is given as a mapping of entries to positive weights, as JSON has it:
``{"30": 6, "60": 1}``. It is kept as a tuple of pairs (entry, probability) whose probabilities are
exact and sum to 1; such pairs may be given too.

**Kicks.** The entries of the tables of kickoffs and free kicks say where the ball is afterwards,
in yards from the *receiver's* goal line:

==============  ===================================================================
``25``          the receiver has the ball at its own 25
``kicker 60``   the side that kicked has it, 60 yards from the receiver's goal line
``long``        the receiver runs a long gain back from its own goal line
``long+5``      the same and 5 yards more
==============  ===================================================================

**The clock.** Time runs in *ticks*. A play takes some; if that would carry the clock past a stop,
the end of a quarter or the two-minute warning, the rest of its time is lost and the clock stands at
the stop. When a half has no time left it is over, with one exception: it does not end on a penalty
of the defence. One *untimed down* follows then, and ends it.

After every result the side that was on offence may call a time-out, then the other side, each if it
has one left and if it would change the clock. It takes time off the play: a play of 45 seconds
takes 15, any other none.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

from solvent.model import dice_sum
from solvent.model.parameters import (
    check_choice,
    check_flag,
    check_integer,
    check_integers,
    check_rational,
    shown,
    spread,
)

YardTable: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Yards and their probabilities, yards ascending."""

KickTable: TypeAlias = tuple[tuple[str, Fraction], ...]
"""The ends of a kick (see the module), and their probabilities."""

# Yards between the goal lines are at most this.
_LONGEST_FIELD = 200

# Weights in a table of kicks are at most this.
_LARGEST_WEIGHT = 1_000_000

LARGEST_DENOMINATOR = 2**53
"""Weights are whole numbers that a float holds exactly."""

_KICK = re.compile(r"(?P<side>kicker )?(?P<line>\d{1,3})|(?P<long>long)(\+(?P<more>\d{1,3}))?")


def _two_dice(*ends: str) -> KickTable:
    """Return a kick's ends by the sum of two dice, from 2 on; equal ends are put together."""
    table: dict[str, Fraction] = {}
    for end, probability in zip(ends, dice_sum(2, 6).values(), strict=True):
        table[end] = table.get(end, Fraction(0)) + probability
    return tuple(table.items())


def _long_gains() -> YardTable:
    """One die: on a 1 fifty yards and ten for each point of a second die, else 50, 45, ... 30."""
    table = {yards: Fraction(1, 6) for yards in range(30, 51, 5)}
    table.update({50 + 10 * second: Fraction(1, 36) for second in range(1, 7)})
    return tuple(table.items())


LONG_GAIN = _long_gains()
KICKOFF = _two_dice("kicker 20", "10", "10", "15", "20", "25", "30", "35", "40", "long", "long+5")
FREE_KICK = _two_dice(
    "kicker 40", "30", "30", "35", "40", "45", "50", "55", "60", "long+20", "long+25"
)


class Numbers:
    """Numbers in rules, each with its default; a dataclass."""

    called: ClassVar[str]
    """Return their name in the parameters of a game."""

    @classmethod
    def of(cls, given: object, **defaults: Any) -> Self:
        """The numbers of a game's argument.

        Args:
            given: The numbers, a mapping of them by name, as JSON has it, or None. A probability
                may be a number or text such as ``"34/36"``.
            defaults: The game's own defaults, where they differ.

        Raises:
            ValueError: If it is none of these, a name is unknown, or a value is not allowed.
        """
        if isinstance(given, cls):
            return given
        if given is not None and not isinstance(given, Mapping):
            raise ValueError(f"{cls.called} is {shown(given)}; allowed is a mapping of parameters")
        for name in given or {}:
            names = [item.name for item in fields(cls)]  # type: ignore[arg-type]
            check_choice(name, f"parameter of the {cls.called}", names)
        return cls(**{**defaults, **(given or {})})

    @property
    def every(self) -> dict[str, Any]:
        """All numbers, JSON-able."""
        return {
            item.name: _plain(item.name, getattr(self, item.name))
            for item in fields(self)  # type: ignore[arg-type]
        }

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The numbers that differ from the defaults, JSON-able; :meth:`of` takes them back."""
        usual = type(self)().every
        return {name: value for name, value in self.every.items() if value != usual[name]}


@dataclass(frozen=True)
class Ruleset(Numbers):
    """Every number of the rules; they are checked when it is made.

    Args:
        field: Yards from goal line to goal line.
        downs: Downs in which to make the line to gain.
        first_down: Yards from a first down to the line to gain, or less where the goal is nearer.
        touchdown: Points for a touchdown.
        extra_point: Chance of the point after it, which takes no time.
        field_goal: Points for a field goal.
        safety: Points for a safety.
        field_goals: Pairs of a number of yards and a chance, yards ascending: the chance of a field
            goal from the line of scrimmage so many yards from the goal line or fewer, and from
            more than the previous pair. Beyond the last pair no field goal is tried.
        field_goal_spot: Yards behind the line from where a field goal is kicked. After a miss the
            other side has the ball there or at its touchback line, whichever is better for it.
        early_field_goals: Whether a field goal may be tried before the last down. Unknown; the
            rules of football allow it.
        touchback: The line at which a side begins after a touchback, in yards from its own goal
            line: after a kick into its end zone, a pass intercepted there or a ball that the
            other side fumbled into it.
        fake_punt_penalty: Yards by which every play called in punt formation that gains or loses
            yards ends farther back: gains shrink by so many and losses grow by as many. Unknown.
        blocked_punt_loss: Yards behind the line at which the other side has the ball after a
            blocked punt; a safety if that is behind the goal line. Unknown.
        half_the_distance: Whether a penalty takes at most half the distance to the goal line, in
            whole yards. Otherwise it stops a yard short of the line.
        barred: Triples (yards, first play, last play): so close to the goal or closer these plays
            may not be called. Plays that the chart does not have are passed over.
        long_gain: Table of the yards of a long gain.
        kickoff: Table of where a kickoff ends. Of the sums of two dice, 2 is a fumble and 3 a
            penalty of ten yards. Where the kickers recover is unknown; it is the receiver's 20. The
            penalty is taken from the touchback line.
        onside: Table of where an onside kick ends.
        free_kick: Table of where the free kick after a safety ends. Unknown; a kickoff 20 yards
            farther back.
        long_play: A gain of more yards than this takes longer; exactly so many do not. Unknown
            for exactly 20, which counts as the shorter.
        play_seconds: Time taken by a loss or a gain up to `long_play` that ends in bounds.
        long_play_seconds: Time taken by a longer gain.
        out_of_bounds_seconds: Time saved by a gain that ends out of bounds.
        dead_ball_seconds: Time taken by an incomplete pass, a penalty, a fumble or a kick.
        interception_seconds: Time taken by an interception.

    Raises:
        ValueError: If a number is not allowed, or two do not fit each other.
    """

    called = "ruleset"

    field: int = 100
    downs: int = 4
    first_down: int = 10
    touchdown: int = 6
    extra_point: Fraction = Fraction(34, 36)
    field_goal: int = 3
    safety: int = 2
    field_goals: YardTable = (
        (12, Fraction(32, 36)),
        (22, Fraction(28, 36)),
        (32, Fraction(18, 36)),
        (38, Fraction(12, 36)),
        (45, Fraction(2, 36)),
    )
    field_goal_spot: int = 7
    early_field_goals: bool = True
    touchback: int = 20
    fake_punt_penalty: int = 5
    blocked_punt_loss: int = 10
    half_the_distance: bool = True
    barred: tuple[tuple[int, ...], ...] = ((10, 13, 20), (20, 17, 20))
    long_gain: YardTable = LONG_GAIN
    kickoff: KickTable = KICKOFF
    onside: KickTable = (
        ("kicker 60", Fraction(1, 3)),
        ("65", Fraction(1, 2)),
        ("70", Fraction(1, 6)),
    )
    free_kick: KickTable = FREE_KICK
    long_play: int = 20
    play_seconds: int = 30
    long_play_seconds: int = 45
    out_of_bounds_seconds: int = 15
    dead_ball_seconds: int = 15
    interception_seconds: int = 30

    def __post_init__(self) -> None:
        """Check every number and how they fit; tables are put into one form."""
        field = check_integer(self.field, "field", 2, _LONGEST_FIELD)
        ranges: tuple[tuple[int, int, tuple[str, ...]], ...] = (
            (1, 9, ("downs",)),
            (1, field, ("first_down",)),
            (1, 100, ("touchdown",)),
            (0, 100, ("field_goal", "safety")),
            (0, field - 2, ("field_goal_spot",)),
            (1, field - 1, ("touchback",)),
            (0, field, ("fake_punt_penalty", "blocked_punt_loss", "long_play")),
            (0, 900, _DURATIONS),
        )
        for low, high, names in ranges:
            for name in names:
                check_integer(getattr(self, name), name, low, high)
        saved = min(self.play_seconds, self.long_play_seconds)
        check_integer(self.out_of_bounds_seconds, "out_of_bounds_seconds", 0, saved)
        for name in ("early_field_goals", "half_the_distance"):
            check_flag(getattr(self, name), name)
        gains = spread(_mapping(self.long_gain, "long_gain"), "long_gain", 1, _LONGEST_FIELD)
        tables: dict[str, Any] = {
            "extra_point": check_rational(self.extra_point, "extra_point", 0, 1),
            "field_goals": self._read_field_goals(),
            "barred": self._read_barred(),
            "long_gain": tuple(gains.items()),
            **{name: self._read_kicks(name) for name in ("kickoff", "onside", "free_kick")},
        }
        for name, table in tables.items():
            object.__setattr__(self, name, table)

    def _read_field_goals(self) -> YardTable:
        # The spot has to lie on the field: from behind the other goal line nobody kicks.
        most = self.field - 1 - self.field_goal_spot
        chances = {}
        for entry, chance in _mapping(self.field_goals, "field_goals").items():
            yards = int(entry) if isinstance(entry, str) and entry.isdecimal() else entry
            check_integer(yards, "a line of field_goals", 1, most)
            chances[yards] = check_rational(chance, f"field_goals[{yards}]", 0, 1)
        return tuple(sorted(chances.items()))

    def _read_barred(self) -> tuple[tuple[int, ...], ...]:
        if not isinstance(self.barred, (tuple, list)):
            raise ValueError(f"barred is {shown(self.barred)}; allowed is a list of triples")
        triples = tuple(
            check_integers(entry, "an entry of barred", 1, _LONGEST_FIELD, (3, 3))
            for entry in self.barred
        )
        for _, first, last in triples:
            check_integer(last, "last play of barred", first, 99)
        return triples

    def _read_kicks(self, name: str) -> KickTable:
        weights = {}
        for end, weight in _mapping(getattr(self, name), name).items():
            kick = parse_kick(end, name)
            low, high = (0, self.field) if kick.run_back else (1, self.field - 1)
            check_integer(kick.line, f"yards of {end!r} in {name}", low, high)
            weights[end] = check_rational(weight, f"{name}[{end!r}]", 0, _LARGEST_WEIGHT)
            if weights[end] == 0:
                raise ValueError(f"{name} has weight {weight!r}; allowed are positive numbers")
        total = sum(weights.values())
        return tuple((end, weight / total) for end, weight in weights.items())

    def __hash__(self) -> int:
        """Agree with equality; computed once."""
        return hash(self.hash)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of every number."""
        return hashlib.sha256(json.dumps(self.every, sort_keys=True).encode()).hexdigest()

    @cached_property
    def denominator(self) -> int:
        """The common denominator of the probabilities of all that may follow from a result.

        Raises:
            ValueError: If it is larger than a float holds exactly.
        """
        common = lcm(
            self.extra_point.denominator * lcm(*(p.denominator for _, p in self.long_gain)),
            *(p.denominator for _, p in self.field_goals),
        )
        if common > LARGEST_DENOMINATOR:
            raise ValueError(
                f"the probabilities of the ruleset have the common denominator {common}; allowed "
                f"is at most 2^53"
            )
        return common

    def field_goal_chance(self, to_goal: int) -> Fraction:
        """The chance of a field goal from a line, 0 where none is tried."""
        return next((chance for yards, chance in self.field_goals if to_goal <= yards), Fraction(0))


class KickEnd(NamedTuple):
    """The end of a kick, read from an entry of a kick table.

    Attributes:
        kept: Whether the side that kicked has the ball.
        run_back: Whether the receiver runs a long gain back from its goal line.
        line: Yards from the receiver's goal line, or those added to the long gain.
    """

    kept: bool
    run_back: bool
    line: int


def parse_kick(end: str, name: str = "kick") -> KickEnd:
    """Read an entry of a kick table.

    Raises:
        ValueError: If the text is none of the forms in the module.
    """
    match = _KICK.fullmatch(end) if isinstance(end, str) else None
    if match is None:
        raise ValueError(
            f"{name} has the entry {end!r}; allowed are such as '25', 'kicker 60', 'long' and "
            f"'long+5'"
        )
    if match["long"]:
        return KickEnd(kept=False, run_back=True, line=int(match["more"] or 0))
    return KickEnd(kept=match["side"] is not None, run_back=False, line=int(match["line"]))


def _mapping(table: Any, name: str) -> dict[Any, Any]:
    """A table as a mapping; pairs are allowed too."""
    try:
        entries = dict(table)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is {shown(table)}; allowed is a mapping to chances") from error
    if len(entries) < len(table) or (not entries and name != "field_goals"):
        raise ValueError(f"{name} is {shown(table)}; it needs an entry, and none twice")
    return entries


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON has it; tables of chances become mappings."""
    if isinstance(value, Fraction):
        return str(value)
    if name in ("barred", "stops"):
        return [list(entry) if isinstance(entry, tuple) else entry for entry in value]
    if isinstance(value, tuple):
        return {str(entry): str(probability) for entry, probability in value}
    return value


# The ruleset's lengths of plays, besides a play out of bounds.
_DURATIONS = ("play_seconds", "long_play_seconds", "dead_ball_seconds", "interception_seconds")


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
        check_flag(self.untimed_down, "untimed_down")
        if not isinstance(self.stops, (tuple, list)):
            raise ValueError(f"stops is {shown(self.stops)}; allowed is a list of seconds")
        object.__setattr__(self, "stops", tuple(self.stops))
        for stop, before in zip(self.stops, (self.half, *self.stops), strict=False):
            check_integer(stop, "stops: seconds left", self.tick, before - 1)
        times = [("half", self.half), ("timeout_saves", self.timeout_saves)]
        self._check_ticks([*times, *(("stops", stop) for stop in self.stops)])

    def check_fits(self, ruleset: Ruleset) -> None:
        """Raise unless every play of a ruleset takes whole ticks, and one at least.

        Raises:
            ValueError: If a length is no multiple of the tick, or is 0: a half in which plays take
                no time need not end.
        """
        times = [(name, getattr(ruleset, name)) for name in _DURATIONS]
        saved = ruleset.out_of_bounds_seconds
        shorter = [(f"{name} - out_of_bounds_seconds", time - saved) for name, time in times[:2]]
        self._check_ticks([*times, *shorter])

    def _check_ticks(self, times: Iterable[tuple[str, int]]) -> None:
        for name, seconds in times:
            if seconds == 0 or seconds % self.tick:
                raise ValueError(
                    f"{name} is {seconds}; allowed are multiples of the clock's tick, "
                    f"{self.tick} seconds, from one tick on"
                )

    @property
    def half_ticks(self) -> int:
        """Ticks in a half."""
        return self.half // self.tick

    @property
    def last_ticks(self) -> int:
        """Ticks left at the last stop; all of a half if there is none."""
        return self.stops[-1] // self.tick if self.stops else self.half_ticks

    def shortened(self, ticks: int) -> Self:
        """The clock of a half that has only the last ticks of this one's."""
        half = ticks * self.tick
        return replace(self, half=half, stops=tuple(stop for stop in self.stops if stop < half))

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

    def left(self, ticks: int, seconds: int, *, penalty: bool) -> TimeLeft:
        """Return the clock after a play.

        Args:
            ticks: Ticks left before it; 0 on the untimed down.
            seconds: Time that the play takes, in seconds.
            penalty: Whether it was a penalty of the defence.
        """
        after = self.after(ticks, seconds)
        untimed = ticks > 0 and after == 0 and penalty and self.untimed_down
        saved = self.after(ticks, max(0, seconds - self.timeout_saves))
        return TimeLeft(after, saved, untimed)
