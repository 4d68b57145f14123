"""What the names of a book mean, and its expressions with every name looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from solvent.games.gamebook.book import Field, Kind, Picks, Slot
from solvent.games.gamebook.expressions import (
    LARGEST_NUMBER,
    TRUE,
    Expression,
    ExpressionError,
    Name,
    Number,
    Operation,
    bounds,
    dice,
    joined,
    largest,
    names,
    parse,
    replaced,
)
from solvent.games.gamebook.problems import Path, Problems, similar
from solvent.games.gamebook.schema import File

MOST_FIELDS = 200

LARGEST_RESULT = 10**12
"""Of any part of an expression, so that 64-bit numbers are enough."""


@dataclass(frozen=True)
class _Declaration:
    """Where a name is introduced, and what it stands for."""

    kind: str
    path: Path


class Vocabulary:
    """The names of a book.

    Args:
        file: The book.
        problems: Where faults are noted.
    """

    def __init__(self, file: File, problems: Problems) -> None:
        self._problems = problems
        self._declared: dict[str, _Declaration] = {}
        self._groups: dict[str, _Declaration] = {}
        self._members: dict[str, list[str]] = {}
        self._known: dict[str, Expression] = {}
        self._used: set[str] = set()
        self.ranges: dict[str, tuple[int, int]] = {}
        self._constants: Mapping[str, int] = file.constants
        self._declare_all(file)
        self.slots = tuple(
            Slot(name, slot.capacity, slot.description) for name, slot in file.slots.items()
        )
        self.capacities = {slot.name: slot.capacity for slot in self.slots}
        for name in file.slots:
            self._groups[name] = _Declaration("slot", ("slots", name))
            self._members[name] = []
        self.fields = {
            field.name: field
            for field in (
                *self._variables(file),
                *self._flags(file),
                *self._items(file),
                *self._disciplines(file),
            )
        }
        if len(self.fields) > MOST_FIELDS:
            problems.add(
                (), f"the book has {len(self.fields)} fields", f"at most {MOST_FIELDS} are allowed"
            )
        self.picks = self._picks(file)
        self.ranges = {name: (field.low, field.high) for name, field in self.fields.items()}

    def _declare_all(self, file: File) -> None:
        for name in file.constants:
            self._declare(name, "constant", ("constants", name))
        for name in file.variables:
            self._declare(name, "variable", ("variables", name))
        for name in file.flags:
            self._declare(name, "flag", ("flags", name))
        for name in file.items:
            self._declare(name, "item", ("items", name))
        for name in file.disciplines.choices:
            self._declare(name, "discipline", ("disciplines", "from", name))
        for name in file.disciplines.known:
            self._declare(name, "discipline", ("disciplines", "known", name))

    def _declare(self, name: str, kind: str, path: Path) -> None:
        first = self._declared.get(name)
        if first is not None:
            self._problems.add(
                path,
                f"the name {name!r} is already that of {_a(first.kind)} in line "
                f"{self._problems.line(first.path)}",
                "give it another name",
            )
            return
        self._declared[name] = _Declaration(kind, path)

    def _variables(self, file: File) -> Iterable[Field]:
        for name, variable in file.variables.items():
            path = ("variables", name)
            if variable.min > variable.max:
                self._problems.add(
                    path,
                    f"{name} has min {variable.min} and max {variable.max}",
                    "min should not be above max",
                )
            initial = self.formula(variable.initial, (*path, "initial"), throws=True)
            unfixed = sorted(names(initial))
            if unfixed:
                self._problems.add(
                    (*path, "initial"),
                    f"the initial value of {name} depends on {', '.join(unfixed)}",
                    "use numbers, constants and dice",
                )
                initial = Number(variable.min)
            low, high = bounds(initial, {})
            if not variable.min <= low <= high <= variable.max:
                self._problems.add(
                    (*path, "initial"),
                    f"the initial value of {name} is {_between(low, high)}",
                    f"it should stay within {variable.min}..{variable.max}",
                )
            yield Field(name, "variable", variable.min, variable.max, initial, variable.description)

    def _flags(self, file: File) -> Iterable[Field]:
        for name, flag in file.flags.items():
            yield Field(name, "flag", 0, 1, Number(int(flag.initial)), flag.description)

    def _items(self, file: File) -> Iterable[Field]:
        carried: dict[str, int] = {}
        for name, item in file.items.items():
            path = ("items", name)
            slot = file.slots.get(item.slot)
            if slot is None:
                self._problems.add(
                    (*path, "slot"),
                    f"there is no slot {item.slot!r}",
                    similar(item.slot, file.slots),
                )
                yield Field(name, "item", 0, 1, Number(0), item.description)
                continue
            self._join(name, item.slot)
            if item.kind is not None:
                if item.kind in file.slots:
                    self._problems.add(
                        (*path, "kind"),
                        f"the kind {item.kind!r} is also a slot",
                        "give it another name",
                    )
                else:
                    self._groups.setdefault(item.kind, _Declaration("kind", (*path, "kind")))
                    self._join(name, item.kind)
            if slot.kinds is not None and item.kind not in slot.kinds:
                what = f"is of kind {item.kind!r}" if item.kind else "has no kind"
                self._problems.add(
                    path,
                    f"{name} {what}, which the slot {item.slot!r} does not hold",
                    f"it holds {', '.join(slot.kinds)}",
                )
            most = slot.capacity if item.max is None else min(item.max, slot.capacity)
            if item.initial > most:
                self._problems.add(
                    (*path, "initial"),
                    f"{name} is {item.initial} at the start",
                    f"there can be at most {most}",
                )
            carried[item.slot] = carried.get(item.slot, 0) + item.initial
            if item.initial and carried[item.slot] > slot.capacity:
                self._problems.add(
                    (*path, "initial"),
                    f"with {name} the slot {item.slot!r} holds {carried[item.slot]} at the start",
                    f"its capacity is {slot.capacity}",
                )
            yield Field(name, "item", 0, most, Number(item.initial), item.description, item.slot)

    def _join(self, item: str, group: str) -> None:
        self._members.setdefault(group, []).append(item)

    def _disciplines(self, file: File) -> Iterable[Field]:
        for key, known in (("from", file.disciplines.choices), ("known", file.disciplines.known)):
            for name, description in known.items():
                initial = Number(1 if key == "known" else 0)
                yield Field(name, "discipline", 0, 1, initial, description)

    def _picks(self, file: File) -> Picks:
        count, choices = file.disciplines.pick, tuple(file.disciplines.choices)
        if count > len(choices):
            self._problems.add(
                ("disciplines", "pick"),
                f"{count} of {len(choices)} disciplines are to be picked",
                "add some, or pick fewer",
            )
        if choices and not count:
            self._problems.add(
                ("disciplines", "from"),
                "none of these disciplines is picked",
                "say how many with pick, or move them under known",
            )
        return Picks(count, choices)

    def field(self, name: str, path: Path, *kinds: Kind) -> Field | None:
        """The field of that name and one of these kinds; a fault and None if there is none."""
        found = self.fields.get(name)
        what = " or ".join(kinds)
        if found is None:
            fitting = [field.name for field in self.fields.values() if field.kind in kinds]
            self._problems.add(path, f"there is no {what} {name!r}", similar(name, fitting))
        elif found.kind not in kinds:
            self._problems.add(path, f"{name} is {_a(found.kind)}", f"{_a(what)} should stand here")
        else:
            return found
        return None

    def use(self, name: str) -> None:
        """Note that what happens in the book depends on a name."""
        self._used.add(name)

    def formula(self, text: str, path: Path, *, throws: bool = False) -> Expression:
        """An expression with every name looked up; 1 after noting a fault.

        Args:
            text: Of the expression.
            path: Where it stands.
            throws: Whether dice are allowed.
        """
        known = self._known.get(text)
        if known is None:
            faults = len(self._problems.found)
            known = self._looked_up(text, path)
            if len(self._problems.found) > faults:
                return TRUE
            self._known[text] = known
        if not throws and any(dice(known)):
            self._problems.add(
                path, f"{text!r} has dice in it", "throw them in a roll, or into a variable"
            )
            return TRUE
        return known

    def amount(self, text: str, path: Path, least: int = -LARGEST_NUMBER) -> Expression:
        """An expression without dice whose value is never out of range; 1 after noting a fault.

        Args:
            text: Of the expression.
            path: Where it stands.
            least: The least value that is allowed; the largest is :data:`LARGEST_NUMBER`.
        """
        amount = self.formula(text, path)
        low, high = bounds(amount, self.ranges)
        if low < least:
            self._problems.add(path, f"{text!r} can be {low}", f"write max({least}, ...) around it")
            return TRUE
        if high > LARGEST_NUMBER:
            self._problems.add(
                path, f"{text!r} can be {high}", f"at most {LARGEST_NUMBER} is allowed"
            )
            return TRUE
        return amount

    def _looked_up(self, text: str, path: Path) -> Expression:
        try:
            parsed = parse(text)
        except ExpressionError as error:
            self._problems.add(path, str(error), "see the page on the format for expressions")
            return TRUE
        expression = replaced(parsed, lambda part: self._meaning(part, text, path))
        if names(expression) <= self.ranges.keys():
            try:
                number = largest(expression, self.ranges)
            except ExpressionError as error:
                message, _, cure = str(error).partition("; ")
                self._problems.add(path, f"{text!r}: {message}", cure)
                return TRUE
            if number > LARGEST_RESULT:
                self._problems.add(
                    path,
                    f"a part of {text!r} can be as large as {number:.0e}",
                    f"nothing may exceed {LARGEST_RESULT:.0e}",
                )
        return expression

    def _meaning(self, part: Expression, text: str, path: Path) -> Expression | None:
        match part:
            case Name(name):
                declaration = self._declared.get(name)
                if declaration is None:
                    group = self._groups.get(name)
                    cure = f"write count({name})" if group else similar(name, self._declared)
                    self._problems.add(path, f"{text!r} has the unknown name {name!r}", cure)
                    return Number(1)
                self._used.add(name)
                value = self._constants.get(name)
                return part if value is None else Number(value)
            case Operation("count" | "room" as call, (Name(name),)):
                groups = self._members if call == "count" else self.capacities
                if name not in groups:
                    kind = "slot or kind" if call == "count" else "slot"
                    self._problems.add(
                        path, f"{text!r}: there is no {kind} {name!r}", similar(name, groups)
                    )
                    return Number(1)
                self._used.add(name)
                self._used.update(self._members[name])
                return self.count(name) if call == "count" else self.room(name)
        return None

    def count(self, group: str) -> Expression:
        """How many items of a slot or kind are carried."""
        members = self._members[group]
        return joined(("+", Name(item)) for item in members) if members else Number(0)

    def room(self, slot: str) -> Expression:
        """How many items more a slot can hold."""
        return Operation("-", (Number(self.capacities[slot]), self.count(slot)))

    def members(self, slot: str) -> list[str]:
        """The items of a slot."""
        return self._members[slot]

    def unused(self) -> Iterable[tuple[str, str, Path]]:
        """Names on which nothing depends: what they are, the name, and where they are declared."""
        for name, declaration in self._declared.items():
            if name not in self._used:
                yield declaration.kind, name, declaration.path
        for name, declaration in self._groups.items():
            if declaration.kind == "slot" and not self._members.get(name):
                yield declaration.kind, name, declaration.path


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _between(low: int, high: int) -> str:
    return str(low) if low == high else f"from {low} to {high}"
