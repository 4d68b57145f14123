"""The numbers in the rules of football, each with its default and its meaning.

The defaults are those of Football Strategy as far as they are publicly known. Where a rule is not,
the parameter's description says *unknown* and what was chosen instead. A smaller football, with a
short field, fewer downs and tables to match, is the same rules with other numbers.

**Tables.** A table of chances is a tuple of pairs (entry, probability) whose probabilities are
exact, positive and sum to 1. JSON has a mapping of entries to weights instead, which are divided
by their sum: ``{"30": 6, "60": 1}``.

**Kicks.** The entries of the tables of kickoffs and free kicks say where the ball is afterwards,
in yards from the *receiver's* goal line:

==============  ===================================================================
``25``          the receiver has the ball at its own 25
``kicker 60``   the side that kicked has it, 60 yards from the receiver's goal line
``long``        the receiver runs a long gain back from its own goal line
``long+5``      the same and 5 yards more
==============  ===================================================================
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from solvent.model import dice_sum
from solvent.model.parameters import check_choice, check_integer, check_rational, shown, spread

YardTable: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Yards and their probabilities, yards ascending."""

KickTable: TypeAlias = tuple[tuple[str, Fraction], ...]
"""The ends of a kick (see the module), and their probabilities."""

LONGEST_FIELD = 200
"""Yards between the goal lines are at most this."""

LARGEST_WEIGHT = 1_000_000
"""Weights in a table of kicks are at most this."""

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


@dataclass(frozen=True)
class Ruleset:
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
        onside: The same for an onside kick.
        free_kick: The same for the free kick after a safety. Unknown; a kickoff from 20 yards
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
    barred: tuple[tuple[int, int, int], ...] = ((10, 13, 20), (20, 17, 20))
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
        """Check every number, then how they fit."""
        field = check_integer(self.field, "field", 2, LONGEST_FIELD)
        ranges = {
            "downs": (1, 9),
            "first_down": (1, field),
            "touchdown": (1, 100),
            "field_goal": (0, 100),
            "safety": (0, 100),
            "field_goal_spot": (0, field - 2),
            "touchback": (1, field - 1),
            "fake_punt_penalty": (0, field),
            "blocked_punt_loss": (0, field),
            "long_play": (0, field),
            "play_seconds": (0, 900),
            "long_play_seconds": (0, 900),
            "out_of_bounds_seconds": (0, min(self.play_seconds, self.long_play_seconds)),
            "dead_ball_seconds": (0, 900),
            "interception_seconds": (0, 900),
        }
        for name, (low, high) in ranges.items():
            check_integer(getattr(self, name), name, low, high)
        for name in ("early_field_goals", "half_the_distance"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(
                    f"{name} is {shown(getattr(self, name))}; allowed are true and false"
                )
        _check_probability(self.extra_point, "extra_point")
        self._check_field_goals()
        for triple in self.barred:
            _check_barred(triple)
        _check_table(self.long_gain, "long_gain")
        for yards, _ in self.long_gain:
            check_integer(yards, "long_gain", 1, LONGEST_FIELD)
        for name in ("kickoff", "onside", "free_kick"):
            _check_table(getattr(self, name), name)
            for end, _ in getattr(self, name):
                self._check_kick(end, name)

    def _check_field_goals(self) -> None:
        last = 0
        for yards, probability in self.field_goals:
            # The spot has to lie on the field: from behind the other goal line nobody kicks.
            most = self.field - 1 - self.field_goal_spot
            check_integer(yards, "a line of field_goals", last + 1, most)
            _check_probability(probability, f"field_goals[{yards}]")
            last = yards

    def _check_kick(self, end: str, name: str) -> None:
        kick = parse_kick(end, name)
        if kick.run_back:
            check_integer(kick.line, f"{name}: yards added to a long gain", 0, self.field)
        else:
            check_integer(kick.line, f"{name}: yards from the goal line", 1, self.field - 1)

    @classmethod
    def of(cls, ruleset: object) -> Ruleset:
        """A ruleset from what a game is given as one: itself, a mapping for :meth:`read`, or None.

        Raises:
            ValueError: If it is none of these, a name is unknown, or a value is not allowed.
        """
        if isinstance(ruleset, cls):
            return ruleset
        if ruleset is not None and not isinstance(ruleset, Mapping):
            raise ValueError(f"ruleset is {shown(ruleset)}; allowed is a mapping of parameters")
        return cls.read(ruleset or {})

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> Ruleset:
        """A ruleset from JSON-able parameters, where tables may be mappings (see the module).

        Args:
            parameters: The arguments by name; those left out keep their defaults. A probability
                may be a number or text such as ``"34/36"``.

        Raises:
            ValueError: If a name is unknown or a value is not allowed.
        """
        readers = {
            "extra_point": _read_probability,
            "field_goals": _read_field_goals,
            "barred": _read_barred,
            "long_gain": _read_yards,
            "kickoff": _read_kicks,
            "onside": _read_kicks,
            "free_kick": _read_kicks,
        }
        names = [field.name for field in fields(cls)]
        arguments: dict[str, Any] = {}
        for name, value in parameters.items():
            check_choice(name, "parameter of the ruleset", names)
            arguments[name] = readers[name](value, name) if name in readers else value
        return cls(**arguments)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The numbers that differ from the defaults, JSON-able; :meth:`read` takes them back."""
        return {
            field.name: _plain(field.name, getattr(self, field.name))
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }

    @cached_property
    def hash(self) -> str:
        """SHA-256 of every number."""
        everything = {
            field.name: _plain(field.name, getattr(self, field.name)) for field in fields(self)
        }
        return hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()

    def field_goal_chance(self, to_goal: int) -> Fraction:
        """The chance of a field goal from a line, 0 where none is tried."""
        for yards, probability in self.field_goals:
            if to_goal <= yards:
                return probability
        return Fraction(0)

    def is_barred(self, play: int, to_goal: int) -> bool:
        """Return True if a play (its number) may not be called at a line."""
        return any(to_goal <= yards and first <= play <= last for yards, first, last in self.barred)


@dataclass(frozen=True)
class KickEnd:
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


def _check_probability(value: Any, name: str) -> None:
    if not isinstance(value, Fraction) or not 0 <= value <= 1:
        raise ValueError(f"{name} is {shown(value)}; allowed are fractions from 0 to 1")


def _check_table(table: Any, name: str) -> None:
    """Check the probabilities of a table and that no entry stands there twice."""
    if not isinstance(table, tuple) or not all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in table
    ):
        raise ValueError(f"{name} is {shown(table)}; it takes pairs (entry, probability)")
    for entry, probability in table:
        if not isinstance(probability, Fraction) or probability <= 0:
            raise ValueError(
                f"{name}: {entry!r} has probability {probability!r}; allowed are positive fractions"
            )
    if len({entry for entry, _ in table}) < len(table):
        raise ValueError(f"{name} has an entry twice: {[entry for entry, _ in table]}")
    total = sum(probability for _, probability in table)
    if total != 1:
        raise ValueError(f"the probabilities of {name} sum to {total}, not to 1")


def _check_barred(triple: Any) -> None:
    if not isinstance(triple, tuple) or len(triple) != 3:
        raise ValueError(f"barred has the entry {triple!r}; allowed is (yards, first, last play)")
    yards, first, last = triple
    check_integer(yards, "yards of barred", 1, LONGEST_FIELD)
    check_integer(
        last, "last play of barred", check_integer(first, "first play of barred", 1, 99), 99
    )


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON has it; tables of chances become mappings."""
    if isinstance(value, Fraction):
        return str(value)
    if name == "barred":
        return [list(triple) for triple in value]
    if isinstance(value, tuple):
        return {str(entry): str(probability) for entry, probability in value}
    return value


def _read_probability(value: Any, name: str) -> Fraction:
    return check_rational(value, name, 0, 1)


def _read_field_goals(value: Any, name: str) -> YardTable:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is {shown(value)}; allowed is a mapping of yards to chances")
    chances = {
        _whole(yards, name): _read_probability(chance, f"{name}[{yards}]")
        for yards, chance in value.items()
    }
    return tuple(sorted(chances.items()))


def _read_barred(value: Any, name: str) -> tuple[tuple[int, int, int], ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(
            f"{name} is {shown(value)}; allowed is a list of [yards, first, last play]"
        )
    return tuple(tuple(entry) if isinstance(entry, list) else entry for entry in value)


def _read_yards(value: Any, name: str) -> YardTable:
    return tuple(spread(value, name, 1, LONGEST_FIELD).items())


def _read_kicks(value: Any, name: str) -> KickTable:
    if not isinstance(value, Mapping) or not value:
        raise ValueError(
            f"{name} is {shown(value)}; allowed is a mapping of where it ends to weights"
        )
    weights = {end: _read_weight(weight, f"{name}[{end!r}]") for end, weight in value.items()}
    total = sum(weights.values())
    return tuple((end, weight / total) for end, weight in weights.items())


def _read_weight(value: Any, name: str) -> Fraction:
    weight = check_rational(value, name, 0, LARGEST_WEIGHT)
    if weight == 0:
        raise ValueError(f"{name} has weight {value!r}; allowed are positive numbers")
    return weight


def _whole(value: Any, name: str) -> int:
    text = str(value)
    if not text.isdecimal():
        raise ValueError(f"{name} has the entry {value!r}; allowed are whole numbers of yards")
    return int(text)
