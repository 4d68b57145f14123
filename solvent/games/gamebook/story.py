"""What happens in a book between one page and the next, as distributions.

Nothing here knows of games, arrays or observations: :class:`Story` is the rules of a book, and
:class:`solvent.games.gamebook.rules.Gamebook` makes a game of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import TypeAlias

from solvent.games.gamebook.book import (
    Again,
    Block,
    Book,
    Cases,
    Chances,
    CheckInContext,
    Choices,
    End,
    FightingFantasyFight,
    Goto,
    Repeat,
    ResultsTableFight,
    Roll,
    RollRow,
    Shop,
    Trade,
)
from solvent.games.gamebook.combat import FightState, Local
from solvent.games.gamebook.combat_fighting_fantasy import FightingFantasyCombat
from solvent.games.gamebook.combat_results_table import ResultsTableCombat
from solvent.games.gamebook.effects import MOST_RESULTS, ONE, Effects, Happening, Values
from solvent.games.gamebook.expressions import compiled, distribution, thrown
from solvent.games.gamebook.liveness import Liveness, Place
from solvent.games.gamebook.minigame import absorption
from solvent.games.gamebook.page import Page, Position
from solvent.games.gamebook.places import pages
from solvent.model import TooManyStatesError
from solvent.model.context import modified_exactly

CombatRules: TypeAlias = FightingFantasyCombat | ResultsTableCombat
Odds: TypeAlias = dict[Page, Fraction]
Condition: TypeAlias = Callable[[Values], object]
Continuation: TypeAlias = Callable[[Values], Sequence[tuple[Block, Fraction]]]

READ_ON = (0,)
"""The only action where there is nothing to decide."""

MOST_REPEATED = 1000
"""States in which a game inside a section can be, begun in one way."""

LEAVE = 0
"""The action that leaves a shop; the others are its trades."""


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What has been made of blocks so far, by section and index."""

    combats: dict[Place, CombatRules] = field(default_factory=dict)
    conditions: dict[Place, list[Condition]] = field(default_factory=dict)
    chances: dict[Place, Continuation] = field(default_factory=dict)
    effects: dict[Place, Happening] = field(default_factory=dict)
    trades: dict[tuple[int, int, int], Happening] = field(default_factory=dict)
    repeats: dict[Place, dict[Values, Odds]] = field(default_factory=dict)
    kept: dict[Position, tuple[bool, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Story:
    """The rules of a book.

    Args:
        book: The book.
        forget: Whether pages leave out fields that matter no more.
        keep: Names of fields that they never leave out.
    """

    book: Book
    forget: bool = True
    keep: tuple[str, ...] = ()
    _compiled: _Compiled = field(default_factory=_Compiled, init=False, repr=False)

    @cached_property
    def liveness(self) -> Liveness:
        """Which fields matter where."""
        return Liveness(self.book, forget=self.forget, keep=self.keep)

    @cached_property
    def pages(self) -> frozenset[Place]:
        """The blocks on which play stops."""
        return pages(self.book)

    @cached_property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        """Least and largest value of each field."""
        return {field.name: (field.low, field.high) for field in self.book.fields}

    @cached_property
    def _effects(self) -> Effects:
        return Effects(self.book)

    @property
    def position(self) -> Mapping[str, int]:
        """Where each field stands among the values."""
        return self._effects.position

    # Places.

    def block(self, page: Page) -> Block:
        """The block of a page that is in a section."""
        return self.book.block(page.section, page.block)

    def live(self, at: Position) -> frozenset[str]:
        """The fields that are part of a page at a position."""
        section, block, step, ending = at
        if ending:
            return self.liveness.kept
        if section == 0:
            picked = self.book.picks.names if self.book.picks.count else ()
            return self.liveness.before[self.book.start, 0].union(picked)
        return (self.liveness.during if step else self.liveness.after)[section, block]

    def local_bounds(self, block: Block) -> tuple[tuple[int, int], ...]:
        """Least and largest of the local numbers of pages at a block."""
        match block.exit:
            case FightingFantasyFight() | ResultsTableFight():
                return self.combat(block).bounds
            case Shop(trades):
                return tuple((0, t.quantity) for t in trades if t.quantity is not None)
        return ()

    def local_bounds_at(self, at: Position) -> tuple[tuple[int, int], ...]:
        """Least and largest of the local numbers of pages at a position."""
        section, index, step, ending = at
        if not section or ending:
            return ()
        block = self.book.block(section, index)
        return self.local_bounds(block) if step or isinstance(block.exit, Shop) else ()

    def combat(self, block: Block) -> CombatRules:
        """The fight of a block.

        Raises:
            ValueError: If there is none.
        """
        found = self._compiled.combats.get((block.section, block.index))
        if found is None:
            match block.exit:
                case FightingFantasyFight():
                    found = FightingFantasyCombat(block.exit, self.position, self.ranges)
                case ResultsTableFight():
                    found = ResultsTableCombat(block.exit, self.position, self.ranges)
                case _:
                    raise ValueError(f"section {block.section}: block {block.index} is no fight")
            self._compiled.combats[block.section, block.index] = found
        return found

    # Pages.

    def beginning(self) -> Odds:
        """The first page; fields that are never looked at are not thrown.

        Raises:
            TooManyStatesError: If it can be in too many states.
        """
        live = self.live((0, 0, "", ""))
        throws = [
            distribution(field.initial, {}).items() if field.name in live else ((None, ONE),)
            for field in self.book.fields
        ]
        if prod(map(len, throws)) > MOST_RESULTS:
            raise TooManyStatesError(
                f"the book can begin in more than {MOST_RESULTS:,} ways; let fewer variables begin "
                f"with dice"
            )
        odds: Odds = {}
        for thrown_values in product(*throws):
            probability = ONE
            for _, p in thrown_values:
                probability *= p
            odds[Page(0, 0, "", tuple(value for value, _ in thrown_values))] = probability
        return odds

    def legal(self, page: Page) -> tuple[int, ...]:
        """The actions at a page where the episode goes on, ascending."""
        if page.section == 0:
            return self._pickable(page)
        block = self.block(page)
        match block.exit:
            case Choices():
                conditions = self._conditions(block)
                return tuple([a for a, holds in enumerate(conditions) if holds(page.values)])
            case Shop(trades):
                made = iter(page.local)
                left = [trade.quantity is None or next(made) < trade.quantity for trade in trades]
                conditions = self._conditions(block)
                open_ = [i for i, holds in enumerate(conditions) if left[i] and holds(page.values)]
                return (LEAVE, *(i + 1 for i in open_))
        return self.combat(block).actions(self._moment(page)) if page.step else READ_ON

    def label(self, page: Page, action: int) -> str:
        """What a legal action is, in words."""
        picks = self.book.picks
        if page.section == 0:
            return f"pick {picks.names[action]}" if picks.count else "begin"
        exit_ = self.block(page).exit
        match exit_:
            case Choices(options):
                return options[action].text
            case Shop(trades):
                return "leave" if action == LEAVE else trades[action - 1].text
            case FightingFantasyFight() | ResultsTableFight():
                if page.step == "escape":
                    return ("fight on", "escape")[action]
                return ("keep", "test luck")[action] if page.step else "fight"
        return "read on"

    def after(self, page: Page, action: int) -> Odds:
        """What follows a legal action, up to the next page.

        Raises:
            ValueError: If the book leaves open what happens, which `solvent book check` reports.
        """
        odds: Odds = {}
        if page.section == 0:
            self._begin(page, action, odds)
            return odds
        block = self.block(page)
        match block.exit:
            case Choices(options):
                self._enter(options[action].block, page.values, ONE, odds)
            case Shop(_, leave) if action == LEAVE:
                self._enter(leave, page.values, ONE, odds)
            case Shop(trades):
                self._trade(block, trades, page, action - 1, odds)
            case FightingFantasyFight() | ResultsTableFight() if page.step:
                after = self.combat(block).after(self._moment(page), action)
                self._go_on_fighting(block, page.values, after, ONE, odds)
            case _:
                self._leave(block, page.values, ONE, odds)
        return odds

    def _page(
        self, block: Block, step: str, values: Values, local: Local = (), ending: str = ""
    ) -> Page:
        at = (block.section, block.index, step, ending)
        kept = self._compiled.kept.get(at)
        if kept is None:
            live = self.live(at)
            kept = tuple(field.name in live for field in self.book.fields)
            self._compiled.kept[at] = kept
        remembered = tuple([v if keep else None for v, keep in zip(values, kept, strict=True)])
        return Page(block.section, block.index, step, remembered, local, ending)

    def _over(self, block: Block, values: Values, ending: str) -> Page:
        return self._page(block, "over", values, (), ending)

    # What happens.

    def _pickable(self, page: Page) -> tuple[int, ...]:
        """The disciplines after the last one picked that leave enough for the rest."""
        picks = self.book.picks
        if not picks.count:
            return READ_ON
        taken = [i for i, name in enumerate(picks.names) if page.values[self.position[name]]]
        first = taken[-1] + 1 if taken else 0
        return tuple(range(first, len(picks.names) - (picks.count - page.block) + 1))

    def _begin(self, page: Page, action: int, odds: Odds) -> None:
        picks = self.book.picks
        values = page.values
        if picks.count:
            place = self.position[picks.names[action]]
            values = (*values[:place], 1, *values[place + 1 :])
            if page.block + 1 < picks.count:
                odds[Page(0, page.block + 1, "", values)] = ONE
                return
        self._enter(self.book.block(self.book.start), values, ONE, odds)

    def _enter(self, block: Block, values: Values, probability: Fraction, odds: Odds) -> None:
        """Add what follows when play gets to a block, up to the next page."""
        for p, after, ending in self._happening(block)(values):
            if probability is not ONE:
                p = p * probability
            if ending is None and isinstance(block.exit, End):
                ending = block.exit.ending
            if ending is not None:
                _add(odds, self._over(block, after, ending), p)
            elif (block.section, block.index) in self.pages:
                _add(odds, self._stop(block, after), p)
            else:
                self._leave(block, after, p, odds)

    def _happening(self, block: Block) -> Happening:
        """The effects of a block that matter."""
        place = block.section, block.index
        found = self._compiled.effects.get(place)
        if found is None:
            found = self._effects.all(self.liveness.effects[place], f"section {block.section}")
            self._compiled.effects[place] = found
        return found

    def _stop(self, block: Block, values: Values) -> Page:
        limited = len(self.local_bounds(block)) if isinstance(block.exit, Shop) else 0
        return self._page(block, "", values, (0,) * limited)

    def _leave(self, block: Block, values: Values, probability: Fraction, odds: Odds) -> None:
        """Add what follows a block that is no decision, once its effects have happened."""
        match block.exit:
            case Goto(section):
                self._enter(self.book.block(section), values, probability, odds)
            case FightingFantasyFight() | ResultsTableFight():
                combat = self.combat(block)
                start = FightState("begin", combat.begin(values), self._hero(combat, values))
                self._go_on_fighting(block, values, combat.after(start, 0), probability, odds)
            case Repeat(inner):
                for page, p in self._repeated(inner, values).items():
                    _add(odds, page, probability * p)
            case _:
                for following, p in self._chance(block)(values):
                    self._enter(following, values, probability * p, odds)

    def _chance(self, block: Block) -> Continuation:
        """Where a chance event, or a branch, leads."""
        place = block.section, block.index
        found = self._compiled.chances.get(place)
        if found is None:
            found = self._compiled.chances[place] = self._chance_of(block)
        return found

    def _chance_of(self, block: Block) -> Continuation:
        match block.exit:
            case Cases(cases):
                blocks = [case.block for case in cases]
                conditions = [compiled(case.condition, self.position) for case in cases]

                def branch(values: Values) -> Sequence[tuple[Block, Fraction]]:
                    for holds, following in zip(conditions, blocks, strict=True):
                        if holds(values):
                            return ((following, ONE),)
                    raise ValueError(f"section {block.section}: no case of a branch applies")

                return branch
            case Roll(dice, rows):
                falls = [(compiled(fallen, self.position), p) for fallen, p in thrown(dice)]

                def roll(values: Values) -> Sequence[tuple[Block, Fraction]]:
                    found: dict[int, Fraction] = {}
                    for result, p in falls:
                        row = _row(block, rows, result(values))
                        found[row] = found.get(row, Fraction(0)) + p
                    return [(rows[row].block, p) for row, p in found.items()]

                return roll
            case Chances(chances):
                fixed = [(chance.block, chance.probability) for chance in chances]
                return lambda values: fixed
            case CheckInContext(_, base, circumstances, success, failure):
                sizes = [(compiled(c.times, self.position), c.size) for c in circumstances]

                def check(values: Values) -> Sequence[tuple[Block, Fraction]]:
                    total = sum((size * times(values) for times, size in sizes), Fraction(0))
                    p = modified_exactly(base, total, self.book.c, self.book.denominator)
                    return [(b, q) for b, q in ((success, p), (failure, 1 - p)) if q]

                return check
        raise AssertionError(f"section {block.section}: block {block.index} is no chance event")

    def _conditions(self, block: Block) -> list[Condition]:
        """The conditions of choices or trades."""
        place = block.section, block.index
        found = self._compiled.conditions.get(place)
        if found is None:
            assert isinstance(block.exit, (Choices, Shop))
            offered = block.exit.options if isinstance(block.exit, Choices) else block.exit.trades
            found = [compiled(offer.condition, self.position) for offer in offered]
            self._compiled.conditions[place] = found
        return found

    def _trade(
        self, block: Block, trades: Sequence[Trade], page: Page, number: int, odds: Odds
    ) -> None:
        limited = [i for i, trade in enumerate(trades) if trade.quantity is not None]
        made = tuple(n + (i == number) for i, n in zip(limited, page.local, strict=True))
        place = (block.section, block.index, number)
        happen = self._compiled.trades.get(place)
        if happen is None:
            happen = self._compiled.trades[place] = self._effects.all(
                trades[number].effects, f"section {block.section}"
            )
        for p, after, ending in happen(page.values):
            if ending is not None:
                _add(odds, self._over(block, after, ending), p)
            else:
                _add(odds, self._page(block, "", after, made), p)

    def _hero(self, combat: CombatRules, values: Values) -> tuple[int, ...]:
        """The values of the fields that change in a fight, which are live there."""
        return tuple([value for i in combat.hero if (value := values[i]) is not None])

    def _moment(self, page: Page) -> FightState:
        return FightState(
            page.step, page.local, self._hero(self.combat(self.block(page)), page.values)
        )

    def _go_on_fighting(
        self,
        block: Block,
        values: Values,
        moments: Mapping[FightState, Fraction],
        probability: Fraction,
        odds: Odds,
    ) -> None:
        """Add what follows the moments of a fight: another decision, or what comes after it."""
        fight = block.exit
        assert isinstance(fight, (FightingFantasyFight, ResultsTableFight))
        ends = {"victory": fight.victory, "defeat": fight.defeat}
        if fight.escape is not None:
            ends["escaped"] = fight.escape.block
        changing = self.combat(block).hero
        for moment, p in moments.items():
            now = list(values)
            for place, value in zip(changing, moment.hero, strict=True):
                now[place] = value
            if moment.step in ends:
                self._enter(ends[moment.step], tuple(now), probability * p, odds)
            else:
                page = self._page(block, moment.step, tuple(now), moment.local)
                _add(odds, page, probability * p)

    def _repeated(self, start: Block, values: Values) -> Odds:
        """What follows a game of chance that goes on until it is over."""
        known = self._compiled.repeats.setdefault((start.section, start.index), {})
        if values not in known:
            again: dict[Values, dict[Values, Fraction]] = {}
            ends: dict[Values, Odds] = {}
            todo = [values]
            while todo:
                now = todo.pop()
                if len(again) > MOST_REPEATED:
                    raise TooManyStatesError(
                        f"section {start.section}: the repeat can be in more than {MOST_REPEATED} "
                        f"states; narrow the ranges of the variables that it changes"
                    )
                if now not in again:
                    again[now], ends[now] = {}, {}
                    self._play_round(start, now, ONE, again[now], ends[now])
                    todo += again[now]
            try:
                known.update(absorption(again, ends))
            except ValueError as error:
                raise ValueError(f"section {start.section}: the repeat never ends") from error
        return known[values]

    def _play_round(
        self,
        block: Block,
        values: Values,
        probability: Fraction,
        again: dict[Values, Fraction],
        ends: Odds,
    ) -> None:
        """Add what one round of such a game comes to."""
        if not isinstance(block.exit, (Again, Cases, Roll, Chances, CheckInContext)):
            self._enter(block, values, probability, ends)
            return
        for q, after, ending in self._happening(block)(values):
            p = probability * q
            if ending is not None:
                _add(ends, self._over(block, after, ending), p)
            elif isinstance(block.exit, Again):
                again[after] = again.get(after, Fraction(0)) + p
            else:
                for following, r in self._chance(block)(after):
                    self._play_round(following, after, p * r, again, ends)


def _add(odds: Odds, page: Page, probability: Fraction) -> None:
    odds[page] = odds[page] + probability if page in odds else probability


def _row(block: Block, rows: Sequence[RollRow], result: int) -> int:
    """Which row of a table a result is in."""
    for number, row in enumerate(rows):
        if (row.low is None or row.low <= result) and (row.high is None or result <= row.high):
            return number
    raise ValueError(f"section {block.section}: the table has no row for {result}")
