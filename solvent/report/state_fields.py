"""States as a reader sees them: named fields where a state has names, one text where not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solvent.model import TabularGame


def field_names(game: TabularGame) -> tuple[str, ...]:
    """The fields of the game's states, or ``("state",)`` if they are not named tuples."""
    names: Sequence[str] = getattr(game.states[0], "_fields", ("state",))
    return tuple(names)


def field_values(game: TabularGame, state: Any) -> tuple[Any, ...]:
    """The values of a state's fields, in the order of :func:`field_names`."""
    return tuple(state) if hasattr(game.states[0], "_fields") else (state,)


def state_text(game: TabularGame, state: Any) -> str:
    """A state in one line, such as ``hero 12, opponent 8``."""
    if not hasattr(game.states[0], "_fields"):
        return str(state)
    pairs = zip(field_names(game), field_values(game, state), strict=True)
    return ", ".join(f"{name} {value}" for name, value in pairs)
