"""Which fields can have a say in what happens from one page to the next.

A field that nothing on the way looks at or changes is carried along as it is. So what follows from
a page has to be worked out only once for all pages that agree in the other fields.
"""

from __future__ import annotations

from collections.abc import Iterable

from solvent.games.gamebook.book import (
    Assign,
    Block,
    Choices,
    Effect,
    FightingFantasyFight,
    Goto,
    ResultsTableFight,
    Shop,
)
from solvent.games.gamebook.expressions import names
from solvent.games.gamebook.liveness import NONE, Names, Place, hero_in, reads
from solvent.games.gamebook.page import Position
from solvent.games.gamebook.places import inner_blocks
from solvent.games.gamebook.story import Story


class Touched:
    """The fields looked at or changed between pages.

    Args:
        story: The rules of the book.
    """

    def __init__(self, story: Story) -> None:
        self._story = story
        self._entering: dict[Place, Names] = {}

    def from_page(self, at: Position) -> Names:
        """The fields that are touched from the pages at a position to the next ones."""
        section, block, step, ending = at
        book = self._story.book
        if ending:
            return NONE
        if section == 0:
            return self._enter(book.block(book.start)).union(book.picks.names)
        here = book.block(section, block)
        if step:
            assert isinstance(here.exit, (FightingFantasyFight, ResultsTableFight))
            return hero_in(here.exit).union(*map(self._enter, inner_blocks(here.exit)))
        return self._leave(here)

    def _enter(self, block: Block) -> Names:
        place = block.section, block.index
        if place not in self._entering:
            touched = self._by(self._story.liveness.effects[place])
            if place not in self._story.pages:
                touched |= self._leave(block)
            self._entering[place] = touched
        return self._entering[place]

    def _leave(self, block: Block) -> Names:
        exit_ = block.exit
        touched = reads(exit_)
        match exit_:
            case Goto(section):
                touched |= self._enter(self._story.book.block(section))
            case FightingFantasyFight() | ResultsTableFight():
                touched |= hero_in(exit_)
            case Shop(trades):
                for trade in trades:
                    touched |= self._by(trade.effects)
            case Choices():
                pass
        return touched.union(*map(self._enter, inner_blocks(exit_)))

    def _by(self, effects: Iterable[Effect]) -> Names:
        touched = NONE
        for effect in effects:
            if isinstance(effect, Assign):
                watched = self._story.liveness.watched_with(effect.field)
                touched |= names(effect.value) | watched | {effect.field}
            else:
                touched |= names(effect.condition) | self._by(effect.then)
                touched |= self._by(effect.otherwise)
        return touched
