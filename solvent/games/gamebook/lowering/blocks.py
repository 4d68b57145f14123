"""Blocks and their ways on: from a section's model to its tree of blocks."""

from __future__ import annotations

from enum import Enum, auto
from fractions import Fraction

from solvent.games.gamebook import book, schema
from solvent.games.gamebook.expressions import (
    TRUE,
    Expression,
    Number,
    Operation,
    bounds,
)
from solvent.games.gamebook.lowering.context import LoweringContext
from solvent.games.gamebook.lowering.effects import lower_effects
from solvent.games.gamebook.lowering.fights import FightLowering
from solvent.games.gamebook.lowering.shops import ShopLowering
from solvent.games.gamebook.problems import Path


class _Place(Enum):
    """Where a block stands with regard to ``repeat``."""

    OUTSIDE = auto()
    REPEATED = auto()
    """Inside, with nothing but chance since it began: `again` may stand here."""


class SectionLowering:
    """Turns a section into blocks.

    Args:
        number: Of the section.
        context: The rest of the book.
    """

    def __init__(self, number: int, context: LoweringContext) -> None:
        self._number = number
        self._book = context
        self._vocabulary = context.vocabulary
        self._problems = context.problems
        # Numbered before what is inside them is known.
        self._blocks: list[book.Block | None] = []
        self._fights = FightLowering(context, self._outside)
        self._shops = ShopLowering(context.vocabulary, context.problems)

    def lower(self, section: schema.SectionEntry) -> book.Section:
        """The section."""
        path = ("sections", self._number)
        self._block(section, path, _Place.OUTSIDE)
        blocks = tuple(block for block in self._blocks if block is not None)
        return book.Section(self._number, section.title, blocks, self._problems.line(path))

    def _block(self, block: schema.BlockEntry, path: Path, place: _Place) -> book.Block:
        index = len(self._blocks)
        self._blocks.append(None)
        effects = lower_effects(block.do, (*path, "do"), self._vocabulary, self._problems)
        exit_ = self._exit(block, path, place)
        [way_on] = [name for name in schema.WAYS_ON if getattr(block, name) is not None]
        lowered = book.Block(
            self._number,
            index,
            block.text,
            effects,
            exit_,
            line=self._problems.line(path),
            exit_line=self._problems.line((*path, way_on)),
        )
        self._blocks[index] = lowered
        return lowered

    def _outside(self, block: schema.BlockEntry, path: Path) -> book.Block:
        return self._block(block, path, _Place.OUTSIDE)

    def _exit(self, block: schema.BlockEntry, path: Path, place: _Place) -> book.Exit:
        if block.goto is not None:
            return self._goto(block.goto, (*path, "goto"))
        if block.ending is not None:
            return book.End(self._book.ending(block.ending, (*path, "ending")))
        if block.choices is not None:
            return self._choices(block.choices, (*path, "choices"))
        if block.branch is not None:
            return self._branch(block.branch, (*path, "branch"), place)
        if block.roll is not None:
            return self._roll(block.roll, (*path, "roll"), place)
        if block.chances is not None:
            return self._chances(block.chances, (*path, "chances"), place)
        if block.check is not None:
            return self._check(block.check, (*path, "check"), place)
        if block.fight is not None:
            return self._fights.lower(block.fight, (*path, "fight"))
        if block.shop is not None:
            at = (*path, "shop")
            leave = self._outside(block.shop.leave, (*at, "leave"))
            return self._shops.lower(block.shop, at, leave)
        if block.repeat is not None:
            return self._repeat(block.repeat, (*path, "repeat"), place)
        if place is not _Place.REPEATED:
            self._problems.add(
                (*path, "again"),
                "again has no repeat around it",
                "put it inside one, with nothing between but branch, roll, chances and check",
            )
        return book.Again()

    def _goto(self, number: int, path: Path) -> book.Goto:
        if number not in self._book.file.sections:
            self._problems.add(
                path, f"there is no section {number}", "write it, or lead somewhere else"
            )
        return book.Goto(number)

    def _condition(self, text: str | None, path: Path) -> Expression:
        return TRUE if text is None else self._vocabulary.formula(text, (*path, "when"))

    def _choices(self, choices: list[schema.ChoiceEntry], path: Path) -> book.Choices:
        return book.Choices(
            tuple(
                book.Option(
                    choice.label,
                    self._condition(choice.when, (*path, i)),
                    self._outside(choice, (*path, i)),
                )
                for i, choice in enumerate(choices)
            )
        )

    def _branch(self, cases: list[schema.CaseEntry], path: Path, place: _Place) -> book.Cases:
        for i, case in enumerate(cases[:-1]):
            if case.when is None:
                self._problems.add(
                    (*path, i), "what follows this case can never apply", "give it a when"
                )
        return book.Cases(
            tuple(
                book.Case(
                    self._condition(case.when, (*path, i)), self._block(case, (*path, i), place)
                )
                for i, case in enumerate(cases)
            )
        )

    def _roll(self, roll: schema.RollEntry, path: Path, place: _Place) -> book.Roll:
        dice = self._vocabulary.formula(roll.dice, (*path, "dice"), throws=True)
        rows = []
        for key, block in roll.results.items():
            at = (*path, "results", key)
            try:
                low, high = schema.read_range(key)
            except ValueError as error:
                self._problems.add(at, f"the row {key!r} is no range", f"it {error}")
                continue
            rows.append(book.RollRow(low, high, self._block(block, at, place)))
        return book.Roll(dice, tuple(rows))

    def _chances(
        self, chances: list[schema.ChanceEntry], path: Path, place: _Place
    ) -> book.Chances:
        for i, chance in enumerate(chances):
            if not 0 < chance.probability <= 1:
                self._problems.add(
                    (*path, i, "probability"),
                    f"the probability is {chance.probability}",
                    "it should be above 0 and at most 1",
                )
        total = sum((chance.probability for chance in chances), Fraction(0))
        if total != 1:
            self._problems.add(
                path,
                f"the probabilities sum to {total}",
                f"they should sum to 1; {_missing(total)}",
            )
        return book.Chances(
            tuple(
                book.Chance(chance.probability, self._block(chance, (*path, i), place))
                for i, chance in enumerate(chances)
            )
        )

    def _check(self, check: schema.CheckEntry, path: Path, place: _Place) -> book.CheckInContext:
        if not 0 <= check.base <= 1:
            self._problems.add(
                (*path, "base"), f"the base is {check.base}", "it should be within 0..1"
            )
        circumstances = []
        for i, modifier in enumerate(check.modifiers):
            at = (*path, "modifiers", i)
            if modifier.times is not None:
                times = self._vocabulary.formula(modifier.times, (*at, "times"))
            elif modifier.when is not None:
                condition = self._vocabulary.formula(modifier.when, (*at, "when"))
                times = Operation("!=", (condition, Number(0)))
            else:
                times = TRUE
            circumstances.append(book.Circumstance(modifier.name, modifier.size, times))
        self._check_modifiers(circumstances, (*path, "modifiers"))
        return book.CheckInContext(
            check.name,
            check.base,
            tuple(circumstances),
            self._block(check.success, (*path, "success"), place),
            self._block(check.failure, (*path, "failure"), place),
        )

    def _check_modifiers(self, circumstances: list[book.Circumstance], path: Path) -> None:
        largest = Fraction(0)
        for circumstance in circumstances:
            ends = bounds(circumstance.times, self._vocabulary.ranges)
            largest += abs(circumstance.size) * max(abs(end) for end in ends)
        if largest > LARGEST_MODIFIER:
            self._problems.add(
                path,
                f"the modifiers can sum to {float(100 * largest):.0f}%",
                f"at most {100 * LARGEST_MODIFIER}% is allowed",
            )

    def _repeat(self, block: schema.BlockEntry, path: Path, place: _Place) -> book.Repeat:
        if place is _Place.REPEATED:
            self._problems.add(path, "a repeat stands in another", "use two sections")
        before = len(self._blocks)
        lowered = self._block(block, path, _Place.REPEATED)
        exits = [inner.exit for inner in self._blocks[before:] if inner is not None]
        ways_out = [e for e in exits if not isinstance(e, (book.Again, *CHANCE))]
        if not ways_out:
            self._problems.add(path, "the repeat never ends", "let something lead out of it")
        if not any(isinstance(e, book.Again) for e in exits):
            self._problems.add(
                path, "nothing is repeated", "say again somewhere, or leave repeat out", "warning"
            )
        return book.Repeat(lowered)


CHANCE = (book.Cases, book.Roll, book.Chances, book.CheckInContext)
"""Exits that may stand between a repeat and its `again`."""

LARGEST_MODIFIER = 100
"""Of a check, 10000% in all: as :mod:`solvent.model.context` allows."""


def _missing(total: Fraction) -> str:
    return f"{abs(1 - total)} {'is missing' if total < 1 else 'is too much'}"
