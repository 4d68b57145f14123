"""The shape of a gamebook file: which keys stand where, and of what type their values are.

These models know nothing of what names mean or sections lead to; that is the loader's part. Every
model refuses keys that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from fractions import Fraction
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from solvent.games.fighting_fantasy.rules import DAMAGE
from solvent.games.gamebook.expressions import LARGEST_NUMBER, NAME, RESERVED

VERSION = 1
"""Of the format."""

LARGEST_SECTION = 99_999
"""The largest number of a section."""

MOST_ENEMIES = 20
"""Of one fight."""

MOST_CHOICES = 100
"""Of one decision; also cases of one branch."""

MOST_ROWS = 1000
"""Of one random table."""

MOST_SECTIONS = 20_000

MOST_DIGITS = 100
"""Of a rational number's numerator, of its denominator, and on each side of its point."""

_DIGITS = rf"\d{{1,{MOST_DIGITS}}}"
_RATIONAL = re.compile(
    rf"[+-]?({_DIGITS}(/{_DIGITS})?|({_DIGITS})?\.{_DIGITS})(?P<percent>%?)", re.ASCII
)
_KEY = re.compile(r"0|[1-9]\d{0,6}", re.ASCII)
_RANGE = re.compile(r"(-?\d{1,7})?(\.\.)?(-?\d{1,7})?", re.ASCII)


def read_rational(value: Any) -> Fraction:
    """A rational number such as ``1/3``, ``0.35``, ``35%`` or ``+20%``, exactly.

    Raises:
        ValueError: If it is none, or has too many digits.
    """
    text = "" if isinstance(value, bool) else str(value)
    match = _RATIONAL.fullmatch(text)
    if match is None:
        raise ValueError(
            f"should be a number such as 1, 1/3, 0.35 or 35%, of at most {MOST_DIGITS} digits on "
            f"each side of / or ."
        )
    try:
        number = Fraction(text.removesuffix("%"))
    except ZeroDivisionError:
        raise ValueError("should not be divided by 0") from None
    return number / 100 if match["percent"] else number


Range: TypeAlias = tuple[int | None, int | None]


def read_range(value: Any) -> Range:
    """The ends of a range such as ``3``, ``1..3``, ``..3`` or ``4..``; None: without limit.

    Raises:
        ValueError: If it is none, or upside down.
    """
    match = None if isinstance(value, bool) else _RANGE.fullmatch(str(value))
    if match is None or (match[1] is None and match[3] is None) or (match[3] and not match[2]):
        raise ValueError("should be a range such as 3, 1..3, ..3 or 4..")
    low = None if match[1] is None else int(match[1])
    high = None if match[3] is None else int(match[3])
    if not match[2]:
        high = low
    if low is not None and high is not None and low > high:
        raise ValueError("should be a range whose ends are in order")
    return low, high


def _check_name(value: Any) -> Any:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise ValueError("should be a name: letters, digits and _, at most 40")
    if value in RESERVED:
        raise ValueError("should be another name; this is a word of expressions")
    return value


def _integer_key(value: Any) -> Any:
    """The keys of JSON are text."""
    is_number = isinstance(value, str) and _KEY.fullmatch(value)
    return int(value) if is_number else value


def _check_version(value: int) -> int:
    if value != VERSION:
        raise ValueError(f"is {value}; books of version {VERSION} are read here")
    return value


def _only_true(value: bool | None) -> bool | None:
    if value is False:
        raise ValueError("should be true, or left out")
    return value


def _text_keys(value: Any) -> Any:
    return {str(key): inside for key, inside in value.items()} if type(value) is dict else value


def _text(value: Any) -> Any:
    """A text may look like a number, and nothing is an empty one."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value


def _each(meaning: Any) -> Any:
    """Let a name, or a list of names, be short for a mapping of these to `meaning`."""

    def mapping(value: Any) -> Any:
        if isinstance(value, str):
            return {value: meaning}
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            return dict.fromkeys(value, meaning)
        return value

    return BeforeValidator(mapping)


Text = Annotated[str, BeforeValidator(_text)]
Label = Annotated[str, BeforeValidator(_text), Field(min_length=1)]
Name = Annotated[str, BeforeValidator(_check_name)]
Formula = Annotated[str, BeforeValidator(_text), Field(min_length=1)]
"""An expression, which the loader parses."""
Amounts = dict[Name, Formula]
Whole = Annotated[int, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Positive = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Rational = Annotated[Fraction, BeforeValidator(read_rational)]
Interval = Annotated[Range, BeforeValidator(read_range)]
Digit = Annotated[int, BeforeValidator(_integer_key), Field(ge=0, le=9)]
SectionNumber = Annotated[int, Field(ge=1, le=LARGEST_SECTION)]
SectionKey = Annotated[int, BeforeValidator(_integer_key), Field(ge=1, le=LARGEST_SECTION)]


class Model(BaseModel):
    """What all models have in common: no unknown keys, no values of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FlagEntry(Model):
    """Yes or no."""

    initial: bool = False
    description: Text = ""


def _flag(value: Any) -> Any:
    """A text, or nothing, is short for a description; true or false for how the flag starts."""
    if isinstance(value, bool):
        return {"initial": value}
    return value if isinstance(value, dict) else {"description": value}


class VariableEntry(Model):
    """A whole number that changes."""

    initial: Formula
    min: Whole = 0
    max: Whole
    description: Text = ""


class SlotEntry(Model):
    """A place for items."""

    capacity: Count
    kinds: list[Name] | None = None
    description: Text = ""


class ItemEntry(Model):
    """Something that is carried."""

    slot: Name
    kind: Name | None = None
    initial: Count = 0
    max: Positive | None = None
    description: Text = ""


class DisciplinesEntry(Model):
    """What the hero knows."""

    pick: Count = 0
    choices: Annotated[dict[Name, Text], Field(alias="from")] = {}
    known: dict[Name, Text] = {}


class ChecksEntry(Model):
    """The constants of checks."""

    c: Rational = Fraction(21, 5)
    denominator: Annotated[int, Field(ge=2, le=10**18)] = 10**9


def _damage(value: Any) -> Any:
    """What a name of :data:`solvent.games.fighting_fantasy.rules.DAMAGE` stands for."""
    if isinstance(value, str) and value in DAMAGE:
        return asdict(DAMAGE[value])
    return value


class FightingFantasyEntry(Model):
    """What Fighting Fantasy combat uses of the hero."""

    skill: Formula
    stamina: Name
    luck: Name | None = None
    damage: Annotated[dict[str, Count], BeforeValidator(_damage)] = asdict(DAMAGE["standard"])


class TableEntry(Model):
    """A table of results, a row for each digit."""

    columns: Annotated[list[Interval], Field(min_length=1, max_length=100)]
    rows: dict[Digit, list[str]]


class ResultsTableEntry(Model):
    """What results-table combat uses of the hero, and its table."""

    skill: Formula
    endurance: Name
    table: TableEntry


class CombatEntry(Model):
    """The kinds of combat in the book."""

    fighting_fantasy: Annotated[FightingFantasyEntry | None, Field(alias="fighting-fantasy")] = None
    results_table: Annotated[ResultsTableEntry | None, Field(alias="results-table")] = None


class WheneverEntry(Model):
    """A rule that ends play."""

    when: Formula
    ending: Name


class EndingEntry(Model):
    """A way in which play ends."""

    score: Rational
    text: Text = ""


class EatEntry(Model):
    """A meal, or hunger."""

    item: Name
    unless: Formula | None = None
    hunger: dict[Name, Formula]


class EffectEntry(Model):
    """Something that happens to fields: one of its keys, of which ``if`` has two more with it."""

    gain: Amounts | None = None
    lose: Amounts | None = None
    set: Annotated[Amounts, _each(True)] | None = None
    clear: Annotated[Amounts, _each(False)] | None = None
    take: Annotated[Amounts, _each(1)] | None = None
    drop: Annotated[Amounts, _each(1)] | None = None
    empty: Name | None = None
    eat: EatEntry | None = None
    condition: Annotated[Formula | None, Field(alias="if")] = None
    then: list[EffectEntry] | None = None
    otherwise: Annotated[list[EffectEntry] | None, Field(alias="else")] = None

    @model_validator(mode="after")
    def _one(self) -> EffectEntry:
        given = [name for name in EFFECTS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(_should_be_one("effect", given, EFFECTS))
        if (self.then is None) != (self.condition is None):
            raise ValueError("has if without then, or then without if; both belong together")
        if self.otherwise is not None and self.condition is None:
            raise ValueError("has else without if; else belongs to if and then")
        return self


EFFECTS = ("gain", "lose", "set", "clear", "take", "drop", "empty", "eat", "condition")


class BlockEntry(Model):
    """A place in the book: text, effects, and one way on."""

    text: Text = ""
    do: list[EffectEntry] = []
    goto: SectionNumber | None = None
    ending: Name | None = None
    choices: Annotated[list[ChoiceEntry], Field(min_length=1, max_length=MOST_CHOICES)] | None = (
        None
    )
    branch: Annotated[list[CaseEntry], Field(min_length=1, max_length=MOST_CHOICES)] | None = None
    roll: RollEntry | None = None
    chances: Annotated[list[ChanceEntry], Field(min_length=1, max_length=MOST_ROWS)] | None = None
    check: CheckEntry | None = None
    fight: FightEntry | None = None
    shop: ShopEntry | None = None
    repeat: BlockEntry | None = None
    again: Annotated[bool | None, AfterValidator(_only_true)] = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        """A number is short for goto, and the word again for itself."""
        if isinstance(value, int) and not isinstance(value, bool):
            return {"goto": value}
        return {"again": True} if value == "again" else value

    @model_validator(mode="after")
    def _one_way_on(self) -> BlockEntry:
        given = [name for name in WAYS_ON if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(_should_be_one("way on", given, WAYS_ON))
        return self


WAYS_ON = (
    "goto",
    "ending",
    "choices",
    "branch",
    "roll",
    "chances",
    "check",
    "fight",
    "shop",
    "repeat",
    "again",
)


def _should_be_one(what: str, given: list[str], allowed: tuple[str, ...]) -> str:
    names = [name.replace("condition", "if") for name in given or allowed]
    if given:
        return f"has {' and '.join(names)}; it should have one {what} only"
    return f"has no {what}; it should have one of {', '.join(names)}"


class ChoiceEntry(BlockEntry):
    """Something that the player may choose."""

    label: Label
    when: Formula | None = None


class CaseEntry(BlockEntry):
    """A case of a branch."""

    when: Formula | None = None


class ChanceEntry(BlockEntry):
    """A block with its probability."""

    probability: Rational


class RollEntry(Model):
    """A random table."""

    dice: Formula
    results: Annotated[
        dict[str, BlockEntry],
        BeforeValidator(_text_keys),
        Field(min_length=1, max_length=MOST_ROWS),
    ]


class CheckModifierEntry(Model):
    """A circumstance of a check."""

    name: Label
    size: Rational
    when: Formula | None = None
    times: Formula | None = None

    @model_validator(mode="after")
    def _one(self) -> CheckModifierEntry:
        if self.when is not None and self.times is not None:
            raise ValueError("has when and times; it should have one of them only")
        return self


class CheckEntry(Model):
    """A check in context."""

    name: Label
    base: Rational
    modifiers: Annotated[list[CheckModifierEntry], Field(max_length=50)] = []
    success: BlockEntry
    failure: BlockEntry


class EnemyEntry(Model):
    """An opponent; one of stamina and endurance, by the rules of the fight."""

    name: Label
    skill: Annotated[int, Field(ge=0, le=1000)]
    stamina: Annotated[int, Field(ge=1, le=1000)] | None = None
    endurance: Annotated[int, Field(ge=1, le=1000)] | None = None


class BonusEntry(Model):
    """A change of the hero's skill in a fight."""

    name: Label
    size: Formula
    rounds: Interval | None = None
    when: Formula | None = None


class EscapeEntry(BlockEntry):
    """A way out of a fight."""

    after: Annotated[int, Field(ge=0, le=100)] = 0
    parting: bool = False
    when: Formula | None = None


class AddedEntry(Model):
    """What a round of results-table combat costs besides."""

    enemy: Formula = "0"
    hero: Formula = "0"


class InvulnerableEntry(Model):
    """Rounds of results-table combat in which the hero loses nothing."""

    rounds: Interval
    when: Formula | None = None


class FightEntry(Model):
    """Combat."""

    rules: Literal["fighting-fantasy", "results-table"] | None = None
    enemies: Annotated[list[EnemyEntry], Field(min_length=1, max_length=MOST_ENEMIES)]
    bonuses: Annotated[list[BonusEntry], Field(max_length=50)] = []
    dealt: Formula | None = None
    suffered: Formula | None = None
    added: AddedEntry = AddedEntry()
    invulnerable: InvulnerableEntry | None = None
    escape: EscapeEntry | None = None
    victory: BlockEntry
    defeat: BlockEntry | None = None


class GoodEntry(Model):
    """Something that is bought and sold."""

    item: Name
    buy: Count | None = None
    sell: Count | None = None
    quantity: Annotated[int, Field(ge=1, le=1000)] | None = None

    @model_validator(mode="after")
    def _is_traded(self) -> GoodEntry:
        if self.buy is None and self.sell is None:
            raise ValueError("has no price; add buy, sell, or both")
        if self.quantity is not None and self.buy is None:
            raise ValueError("has quantity without buy; quantity limits what can be bought")
        endless = self.buy is not None and self.sell is not None and self.buy <= self.sell
        if endless and self.quantity is None:
            raise ValueError(
                "could be traded for ever; it should cost more to buy than to sell, or have a "
                "quantity"
            )
        return self


class ShopEntry(Model):
    """Buying and selling."""

    money: Name
    goods: Annotated[list[GoodEntry], Field(min_length=1, max_length=50)]
    leave: BlockEntry


class SectionEntry(BlockEntry):
    """A numbered block."""

    title: Text = ""


class File(Model):
    """A whole file."""

    format: Literal["solvent-gamebook"]
    version: Annotated[int, AfterValidator(_check_version)]
    title: Label
    author: Text = ""
    start: SectionNumber = 1
    constants: dict[Name, Whole] = {}
    variables: dict[Name, VariableEntry] = {}
    flags: dict[Name, Annotated[FlagEntry, BeforeValidator(_flag)]] = {}
    slots: dict[Name, SlotEntry] = {}
    items: dict[Name, ItemEntry] = {}
    disciplines: DisciplinesEntry = DisciplinesEntry()
    checks: ChecksEntry = ChecksEntry()
    combat: CombatEntry = CombatEntry()
    whenever: Annotated[list[WheneverEntry], Field(max_length=50)] = []
    endings: Annotated[dict[Name, EndingEntry], Field(min_length=1)]
    sections: Annotated[
        dict[SectionKey, SectionEntry], Field(min_length=1, max_length=MOST_SECTIONS)
    ]


def keys_at(path: Iterable[Any]) -> list[str]:
    """The keys that may stand in the mapping to which a path leads, if it is one of a model."""
    kind: Any = File
    for step in path:
        if isinstance(kind, type) and issubclass(kind, Model):
            fields = {field.alias or name: field for name, field in kind.model_fields.items()}
            kind = _plain(fields[step].annotation) if step in fields else None
        else:
            inside = get_args(kind)
            kind = _plain(inside[-1]) if inside else None
    if not (isinstance(kind, type) and issubclass(kind, Model)):
        return []
    return [field.alias or name for name, field in kind.model_fields.items()]


def _plain(kind: Any) -> Any:
    """A type without its annotations, and without None."""
    while True:
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        elif get_origin(kind) in (UnionType, Union):
            [kind] = [part for part in get_args(kind) if part is not type(None)]
        else:
            return kind
