"""Effects: from the many kinds of the format to assignments and conditions."""

from __future__ import annotations

from collections.abc import Iterator

from solvent.games.gamebook import schema
from solvent.games.gamebook.book import Assign, Effect, Kind, When
from solvent.games.gamebook.expressions import Expression, Name, Number, Operation, bounds
from solvent.games.gamebook.lowering.vocabulary import Vocabulary
from solvent.games.gamebook.problems import Path, Problems, similar


def lower_effects(
    effects: list[schema.EffectEntry], path: Path, vocabulary: Vocabulary, problems: Problems
) -> tuple[Effect, ...]:
    """The effects of a list, in order.

    Args:
        effects: As the file has them.
        path: Where the list stands.
        vocabulary: Of the book.
        problems: Where faults are noted.
    """
    lowering = _Effects(vocabulary, problems)
    return tuple(
        lowered
        for place, effect in enumerate(effects)
        for lowered in lowering.effect(effect, (*path, place))
    )


class _Effects:
    def __init__(self, vocabulary: Vocabulary, problems: Problems) -> None:
        self._vocabulary = vocabulary
        self._problems = problems

    def effect(self, effect: schema.EffectEntry, path: Path) -> Iterator[Effect]:
        if effect.gain is not None:
            yield from self._changes("+", effect.gain, (*path, "gain"))
        elif effect.lose is not None:
            yield from self._changes("-", effect.lose, (*path, "lose"))
        elif effect.set is not None:
            yield from self._settings(effect.set, (*path, "set"), "variable", "flag")
        elif effect.clear is not None:
            yield from self._settings(effect.clear, (*path, "clear"), "flag")
        elif effect.take is not None:
            yield from self._takings(effect.take, (*path, "take"))
        elif effect.drop is not None:
            yield from self._droppings(effect.drop, (*path, "drop"))
        elif effect.empty is not None:
            yield from self._emptying(effect.empty, (*path, "empty"))
        elif effect.eat is not None:
            yield from self._meal(effect.eat, (*path, "eat"))
        elif effect.condition is not None:
            yield When(
                self._vocabulary.formula(effect.condition, (*path, "if")),
                self._list(effect.then or [], (*path, "then")),
                self._list(effect.otherwise or [], (*path, "else")),
            )

    def _list(self, effects: list[schema.EffectEntry], path: Path) -> tuple[Effect, ...]:
        return lower_effects(effects, path, self._vocabulary, self._problems)

    def _assign(self, name: str, value: Expression, path: Path) -> Assign:
        return Assign(name, value, self._problems.line(path))

    def _changes(self, sign: str, amounts: schema.Amounts, path: Path) -> Iterator[Assign]:
        for name, text in amounts.items():
            place = (*path, name)
            amount = self._vocabulary.formula(text, place, throws=True)
            if self._vocabulary.field(name, place, "variable"):
                yield self._assign(name, Operation(sign, (Name(name), amount)), place)

    def _settings(self, values: schema.Amounts, path: Path, *kinds: Kind) -> Iterator[Assign]:
        for name, text in values.items():
            place = (*path, name)
            value = self._vocabulary.formula(text, place, throws=True)
            if self._vocabulary.field(name, place, *kinds):
                yield self._assign(name, value, place)

    def _takings(self, amounts: schema.Amounts, path: Path) -> Iterator[Assign]:
        for name, text in amounts.items():
            place = (*path, name)
            amount = self._number_of(text, place)
            item = self._vocabulary.field(name, place, "item")
            if item and item.slot:
                room = self._vocabulary.room(item.slot)
                fitting = Operation("min", (amount, room))
                yield self._assign(name, Operation("+", (Name(name), fitting)), place)

    def _droppings(self, amounts: schema.Amounts, path: Path) -> Iterator[Assign]:
        for name, text in amounts.items():
            place = (*path, name)
            amount = self._number_of(text, place)
            if self._vocabulary.field(name, place, "item"):
                yield self._assign(name, Operation("-", (Name(name), amount)), place)

    def _number_of(self, text: str, path: Path) -> Expression:
        """How many items; never below 0."""
        amount = self._vocabulary.formula(text, path, throws=True)
        least, _ = bounds(amount, self._vocabulary.ranges)
        if least < 0:
            self._problems.add(
                path, f"{text!r} can be {least} items", "write max(0, ...) around it"
            )
            return Number(1)
        return amount

    def _emptying(self, slot: str, path: Path) -> Iterator[Assign]:
        if slot not in self._vocabulary.capacities:
            self._problems.add(
                path, f"there is no slot {slot!r}", similar(slot, self._vocabulary.capacities)
            )
            return
        for item in self._vocabulary.members(slot):
            yield self._assign(item, Number(0), path)

    def _meal(self, eat: schema.EatEntry, path: Path) -> Iterator[When]:
        hunger = tuple(self._changes("-", eat.hunger, (*path, "hunger")))
        if not self._vocabulary.field(eat.item, (*path, "item"), "item"):
            return
        self._vocabulary.use(eat.item)
        bite = Operation("-", (Name(eat.item), Number(1)))
        meal = When(Name(eat.item), (self._assign(eat.item, bite, path),), hunger)
        if eat.unless is None:
            yield meal
        else:
            spared = self._vocabulary.formula(eat.unless, (*path, "unless"))
            yield When(spared, (), (meal,))
