"""The games, a folder each; what a game is to the toolkit stands in its ``spec.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.fighting_fantasy.rules import FightingFantasy, ff_combat
    from solvent.games.football.rules import FootballStrategy
    from solvent.games.football_clock.forms import football_strategy
    from solvent.games.football_clock.rules import TimedFootball
    from solvent.games.football_drive.rules import FootballDrive
    from solvent.games.gamebook.library import open_book
    from solvent.games.greed.rules import Greed
    from solvent.games.pig.rules import Pig
    from solvent.model.gymnasium_table import GymnasiumTable
    from solvent.model.registry import GAMES, make_game

_HOMES = {
    "GAMES": "solvent.model.registry",
    "FightingFantasy": "solvent.games.fighting_fantasy.rules",
    "FootballDrive": "solvent.games.football_drive.rules",
    "FootballStrategy": "solvent.games.football.rules",
    "Greed": "solvent.games.greed.rules",
    "GymnasiumTable": "solvent.model.gymnasium_table",
    "Pig": "solvent.games.pig.rules",
    "TimedFootball": "solvent.games.football_clock.rules",
    "ff_combat": "solvent.games.fighting_fantasy.rules",
    "football_strategy": "solvent.games.football_clock.forms",
    "make_game": "solvent.model.registry",
    "open_book": "solvent.games.gamebook.library",
}

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, _HOMES)
