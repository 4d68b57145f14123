"""The rules of every game, one file each, and the names under which they are listed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from solvent.games.fighting_fantasy.rules import FightingFantasy, ff_combat
from solvent.games.football.rules import FootballStrategy
from solvent.games.football_clock.forms import football_strategy
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_drive.rules import FootballDrive
from solvent.games.gamebook.library import open_book
from solvent.games.greed.rules import Greed
from solvent.games.pig.rules import Pig
from solvent.model import Game
from solvent.model.difficulty import with_modifier
from solvent.model.gymnasium_table import GymnasiumTable
from solvent.model.parameters import check_choice, shown

GAMES: Mapping[str, Callable[..., Game]] = {
    "ff-combat": ff_combat,
    "football-strategy": football_strategy,
    "football-drive": FootballDrive,
    "gamebook": open_book,
    "greed": Greed,
    "pig": Pig,
}
"""Makers of games by name; their parameters are JSON-able."""


def make_game(name: str, *, modifiers: Mapping[str, Any] | None = None, **parameters: Any) -> Game:
    """A game by name.

    Args:
        name: A key of :data:`GAMES`.
        modifiers: Of the game's checks, by their names: ``{"luck": -0.15}`` makes every test of
            luck harder (:mod:`solvent.model.difficulty`).
        parameters: The game's own; ``help(solvent.games.GAMES[name])`` lists them.

    Raises:
        ValueError: If the name or a parameter is unknown, or a value is out of its range.
    """
    maker = GAMES[check_choice(name, "game", GAMES)]
    allowed = inspect.signature(maker).parameters
    for parameter in parameters:
        check_choice(parameter, f"parameter of {name}", allowed)
    game = maker(**parameters)
    modifiers = {} if modifiers is None else modifiers
    if not isinstance(modifiers, Mapping):
        raise ValueError(
            f"modifiers is {shown(modifiers)}; allowed is a mapping of checks to numbers"
        )
    for check, modifier in modifiers.items():
        game = with_modifier(game, check, modifier)
    return game


__all__ = [
    "GAMES",
    "FightingFantasy",
    "FootballDrive",
    "FootballStrategy",
    "Greed",
    "GymnasiumTable",
    "Pig",
    "TimedFootball",
    "ff_combat",
    "football_strategy",
    "make_game",
    "open_book",
]
