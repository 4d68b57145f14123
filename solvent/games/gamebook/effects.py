"""Effects: the assignments that they come down to, as functions of the fields' values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from solvent.games.gamebook.book import Book, Eat, Effect, Shop
from solvent.games.gamebook.expressions import Expression, Operation, compiled, falls, names
from solvent.games.gamebook.hero import Hero
from solvent.games.gamebook.page import Values
from solvent.model import TooManyStatesError

ONE = Fraction(1)

MOST_RESULTS = 200_000
"""Largest number of results of the effects of one block."""


@dataclass(frozen=True, slots=True)
class Assign:
    """An assignment of a value to a field, clamped to its bounds; its dice are thrown."""

    field: str
    value: Expression


@dataclass(frozen=True, slots=True)
class When:
    """Steps under a condition."""

    condition: Expression
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...] = ()


Step: TypeAlias = Assign | When


def steps(effects: Iterable[Effect], hero: Hero) -> tuple[Step, ...]:
    """Return the steps that make up the effects of a list, in order."""
    return tuple(step for effect in effects for step in _steps(effect, hero))


def _steps(effect: Effect, hero: Hero) -> Iterator[Step]:
    for name, amount in (effect.gain or {}).items():
        yield Assign(name, Operation("+", (name, amount)))
    for name, amount in (effect.lose or effect.drop or {}).items():
        yield _less(name, amount)
    for name, value in (effect.set or effect.clear or {}).items():
        yield Assign(name, value)
    for name, pieces in (effect.take or {}).items():
        fitting = Operation("min", (pieces, hero.room(hero.fields[name].slot)))
        yield Assign(name, Operation("+", (name, fitting)))
    if effect.empty is not None:
        yield from (Assign(item, 0) for item in hero.members[effect.empty])
    if effect.eat is not None:
        yield _meal(effect.eat)
    if effect.condition is not None:
        then, otherwise = steps(effect.then or (), hero), steps(effect.otherwise or (), hero)
        yield When(effect.condition, then, otherwise)


def _less(name: str, amount: Expression) -> Assign:
    return Assign(name, Operation("+", (name, Operation("negative", (amount,)))))


def _meal(eat: Eat) -> When:
    hunger = tuple(_less(name, amount) for name, amount in eat.hunger.items())
    meal = When(eat.item, (_less(eat.item, 1),), hunger)
    return meal if eat.unless == 0 else When(eat.unless, (), (meal,))


@dataclass(frozen=True, slots=True)
class Trade:
    """A trade in a shop, after which the player is still in the shop.

    Attributes:
        text: Words such as ``"buy rope for 4 gold"``.
        condition: The condition of the trade: enough money, room for the good, the good itself.
        steps: Money and goods that change hands.
        quantity: Largest number of times in one visit; None for as long as the condition holds.
    """

    text: str
    condition: Expression
    steps: tuple[Assign, ...]
    quantity: int | None = None


def trades(shop: Shop, hero: Hero) -> tuple[Trade, ...]:
    """The trades of a shop, in the order of its goods."""
    money = shop.money
    found: list[Trade] = []
    for good in shop.goods:
        item = good.item
        if good.buy is not None:
            paid, field = _less(money, good.buy), hero.fields[item]
            open_ = (
                Operation(">=", (paid.value, hero.fields[money].low)),
                Operation(">=", (hero.room(field.slot), 1)),
                Operation("<", (item, field.high)),
            )
            text = f"buy {item} for {good.buy} {money}" if good.buy else f"take {item}"
            exchange = (paid, Assign(item, Operation("+", (item, 1))))
            found.append(Trade(text, Operation("and", open_), exchange, good.quantity))
        if good.sell is not None:
            text = f"sell {item} for {good.sell} {money}" if good.sell else f"leave {item}"
            exchange = (Assign(money, Operation("+", (money, good.sell))), _less(item, 1))
            found.append(Trade(text, Operation(">=", (item, 1)), exchange))
    return tuple(found)


class EffectOutcome(NamedTuple):
    """One result of effects.

    Attributes:
        probability: The probability of the result.
        values: The values after the effects, or after the effect that ended the episode.
        ending: The ending reached by a rule of ``whenever``, or None.
    """

    probability: Fraction
    values: Values
    ending: str | None = None


Happening: TypeAlias = Callable[[Values], Sequence[EffectOutcome]]
"""The results that follow from values of the fields, with probabilities that sum to 1."""


class Effects:
    """A compiler of steps into functions.

    Args:
        book: The book, whose fields and rules the steps are about.
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
            where: The block in words, for the error that is raised where dice are thrown into so
                many fields that there are more than :data:`MOST_RESULTS` results.
        """
        happenings = [self._one(step, where) for step in several]
        if not happenings:
            return lambda values: (EffectOutcome(ONE, values),)
        if len(happenings) == 1:
            return happenings[0]

        def happen(values: Values) -> Sequence[EffectOutcome]:
            ended: list[EffectOutcome] = []
            going = {values: ONE}
            for step in happenings:
                after: dict[Values, Fraction] = {}
                for now, probability in going.items():
                    for p, then, ending in step(now):
                        if probability is not ONE:
                            p = probability * p
                        if ending is not None:
                            ended.append(EffectOutcome(p, then, ending))
                        else:
                            after[then] = after[then] + p if then in after else p
                    if len(after) + len(ended) > MOST_RESULTS:
                        raise TooManyStatesError(
                            f"{where}: the effects can come to more than {MOST_RESULTS:,} "
                            f"results; throw fewer dice at once"
                        )
                going = after
            return [*ended, *(EffectOutcome(p, now) for now, p in going.items())]

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

        def ends(before: Values, after: Values) -> str | None:
            for holds, ending in rules:
                if holds(after) and not holds(before):
                    return ending
            return None

        def happen(values: Values) -> Sequence[EffectOutcome]:
            numbers: dict[int, Fraction] = {}
            for faces, p in fallen:
                number = min(max(value(values + faces), low), high)
                numbers[number] = numbers[number] + p if number in numbers else p
            turns = []
            for number, p in numbers.items():
                after = (*values[:place], number, *values[place + 1 :])
                turns.append(EffectOutcome(p, after, ends(values, after)))
            return turns

        return happen
