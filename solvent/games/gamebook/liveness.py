"""Which fields still matter at each place of a book.

A field is *live* at a place if what happens from there on can depend on its value; this is the
live-variable analysis of compilers (Kildall 1973, "A unified approach to global program
optimization"), backwards through sections that lead in no circle. A state need not hold the
others: two states that differ in them only have the same value and the same future.

Effects on fields that are not live afterwards are left out, dice and all. What a rule of
``whenever`` looks at is live wherever something can make the rule apply.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from solvent.games.gamebook.book import (
    Again,
    Assign,
    Block,
    Book,
    Cases,
    Chances,
    CheckInContext,
    Choices,
    Effect,
    End,
    Exit,
    FightingFantasyFight,
    Goto,
    Repeat,
    ResultsTableFight,
    Roll,
    Shop,
    When,
)
from solvent.games.gamebook.expressions import Expression, names
from solvent.games.gamebook.places import inner_blocks, sections_in_order

Names: TypeAlias = frozenset[str]
Place: TypeAlias = tuple[int, int]
"""A section's number and a block's index."""

NONE: Names = frozenset()


class Liveness:
    """The live fields of a book.

    Args:
        book: Its sections must not lead in circles.
        forget: Otherwise every field counts as live everywhere.
        keep: Names of fields that count as live everywhere in any case.

    Attributes:
        kept: The fields that are live everywhere, at endings too.
        before: The live fields where play gets to a block.
        after: The same when the block's effects have happened.
        during: The same while a fight or a shop goes on, which has looked at some already.
        effects: Those of the block that matter.
    """

    def __init__(self, book: Book, *, forget: bool = True, keep: Iterable[str] = ()) -> None:
        self.kept: Names = frozenset(keep if forget else (field.name for field in book.fields))
        self._rules = [names(rule.condition) for rule in book.whenever]
        self.before: dict[Place, Names] = {}
        self.after: dict[Place, Names] = {}
        self.during: dict[Place, Names] = {}
        self.effects: dict[Place, tuple[Effect, ...]] = {}
        self.sections = sections_in_order(book)
        for number in reversed(self.sections):
            self._block(book.block(number), NONE)

    def watched_with(self, name: str) -> Names:
        """What the rules look at that a change of this field can make apply."""
        return NONE.union(*(rule for rule in self._rules if name in rule))

    def _block(self, block: Block, again: Names) -> Names:
        place = block.section, block.index
        live = self._exit(block, again) | self.kept
        self.after[place] = live
        self.effects[place], self.before[place] = self._list(block.effects, live)
        return self.before[place]

    def _list(self, effects: Iterable[Effect], live: Names) -> tuple[tuple[Effect, ...], Names]:
        """The effects that matter if these fields are live after them, and what is live before."""
        kept: list[Effect] = []
        for effect in reversed(tuple(effects)):
            match effect:
                case Assign(name, value):
                    watched = self.watched_with(name)
                    if name in live or watched:
                        kept.append(effect)
                        live = (live - {name}) | names(value) | watched | self.kept
                case When(condition, then, otherwise):
                    if_so, live_then = self._list(then, live)
                    if_not, live_otherwise = self._list(otherwise, live)
                    if if_so or if_not:
                        kept.append(When(condition, if_so, if_not))
                        live = live_then | live_otherwise | names(condition)
        return tuple(reversed(kept)), live

    def _exit(self, block: Block, again: Names) -> Names:
        """What is live when an exit is taken."""
        exit_ = block.exit
        match exit_:
            case Goto(section):
                return self.before[section, 0]
            case End():
                return NONE
            case Again():
                return again
            case Repeat(inner):
                # The live fields at `again` are those at the beginning, which depend on them.
                live = self._block(inner, again=NONE)
                while (more := self._block(inner, again=live)) != live:
                    live = more
                return live
        following = NONE.union(*(self._block(inner, again) for inner in inner_blocks(exit_)))
        match exit_:
            case FightingFantasyFight() | ResultsTableFight():
                self.during[block.section, block.index] = following | hero_in(exit_) | self.kept
                return following | hero_in(exit_) | reads(exit_)
            case Shop(trades):
                read = reads(exit_)
                for trade in trades:
                    for effect in trade.effects:
                        read |= names(effect.value) | self.watched_with(effect.field)
                self.during[block.section, block.index] = following | read | self.kept
                return following | read
        return following | reads(exit_)


def hero_in(fight: FightingFantasyFight | ResultsTableFight) -> Names:
    """The fields that change in a fight."""
    if isinstance(fight, ResultsTableFight):
        return frozenset((fight.endurance,))
    return frozenset((fight.stamina,) if fight.luck is None else (fight.stamina, fight.luck))


def reads(exit_: Exit) -> Names:
    """The fields that an exit itself looks at; of a fight, those when it begins."""
    expressions: list[Expression] = []
    match exit_:
        case Choices(options):
            expressions = [option.condition for option in options]
        case Cases(cases):
            expressions = [case.condition for case in cases]
        case Roll(dice):
            expressions = [dice]
        case CheckInContext(_, _, circumstances):
            expressions = [circumstance.times for circumstance in circumstances]
        case FightingFantasyFight() | ResultsTableFight():
            expressions = [exit_.skill, *(bonus.size for bonus in exit_.bonuses)]
            if exit_.escape is not None:
                expressions.append(exit_.escape.condition)
            if isinstance(exit_, ResultsTableFight):
                expressions += [exit_.dealt, exit_.suffered]
                expressions += [exit_.dealt_besides, exit_.suffered_besides]
                if exit_.invulnerable is not None:
                    expressions.append(exit_.invulnerable.size)
        case Shop(trades):
            expressions = [trade.condition for trade in trades]
        case Chances() | Goto() | End() | Again() | Repeat():
            pass
    return NONE.union(*map(names, expressions))
