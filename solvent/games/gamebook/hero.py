"""The hero of a gamebook, and the types of values in its file: numbers, ranges, names, expressions.

The message of a validator says what is wrong and, after ``"; "``, what to do.

Validation runs in steps (:mod:`solvent.games.gamebook.loader`): constants and slots, the hero, the
book without its sections, the sections. The validators of a step receive the result of the step
before.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    model_validator,
)

from solvent.games.fighting_fantasy.rules import DAMAGE, Damage, read_damage
from solvent.games.gamebook.expressions import (
    LARGEST_NUMBER,
    NAME,
    RESERVED,
    Expression,
    Operation,
    bounds,
    dice,
    parse,
    parts_of,
    total,
)

# Advice on a name that the book does not have.
_UNKNOWN = "correct it, or add it to the book"

LARGEST_SECTION = 99_999
"""The largest number of a section."""

# Largest number of digits of a numerator, of a denominator, and on each side of a point.
_MOST_DIGITS = 100

_DIGITS = rf"\d{{1,{_MOST_DIGITS}}}"
_RATIONAL = re.compile(
    rf"[+-]?({_DIGITS}(/(?!0+%?\Z){_DIGITS})?|({_DIGITS})?\.{_DIGITS})(?P<percent>%?)", re.ASCII
)
_KEY = re.compile(r"0|[1-9]\d{0,6}", re.ASCII)
_RANGE = re.compile(r"(?P<low>-?\d{1,7})?(?P<to>\.\.(?P<high>-?\d{1,7})?)?", re.ASCII)

Path: TypeAlias = tuple[Any, ...]
"""The keys and indices that lead to a place in a file."""

Fault: TypeAlias = tuple[Path, str]
"""A fault inside a model: the path from the model to the fault, and a message with advice."""


class ModelError(ValueError):
    """The faults of one model."""

    def __init__(self, found: list[Fault]) -> None:
        super().__init__("; ".join(message for _, message in found))
        self.found = found


class Model(BaseModel):
    """Base class of all models; refuses unknown keys and values of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def faults(self, known: Any) -> Iterator[Fault]:
        """Yield the faults of the model other than values of a wrong type.

        Args:
            known: The part of the book that has already been validated.
        """
        yield from ()

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo[Any]) -> Any:
        if found := list(self.faults(info.context)):
            raise ModelError(found)
        return self


def read_rational(value: Any) -> Fraction:
    """Read a rational number such as ``1/3``, ``0.35``, ``35%`` or ``+20%``, exactly.

    Raises:
        ValueError: If the text is not a rational number, or has too many digits.
    """
    match = _RATIONAL.fullmatch("" if isinstance(value, bool) else str(value))
    if match is None:
        raise ValueError(
            f"should be a number such as 1, 1/3, 0.35 or 35%, of at most {_MOST_DIGITS} digits on "
            f"each side of / or ."
        )
    number = Fraction(match[0].removesuffix("%"))
    return number / 100 if match["percent"] else number


Range: TypeAlias = tuple[int | None, int | None]
"""The smallest and the largest number of a range; None for no limit."""


def read_range(value: Any) -> Range:
    """Read a range such as ``3``, ``1..3``, ``..3`` or ``4..``.

    Raises:
        ValueError: If the text is not a range, or its ends are in descending order.
    """
    match = None if isinstance(value, bool) else _RANGE.fullmatch(str(value))
    if match is None or not (match["low"] or match["high"]):
        raise ValueError("should be a range such as 3, 1..3, ..3 or 4..")
    low, high = (None if end is None else int(end) for end in match.group("low", "high"))
    high = high if match["to"] else low
    if low is not None and high is not None and low > high:
        raise ValueError("should be a range whose ends are in order")
    return low, high


def range_text(ends: Range) -> str:
    """Return a range as it is written in a file."""
    low, high = ("" if end is None else str(end) for end in ends)
    return low if low == high else f"{low}..{high}"


def _name(value: Any) -> Any:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise ValueError("should be a name: letters, digits and _, at most 40")
    if value in RESERVED:
        raise ValueError("should be another name; this is a word of expressions")
    return value


def _integer_key(value: Any) -> Any:
    """Convert a text to an integer, as keys of JSON are text."""
    return int(value) if isinstance(value, str) and _KEY.fullmatch(value) else value


def text(value: Any) -> Any:
    """Return a number or a boolean as the text that was written, and None as an empty text."""
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, int) else value


Text = Annotated[str, BeforeValidator(text)]
Label = Annotated[str, BeforeValidator(text), Field(min_length=1)]
Name = Annotated[str, BeforeValidator(_name)]
Whole = Annotated[int, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Positive = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Rational = Annotated[Fraction, BeforeValidator(read_rational)]
Interval = Annotated[Range, BeforeValidator(read_range)]
Digit = Annotated[int, BeforeValidator(_integer_key), Field(ge=0, le=9)]
SectionKey = Annotated[int, BeforeValidator(_integer_key), Field(ge=1, le=LARGEST_SECTION)]


# The largest number of fields of a hero.
_MOST_FIELDS = 200

# The largest value of any part of an expression, so that 64-bit numbers are enough.
_LARGEST_RESULT = 10**12

Kind: TypeAlias = Literal["variable", "flag", "item", "discipline"]


@dataclass(frozen=True, slots=True)
class HeroField:
    """A whole number that is part of the state.

    Attributes:
        name: Name, unique among the fields.
        kind: The kind of the field in the file.
        low: Smallest value; 0 unless the field is a variable.
        high: Largest value; 1 for flags and disciplines.
        initial: Initial value, dice allowed; a plain number unless the field is a variable.
        slot: The slot that carries an item; empty for other fields.
        path: The keys that lead to the field in the file.
    """

    name: str
    kind: Kind
    low: int
    high: int
    initial: Expression
    slot: str
    path: tuple[str, ...]


def _formula(
    *, throws: bool = False, least: int | None = None, most: int | None = None
) -> PlainValidator:
    """Return a validator that reads an expression, looks up its names and checks its range.

    Args:
        throws: Whether dice are allowed.
        least: Smallest allowed value.
        most: Largest allowed value.
    """

    def read(value: Any, info: ValidationInfo[Any]) -> Expression:
        shown = text(value)
        if not isinstance(shown, str) or not shown:
            raise ValueError("should be an expression such as 3, 2d6 or gold + 1")
        expression = parse(shown, info.context.meaning)
        if not throws and any(dice(expression)):
            raise ValueError(f"{shown!r} has dice in it; throw them in a roll, or into a variable")
        try:
            ends = [bounds(part, info.context.ranges) for part in parts_of(expression)]
        except ValueError as error:
            raise ValueError(f"in {shown!r} {error}") from None
        if max(max(-low, high) for low, high in ends) > _LARGEST_RESULT:
            raise ValueError(
                f"a part of {shown!r} can be too large; nothing may exceed {_LARGEST_RESULT:.0e}"
            )
        low, high = ends[0]
        if least is not None and low < least:
            raise ValueError(f"{shown!r} can be {low}; write max({least}, ...) around it")
        if most is not None and high > most:
            raise ValueError(f"{shown!r} can be {high}; at most {most} is allowed")
        return expression

    return PlainValidator(read)


def one_of(what: str, names_in: Callable[[Any], Collection[str] | None]) -> AfterValidator:
    """Return a validator that refuses a name that the book does not have.

    Args:
        what: The kind of thing that is named, for the message.
        names_in: A function from the validated part of the book to the names; it returns None if
            these have not been validated yet.
    """

    def look_up(name: str, info: ValidationInfo[Any]) -> str:
        names = names_in(info.context)
        if names is not None and name not in names:
            raise ValueError(f"there is no {what} {name!r}; {_UNKNOWN}")
        return name

    return AfterValidator(look_up)


def _named(*kinds: Kind) -> AfterValidator:
    """Return a validator that refuses a name that is no field of these kinds."""
    return one_of(
        " or ".join(kinds),
        lambda hero: [each.name for each in hero.fields.values() if each.kind in kinds],
    )


def _spent(name: str, info: ValidationInfo[Any]) -> str:
    low = info.context.fields[name].low
    if low != 0:
        raise ValueError(f"{name} has min {low}; in fights it should be 0")
    return name


def holds(condition: Expression) -> Expression:
    """Return an expression that is 1 if a condition holds, and else 0.

    Args:
        condition: An expression; it holds if its value is not 0.
    """
    return 1 if condition == 1 else Operation("NotEq", (condition, 0))


def counted(amount: Expression, when: Expression) -> Expression:
    """Return an expression that is an amount if a condition holds, and else 0.

    Args:
        amount: The amount.
        when: The condition, as in :func:`holds`.
    """
    return amount if when == 1 else Operation("Mult", (amount, holds(when)))


Condition = Annotated[Expression, _formula()]
Amount = Annotated[Expression, _formula(throws=True)]
Quantity = Annotated[Expression, _formula(throws=True, least=0)]
Fixed = Annotated[Expression, _formula(least=-LARGEST_NUMBER, most=LARGEST_NUMBER)]
NotNegative = Annotated[Expression, _formula(least=0, most=LARGEST_NUMBER)]
AtLeast1 = Annotated[Expression, _formula(least=1, most=LARGEST_NUMBER)]

Variable = Annotated[Name, _named("variable")]
Spent = Annotated[Variable, AfterValidator(_spent)]
Flag = Annotated[Name, _named("flag")]
Settable = Annotated[Name, _named("variable", "flag")]
Item = Annotated[Name, _named("item")]
Slot = Annotated[Name, one_of("slot", lambda hero: hero.slots)]


class VariableEntry(Model):
    """A whole number that changes."""

    initial: Amount
    min: Whole = 0
    max: Whole
    description: Text = ""

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that an initial number is within the limits, which are in order."""
        low, high = bounds(self.initial, {})
        if not self.min <= low <= high <= self.max:
            between = low if low == high else f"from {low} to {high}"
            yield ("initial",), f"is {between}; it should stay within {self.min}..{self.max}"


class FlagEntry(Model):
    """A flag, which is true or false."""

    initial: bool = False
    description: Text = ""


def _flag(value: Any) -> Any:
    """Turn a string or None into ``{description}``, a boolean into ``{initial}``."""
    if isinstance(value, bool):
        return {"initial": value}
    return value if isinstance(value, dict) else {"description": value}


class SlotEntry(Model):
    """A place for items."""

    capacity: Count
    kinds: list[Name] | None = None
    description: Text = ""


class ItemEntry(Model):
    """An item that can be carried."""

    slot: Slot
    kind: Name | None = None
    initial: Count = 0
    max: Positive | None = None
    description: Text = ""

    def most(self, slot: SlotEntry) -> int:
        """Return the largest number that can be carried in the item's slot."""
        return slot.capacity if self.max is None else min(self.max, slot.capacity)

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that the slot holds the item, and its initial number."""
        slot = known.slots[self.slot]
        if slot.kinds is not None and self.kind not in slot.kinds:
            kind = f"is of kind {self.kind!r}" if self.kind else "has no kind"
            yield (), f"{kind}, and {self.slot!r} does not hold it; choose {', '.join(slot.kinds)}"
        if self.initial > self.most(slot):
            yield ("initial",), f"is {self.initial}; there can be at most {self.most(slot)}"


class Disciplines(Model):
    """The hero's disciplines."""

    pick: Count = 0
    choices: dict[Name, Text] = Field(default={}, alias="from")
    known: dict[Name, Text] = Field(default={})

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that the number of disciplines to pick fits the number offered."""
        offered = len(self.choices)
        if not bool(offered) <= self.pick <= offered:
            cure = "pick one at least and all at most, or move them under known"
            yield ("pick",), f"is {self.pick} of {offered} disciplines; {cure}"


class Preliminaries(Model):
    """The constants and slots of a book, which the hero's entries name."""

    model_config = ConfigDict(extra="ignore")
    constants: dict[Name, Whole] = Field(default={})
    slots: dict[Name, SlotEntry] = Field(default={})

    @property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        """The least and largest value of each field."""
        return {}

    def meaning(self, call: str, name: str) -> Expression:
        """Return the expression that a name stands for, alone or in ``count`` or ``room``.

        Raises:
            ValueError: If there is no such name.
        """
        if call or name not in self.constants:
            cure = "use numbers, constants and dice"
            raise ValueError(f"the name {name!r} is no constant; {cure}")
        return self.constants[name]


class Hero(Preliminaries):
    """The hero: variables, flags, slots, items and disciplines."""

    variables: dict[Name, VariableEntry] = Field(default={})
    flags: dict[Name, Annotated[FlagEntry, BeforeValidator(_flag)]] = Field(default={})
    items: dict[Name, ItemEntry] = Field(default={})
    disciplines: Disciplines = Disciplines()

    @cached_property
    def fields(self) -> Mapping[str, HeroField]:
        """All fields by name, in the order of the file: variables, flags, items, disciplines."""
        return {each.name: each for each in self._declared()}

    def _declared(self) -> Iterator[HeroField]:
        for name, v in self.variables.items():
            yield HeroField(name, "variable", v.min, v.max, v.initial, "", ("variables", name))
        for name, flag in self.flags.items():
            yield HeroField(name, "flag", 0, 1, int(flag.initial), "", ("flags", name))
        for name, item in self.items.items():
            high = item.most(self.slots[item.slot])
            yield HeroField(name, "item", 0, high, item.initial, item.slot, ("items", name))
        for key, named in (("from", self.disciplines.choices), ("known", self.disciplines.known)):
            for name in named:
                path, known = ("disciplines", key, name), int(key == "known")
                yield HeroField(name, "discipline", 0, 1, known, "", path)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The index of each field among the values of a state."""
        return {name: place for place, name in enumerate(self.fields)}

    @cached_property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        """The least and largest value of each field."""
        return {name: (each.low, each.high) for name, each in self.fields.items()}

    @cached_property
    def picked(self) -> tuple[str, ...]:
        """The disciplines that the player picks from, if any are picked."""
        return tuple(self.disciplines.choices)

    @cached_property
    def members(self) -> Mapping[str, tuple[str, ...]]:
        """The items of each slot and of each kind."""
        groups = {*self.slots, *(item.kind for item in self.items.values() if item.kind)}
        return {
            group: tuple(n for n, item in self.items.items() if group in (item.slot, item.kind))
            for group in groups
        }

    def room(self, slot: str) -> Expression:
        """Return the number of places left in a slot."""
        return Operation("Sub", (self.slots[slot].capacity, total(self.members[slot])))

    def meaning(self, call: str, name: str) -> Expression:
        """Return the expression that a name stands for, alone or in ``count`` or ``room``.

        Raises:
            ValueError: If there is no such name.
        """
        if call:
            groups = self.members if call == "count" else self.slots
            if name not in groups:
                kind = "slot or kind" if call == "count" else "slot"
                raise ValueError(f"there is no {kind} {name!r}; {_UNKNOWN}")
            return total(self.members[name]) if call == "count" else self.room(name)
        if name in self.constants:
            return self.constants[name]
        if name not in self.fields:
            cure = f"write count({name})" if name in self.members else _UNKNOWN
            raise ValueError(f"the name {name!r} is unknown; {cure}")
        return name

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that every name is declared once, and that the initial items fit."""
        kinds: dict[str, str] = dict.fromkeys(self.constants, "constant")
        for each in self._declared():
            if each.name in kinds:
                yield each.path, f"is already the name of a {kinds[each.name]}; rename it"
            kinds.setdefault(each.name, each.kind)
        if len(self.fields) > _MOST_FIELDS:
            yield (), f"has {len(self.fields)} fields; at most {_MOST_FIELDS} are allowed"
        for slot, own in self.slots.items():
            carried = sum(item.initial for item in self.items.values() if item.slot == slot)
            if carried > own.capacity:
                told = f"is {own.capacity}, and {carried} items are carried at the start"
                yield ("slots", slot, "capacity"), f"{told}; raise it, or start with fewer"


_CELL = re.compile(r"K|\d{1,4}", re.ASCII)


Losses: TypeAlias = tuple[int | None, int | None]
"""The losses of the enemy and of the hero in a round; a loss of None kills."""


def _losses(cell: Any) -> Losses:
    parts = cell.split("/") if isinstance(cell, str) else []
    if len(parts) == 2 and all(map(_CELL.fullmatch, parts)):
        enemy, hero = (None if part == "K" else int(part) for part in parts)
        return enemy, hero
    raise ValueError(
        f"{cell!r} is no result; write what enemy and hero lose, such as 4/2, or K for killed"
    )


class LossTable(Model):
    """A table of results, a row for each digit."""

    columns: Annotated[list[Interval], Field(min_length=2, max_length=100)]
    rows: dict[Digit, list[Annotated[Losses, PlainValidator(_losses)]]]

    def results(self, difference: int) -> list[Losses]:
        """Return the losses for each digit from 0 to 9, by the hero's skill minus the enemy's."""
        ends = enumerate(self.columns)
        column = next(i for i, (_, high) in ends if high is None or difference <= high)
        return [self.rows[digit][column] for digit in range(10)]

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that the table is complete, and that every column can end a fight."""
        ends, lowest = self.columns, None
        for number, (low, high) in enumerate(ends, 1):
            if low != lowest or (high is None) != (number == len(ends)):
                message = f"column {range_text((low, high))} does not fit in its place"
                yield ("columns",), f"{message}; they should go from ..n to n.. without gaps"
            lowest = None if high is None else high + 1
        cells = {digit: len(self.rows.get(digit, ())) for digit in range(10)}
        for digit, number in cells.items():
            if number != len(ends):
                message = f"row {digit} has {number} cells; there are {len(ends)} columns"
                yield ("rows", digit), message
        for i, limits in enumerate(ends if {len(ends)} == {*cells.values()} else ()):
            if all(row[i][0] == 0 for row in self.rows.values()):
                message = f"in column {range_text(limits)} the enemy never loses anything"
                cure = "let some digit cost the enemy something, or a fight would never end"
                yield ("columns",), f"{message}; {cure}"


class FightingFantasyEntry(Model):
    """The hero in Fighting Fantasy combat."""

    skill: Fixed
    health: Annotated[Spent, Field(alias="stamina")]
    luck: Spent | None = None
    damage: Annotated[Damage, PlainValidator(read_damage)] = DAMAGE["standard"]


class ResultsTable(Model):
    """The hero in results-table combat, and the table."""

    skill: Fixed
    health: Annotated[Spent, Field(alias="endurance")]
    table: LossTable


class CombatEntry(Model):
    """The kinds of combat in the book."""

    fighting_fantasy: Annotated[FightingFantasyEntry | None, Field(alias="fighting-fantasy")] = None
    results_table: Annotated[ResultsTable | None, Field(alias="results-table")] = None

    def by_rules(self) -> dict[str, FightingFantasyEntry | ResultsTable]:
        """The kinds that the book describes, by the name of their rules."""
        kinds = {"fighting-fantasy": self.fighting_fantasy, "results-table": self.results_table}
        return {name: kind for name, kind in kinds.items() if kind is not None}
