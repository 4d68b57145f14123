"""What a game is: rules with explicit chance, the same as arrays, and policies as arrays."""

from solvent.model.checks import GameCheckError, check_game, parametrize_with_game_checks
from solvent.model.context import (
    Check,
    Modifier,
    is_significant,
    modified,
    modified_exactly,
    resolve_at_targets,
)
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
    "Check",
    "Game",
    "GameCheckError",
    "GameInfo",
    "JointAction",
    "Modifier",
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
    "is_significant",
    "legal_action_table",
    "modified",
    "modified_exactly",
    "one_hot",
    "parametrize_with_game_checks",
    "probability_at_most",
    "project",
    "reachable",
    "resolve_at_targets",
    "ways_to_sum",
]
