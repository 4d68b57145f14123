"""Tables of games: compiled from the rules, and kept on disk if that took long.

The hash of a model is known only once its table is compiled, so a table is found by its class and
the class's fields. Only games of this package are kept, whose code is part of the key
(:func:`solvent.model.cache.code_version`); a game with a field that names a file is compiled every
time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from solvent.model.cache import Packed, kept
from solvent.model.game import Game, GameInfo
from solvent.model.progress import OnProgress
from solvent.model.registry import game_of
from solvent.model.state_columns import PackedStates, UnpackableError, find_classes, pack_states
from solvent.model.tabular import TabularGame
from solvent.model.walk import MOST_STATES, Derived, compile_rules

ARRAYS = ("row_start", "outcome_start", "next_state", "probability", "outcome_reward", "initial")


def compile_game(
    game: Any,
    *,
    reference: bool = False,
    max_states: int = MOST_STATES,
    progress: OnProgress | None = None,
) -> TabularGame:
    """Build the arrays of a game: all states that can be reached from its start.

    A game's own vectorised ``tabulate()`` is used where there is one, and of a :class:`Derived`
    game the table of the other.

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
    if isinstance(game, Derived):
        return game.table_from(cached_table(game.game, progress=progress))
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
