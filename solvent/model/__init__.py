"""What a game is: rules with explicit chance, the same as arrays, and policies as arrays."""

from solvent.model.checks import GameCheckError, check_game, parametrize_with_game_checks
from solvent.model.dice import dice_sum, probability_at_most, ways_to_sum
from solvent.model.game import Game, GameInfo, JointAction, Outcome, State
from solvent.model.rational import RationalGame
from solvent.model.tabular import (
    TabularGame,
    TabularPolicy,
    TooManyStatesError,
    compile_game,
)
from solvent.model.transforms import against, legal_action_table, one_hot, project, reachable

__all__ = [
    "Game",
    "GameCheckError",
    "GameInfo",
    "JointAction",
    "Outcome",
    "RationalGame",
    "State",
    "TabularGame",
    "TabularPolicy",
    "TooManyStatesError",
    "against",
    "check_game",
    "compile_game",
    "dice_sum",
    "legal_action_table",
    "one_hot",
    "parametrize_with_game_checks",
    "probability_at_most",
    "project",
    "reachable",
    "ways_to_sum",
]
