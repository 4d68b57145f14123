"""What a gamebook is once it has been read: sections of blocks, and fields that are whole numbers.

The file's many conveniences are gone here (:mod:`solvent.games.gamebook.loader` replaces them), so
that a machine has little to know:

- **Fields.** Variables, flags, items and disciplines are all whole numbers within bounds, see
  :class:`Field`; a flag is 0 or 1, an item's number is how many are carried. Constants, ``count``
  and ``room`` have been replaced by what they stand for.
- **Effects.** Whatever happens to fields is an :class:`Assign` or a :class:`When`.
- **Blocks.** A section is a tree of :class:`Block`. Each has effects, which happen in order when
  play gets there, and one exit, the way on: a :class:`Goto`, a decision, a chance event, an end.

Rules that the machine keeps:

1. An assignment computes its value from the fields as they are, throws the dice in it, and clamps
   the result to the field's bounds.
2. After every single assignment of a block or a trade each rule of :attr:`Book.whenever` is looked
   at, in order: where its condition holds and did not hold before that assignment, play ends there
   and then in its ending, and nothing else happens.
3. In a :class:`Cases` the first case whose condition holds applies. Of :class:`Choices`, those
   whose condition holds are offered.
4. Play begins with the fields' initial values (dice thrown independently), then the player picks
   the disciplines that :class:`Picks` asks for, then play gets to the root block of the first
   section. Whenever-rules are not looked at before the first effect.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from solvent.games.fighting_fantasy.rules import Damage
from solvent.games.gamebook.expressions import Expression

Kind: TypeAlias = Literal["variable", "flag", "item", "discipline"]


@dataclass(frozen=True, slots=True)
class Field:
    """A whole number that is part of the state.

    Attributes:
        name: Unique among the fields.
        kind: What it is in the file.
        low: Its least value; 0 unless it is a variable.
        high: Its largest value; 1 for flags and disciplines.
        initial: Its value at the start, dice allowed; a plain number unless it is a variable.
        description: For the player.
        slot: Where an item is carried; empty for other fields.
    """

    name: str
    kind: Kind
    low: int
    high: int
    initial: Expression
    description: str = ""
    slot: str = ""


@dataclass(frozen=True, slots=True)
class Picks:
    """Disciplines that the player picks at the start.

    They are picked one after the other, each from those that stand after the last one in
    `names` (and early enough to leave the rest), so that each set is picked in one way only.

    Attributes:
        count: How many are picked; 0 if none.
        names: The fields to pick from. Disciplines that the hero has anyway are not among them.
    """

    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """A field gets a value, clamped to its bounds; dice in the value are thrown."""

    field: str
    value: Expression
    line: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class When:
    """Effects under a condition (without dice)."""

    condition: Expression
    then: tuple[Effect, ...]
    otherwise: tuple[Effect, ...] = ()


Effect: TypeAlias = Assign | When


@dataclass(frozen=True, slots=True)
class Goto:
    """On to the root block of a section."""

    section: int


@dataclass(frozen=True, slots=True)
class End:
    """Play is over, with the score of an ending."""

    ending: str


@dataclass(frozen=True, slots=True)
class Option:
    """Something that the player may choose if its condition holds."""

    text: str
    condition: Expression
    block: Block


@dataclass(frozen=True, slots=True)
class Choices:
    """The player's decision between the options whose condition holds."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A block under a condition."""

    condition: Expression
    block: Block


@dataclass(frozen=True, slots=True)
class Cases:
    """The first case whose condition holds."""

    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class RollRow:
    """A row of a random table: results from `low` to `high`, without limit where None."""

    low: int | None
    high: int | None
    block: Block


@dataclass(frozen=True, slots=True)
class Roll:
    """A random table: the rows do not overlap and hold every result that can fall.

    The dice are thrown with the fields as they are when the block's effects have happened.
    """

    dice: Expression
    rows: tuple[RollRow, ...]


@dataclass(frozen=True, slots=True)
class Chance:
    """A block with a probability, which is above 0."""

    probability: Fraction
    block: Block


@dataclass(frozen=True, slots=True)
class Chances:
    """Blocks with probabilities that sum to 1."""

    chances: tuple[Chance, ...]


@dataclass(frozen=True, slots=True)
class Circumstance:
    """A modifier of a check.

    It is `size` x `times` in all; `times` is 1 or 0 where the file only gives a condition.
    """

    name: str
    size: Fraction
    times: Expression


@dataclass(frozen=True, slots=True)
class CheckInContext:
    """A check: succeeds with :func:`solvent.model.context.modified_exactly` of base and sum.

    The constant c and the denominator are those of the book.
    """

    name: str
    base: Fraction
    circumstances: tuple[Circumstance, ...]
    success: Block
    failure: Block


@dataclass(frozen=True, slots=True)
class Enemy:
    """One opponent of a fight; `endurance` is called STAMINA in Fighting Fantasy."""

    name: str
    skill: int
    endurance: int


@dataclass(frozen=True, slots=True)
class Bonus:
    """A change of the hero's skill in a fight.

    Attributes:
        name: What it comes from.
        size: Of the change, without dice, with the fields as they are when the fight begins.
        first: The first round in which it counts, from 1.
        last: The last, or None: to the end. Rounds are counted through the whole fight.
    """

    name: str
    size: Expression
    first: int = 1
    last: int | None = None

    def counts_in(self, round_: int) -> bool:
        """Whether it counts in a round, from 1."""
        return self.first <= round_ and (self.last is None or round_ <= self.last)


@dataclass(frozen=True, slots=True)
class Escape:
    """A way out of a fight, offered as a decision before a round begins.

    Attributes:
        after: How many rounds of the whole fight must have been fought; 0: from the start.
        parting: Whether the hero is struck while leaving: one last round is fought in which only
            the hero loses. In results-table combat only.
        block: Where it leads.
        condition: The escape is offered only where it holds; looked at when the fight begins.
    """

    after: int
    parting: bool
    block: Block
    condition: Expression


@dataclass(frozen=True, slots=True)
class FightingFantasyFight:
    """A fight by the rules of :mod:`solvent.games.fighting_fantasy.rules`, enemy after enemy.

    Before a round: the decision to escape, if there is an escape and it is open (only then is
    this a state). After a round that is not drawn and before its damage: the decision to test
    LUCK, if there is any. Draws are conditioned out and do not count as rounds. The hero's
    STAMINA and LUCK carry on from enemy to enemy, and are those of the fields when it ends.
    Luck does not rise, STAMINA does not rise.

    Attributes:
        enemies: In the order in which they are fought.
        skill: The hero's SKILL, without dice, computed when the fight begins.
        stamina: The field of the hero's STAMINA; its least value is 0.
        luck: The field of LUCK, whose least value is 0, or None: no tests.
        bonuses: Added to SKILL; they count in every round.
        damage: STAMINA lost in a round.
        escape: Or None.
        victory: Where it goes on when the last enemy has fallen.
        defeat: Where it goes on when the hero has fallen; STAMINA is 0 then.
    """

    enemies: tuple[Enemy, ...]
    skill: Expression
    stamina: str
    luck: str | None
    bonuses: tuple[Bonus, ...]
    damage: Damage
    escape: Escape | None
    victory: Block
    defeat: Block


@dataclass(frozen=True, slots=True)
class Loss:
    """What a round of results-table combat costs both; None: that side is killed."""

    enemy: int | None
    hero: int | None


@dataclass(frozen=True, slots=True)
class Column:
    """The results for differences of skill from `low` to `high`; without limit where None.

    Attributes:
        low: Least difference, hero's skill minus the enemy's.
        high: Largest.
        losses: For each digit from 0 to 9.
    """

    low: int | None
    high: int | None
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class ResultsTableFight:
    """A fight by a table of results, enemy after enemy.

    In each round a digit from 0 to 9 is drawn; it and the column for the difference of skill in
    that round give what both lose. The enemy's loss is multiplied by `dealt`, the hero's by
    `suffered`; then `dealt_besides` and `suffered_besides` are added, in every round; killed is
    killed. In the rounds of `invulnerable` the hero loses nothing of all this and is not killed.
    If the hero falls, that counts first, whatever the enemy lost.
    The hero's endurance carries on from enemy to enemy and is that of its field when it ends.
    Rounds are counted through the whole fight.

    Attributes:
        enemies: In the order in which they are fought.
        skill: The hero's skill, without dice, computed when the fight begins.
        endurance: The field of the hero's endurance; its least value is 0.
        bonuses: Added to skill in their rounds.
        columns: The table, ascending and without gaps.
        dealt: What the enemy's losses are multiplied by, computed when the fight begins, >= 0.
        suffered: What the hero's are, likewise.
        dealt_besides: What the enemy loses besides in each round, likewise.
        suffered_besides: What the hero loses besides in each round, likewise.
        invulnerable: Rounds in which the hero loses nothing, or None. Its size is 1 where it counts
            and else 0.
        escape: Or None.
        victory: Where it goes on when the last enemy has fallen.
        defeat: Where it goes on when the hero has fallen; the endurance is 0 then.
    """

    enemies: tuple[Enemy, ...]
    skill: Expression
    endurance: str
    bonuses: tuple[Bonus, ...]
    columns: tuple[Column, ...]
    dealt: Expression
    suffered: Expression
    dealt_besides: Expression
    suffered_besides: Expression
    invulnerable: Bonus | None
    escape: Escape | None
    victory: Block
    defeat: Block


@dataclass(frozen=True, slots=True)
class Trade:
    """Something that can be done in a shop, after which the player is still in the shop.

    Attributes:
        text: Such as ``"buy rope for 4 gold"``.
        condition: When it can be done: there is the money, the room, the thing.
        effects: Money and goods that change hands.
        quantity: How often at most in one visit; None: as long as the condition holds. The
            loader has made sure that this, too, comes to an end.
    """

    text: str
    condition: Expression
    effects: tuple[Assign, ...]
    quantity: int | None


@dataclass(frozen=True, slots=True)
class Shop:
    """A decision that comes again and again: one of the trades, or to leave."""

    trades: tuple[Trade, ...]
    leave: Block


@dataclass(frozen=True, slots=True)
class Repeat:
    """A game of pure chance that is played until it is over.

    Between here and any :class:`Again` inside there are effects, branches, rolls, chances and
    checks only. Every other exit leaves. It is over with probability 1, or the book is at fault.
    """

    block: Block


@dataclass(frozen=True, slots=True)
class Again:
    """Back to the block of the innermost :class:`Repeat` around; its effects happen anew."""


Exit: TypeAlias = (
    Goto
    | End
    | Choices
    | Cases
    | Roll
    | Chances
    | CheckInContext
    | FightingFantasyFight
    | ResultsTableFight
    | Shop
    | Repeat
    | Again
)


@dataclass(frozen=True, slots=True)
class Block:
    """What happens when play gets to one place of the book, and the way on.

    Attributes:
        section: The number of the section that it stands in.
        index: Its place in :attr:`Section.blocks`, by which a state can name it.
        text: What is read there; may be empty.
        effects: Happen in order.
        exit: The way on, with the blocks that it leads to inside.
        line: Of the file.
        exit_line: The line in which the way on begins.
    """

    section: int
    index: int
    text: str
    effects: tuple[Effect, ...]
    exit: Exit
    line: int = dataclasses.field(default=0, compare=False)
    exit_line: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered section.

    Attributes:
        number: From 1.
        title: May be empty.
        blocks: Every block of the section's tree, the root first and each before those inside
            it; ``blocks[i].index == i``.
        line: Of the file.
    """

    number: int
    title: str
    blocks: tuple[Block, ...]
    line: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Ending:
    """A way in which play can end, and its score."""

    name: str
    score: Fraction
    text: str = ""


@dataclass(frozen=True, slots=True)
class Whenever:
    """A rule that ends play as soon as an assignment makes its condition hold."""

    condition: Expression
    ending: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that holds so many items, counted together."""

    name: str
    capacity: int
    description: str = ""


@dataclass(frozen=True)
class Book:
    """A gamebook.

    Attributes:
        title: Of the book.
        author: Of the book.
        start: The number of the section in which play begins.
        fields: All fields, in the order of the file: variables, flags, items, disciplines.
        slots: What the hero can carry.
        picks: The disciplines that the player picks before the first section.
        whenever: Rules looked at after every assignment.
        endings: By name; scores are the rewards.
        sections: By number, ascending.
        c: Log-odds of a modifier of 100% in checks.
        denominator: Of the probabilities of checks with modifiers.
        digest: SHA-256 of the file's content, in hexadecimal.
    """

    title: str
    author: str
    start: int
    fields: tuple[Field, ...]
    slots: tuple[Slot, ...]
    picks: Picks
    whenever: tuple[Whenever, ...]
    endings: Mapping[str, Ending]
    sections: Mapping[int, Section]
    c: Fraction
    denominator: int
    digest: str = ""

    def block(self, section: int, index: int = 0) -> Block:
        """A block by its section's number and its index there."""
        return self.sections[section].blocks[index]

    def targets(self, section: int) -> tuple[int, ...]:
        """The sections to which a section leads, in the order of the text, each once."""
        exits = (block.exit for block in self.sections[section].blocks)
        return tuple(dict.fromkeys(e.section for e in exits if isinstance(e, Goto)))
