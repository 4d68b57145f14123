"""The fields that still matter at each place of a book.

A field is *live* at a place if what happens from there on can depend on its value; this is the
live-variable analysis of compilers (Kildall 1973, "A unified approach to global program
optimization"), backwards through sections that lead in no circle. A state need not hold the
others: two states that differ in them only have the same value and the same future.

Effects on fields that are not live afterwards are left out, dice and all. What a rule of
``whenever`` looks at is live wherever something can make the rule apply.

:class:`Touched` tells which of the live fields have a say in what happens up to the next page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from solvent.games.gamebook.book import Book, Branch, Check, Choices, Fight, Node, Place, Roll, Shop
from solvent.games.gamebook.effects import Assign, Step, When, steps, trades
from solvent.games.gamebook.expressions import Expression, names
from solvent.games.gamebook.page import Position

Names: TypeAlias = frozenset[str]

NONE: Names = frozenset()


class Liveness:
    """The live fields of a book.

    Args:
        book: The book; its sections must not have cycles.
        forget: Whether fields can cease to be live at all.
        keep: Names of fields that are always live everywhere.

    Raises:
        ValueError: If sections have a cycle.

    Attributes:
        kept: The fields that are live everywhere, at endings too.
        before: The live fields on entering a block.
        after: The live fields after the block's effects.
        during: The live fields during a fight or a shop, which has read some fields already.
        effects: The steps of each block that matter.
        sections: The reachable sections, each before all its successors.
    """

    def __init__(self, book: Book, *, forget: bool = True, keep: Iterable[str] = ()) -> None:
        self._book = book
        self.kept: Names = frozenset(keep if forget else book.fields)
        self._rules = [names(rule.when) for rule in book.whenever]
        self.before: dict[Place, Names] = {}
        self.after: dict[Place, Names] = {}
        self.during: dict[Place, Names] = {}
        self.effects: dict[Place, tuple[Step, ...]] = {}
        order = book.in_order
        if order.circles:
            section = order.circles[0][0]
            raise ValueError(f"section {section} leads back to itself; see `solvent book check`")
        self.sections = order.sections
        for number in reversed(self.sections):
            self._node(book.nodes[number, 0], NONE)

    def watched_with(self, name: str) -> Names:
        """Return the fields read by the rules that a change of a field can trigger."""
        return NONE.union(*(rule for rule in self._rules if name in rule))

    def reads(self, node: Node) -> Names:
        """Return the fields that a way on itself reads; for a fight, when it begins."""
        return NONE.union(*map(names, self._expressions(node)))

    def _expressions(self, node: Node) -> Iterator[Expression]:
        match node.exit:
            case Choices(root=options) | Branch(root=options):
                yield from (option.when for option in options)
            case Roll(dice=dice):
                yield dice
            case Check(modifiers=modifiers):
                yield from (modifier.number for modifier in modifiers)
            case Fight() as fight:
                yield self._book.used_in(fight).skill
                yield from fight.expressions
            case Shop() as shop:
                yield from (trade.condition for trade in trades(shop, self._book))

    def spent(self, fight: Fight) -> Names:
        """The fields that change in a fight."""
        return frozenset(self._book.used_in(fight).spent)

    def _node(self, node: Node, again: Names) -> Names:
        live = self._exit(node, again) | self.kept
        self.after[node.place] = live
        needed = self._list(steps(node.block.do, self._book), live)
        self.effects[node.place], self.before[node.place] = needed
        return self.before[node.place]

    def _list(self, several: Iterable[Step], live: Names) -> tuple[tuple[Step, ...], Names]:
        """Return the steps that matter given the fields live after, and the fields live before."""
        kept: list[Step] = []
        for step in reversed(tuple(several)):
            match step:
                case Assign(name, value):
                    watched = self.watched_with(name)
                    if name in live or watched:
                        kept.append(step)
                        live = (live - {name}) | names(value) | watched | self.kept
                case When(condition, then, otherwise):
                    if_so, live_then = self._list(then, live)
                    if_not, live_otherwise = self._list(otherwise, live)
                    if if_so or if_not:
                        kept.append(When(condition, if_so, if_not))
                        live = live_then | live_otherwise | names(condition)
        return tuple(reversed(kept)), live

    def _exit(self, node: Node, again: Names) -> Names:
        """Return the live fields when the way on is taken."""
        block = node.block
        if block.goto is not None:
            return self.before[block.goto, 0]
        if block.again:
            return again
        if block.repeat is not None:
            # The live fields at `again` are those at the beginning, which depend on them.
            live = self._node(node.inner[0], again=NONE)
            while (more := self._node(node.inner[0], again=live)) != live:
                live = more
            return live
        following = NONE.union(*(self._node(inner, again) for inner in node.inner))
        reads = self.reads(node)
        match node.exit:
            case Fight() as fight:
                following |= self.spent(fight)
                self.during[node.place] = following | self.kept
            case Shop() as shop:
                for trade in trades(shop, self._book):
                    for step in trade.steps:
                        reads |= names(step.value) | self.watched_with(step.field)
                self.during[node.place] = following | reads | self.kept
        return following | reads


class Touched:
    """The fields that are read or changed between pages.

    A field that is neither read nor changed on the way keeps its value. The consequences
    of a page are therefore computed only once for all pages that agree in the other fields.

    Args:
        book: The book.
        liveness: Its live fields.
        pages: The blocks at which the episode pauses for the player.
    """

    def __init__(self, book: Book, liveness: Liveness, pages: Collection[Place]) -> None:
        self._book, self._liveness, self._pages = book, liveness, pages
        self._entering: dict[Place, Names] = {}

    def from_page(self, at: Position) -> Names:
        """Return the fields that are touched between the pages at a position and the next ones."""
        section, index, step, ending = at
        book = self._book
        if ending:
            return NONE
        if section == 0:
            return self._enter(book.nodes[book.start, 0]).union(book.picked)
        node = book.nodes[section, index]
        if step:
            spent = self._liveness.spent(node.exit)
            return spent.union(*map(self._enter, node.inner))
        return self._leave(node)

    def _enter(self, node: Node) -> Names:
        if node.place not in self._entering:
            touched = self._by(self._liveness.effects[node.place])
            if node.place not in self._pages:
                touched |= self._leave(node)
            self._entering[node.place] = touched
        return self._entering[node.place]

    def _leave(self, node: Node) -> Names:
        book, liveness = self._book, self._liveness
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
                watched = self._liveness.watched_with(step.field)
                touched |= names(step.value) | watched | {step.field}
            else:
                touched |= names(step.condition) | self._by(step.then) | self._by(step.otherwise)
        return touched
