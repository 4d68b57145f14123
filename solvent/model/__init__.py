"""What a game is: rules with explicit chance, the same as arrays, and policies as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
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
    from solvent.model.discount import DISCOUNT_END, discounted
    from solvent.model.game import WINS, WINS_OR_TIES, Game, GameInfo, JointAction, Outcome, State
    from solvent.model.openspiel_export import policy_from_openspiel, to_openspiel
    from solvent.model.openspiel_game import game_from_openspiel
    from solvent.model.prism_game import PrismGame, game_from_prism
    from solvent.model.progress import Progress
    from solvent.model.rational import RationalGame
    from solvent.model.scale import ValueScale
    from solvent.model.storm_export import to_storm
    from solvent.model.table_cache import cached_table
    from solvent.model.tabular import (
        TabularGame,
        TabularPolicy,
        TooManyStatesError,
        compile_game,
    )
    from solvent.model.transforms import against, legal_action_table, one_hot, project, reachable

_HOMES = {
    "DISCOUNT_END": "solvent.model.discount",
    "WINS": "solvent.model.game",
    "WINS_OR_TIES": "solvent.model.game",
    "Check": "solvent.model.context",
    "Game": "solvent.model.game",
    "GameCheckError": "solvent.model.checks",
    "GameInfo": "solvent.model.game",
    "JointAction": "solvent.model.game",
    "Modifier": "solvent.model.context",
    "Outcome": "solvent.model.game",
    "PrismGame": "solvent.model.prism_game",
    "Progress": "solvent.model.progress",
    "RationalGame": "solvent.model.rational",
    "State": "solvent.model.game",
    "TabularGame": "solvent.model.tabular",
    "TabularPolicy": "solvent.model.tabular",
    "TooManyStatesError": "solvent.model.tabular",
    "ValueScale": "solvent.model.scale",
    "against": "solvent.model.transforms",
    "cached_table": "solvent.model.table_cache",
    "check_game": "solvent.model.checks",
    "compile_game": "solvent.model.tabular",
    "dice_sum": "solvent.model.dice",
    "discounted": "solvent.model.discount",
    "game_from_openspiel": "solvent.model.openspiel_game",
    "game_from_prism": "solvent.model.prism_game",
    "is_significant": "solvent.model.context",
    "legal_action_table": "solvent.model.transforms",
    "modified": "solvent.model.context",
    "modified_exactly": "solvent.model.context",
    "one_hot": "solvent.model.transforms",
    "parametrize_with_game_checks": "solvent.model.checks",
    "policy_from_openspiel": "solvent.model.openspiel_export",
    "probability_at_most": "solvent.model.dice",
    "project": "solvent.model.transforms",
    "reachable": "solvent.model.transforms",
    "resolve_at_targets": "solvent.model.context",
    "to_openspiel": "solvent.model.openspiel_export",
    "to_storm": "solvent.model.storm_export",
    "ways_to_sum": "solvent.model.dice",
}

__all__ = [
    "DISCOUNT_END",
    "WINS",
    "WINS_OR_TIES",
    "Check",
    "Game",
    "GameCheckError",
    "GameInfo",
    "JointAction",
    "Modifier",
    "Outcome",
    "PrismGame",
    "Progress",
    "RationalGame",
    "State",
    "TabularGame",
    "TabularPolicy",
    "TooManyStatesError",
    "ValueScale",
    "against",
    "cached_table",
    "check_game",
    "compile_game",
    "dice_sum",
    "discounted",
    "game_from_openspiel",
    "game_from_prism",
    "is_significant",
    "legal_action_table",
    "modified",
    "modified_exactly",
    "one_hot",
    "parametrize_with_game_checks",
    "policy_from_openspiel",
    "probability_at_most",
    "project",
    "reachable",
    "resolve_at_targets",
    "to_openspiel",
    "to_storm",
    "ways_to_sum",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, _HOMES)
