"""The games, a folder each; what a game is to the toolkit stands in its ``spec.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.games.blackjack.rules import Blackjack
    from solvent.games.blotto.rules import Blotto
    from solvent.games.car_rental.rules import CarRental
    from solvent.games.dyna_maze.rules import DynaMaze
    from solvent.games.equipment_replacement.rules import EquipmentReplacement
    from solvent.games.fighting_fantasy.rules import FightingFantasy, ff_combat
    from solvent.games.football.rules import FootballStrategy
    from solvent.games.football_clock.forms import football_strategy
    from solvent.games.football_clock.rules import TimedFootball
    from solvent.games.football_drive.rules import FootballDrive
    from solvent.games.gambler.rules import Gambler
    from solvent.games.gamebook.library import open_book
    from solvent.games.goofspiel.rules import Goofspiel
    from solvent.games.greed.rules import Greed
    from solvent.games.gridworld.rules import Gridworld
    from solvent.games.inventory.rules import Inventory
    from solvent.games.nim.rules import Nim
    from solvent.games.pig.rules import Pig
    from solvent.games.racetrack.rules import Racetrack
    from solvent.games.random_walk.rules import RandomWalk
    from solvent.games.rock_paper_scissors.rules import RockPaperScissors
    from solvent.games.soccer.rules import Soccer
    from solvent.games.tic_tac_toe.rules import TicTacToe
    from solvent.games.windy_gridworld.rules import WindyGridworld
    from solvent.games.yahtzee.rules import Yahtzee
    from solvent.model.gymnasium_table import GymnasiumTable
    from solvent.model.registry import GAMES, make_game

_HOMES = {
    "Blackjack": "solvent.games.blackjack.rules",
    "Blotto": "solvent.games.blotto.rules",
    "CarRental": "solvent.games.car_rental.rules",
    "DynaMaze": "solvent.games.dyna_maze.rules",
    "EquipmentReplacement": "solvent.games.equipment_replacement.rules",
    "FightingFantasy": "solvent.games.fighting_fantasy.rules",
    "FootballDrive": "solvent.games.football_drive.rules",
    "FootballStrategy": "solvent.games.football.rules",
    "GAMES": "solvent.model.registry",
    "Gambler": "solvent.games.gambler.rules",
    "Goofspiel": "solvent.games.goofspiel.rules",
    "Greed": "solvent.games.greed.rules",
    "Gridworld": "solvent.games.gridworld.rules",
    "GymnasiumTable": "solvent.model.gymnasium_table",
    "Inventory": "solvent.games.inventory.rules",
    "Nim": "solvent.games.nim.rules",
    "Pig": "solvent.games.pig.rules",
    "Racetrack": "solvent.games.racetrack.rules",
    "RandomWalk": "solvent.games.random_walk.rules",
    "RockPaperScissors": "solvent.games.rock_paper_scissors.rules",
    "Soccer": "solvent.games.soccer.rules",
    "TicTacToe": "solvent.games.tic_tac_toe.rules",
    "TimedFootball": "solvent.games.football_clock.rules",
    "WindyGridworld": "solvent.games.windy_gridworld.rules",
    "Yahtzee": "solvent.games.yahtzee.rules",
    "ff_combat": "solvent.games.fighting_fantasy.rules",
    "football_strategy": "solvent.games.football_clock.forms",
    "make_game": "solvent.model.registry",
    "open_book": "solvent.games.gamebook.library",
}

__all__ = [
    "GAMES",
    "Blackjack",
    "Blotto",
    "CarRental",
    "DynaMaze",
    "EquipmentReplacement",
    "FightingFantasy",
    "FootballDrive",
    "FootballStrategy",
    "Gambler",
    "Goofspiel",
    "Greed",
    "Gridworld",
    "GymnasiumTable",
    "Inventory",
    "Nim",
    "Pig",
    "Racetrack",
    "RandomWalk",
    "RockPaperScissors",
    "Soccer",
    "TicTacToe",
    "TimedFootball",
    "WindyGridworld",
    "Yahtzee",
    "ff_combat",
    "football_strategy",
    "make_game",
    "open_book",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, _HOMES)
