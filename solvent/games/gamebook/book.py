"""The models of a gamebook's file, which are also the rules that are played and solved.

A section is a tree of blocks. Each block has effects, which happen in order when the block is
entered, and exactly one *way on*, such as a ``goto`` or ``choices``. The models have the content of
the file, with every expression parsed and every name looked up. :attr:`Book.nodes` gives each block
a place, by which states refer to it.

The rules of play:

1. An effect computes a value from the current fields, throws the dice in it, and clamps the result
   to the field's bounds.
2. After each single assignment in a block or a trade, the rules of ``whenever`` are checked in
   order. If a rule's condition holds and did not hold before the assignment, the episode ends
   immediately in the rule's ending.
3. In ``branch``, the first case whose condition holds applies. In ``choices``, the choices whose
   condition holds are offered.
4. An episode begins with the fields' initial values (dice thrown independently). Then the player
   picks the disciplines, and then the first section is entered. Rules of ``whenever`` are not
   checked before the first effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    model_validator,
)

from solvent.games.gamebook.expressions import (
    Expression,
    evaluate,
    names,
)
from solvent.games.gamebook.hero import (
    LARGEST_SECTION,
    Amount,
    AtLeast1,
    CombatEntry,
    Condition,
    Count,
    Fault,
    FightingFantasyEntry,
    Fixed,
    Flag,
    Hero,
    Interval,
    Item,
    Label,
    Model,
    Name,
    NotNegative,
    Path,
    Quantity,
    Rational,
    ResultsTable,
    SectionKey,
    Settable,
    Slot,
    Text,
    Variable,
    counted,
    one_of,
    range_text,
)
from solvent.model.context import LARGEST_MODIFIER

MOST_SECTIONS = 20_000

# Largest number of choices of a decision, and of cases of a branch.
_MOST_CHOICES = 100

# Largest number of rows of a random table, and of chances of a block.
_MOST_ROWS = 1000

# Largest number of enemies of a fight.
_MOST_ENEMIES = 20


# The endings are not known yet when the preamble is validated; its names are checked with the book.
EndingName = Annotated[Name, one_of("ending", lambda known: getattr(known, "endings", None))]
Target = Annotated[int, Field(ge=1, le=LARGEST_SECTION)]


def _each(meaning: Any) -> BeforeValidator:
    """Return a validator that expands a name, or a list of names, to a mapping to `meaning`."""

    def expand(value: Any) -> Any:
        given = [value] if isinstance(value, str) else value
        named = isinstance(given, list) and all(isinstance(name, str) for name in given)
        return dict.fromkeys(given, meaning) if named else value

    return BeforeValidator(expand)


class Eat(Model):
    """A meal, if the hero has one, or else hunger."""

    item: Item
    unless: Condition = 0
    hunger: dict[Variable, Amount]


class Effect(Model):
    """An effect on fields, which has one key, or ``if`` with ``then`` and perhaps ``else``."""

    gain: dict[Variable, Amount] | None = None
    lose: dict[Variable, Amount] | None = None
    set: Annotated[dict[Settable, Amount] | None, _each(True)] = None
    clear: Annotated[dict[Flag, Amount] | None, _each(False)] = None
    take: Annotated[dict[Item, Quantity] | None, _each(1)] = None
    drop: Annotated[dict[Item, Quantity] | None, _each(1)] = None
    empty: Slot | None = None
    eat: Eat | None = None
    condition: Annotated[Condition | None, Field(alias="if")] = None
    then: list[Effect] | None = None
    otherwise: Annotated[list[Effect] | None, Field(alias="else")] = None

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that the entry is exactly one effect."""
        yield from _should_be_one(self, "effect", EFFECTS)
        alone = self.then is None and self.otherwise is not None
        if alone or (self.then is None) != (self.condition is None):
            yield (), "has if, then or else alone; if and then belong together, and else to both"


EFFECTS = ("gain", "lose", "set", "clear", "take", "drop", "empty", "eat", "condition")


def _should_be_one(model: Model, what: str, allowed: tuple[str, ...]) -> Iterator[Fault]:
    given = [name for name in allowed if getattr(model, name) is not None]
    named = [name.replace("condition", "if") for name in given or allowed]
    if not given:
        yield (), f"has no {what}; it should have one of {', '.join(named)}"
    elif len(given) > 1:
        yield (), f"has {' and '.join(named)}; it should have one {what} only"


class Block(Model):
    """A place in the book: text, effects, and one way on."""

    text: Text = ""
    do: list[Effect] = Field(default=[])
    goto: Target | None = None
    ending: EndingName | None = None
    choices: Annotated[list[ChoiceEntry], Field(min_length=1, max_length=_MOST_CHOICES)] | None = (
        None
    )
    branch: Annotated[list[Case], Field(min_length=1, max_length=_MOST_CHOICES)] | None = None
    roll: Roll | None = None
    chances: Annotated[list[Chance], Field(min_length=1, max_length=_MOST_ROWS)] | None = None
    check: CheckEntry | None = None
    fight: Fight | None = None
    shop: ShopEntry | None = None
    repeat: Block | None = None
    again: Literal[True] | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        """Expand a number to a ``goto``, and the word ``again`` to the key of that name."""
        if isinstance(value, int) and not isinstance(value, bool):
            return {"goto": value}
        return {"again": True} if value == "again" else value

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that the block has one way on, which leads somewhere in every state."""
        yield from _should_be_one(self, "way on", WAYS_ON)
        *cases, last = [case.when == 1 for case in self.branch or ()] or [True]
        if any(cases) or not last:
            cure = "write it for all states that the cases before it leave"
            yield ("branch",), f"the last case, and only this one, should have no when; {cure}"
        if self.choices and all(choice.when != 1 for choice in self.choices):
            cure = "write one without, so that there is always something to choose"
            yield ("choices",), f"every choice has a when; {cure}"
        total = sum((chance.probability for chance in self.chances or ()), Fraction(0))
        if self.chances is not None and total != 1:
            rest = f"{abs(1 - total)} {'is missing' if total < 1 else 'is too much'}"
            yield ("chances",), f"the probabilities sum to {total}; they should sum to 1, {rest}"

    @cached_property
    def way_on(self) -> str:
        """The key of the way on."""
        return next(name for name in WAYS_ON if getattr(self, name) is not None)

    def inner(self) -> Iterator[tuple[Path, Block]]:
        """Yield the blocks inside, each with its path from this block."""
        way = self.way_on
        match getattr(self, way):
            case list() as options:
                for i, option in enumerate(options):
                    yield (way, i), option
            case Roll(results=results):
                for ends, row in results.items():
                    yield (way, "results", range_text(ends)), row
            case Block() as repeated:
                yield (way,), repeated
            case Model() as exit_:
                for name in type(exit_).model_fields:
                    if isinstance(inside := getattr(exit_, name), Block):
                        yield (way, name), inside


WAYS_ON = tuple(name for name in Block.model_fields if name not in ("text", "do"))

CHANCE = ("branch", "roll", "chances", "check")
"""Ways on that are allowed between a ``repeat`` and its ``again``."""


class ChoiceEntry(Block):
    """An option of a decision."""

    label: Label
    when: Condition = 1


class Case(Block):
    """A case of a branch."""

    when: Condition = 1


class Chance(Block):
    """A block with its probability."""

    probability: Annotated[Rational, Field(gt=0, le=1)]


class Roll(Model):
    """A random table; its rows do not overlap, and cover every possible result."""

    dice: Amount
    results: Annotated[dict[Interval, Block], Field(min_length=1, max_length=_MOST_ROWS)]

    def row(self, result: int) -> int:
        """Return the index of the row that contains a result."""
        return next(
            number
            for number, (low, high) in enumerate(self.results)
            if (low is None or low <= result) and (high is None or result <= high)
        )


class Modifier(Model):
    """A circumstance of a check."""

    name: Label
    size: Annotated[Rational, Field(ge=-LARGEST_MODIFIER, le=LARGEST_MODIFIER)]
    when: Condition = 1
    times: Condition = 1

    @property
    def number(self) -> Expression:
        """The number of times that the modifier counts."""
        return counted(self.times, self.when)


class CheckEntry(Model):
    """A check in context, see :func:`solvent.model.context.modified_exactly`."""

    name: Label
    base: Annotated[Rational, Field(ge=0, le=1)]
    modifiers: Annotated[list[Modifier], Field(max_length=50)] = Field(default=[])
    success: Block
    failure: Block


class Enemy(Model):
    """An opponent; its health is its stamina or endurance."""

    name: Label
    skill: Annotated[int, Field(ge=0, le=1000)]
    health: Annotated[
        int, Field(ge=1, le=1000, validation_alias=AliasChoices("stamina", "endurance"))
    ]


class Counting(Model):
    """A part of a fight that applies in certain rounds, optionally only under a condition."""

    rounds: Interval = (None, None)
    when: Condition = 1

    @property
    def first(self) -> int:
        """The first round in which the part applies, counted from 1 over the whole fight."""
        return self.rounds[0] or 1

    def counts_in(self, round_: int) -> bool:
        """Return whether the part applies in a round, counted from 1."""
        last = self.rounds[1]
        return self.first <= round_ and (last is None or round_ <= last)


class Bonus(Counting):
    """A change of the hero's skill in a fight."""

    name: Label
    size: Fixed

    @property
    def amount(self) -> Expression:
        """The change, computed from the fields when the fight begins."""
        return counted(self.size, self.when)


class Invulnerable(Counting):
    """Rounds in which the hero loses nothing."""

    rounds: Interval


class Escape(Block):
    """A way out of a fight, offered as a decision before a round begins."""

    after: Annotated[int, Field(ge=0, le=100)] = 0
    parting: bool = False
    when: Condition = 1


class Added(Model):
    """Losses added to every round."""

    enemy: NotNegative = 0
    hero: NotNegative = 0


class Fight(Model):
    """A fight against one enemy after another, by rules that the book describes.

    Skill, bonuses and conditions are computed when the fight begins. Rounds are counted over the
    whole fight. The hero's losses carry over from enemy to enemy, and are reset when it ends.
    """

    rules: Literal["fighting-fantasy", "results-table"]
    enemies: Annotated[list[Enemy], Field(min_length=1, max_length=_MOST_ENEMIES)]
    bonuses: Annotated[list[Bonus], Field(max_length=50)] = Field(default=[])
    dealt: AtLeast1 = 1
    suffered: NotNegative = 1
    added: Added = Added()
    invulnerable: Invulnerable | None = None
    escape: Escape | None = None
    victory: Block
    defeat: Block

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any, info: ValidationInfo[Any]) -> Any:
        """Fill in the rules and the ending of defeat from the book if the fight omits them."""
        if not isinstance(value, dict):
            return value
        kinds = info.context.combat.by_rules()
        if len(kinds) == 1:
            value = {"rules": next(iter(kinds)), **value}
        rules = value.get("rules")
        described = kinds.get(rules) if isinstance(rules, str) else None
        if described is not None and described.health in info.context.fallen:
            value = {"defeat": {"ending": info.context.fallen[described.health]}, **value}
        return value

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that the book describes this kind of combat."""
        if self.rules not in known.combat.by_rules():
            message = f"the book does not describe {self.rules} combat; add it under combat"
            yield ("rules",), message
        # With tests of LUCK, rounds without a loss could repeat a state.
        for key in {"suffered", "invulnerable"} & self.model_fields_set:
            if self.rules == "fighting-fantasy":
                yield (key,), f"{key} belongs to results-table combat; remove it"

    @property
    def expressions(self) -> Iterator[Expression]:
        """The expressions computed when the fight begins, except the hero's skill."""
        yield from (bonus.amount for bonus in self.bonuses)
        yield from (self.dealt, self.suffered, self.added.enemy, self.added.hero)
        yield from (part.when for part in (self.invulnerable, self.escape) if part is not None)


class Good(Model):
    """A good that can be bought and sold."""

    item: Item
    buy: Count | None = None
    sell: Count | None = None
    quantity: Annotated[int, Field(ge=1, le=1000)] | None = None

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that the good has a price, and that trading it comes to an end."""
        if self.buy is None and self.sell is None:
            yield (), "has no price; add buy, sell, or both"
        if self.quantity is not None:
            if self.buy is None:
                yield (), "has quantity without buy; quantity limits what can be bought"
        elif self.buy is not None and self.sell is not None and self.buy <= self.sell:
            yield (
                (),
                "could be traded for ever; it should cost more to buy than to sell, or have a "
                "quantity",
            )


class ShopEntry(Model):
    """A repeated decision to buy, to sell, or to leave."""

    money: Variable
    goods: Annotated[list[Good], Field(min_length=1, max_length=50)]
    leave: Block


class SectionEntry(Block):
    """A numbered block."""

    title: Text = ""


class Checks(Model):
    """The constants of checks."""

    c: Annotated[Rational, Field(ge=0, le=100)] = Fraction(21, 5)
    denominator: Annotated[int, Field(ge=2, le=10**18)] = 10**9


class Ending(Model):
    """An ending of the book, and its score."""

    score: Rational
    text: Text = ""


class Whenever(Model):
    """A rule that ends the episode as soon as an assignment makes its condition hold."""

    when: Condition
    ending: EndingName


class Preamble(Hero):
    """A book without its sections."""

    checks: Checks = Checks()
    combat: CombatEntry = CombatEntry()
    endings: Annotated[dict[Name, Ending], Field(min_length=1)]
    whenever: Annotated[list[Whenever], Field(max_length=50)] = Field(default=[])

    @property
    def fallen(self) -> Mapping[str, str]:
        """The ending when a field is 0, for each field that alone triggers a ``whenever`` rule."""
        alone = [(names(rule.when), rule) for rule in self.whenever if len(names(rule.when)) == 1]
        # The first rule of a field is the one that counts.
        return {
            name: rule.ending for [name], rule in reversed(alone) if evaluate(rule.when, {name: 0})
        }


class Book(Preamble):
    """A whole gamebook.

    Its sections have no cycles, as checked by
    :func:`~solvent.games.gamebook.loader.load_book`.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["solvent-gamebook"]
    version: Literal[1]
    title: Label
    author: Text = ""
    start: Target = 1
    sections: Annotated[
        dict[SectionKey, SectionEntry], Field(min_length=1, max_length=MOST_SECTIONS)
    ]
    _digest: str = PrivateAttr("")

    def faults(self, known: Any) -> Iterator[Fault]:
        """Check that every way on leads to a section."""
        leads_to = {(*node.path, "goto"): node.block.goto for node in self.nodes.values()}
        for path, number in {("start",): self.start, **leads_to}.items():
            if number is not None and number not in self.sections:
                yield path, f"there is no section {number}; write it, or lead somewhere else"

    @property
    def digest(self) -> str:
        """SHA-256 of the file's content, in hexadecimal."""
        return self._digest

    @cached_property
    def nodes(self) -> Mapping[Place, PlacedBlock]:
        """Every block by its place: sections ascending, each before the blocks inside it."""
        found: dict[Place, PlacedBlock] = {}
        for number in sorted(self.sections):
            path = ("sections", number)
            self._number(self.sections[number], (number, 0), path, found, repeated=False)
        return dict(sorted(found.items()))

    def _number(
        self,
        block: Block,
        place: Place,
        path: Path,
        found: dict[Place, PlacedBlock],
        *,
        repeated: bool,
    ) -> PlacedBlock:
        """Assign places to a block and those inside it."""
        section, index = place
        inner: list[PlacedBlock] = []
        following = index + 1
        repeats = block.repeat is not None or (repeated and block.way_on in CHANCE)
        for step, inside in block.inner():
            node = self._number(
                inside, (section, following), (*path, *step), found, repeated=repeats
            )
            following = node.end
            inner.append(node)
        exit_ = getattr(block, block.way_on)
        found[place] = PlacedBlock(place, path, block, exit_, tuple(inner), following, repeated)
        return found[place]

    def in_section(self, number: int) -> Iterator[PlacedBlock]:
        """Return the nodes of a section, in order."""
        return (self.nodes[number, index] for index in range(self.nodes[number, 0].end))

    @cached_property
    def targets(self) -> Mapping[int, tuple[int, ...]]:
        """The distinct successors of each section, in the order of the text."""
        blocks = {n: [node.block for node in self.in_section(n)] for n in sorted(self.sections)}
        return {
            number: tuple(dict.fromkeys(b.goto for b in inside if b.goto is not None))
            for number, inside in blocks.items()
        }

    @cached_property
    def in_order(self) -> tuple[list[int], list[list[int]]]:
        """The sections reachable from the first, each before all its successors; and the cycles.

        There is one cycle for each way on that leads back to a section on the current path of a
        depth-first search.
        """
        sections: list[int] = []
        cycles: list[list[int]] = []
        path = {self.start: iter(self.targets[self.start])}
        done: set[int] = set()
        while path:
            number, waiting = next(reversed(path.items()))
            target = next(waiting, None)
            if target is None:
                sections.append(number)
                done.add(number)
                del path[number]
            elif target in path:
                cycles.append([*list(path)[list(path).index(target) :], target])
            elif target not in done:
                path[target] = iter(self.targets[target])
        return sections[::-1], cycles

    def used_in(self, fight: Fight) -> FightingFantasyEntry | ResultsTable:
        """Return the hero's numbers and fields that a fight uses."""
        return self.combat.by_rules()[fight.rules]

    def spent_in(self, fight: Fight) -> tuple[str, ...]:
        """Return the fields that change in a fight: the hero's health, and LUCK if there is any."""
        rules = self.used_in(fight)
        luck = rules.luck if isinstance(rules, FightingFantasyEntry) else None
        return (rules.health,) if luck is None else (rules.health, luck)


Place: TypeAlias = tuple[int, int]
"""A section's number, and the index of a block in it; a block precedes the blocks inside it."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedBlock:
    """A block with its place.

    Attributes:
        place: The place, by which states refer to the block.
        path: The keys that lead to the block in the file.
        block: The block.
        exit: The way on, that is, the value of the block's only key in :data:`WAYS_ON`.
        inner: The nodes of the blocks inside.
        end: The index that follows the last block inside.
        repeated: Whether there is only chance between the block and an enclosing ``repeat``.
    """

    place: Place
    path: Path
    block: Block
    exit: Any
    inner: tuple[PlacedBlock, ...]
    end: int
    repeated: bool
