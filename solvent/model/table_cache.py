"""Tables of games that are compiled once and read by every later process.

The hash of a model is known only when its table is there. So a table is found by where its game
comes from: the class, its fields, and all files of its package. It is kept if these say everything:
the class is a frozen dataclass of a package, as it stands in its files, and no field names a file.
Games of a script, a notebook or a single module are compiled every time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

from solvent.model.cache import Packed, kept
from solvent.model.game import Game, GameInfo
from solvent.model.progress import OnProgress
from solvent.model.state_columns import PackedStates, UnpackableError, pack_states
from solvent.model.tabular import Derived, TabularGame, compile_game

ARRAYS = ("row_start", "outcome_start", "next_state", "probability", "outcome_reward", "initial")


def cached_table(game: Game, *, progress: OnProgress | None = None) -> TabularGame:
    """The table of a game: one that was compiled before, or else one that is compiled now.

    Args:
        game: The rules.
        progress: Called as compiling goes on, as by :func:`solvent.model.compile_game`.

    Raises:
        TooManyStatesError: As :func:`solvent.model.compile_game`.
        ValueError: As :func:`solvent.model.compile_game`.
    """
    if isinstance(game, Derived):
        return game.table_from(cached_table(game.game, progress=progress))
    identity = game_identity(game)
    if identity is None:
        return compile_game(game, progress=progress)
    package = str(identity["class"]).partition(".")[0]
    return kept(
        {"what": "table", **identity},
        [package],
        lambda: compile_game(game, progress=progress),
        lambda table: _packed(game, table),
        lambda packed: _unpacked(game, packed, package),
    )


def game_identity(game: Game) -> dict[str, Any] | None:
    """What tells a game from every other, together with the files of its package.

    Args:
        game: The rules.

    Returns:
        JSON-able; None if nothing tells it for certain.
    """
    kind = type(game)
    module = sys.modules.get(kind.__module__)
    if getattr(module, kind.__qualname__, None) is not kind or not _as_written(kind):
        return None
    if any(_names_a_file(value) for value in vars(game).values()):
        return None
    try:
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": _fields(game)}
    except (RecursionError, TypeError):
        return None


def _as_written(kind: type) -> bool:
    """Whether nobody has replaced a method or a property of a class."""
    return all(
        _is_written(name, value, base)
        for base in kind.__mro__
        if base.__module__.partition(".")[0] not in sys.stdlib_module_names
        for name, value in vars(base).items()
    )


def _is_written(name: str, value: Any, base: type) -> bool:
    """Whether an attribute of a class is plain, or code of the file in which the class stands."""
    match value:
        case FunctionType() if name.startswith("__"):  # Some are made by dataclasses.
            own = value.__module__
            return own == base.__module__ or own.partition(".")[0] in sys.stdlib_module_names
        case property():
            parts = [value.fget, value.fset, value.fdel]
        case cached_property():
            parts = [value.func]
        case staticmethod() | classmethod():
            parts = [value.__func__]
        case _ if not name.startswith("__") and (callable(value) or hasattr(value, "__get__")):
            parts = [value]
        case _:
            return True
    # Whoever wraps a function may give it the names of that, but not its file.
    file = getattr(sys.modules.get(base.__module__), "__file__", None)
    return all(
        part is None or (isinstance(part, FunctionType) and part.__code__.co_filename == file)
        for part in parts
    )


def names_files(info: GameInfo) -> bool:
    """Whether a parameter of a game is the path of a file.

    Args:
        info: Of the game.
    """
    return any(_names_a_file(value) for _, value in info.parameters)


def _names_a_file(value: Any) -> bool:
    """Whether a field is the path of a file, whose content would be part of the game."""
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
    """What is kept of a table; None if its states are not of the kinds that are stored."""
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


def _unpacked(game: Game, packed: Packed, package: str) -> TabularGame | None:
    """The table that was kept; None if its states cannot be made."""
    header, arrays = packed
    count = len(arrays["initial"])
    own = {name: array for name, array in arrays.items() if name.startswith("states_")}
    try:
        states = PackedStates(header["states"], own, count, package)
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
