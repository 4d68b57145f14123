"""Tables of games: compiled from the rules, and kept on disk if that took long.

The hash of a model is known only once its table is compiled, so a table is found by its class and
the class's fields. Only games of this package are kept, whose code is part of the key
(:func:`solvent.model.cache.code_version`); a game with a field that names a file is compiled every
time.

**States** are kept as arrays (:func:`pack_states`). They are made of tuples, named tuples and
frozen dataclasses, and those of whole numbers, truth values, texts, floats, fractions and None. All
states of one kind become one array for each field. A state is made of them when it is asked for: an
environment may run for hours and never ask.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from solvent.model.cache import OnProgress, Packed, kept
from solvent.model.game import Game, GameInfo, State
from solvent.model.registry import game_of
from solvent.model.tabular import TabularGame
from solvent.model.walk import MOST_STATES, compile_rules

ARRAYS = ("row_start", "outcome_start", "next_state", "probability", "outcome_reward", "initial")


def compile_game(
    game: Any,
    *,
    reference: bool = False,
    max_states: int = MOST_STATES,
    progress: OnProgress | None = None,
) -> TabularGame:
    """Build the arrays of a game: all states that can be reached from its start.

    A game's own vectorised ``tabulate()`` is used where there is one. A game that is made from
    another computes its table from that of the other by its ``table_from``.

    Args:
        game: The rules, or whatever stands for them
            (:func:`~solvent.model.registry.game_of`): a name, an environment's id, an environment;
            of a table it is the table itself.
        reference: Walk through the rules even if there is another way.
        max_states: Refuse larger games instead of filling the memory; not looked at where the
            game has ``tabulate()``.
        progress: Called with the states done so far (:class:`~solvent.model.Progress`, phase
            ``"compiling"``); not where the game has ``tabulate()``.

    Raises:
        TooManyStatesError: If more than `max_states` states are reachable.
        ValueError: If a distribution does not sum to 1, or a probability is not positive; the
            message names the state and the action.
    """
    game = game_of(game)
    if isinstance(game, TabularGame):
        return game
    return compile_rules(game, reference=reference, max_states=max_states, progress=progress)


def cached_table(game: Any, *, progress: OnProgress | None = None) -> TabularGame:
    """The table of a game: one that was compiled before, or else one that is compiled now.

    Args:
        game: The rules, or whatever stands for them
            (:func:`~solvent.model.registry.game_of`): a name, an environment's id, an environment.
        progress: Called as compiling goes on, as by :func:`solvent.model.compile_game`.

    Raises:
        TooManyStatesError: As :func:`solvent.model.compile_game`.
        ValueError: As :func:`solvent.model.compile_game`.
    """
    game = game_of(game)
    if isinstance(game, TabularGame):
        return game
    if hasattr(game, "table_from"):
        table: TabularGame = game.table_from(cached_table(game.game, progress=progress))
        return table
    identity = game_identity(game)
    if identity is None:
        return compile_game(game, progress=progress)
    return kept(
        {"what": "table", **identity},
        lambda: compile_game(game, progress=progress),
        lambda table: _packed(game, table),
        lambda packed: _unpacked(game, packed),
    )


def game_identity(game: Game) -> dict[str, Any] | None:
    """Return what tells a game from every other one of this package.

    Args:
        game: The rules.

    Returns:
        JSON-able data; None if the game is not of this package or nothing tells it for certain.
    """
    kind = type(game)
    module = sys.modules.get(kind.__module__)
    if not kind.__module__.startswith("solvent."):
        return None
    if getattr(module, kind.__qualname__, None) is not kind:
        return None
    if any(_names_a_file(value) for value in vars(game).values()):
        return None
    try:
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": _fields(game)}
    except (RecursionError, TypeError):
        return None


def names_files(info: GameInfo) -> bool:
    """Return whether a parameter of a game is the path of a file.

    Args:
        info: Description of the game.
    """
    return any(_names_a_file(value) for _, value in info.parameters)


def _names_a_file(value: Any) -> bool:
    """Return whether a field is the path of a file, whose content would be part of the game."""
    try:
        return isinstance(value, Path) or (isinstance(value, str) and Path(value).exists())
    except (OSError, ValueError):  # Too long for a path, or with a zero byte.
        return False


def _fields(value: Any) -> Any:
    """A value as JSON, so that equal texts are equal values.

    Raises:
        TypeError: If it is, or has in it, what is neither plain nor a frozen dataclass.
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is Fraction:
        return ["Fraction", str(value)]
    if isinstance(value, tuple) or kind is list:
        return [kind.__name__, *map(_fields, value)]
    if isinstance(value, Mapping):
        return [kind.__name__, *([_fields(k), _fields(v)] for k, v in value.items())]
    if is_dataclass(kind) and kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        own = {field.name: _fields(getattr(value, field.name)) for field in fields(value)}
        return [f"{kind.__module__}:{kind.__qualname__}", own]
    raise TypeError(f"{kind.__name__} is not plain")


def _packed(game: Game, table: TabularGame) -> Packed | None:
    """Pack a table for the cache; None if its states are not of the kinds that are stored."""
    if type(table) is not TabularGame or table.info != game.info or type(table.states) is not tuple:
        return None
    try:
        states, arrays = pack_states(table.states)
    except UnpackableError:
        return None
    arrays |= {name: getattr(table, name) for name in ARRAYS}
    arrays |= {f"mask_{player}": mask for player, mask in enumerate(table.mask)}
    arrays |= {f"observation_{p}": seen for p, seen in enumerate(table.observation)}
    if table.turn is not None:
        arrays["turn"] = table.turn
    return Packed({"states": states, "model_hash": table.model_hash}, arrays)


def _unpacked(game: Game, packed: Packed) -> TabularGame | None:
    """The table that was kept; None if its states cannot be made."""
    header, arrays = packed
    count = len(arrays["initial"])
    own = {name: array for name, array in arrays.items() if name.startswith("states_")}
    try:
        states = PackedStates(
            header["states"], own, count, find_classes(header["states"], "solvent")
        )
    except UnpackableError:
        return None
    observation = [arrays[name] for name in sorted(arrays) if name.startswith("observation_")]
    return TabularGame.trusted(
        header["model_hash"],
        info=game.info,
        states=states,
        **{name: arrays[name] for name in ARRAYS},
        mask=(arrays["mask_0"], arrays["mask_1"]),
        observation=tuple(observation),
        turn=arrays.get("turn"),
    )


Arrays = Mapping[str, NDArray[Any]]

OFTEN = 256
"""The number of requests for single states after which all of them are made."""

READ: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "Fraction": Fraction,
    "NoneType": lambda text: None,
}
"""Readers of values that are kept as texts, by the name of the values' class."""


class UnpackableError(ValueError):
    """A state holds something that is not stored."""


def pack_states(states: Sequence[State]) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the header for states, and their arrays.

    Args:
        states: States of a table.

    Raises:
        UnpackableError: If they hold something else than the module says.
    """
    arrays: dict[str, NDArray[Any]] = {}
    return _pack(list(states), arrays), arrays


def _pack(values: list[Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the header's entry for values, whose arrays are added."""
    kinds = [(type(value), len(value) if isinstance(value, tuple) else 0) for value in values]
    distinct = list(dict.fromkeys(kinds))
    if len(distinct) > 1:
        number = {kind: k for k, kind in enumerate(distinct)}
        which = np.array([number[kind] for kind in kinds])
        place = np.empty(len(values), np.int64)
        groups = []
        for k in range(len(distinct)):
            there = np.flatnonzero(which == k)
            place[there] = np.arange(len(there))
            groups.append(_pack([values[i] for i in there.tolist()], arrays))
        return {"of": _added(which, arrays), "at": _added(place, arrays), "groups": groups}
    kind = distinct[0][0]
    if kind in (bool, int, float):
        return {"array": _added(np.array(values), arrays)}
    if kind in (str, Fraction, type(None)):
        number = {value: k for k, value in enumerate(dict.fromkeys(values))}
        places = _added(np.array([number[value] for value in values]), arrays)
        return {"is": kind.__name__, "texts": [*map(str, number)], "array": places}
    if kind is not tuple and not _is_record(kind):
        raise UnpackableError(f"{kind.__name__} is not stored")
    name = "tuple" if kind is tuple else f"{kind.__module__}:{kind.__qualname__}"
    if issubclass(kind, tuple):
        columns = [list(column) for column in zip(*values, strict=True)]
    else:
        columns = [[getattr(value, field.name) for value in values] for field in fields(kind)]
    return {"class": name, "fields": [_pack(column, arrays) for column in columns]}


def _is_record(kind: type) -> bool:
    """Whether a class is one of named tuples, or a frozen dataclass whose fields are all of it."""
    if issubclass(kind, tuple):
        return hasattr(kind, "_fields")
    return (
        is_dataclass(kind)
        and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        and all(field.init for field in fields(kind))
    )


def _added(array: NDArray[Any], arrays: dict[str, NDArray[Any]]) -> str:
    """Add an array, its whole numbers in the smallest type that holds them; return its name."""
    if array.dtype.kind not in "bif":
        raise UnpackableError("a number is too large to be stored")
    if array.dtype.kind == "i" and len(array):
        low, high = np.min_scalar_type(array.min()), np.min_scalar_type(array.max())
        smallest = np.promote_types(low, high)
        if smallest.kind in "iu":
            array = array.astype(smallest)
    name = f"states_{len(arrays)}"
    arrays[name] = array
    return name


def find_classes(header: Any, package: str) -> dict[str, type]:
    """Return the classes that a header names, by name.

    Args:
        header: The header from :func:`pack_states`.
        package: The package on the top level in which they have to be defined.

    Raises:
        UnpackableError: If a class is not one of that package, or is not imported.
    """
    classes: dict[str, type] = {}
    for inner in (*header.get("groups", ()), *header.get("fields", ())):
        classes |= find_classes(inner, package)
    name = header.get("class", "tuple")
    if name != "tuple":
        module, _, attributes = name.partition(":")
        found: Any = sys.modules.get(module) if module.partition(".")[0] == package else None
        for attribute in attributes.split("."):
            found = getattr(found, attribute, None)
        if not isinstance(found, type) or not _is_record(found):
            raise UnpackableError(f"{name} is no class of states of {package}")
        classes[name] = found
    return classes


class PackedStates(Sequence[State]):
    """States that are made from arrays when they are asked for.

    Args:
        header: The header from :func:`pack_states`.
        arrays: Arrays to which the header refers.
        count: Number of states.
        classes: The classes of the states and of what is in them, by their names in the header.
    """

    def __init__(
        self, header: Any, arrays: Arrays, count: int, classes: Mapping[str, type]
    ) -> None:
        self._header, self._arrays, self._count = header, dict(arrays), count
        self._classes: Mapping[str, Any] = classes
        self._all: tuple[State, ...] | None = None
        self._asked = 0

    @classmethod
    def of_columns(cls, kind: type, columns: Sequence[NDArray[Any]]) -> PackedStates:
        """Return the states of one class of named tuples, whose fields are whole numbers.

        Args:
            kind: The class.
            columns: Values of each field, [S].
        """
        arrays: dict[str, NDArray[Any]] = {}
        inner = [{"array": _added(column, arrays)} for column in columns]
        header = {"class": kind.__name__, "fields": inner}
        return cls(header, arrays, len(columns[0]), {kind.__name__: kind})

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[State, ...]: ...
    def __getitem__(self, index: int | slice) -> State | tuple[State, ...]:
        if self._all is not None or isinstance(index, slice):
            return self._every()[index]
        place, self._asked = int(index), self._asked + 1
        if self._asked > OFTEN:
            self._every()
        if not -self._count <= place < self._count:
            raise IndexError(f"there are {self._count} states")
        [state] = self._made(self._header, np.array([place % self._count]))
        found: State = state
        return found

    def __iter__(self) -> Iterator[State]:
        return iter(self._every())

    def __eq__(self, other: object) -> bool:
        """Return whether another sequence has the same states in the same order."""
        if not isinstance(other, (tuple, PackedStates)):
            return NotImplemented
        return self._every() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._count} states>"

    def _every(self) -> tuple[State, ...]:
        """All states; whoever asks for them all once does so again."""
        if self._all is None:
            self._all = tuple(self._made(self._header, np.arange(self._count)))
        return self._all

    def _made(self, header: Any, places: NDArray[Any]) -> list[Any]:
        """The values at some places."""
        if "groups" in header:
            which, at = (self._arrays[header[name]][places] for name in ("of", "at"))
            made = np.empty(len(places), object)
            for k, inner in enumerate(header["groups"]):
                there = np.flatnonzero(which == k)
                found = self._made(inner, at[there])
                for i, value in zip(there.tolist(), found, strict=True):
                    made[i] = value
            return made.tolist()
        if "fields" in header:
            columns = [self._made(inner, places) for inner in header["fields"]]
            if header["class"] != "tuple":
                return list(map(self._classes[header["class"]], *columns))
            return list(zip(*columns, strict=True)) if columns else [()] * len(places)
        plain: list[Any] = self._arrays[header["array"]][places].tolist()
        if "texts" in header:
            values = list(map(READ[header["is"]], header["texts"]))
            return [values[k] for k in plain]
        return plain
