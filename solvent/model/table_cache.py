"""Tables of games: compiled from the rules, and cached on disk if that took long.

The hash of a model is known only once its table is compiled, so the key of a table is the game's
class and fields. Only games of this package are cached, since their code is part of the key
(:func:`solvent.model.cache.code_version`); a game with a field that names a file is compiled every
time.

**States** are stored as JSON (:func:`pack_states`), if they consist of tuples, named tuples and
frozen dataclasses of numbers, booleans, texts, fractions and None. They are rebuilt only when one
of them is read (:class:`LazyStates`), which an environment may never do.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.model.cache import Packed, kept
from solvent.model.game import Game, GameInfo, State
from solvent.model.progress import OnProgress
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
    """Build the table of a game, with all states that can be reached from its start.

    A game's own vectorized ``tabulate()`` is used if it has one. A game that is made from another
    computes its table from that of the other by its ``table_from``.

    Args:
        game: The rules, a name, an environment's id or an environment
            (:func:`~solvent.model.registry.game_of`). A table is returned as it is.
        reference: Walk through the rules even if there is another way.
        max_states: Refuse larger games instead of filling the memory; ignored if the game has
            ``tabulate()``.
        progress: Called with the states done so far (:class:`~solvent.model.Progress`, phase
            ``"compiling"``), unless the game has ``tabulate()``.

    Raises:
        TooManyStatesError: If more than `max_states` states are reachable.
        ValueError: If a distribution does not sum to 1, or a probability is not positive; the
            message names the state and the action.
    """
    return compile_rules(
        game_of(game), reference=reference, max_states=max_states, progress=progress
    )


def cached_table(game: Any, *, progress: OnProgress | None = None) -> TabularGame:
    """Return the table of a game from the cache, or compile it.

    Args:
        game: The game in any form that :func:`solvent.model.compile_game` takes.
        progress: Called with the states done so far, as by :func:`solvent.model.compile_game`.

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
    """Return the data that distinguishes a game from every other one of this package.

    Args:
        game: The rules.

    Returns:
        JSON-able data; None if the game is not of this package, or has a field that JSON cannot
        identify.
    """
    kind = type(game)
    module = sys.modules.get(kind.__module__)
    if not kind.__module__.startswith("solvent."):
        return None
    if getattr(module, kind.__qualname__, None) is not kind:
        return None
    if hasattr(game, "identity"):
        return {"classes": [f"{kind.__module__}:{kind.__qualname__}"], "fields": game.identity}
    if any(_names_a_file(value) for value in vars(game).values()):
        return None
    try:
        classes, fields = pack_states([game])
    except (RecursionError, UnpackableError):
        return None
    return {"classes": classes, "fields": fields}


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


def _packed(game: Game, table: TabularGame) -> Packed | None:
    """Pack a table for the cache; None if its states are not of the kinds that are stored."""
    if type(table) is not TabularGame or table.info != game.info:
        return None
    try:
        header, arrays = _packed_states(table.states)
    except UnpackableError:
        return None
    arrays = {**arrays, **{name: getattr(table, name) for name in ARRAYS}}
    arrays |= {f"mask_{player}": mask for player, mask in enumerate(table.mask)}
    arrays |= {f"observation_{p}": seen for p, seen in enumerate(table.observation)}
    if table.turn is not None:
        arrays["turn"] = table.turn
    return Packed({**header, "model_hash": table.model_hash}, arrays)


def _packed_states(states: Any) -> Packed:
    """Pack the states of a table; those of a game with ``states_from()`` pack themselves."""
    if hasattr(states, "packed"):
        packed: Packed = states.packed()
        return packed
    classes, text = pack_states(states)
    return Packed({"classes": classes}, {"states": np.frombuffer(text.encode(), np.uint8)})


def _unpacked(game: Game, packed: Packed) -> TabularGame:
    """Return the cached table; raise UnpackableError if its states cannot be rebuilt."""
    header, arrays = packed
    if hasattr(game, "states_from"):
        states: Sequence[State] = game.states_from(packed)
    else:
        classes = [find_class(name, "solvent") for name in header["classes"]]
        make = partial(unpack_states, classes, arrays["states"])
        states = LazyStates(len(arrays["initial"]), make)
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


class UnpackableError(ValueError):
    """A state holds something that cannot be stored."""


def pack_states(states: Sequence[Any]) -> tuple[list[str], str]:
    """Return the names of the classes in states, and the states as JSON.

    A value with parts becomes a list: the number of its class, then the parts. Rules, whose fields
    may also be lists and mappings, are packed in the same way to identify them.

    Args:
        states: States of a table.

    Raises:
        UnpackableError: If a state contains a value of any other kind than the module lists.
    """
    number: dict[type, int] = {}

    def packed(value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if kind not in number:
            if kind not in (tuple, list, dict, Fraction) and not _is_record(kind):
                raise UnpackableError(f"{kind.__name__} is not stored")
            number[kind] = len(number)
        if kind is Fraction:
            return [number[kind], str(value)]
        if isinstance(value, dict):
            parts: Iterable[Any] = value.items()
        elif isinstance(value, (tuple, list)):
            parts = value
        else:
            parts = [getattr(value, field.name) for field in fields(kind)]
        return [number[kind], *map(packed, parts)]

    text = json.dumps([packed(state) for state in states])
    return [f"{kind.__module__}:{kind.__qualname__}" for kind in number], text


def unpack_states(classes: Sequence[type], text: NDArray[np.uint8]) -> tuple[State, ...]:
    """Return the states that :func:`pack_states` has packed.

    Args:
        classes: The classes in the states, in the order of their names.
        text: The JSON, in UTF-8.
    """

    def unpacked(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        kind, parts = classes[value[0]], map(unpacked, value[1:])
        return tuple(parts) if kind is tuple else kind(*parts)

    return tuple(map(unpacked, json.loads(text.tobytes())))


def _is_record(kind: type) -> bool:
    """Return whether a class is a named tuple, or a frozen dataclass made from all its fields."""
    if issubclass(kind, tuple):
        return hasattr(kind, "_fields")
    return (
        is_dataclass(kind)
        and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        and all(field.init for field in fields(kind))
    )


def find_class(name: str, package: str) -> type:
    """Return a class that occurs in states.

    Args:
        name: Name of the class, from :func:`pack_states`.
        package: The top-level package in which classes of states must be defined.

    Raises:
        UnpackableError: If the class is not one of states, or its module is not imported.
    """
    module, _, attributes = name.partition(":")
    found: Any = sys.modules.get(module)
    for attribute in attributes.split("."):
        found = getattr(found, attribute, None)
    own = module.partition(".")[0] == package and isinstance(found, type) and _is_record(found)
    if not own and found not in (tuple, Fraction):
        raise UnpackableError(f"{name} is not a class of states of {package}")
    kind: type = found
    return kind


class LazyStates(Sequence[State]):
    """States that are built, all at once, when one of them is first read.

    Args:
        count: Number of states.
        make: Builds the states.
    """

    def __init__(self, count: int, make: Callable[[], tuple[State, ...]]) -> None:
        self._count, self._make = count, make

    @cached_property
    def _all(self) -> tuple[State, ...]:
        return self._make()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __iter__(self) -> Iterator[State]:
        return iter(self._all)
