"""The states of a solved game, set by their fields and named in an address.

A field is what a state's named tuple or dataclass has, tuples within them taken apart. In an
address a state of a table is its number; any other is its fields as JSON. What an address or a
form says is checked: it may say anything.
"""

import json
from ast import literal_eval
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, TypeAlias

from solvent.exact import SolvedGame, SolvedTable
from solvent.model.game import words
from solvent.model.parameters import shown
from solvent.model.text import facts_text, field_text, leaves, written
from solvent.report.state_map import ordered

MOST_STATES = 100_000
"""The fields of a larger table are not listed; what is written there is read by its kind."""

# A field with more values is written, not chosen from a list.
_MOST_OPTIONS = 60

# Characters of an address's state.
_LONGEST = 2000

# Characters of a field's value.
_LONGEST_VALUE = 100


Values: TypeAlias = Mapping[str, Any]
"""The values of a field by their texts, in ascending order."""

_FLAGS: Values = {"False": False, "True": True}


class States:
    """The states of a solved game, as forms and addresses name them.

    Args:
        solved: The game.
    """

    def __init__(self, solved: SolvedGame) -> None:
        self.solved = solved
        self.table = solved.table if isinstance(solved, SolvedTable) else None
        self._entries = words(solved.game).entry_names()

    @cached_property
    def starts(self) -> tuple[Any, ...]:
        """The states in which an episode may begin, the most probable first."""
        outcomes = sorted(self.solved.game.initial(), key=lambda one: -one.probability)
        return tuple(outcome.state for outcome in outcomes)

    def key(self, state: Any) -> str | None:
        """Return the text for a state in an address; None if there is none.

        Args:
            state: A state of the game.
        """
        if self.table is not None:
            number = self.table.index.get(state)
            return None if number is None else str(number)
        names, values = self._apart(state)
        plain = all(isinstance(value, str | int | float | None) for value in values)
        if not plain or names != self._apart(self.starts[0])[0]:
            return None
        return json.dumps(values, separators=(",", ":"))

    def at(self, key: str) -> Any:
        """Return the state that an address names.

        Args:
            key: A text from :meth:`key`, or any other.

        Raises:
            ValueError: If it stands for no state.
        """
        if self.table is not None:
            count = self.table.n_states
            if not (key.isascii() and key.isdecimal() and len(key) < 20 and int(key) < count):
                raise ValueError(
                    f"the state is {shown(key)}; allowed are the numbers from 0 to {count - 1}"
                )
            return self.table.states[int(key)]
        template = self.starts[0]
        _, own = self._apart(template)
        values: Any = None
        with suppress(ValueError, RecursionError):
            values = json.loads(key) if len(key) <= _LONGEST else None
        alike = isinstance(values, list) and len(values) == len(own)
        if not (alike and all(map(_alike, values, own))):
            raise ValueError(f"{shown(key)} is no state; one is such as {self.key(template)}")
        return self._checked(_rebuilt(template, iter(values)))

    def fields(self, state: Any) -> list[tuple[str, str, Mapping[str, str]]]:
        """Return the fields of a form that sets a state.

        Args:
            state: The state whose values they show.

        Returns:
            Of each field the name, the value, and the values to choose from with their words, none
            if it is typed.
        """
        names, values = self._apart(state)
        columns = self._columns.get(tuple(names), {})
        found: list[tuple[str, str, Mapping[str, str]]] = []
        for name, value in zip(names, values, strict=True):
            known = columns.get(name, _FLAGS if isinstance(value, bool) else {})
            told = known.items() if len(known) <= _MOST_OPTIONS else ()
            options = {text: field_text(self.solved.game, name, one) for text, one in told}
            found.append((name, written(value), options))
        return found

    def with_fields(self, state: Any, texts: Mapping[str, str]) -> Any:
        """Return the state with some fields set.

        Args:
            state: The state that has the other fields.
            texts: The texts of a form, by the names of fields.

        Raises:
            ValueError: If a text is no value of its field, or no state has all of them.
        """
        names, values = self._apart(state)
        columns = self._columns.get(tuple(names), {})
        for place, name in enumerate(names):
            text = texts.get(name, "").strip() if name in texts else None
            if text is None or text == written(values[place]):
                continue
            values[place] = _value(name, text, values[place], columns.get(name))
        if self.table is None:
            return self._checked(_rebuilt(state, iter(values)))
        with suppress(Exception):  # The class of a state may refuse what is none.
            found = _rebuilt(state, iter(values))
            if found in self.table.index:
                return found
        given = zip(names, values, strict=True)
        told = {name: field_text(self.solved.game, name, value) for name, value in given}
        raise ValueError(f"no state that can be reached has {facts_text(told)}")

    def _apart(self, state: Any) -> tuple[list[str], list[Any]]:
        """The names and the values of a state's fields."""
        pairs = list(leaves(state, self._entries))
        return [name for name, _ in pairs], [value for _, value in pairs]

    def _checked(self, state: Any) -> Any:
        """A state that the game and its solution take for one."""
        game = self.solved.game
        try:
            if not game.is_terminal(state):
                legal = game.legal_actions(state)
                if not all(legal):
                    raise ValueError("nobody can act in it")
                game.draw(state)
            if not isfinite(self.solved.value_of(state)):
                raise ValueError("it has no value")
        except Exception as error:  # Rules may raise anything on what is no state.
            cause = str(error) if isinstance(error, ValueError) else "its fields do not fit"
            raise ValueError(f"this is not a state of {game.info.name}: {cause}") from error
        return state

    @cached_property
    def _columns(self) -> Mapping[tuple[str, ...], Mapping[str, Values]]:
        """The values of each field in the states that have the same fields, by those fields.

        There are none of a large table.
        """
        rows: dict[tuple[str, ...], list[list[Any]]] = {}
        if self.table is not None and self.table.n_states <= MOST_STATES:
            for state in self.table.states:
                names, values = self._apart(state)
                rows.setdefault(tuple(names), []).append(values)
        return {
            names: {
                name: {written(value): value for value in ordered(set(column))}
                for name, column in zip(names, zip(*own, strict=True), strict=True)
            }
            for names, own in rows.items()
        }


def _rebuilt(state: Any, values: Iterator[Any]) -> Any:
    """A state like another, with other values of its fields."""
    if isinstance(state, tuple) and state:
        parts = [_rebuilt(part, values) for part in state]
        return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)
    if is_dataclass(state) and not isinstance(state, type):
        named = {one.name: _rebuilt(getattr(state, one.name), values) for one in fields(state)}
        return replace(state, **named)
    return next(values)


def _alike(value: Any, own: Any) -> bool:
    """Return whether a value of JSON is of the kind of a field's."""
    return value is None or own is None or type(value) is type(own)


def _value(name: str, text: str, like: Any, column: Values | None) -> Any:
    """Return the value that a text stands for in a field.

    Raises:
        ValueError: If it is no value of the field.
    """
    value: Any = ...
    if column is not None:
        value = column.get(text, ...)
    else:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            value = text if isinstance(like, str) else literal_eval(text)
    if value is ... or len(text) > _LONGEST_VALUE or not (column or _alike(value, like)):
        raise ValueError(f"{name} is {shown(text)}; allowed are values such as {written(like)}")
    return value
