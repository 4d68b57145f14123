"""States, choices and their values in words and numbers, as a reader sees them.

A state is named fields where it has names, and one text where not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from solvent.model import TabularGame, TabularPolicy


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


def choice_text(
    game: TabularGame, policy: TabularPolicy, state: int, most: int | None = None
) -> str:
    """The actions that a policy may choose in a state: ``keep``, or ``roll 75%, keep 25%``.

    Of more than `most`, the most probable ones and dots.
    """
    names = game.info.actions[policy.player]
    return strategy_text(names, dict(enumerate(policy.probabilities[state].tolist())), most)


def strategy_text(
    names: Sequence[str] | Mapping[int, str],
    chances: Mapping[int, float],
    most: int | None = None,
) -> str:
    """Action probabilities in words, as :func:`choice_text` has them.

    Args:
        names: Of the actions, by their numbers.
        chances: By action.
        most: How many are named at most; all if left out.
    """
    chosen = {action: chance for action, chance in chances.items() if chance >= 5e-4}
    if len(chosen) == 1:
        return str(names[next(iter(chosen))])
    texts = [
        f"{names[action]} {100 * chance:.{0 if chance >= 0.01 else 1}f}%"
        for action, chance in sorted(chosen.items(), key=lambda one: -one[1])
    ]
    return ", ".join(texts[:most] + (["…"] if most is not None and len(texts) > most else []))
