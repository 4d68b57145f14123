"""Effects as functions of the fields' values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from solvent.games.gamebook.book import Assign, Book, Effect, When
from solvent.games.gamebook.expressions import compiled, names, thrown
from solvent.model import TooManyStatesError

Values: TypeAlias = tuple[int | None, ...]
"""The value of each field, in the book's order; None where it matters no more."""

ONE = Fraction(1)

MOST_RESULTS = 200_000
"""To which the effects of one block can come."""


class EffectOutcome(NamedTuple):
    """What effects can come to.

    Attributes:
        probability: Of this.
        values: After the effects, or those up to which play ended.
        ending: In which a rule of ``whenever`` ended play, or None.
    """

    probability: Fraction
    values: Values
    ending: str | None = None


Happening: TypeAlias = Callable[[Values], Sequence[EffectOutcome]]
"""What follows from the values that fields have, with probabilities that sum to 1."""


class Effects:
    """Makes functions of effects.

    Args:
        book: Whose fields and rules they are about.
    """

    def __init__(self, book: Book) -> None:
        self.position: Mapping[str, int] = {field.name: i for i, field in enumerate(book.fields)}
        self._bounds = {field.name: (field.low, field.high) for field in book.fields}
        self._rules = [
            (names(rule.condition), compiled(rule.condition, self.position), rule.ending)
            for rule in book.whenever
        ]

    def all(self, effects: Iterable[Effect], where: str) -> Happening:
        """Effects that happen one after the other.

        Args:
            effects: Of a block.
            where: The block in words, for the error that is raised where dice are thrown into so
                many fields that there are more than :data:`MOST_RESULTS` results.
        """
        steps = [self._one(effect, where) for effect in effects]
        if not steps:
            return lambda values: (EffectOutcome(ONE, values),)
        if len(steps) == 1:
            return steps[0]

        def happen(values: Values) -> Sequence[EffectOutcome]:
            ended: list[EffectOutcome] = []
            going = {values: ONE}
            for step in steps:
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

    def _one(self, effect: Effect, where: str) -> Happening:
        if isinstance(effect, Assign):
            return self._assign(effect)
        return self._when(effect, where)

    def _when(self, effect: When, where: str) -> Happening:
        condition = compiled(effect.condition, self.position)
        then, otherwise = self.all(effect.then, where), self.all(effect.otherwise, where)
        return lambda values: then(values) if condition(values) else otherwise(values)

    def _assign(self, effect: Assign) -> Happening:
        place = self.position[effect.field]
        low, high = self._bounds[effect.field]
        falls = [(compiled(e, self.position), p) for e, p in thrown(effect.value)]
        rules = [(holds, ending) for read, holds, ending in self._rules if effect.field in read]

        def ends(before: Values, after: Values) -> str | None:
            for holds, ending in rules:
                if holds(after) and not holds(before):
                    return ending
            return None

        def happen(values: Values) -> Sequence[EffectOutcome]:
            numbers: dict[int, Fraction] = {}
            for value, p in falls:
                number = min(max(value(values), low), high)
                numbers[number] = numbers[number] + p if number in numbers else p
            turns = []
            for number, p in numbers.items():
                after = (*values[:place], number, *values[place + 1 :])
                turns.append(EffectOutcome(p, after, ends(values, after)))
            return turns

        return happen
