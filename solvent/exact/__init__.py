"""Expectation: the exact optimum of a game, and exact numbers about any policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.exact.archive import ArraySchema, Schema, read_archive, write_archive
    from solvent.exact.dominance import DominanceReport, Removal, iterated_dominance
    from solvent.exact.evaluation import expected_length, policy_value, state_visitation
    from solvent.exact.expectimax import CycleError, regroup, solve_tree
    from solvent.exact.game_tree import GameTree
    from solvent.exact.linear_program import LinearProgramSolution, solve_linear_program
    from solvent.exact.matrix_game import (
        MatrixGames,
        MatrixGameSolution,
        solve_matrix_game,
        solve_matrix_games,
    )
    from solvent.exact.occupancy import DecisionGroup, OptimalOccupancy, optimal_occupancy
    from solvent.exact.policy_files import (
        load_policy,
        load_solution,
        read_metadata,
        read_request,
        save_policy,
        save_solution,
    )
    from solvent.exact.rational import RationalSolution, solve_exactly
    from solvent.exact.response import best_response, exploitability, nash_conv
    from solvent.exact.scoring import GapLocation, Score, cross_play_matrix, locate_gap, score
    from solvent.exact.solution import CertificateError, ImproperGameError, Solution
    from solvent.exact.solution_cache import cached_solution
    from solvent.exact.solved_game import SolvedGame, SolvedTable, solve
    from solvent.exact.store import StoreError, write_atomically
    from solvent.exact.tree_solution import TreeSolution

_HOMES = {
    "ArraySchema": "solvent.exact.archive",
    "CertificateError": "solvent.exact.solution",
    "CycleError": "solvent.exact.expectimax",
    "DecisionGroup": "solvent.exact.occupancy",
    "DominanceReport": "solvent.exact.dominance",
    "GameTree": "solvent.exact.game_tree",
    "GapLocation": "solvent.exact.scoring",
    "ImproperGameError": "solvent.exact.solution",
    "LinearProgramSolution": "solvent.exact.linear_program",
    "MatrixGameSolution": "solvent.exact.matrix_game",
    "MatrixGames": "solvent.exact.matrix_game",
    "OptimalOccupancy": "solvent.exact.occupancy",
    "RationalSolution": "solvent.exact.rational",
    "Removal": "solvent.exact.dominance",
    "Schema": "solvent.exact.archive",
    "Score": "solvent.exact.scoring",
    "Solution": "solvent.exact.solution",
    "SolvedGame": "solvent.exact.solved_game",
    "SolvedTable": "solvent.exact.solved_game",
    "StoreError": "solvent.exact.store",
    "TreeSolution": "solvent.exact.tree_solution",
    "best_response": "solvent.exact.response",
    "cached_solution": "solvent.exact.solution_cache",
    "cross_play_matrix": "solvent.exact.scoring",
    "expected_length": "solvent.exact.evaluation",
    "exploitability": "solvent.exact.response",
    "iterated_dominance": "solvent.exact.dominance",
    "load_policy": "solvent.exact.policy_files",
    "load_solution": "solvent.exact.policy_files",
    "locate_gap": "solvent.exact.scoring",
    "nash_conv": "solvent.exact.response",
    "optimal_occupancy": "solvent.exact.occupancy",
    "policy_value": "solvent.exact.evaluation",
    "read_archive": "solvent.exact.archive",
    "read_metadata": "solvent.exact.policy_files",
    "read_request": "solvent.exact.policy_files",
    "regroup": "solvent.exact.expectimax",
    "save_policy": "solvent.exact.policy_files",
    "save_solution": "solvent.exact.policy_files",
    "score": "solvent.exact.scoring",
    "solve": "solvent.exact.solved_game",
    "solve_exactly": "solvent.exact.rational",
    "solve_linear_program": "solvent.exact.linear_program",
    "solve_matrix_game": "solvent.exact.matrix_game",
    "solve_matrix_games": "solvent.exact.matrix_game",
    "solve_tree": "solvent.exact.expectimax",
    "state_visitation": "solvent.exact.evaluation",
    "write_archive": "solvent.exact.archive",
    "write_atomically": "solvent.exact.store",
}

__all__ = [
    "ArraySchema",
    "CertificateError",
    "CycleError",
    "DecisionGroup",
    "DominanceReport",
    "GameTree",
    "GapLocation",
    "ImproperGameError",
    "LinearProgramSolution",
    "MatrixGameSolution",
    "MatrixGames",
    "OptimalOccupancy",
    "RationalSolution",
    "Removal",
    "Schema",
    "Score",
    "Solution",
    "SolvedGame",
    "SolvedTable",
    "StoreError",
    "TreeSolution",
    "best_response",
    "cached_solution",
    "cross_play_matrix",
    "expected_length",
    "exploitability",
    "iterated_dominance",
    "load_policy",
    "load_solution",
    "locate_gap",
    "nash_conv",
    "optimal_occupancy",
    "policy_value",
    "read_archive",
    "read_metadata",
    "read_request",
    "regroup",
    "save_policy",
    "save_solution",
    "score",
    "solve",
    "solve_exactly",
    "solve_linear_program",
    "solve_matrix_game",
    "solve_matrix_games",
    "solve_tree",
    "state_visitation",
    "write_archive",
    "write_atomically",
]

_RENAMED = {
    "BestPlay": "OptimalOccupancy",
    "Stake": "DecisionGroup",
    "best_play": "optimal_occupancy",
    "cross_table": "cross_play_matrix",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, _HOMES, _RENAMED)
