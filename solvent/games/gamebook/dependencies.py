"""The fields that can have a say in what happens from one page to the next.

A field that nothing on the way looks at or changes is carried along as it is. So what follows from
a page has to be worked out only once for all pages that agree in the other fields.
"""

from __future__ import annotations

from collections.abc import Iterable

from solvent.games.gamebook.book import Fight, Node, Place, Shop
from solvent.games.gamebook.effects import Assign, Step, trades
from solvent.games.gamebook.expressions import names
from solvent.games.gamebook.liveness import NONE, Names
from solvent.games.gamebook.page import Position
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
        section, index, step, ending = at
        book = self._story.book
        if ending:
            return NONE
        if section == 0:
            return self._enter(book.nodes[book.start, 0]).union(book.picked)
        node = book.nodes[section, index]
        if step:
            spent = self._story.liveness.spent(node.exit)
            return spent.union(*map(self._enter, node.inner))
        return self._leave(node)

    def _enter(self, node: Node) -> Names:
        if node.place not in self._entering:
            touched = self._by(self._story.liveness.effects[node.place])
            if node.place not in self._story.pages:
                touched |= self._leave(node)
            self._entering[node.place] = touched
        return self._entering[node.place]

    def _leave(self, node: Node) -> Names:
        book, liveness = self._story.book, self._story.liveness
        touched = liveness.reads(node)
        if node.block.goto is not None:
            touched |= self._enter(book.nodes[node.block.goto, 0])
        match node.exit:
            case Fight() as fight:
                touched |= liveness.spent(fight)
            case Shop() as shop:
                touched = touched.union(*(self._by(t.steps) for t in trades(shop, book)))
        return touched.union(*map(self._enter, node.inner))

    def _by(self, steps: Iterable[Step]) -> Names:
        touched = NONE
        for step in steps:
            if isinstance(step, Assign):
                watched = self._story.liveness.watched_with(step.field)
                touched |= names(step.value) | watched | {step.field}
            else:
                touched |= names(step.condition) | self._by(step.then) | self._by(step.otherwise)
        return touched
