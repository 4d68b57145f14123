"""Effects as assignments to fields.

:class:`Liveness` finds the assignments on which later pages depend, and :class:`Effects` compiles
these into functions of the fields' values.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from solvent.games.gamebook.book import (
    Book,
    CheckEntry,
    Eat,
    Effect,
    Fight,
    Place,
    PlacedBlock,
    Roll,
    ShopEntry,
)
from solvent.games.gamebook.expressions import (
    Expression,
    Operation,
    add,
    compiled,
    falls,
    gathered,
    names,
)
from solvent.games.gamebook.hero import Hero
from solvent.games.gamebook.page import Position, Values
from solvent.model import TooManyStatesError

Names: TypeAlias = frozenset[str]

NONE: Names = frozenset()

ONE = Fraction(1)

MOST_RESULTS = 200_000
"""Largest number of results of the effects of one block."""


@dataclass(frozen=True, slots=True)
class Assign:
    """An assignment to a field; dice in the value are thrown, and the result is clamped."""

    field: str
    value: Expression


@dataclass(frozen=True, slots=True)
class When:
    """Steps under a condition."""

    condition: Expression
    then: tuple["Step", ...]
    otherwise: tuple["Step", ...] = ()


Step: TypeAlias = Assign | When


def steps(effects: Iterable[Effect], hero: Hero) -> tuple[Step, ...]:
    """Return the steps that make up the effects of a list, in order."""
    return tuple(step for effect in effects for step in _steps(effect, hero))


def _steps(effect: Effect, hero: Hero) -> Iterator[Step]:
    for name, amount in (effect.gain or {}).items():
        yield Assign(name, Operation("Add", (name, amount)))
    for name, amount in (effect.lose or effect.drop or {}).items():
        yield _less(name, amount)
    for name, value in (effect.set or effect.clear or {}).items():
        yield Assign(name, value)
    for name, pieces in (effect.take or {}).items():
        fitting = Operation("min", (pieces, hero.room(hero.fields[name].slot)))
        yield Assign(name, Operation("Add", (name, fitting)))
    if effect.empty is not None:
        yield from (Assign(item, 0) for item in hero.members[effect.empty])
    if effect.eat is not None:
        yield _meal(effect.eat)
    if effect.condition is not None:
        then, otherwise = steps(effect.then or (), hero), steps(effect.otherwise or (), hero)
        yield When(effect.condition, then, otherwise)


def _less(name: str, amount: Expression) -> Assign:
    return Assign(name, Operation("Sub", (name, amount)))


def _meal(eat: Eat) -> When:
    hunger = tuple(_less(name, amount) for name, amount in eat.hunger.items())
    meal = When(eat.item, (_less(eat.item, 1),), hunger)
    return meal if eat.unless == 0 else When(eat.unless, (), (meal,))


class Option(NamedTuple):
    """A choice of a decision, or in a shop a trade or leaving.

    Attributes:
        text: The option in words, such as ``"buy rope for 4 gold"``.
        condition: The condition under which the option is offered. A purchase needs enough money
            and room for the item, a sale the item.
        node: The block to which the option leads; None for a trade, which stays in the shop.
        steps: The assignments of a trade, to the money and to the item.
        quantity: Largest number of times in one visit; None for no limit.
    """

    text: str
    condition: Expression
    node: PlacedBlock | None = None
    steps: tuple[Assign, ...] = ()
    quantity: int | None = None


def options(node: PlacedBlock, hero: Hero) -> Iterator[Option]:
    """Yield the options of a block in the order of the book; none if it has no choices or shop."""
    for inner, choice in zip(node.inner, node.block.choices or (), strict=False):
        yield Option(choice.label, choice.when, inner)
    shop = node.block.shop
    if shop is None:
        return
    yield Option("leave", 1, node.inner[0])
    for good in shop.goods:
        item, money = good.item, shop.money
        if good.buy is not None:
            paid, field = _less(money, good.buy), hero.fields[item]
            open_ = (
                Operation("GtE", (paid.value, hero.fields[money].low)),
                Operation("GtE", (hero.room(field.slot), 1)),
                Operation("Lt", (item, field.high)),
            )
            text = f"buy {item} for {good.buy} {money}" if good.buy else f"take {item}"
            exchange = (paid, Assign(item, Operation("Add", (item, 1))))
            yield Option(text, Operation("And", open_), None, exchange, good.quantity)
        if good.sell is not None:
            text = f"sell {item} for {good.sell} {money}" if good.sell else f"leave {item}"
            exchange = (Assign(money, Operation("Add", (money, good.sell))), _less(item, 1))
            yield Option(text, Operation("GtE", (item, 1)), None, exchange)


EffectOutcome: TypeAlias = tuple[Fraction, Values, str | None]
"""A probability, the values after effects, and the ending reached by a rule of ``whenever``."""

Happening: TypeAlias = Callable[[Values], Sequence[EffectOutcome]]
"""A function from the fields' values to the possible results, whose probabilities sum to 1."""


class Effects:
    """A compiler of steps into functions.

    Args:
        book: The book with the fields and the ``whenever`` rules.
    """

    def __init__(self, book: Book) -> None:
        self._position, self._ranges = book.position, book.ranges
        self._rules = [
            (names(rule.when), compiled(rule.when, book.position), rule.ending)
            for rule in book.whenever
        ]

    def all(self, several: Iterable[Step], where: str) -> Happening:
        """Return a function that performs steps one after the other.

        Args:
            several: The steps.
            where: The block in words, for the error message if there are more than
                :data:`MOST_RESULTS` results.
        """
        happenings = [self._one(step, where) for step in several]

        def happen(values: Values) -> Sequence[EffectOutcome]:
            ended: list[EffectOutcome] = []
            going = {values: ONE}
            for step in happenings:
                after: dict[Values, Fraction] = {}
                for now, probability in going.items():
                    for p, then, ending in step(now):
                        if ending is not None:
                            ended.append((probability * p, then, ending))
                        else:
                            add(after, then, probability * p)
                    if len(after) + len(ended) > MOST_RESULTS:
                        message = f"the effects can come to more than {MOST_RESULTS:,} results"
                        raise TooManyStatesError(f"{where}: {message}; throw fewer dice at once")
                going = after
            return [*ended, *((p, now, None) for now, p in going.items())]

        return happen

    def _one(self, step: Step, where: str) -> Happening:
        if isinstance(step, Assign):
            return self._assign(step)
        condition = compiled(step.condition, self._position)
        then, otherwise = self.all(step.then, where), self.all(step.otherwise, where)
        return lambda values: then(values) if condition(values) else otherwise(values)

    def _assign(self, step: Assign) -> Happening:
        place = self._position[step.field]
        low, high = self._ranges[step.field]
        value, fallen = compiled(step.value, self._position), falls(step.value)
        rules = [(holds, ending) for read, holds, ending in self._rules if step.field in read]

        def happen(values: Values) -> Sequence[EffectOutcome]:
            numbers = gathered(
                (min(max(value(values + faces), low), high), p) for faces, p in fallen
            )
            turns: list[EffectOutcome] = []
            for number, p in numbers.items():
                after = (*values[:place], number, *values[place + 1 :])
                ends = (ending for holds, ending in rules if holds(after) and not holds(values))
                turns.append((p, after, next(ends, None) if rules else None))
            return turns

        return happen


class Liveness:
    """The fields that still matter at each place of a book.

    A field is *live* at a place if the rest of the episode can depend on its value. This is the
    live-variable analysis of compilers (Kildall 1973, "A unified approach to global program
    optimization"), backwards through the sections, which have no cycles. States leave out the other
    fields: two states that differ only in these have the same future and the same value. Effects on
    fields that are not live afterwards are left out, with their dice. The fields that a rule of
    ``whenever`` reads are live wherever an effect can make the rule apply.

    A field is *touched* by a way on if it is read or changed by the way on itself, in the blocks
    inside, or on entering the sections to which it leads. Pages that agree in the touched fields
    have the same transitions to the next pages.

    Args:
        book: The book; its sections must not have cycles.
        forget: Whether fields can cease to be live at all.
        keep: Names of fields that are live everywhere.

    Raises:
        ValueError: If sections have a cycle.

    Attributes:
        kept: The fields that are live everywhere, even at endings.
        before: The live fields on entering a block.
        after: The live fields after the block's effects.
        during: The live fields during a fight or a shop, which has read some fields already.
        touches: The fields that are touched by the way on of a block.
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
        self.touches: dict[Place, Names] = {}
        self.effects: dict[Place, tuple[Step, ...]] = {}
        self.sections, cycles = book.in_order
        if cycles:
            section = cycles[0][0]
            raise ValueError(f"section {section} leads back to itself; see `solvent book check`")
        for number in reversed(self.sections):
            self._node(book.nodes[number, 0], NONE)

    def live(self, at: Position) -> Names:
        """Return the fields that are part of a page at a position."""
        section, block, step, ending = at
        if ending:
            return self.kept
        if section == 0:
            return self.before[self._book.start, 0].union(self._book.picked)
        return (self.during if step else self.after)[section, block]

    def touched(self, at: Position) -> Names:
        """Return the fields that are touched between the pages at a position and the next ones."""
        section, block, _, _ = at
        if section == 0:
            return self._entering((self._book.start, 0)).union(self._book.picked)
        return self.touches[section, block]

    def _node(self, node: PlacedBlock, again: Names) -> None:
        """Analyse a block and the blocks inside it; `again` are the live fields at ``again``."""
        place = node.place
        live, self.touches[place] = self._exit(node, again)
        self.after[place] = live | self.kept
        needed = self._needed(steps(node.block.do, self._book), self.after[place])
        self.effects[place], self.before[place] = needed

    def _exit(self, node: PlacedBlock, again: Names) -> tuple[Names, Names]:
        """Return the live fields when the way on is taken, and those touched on it."""
        book = self._book
        match node.block.way_on:
            case "goto":
                return self.before[node.exit, 0], self._entering((node.exit, 0))
            case "again":
                return again, NONE
            case "repeat":
                # The live fields at ``again`` and at the beginning are the same: a fixed point.
                [start] = node.inner
                live = NONE
                self._node(start, live)
                while self.before[start.place] != live:
                    live = self.before[start.place]
                    self._node(start, live)
                return live, self.touches[start.place] | self._entering(start.place)
        for inner in node.inner:
            self._node(inner, again)
        following = NONE.union(*(self.before[inner.place] for inner in node.inner))
        touched = NONE.union(*(self.touches[inner.place] for inner in node.inner))
        touched = touched.union(*(self._entering(inner.place) for inner in node.inner))
        reads = NONE.union(*map(names, _expressions(node, book)))
        match node.exit:
            case Fight() as fight:
                spent = book.spent_in(fight)
                following, touched = following.union(spent), touched.union(spent)
                self.during[node.place] = following | self.kept
            case ShopEntry():
                traded = [step for option in options(node, book) for step in option.steps]
                for step in traded:
                    reads |= names(step.value) | self._watched_with(step.field)
                touched |= self._touched_by(traded)
                self.during[node.place] = following | reads | self.kept
        return following | reads, touched | reads

    def _needed(self, several: Iterable[Step], live: Names) -> tuple[tuple[Step, ...], Names]:
        """Return the steps that matter given the fields live after, and the fields live before."""
        kept: list[Step] = []
        for step in reversed(tuple(several)):
            match step:
                case Assign(name, value):
                    watched = self._watched_with(name)
                    if name in live or watched:
                        kept.append(step)
                        live = (live - {name}) | names(value) | watched | self.kept
                case When(condition, then, otherwise):
                    if_so, live_then = self._needed(then, live)
                    if_not, live_otherwise = self._needed(otherwise, live)
                    if if_so or if_not:
                        kept.append(When(condition, if_so, if_not))
                        live = live_then | live_otherwise | names(condition)
        return tuple(reversed(kept)), live

    def _entering(self, place: Place) -> Names:
        return self._touched_by(self.effects[place])

    def _touched_by(self, several: Iterable[Step]) -> Names:
        touched = NONE
        for step in several:
            if isinstance(step, Assign):
                touched |= names(step.value) | self._watched_with(step.field) | {step.field}
            else:
                inside = self._touched_by((*step.then, *step.otherwise))
                touched |= names(step.condition) | inside
        return touched

    def _watched_with(self, name: str) -> Names:
        """Return the fields read by the rules that a change of a field can trigger."""
        return NONE.union(*(rule for rule in self._rules if name in rule))


def _expressions(node: PlacedBlock, book: Book) -> Iterator[Expression]:
    """Yield the expressions that a way on itself reads; for a fight, when it begins."""
    yield from (option.condition for option in options(node, book))
    yield from (case.when for case in node.block.branch or ())
    match node.exit:
        case Roll(dice=dice):
            yield dice
        case CheckEntry(modifiers=modifiers):
            yield from (modifier.number for modifier in modifiers)
        case Fight() as fight:
            yield book.used_in(fight).skill
            yield from fight.expressions
