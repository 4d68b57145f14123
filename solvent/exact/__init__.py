"""Expectation: the exact optimum of a game, and exact numbers about any policy."""

from solvent.exact.archive import ArraySchema, Schema, read_archive, write_archive
from solvent.exact.best_play import BestPlay, Stake, best_play
from solvent.exact.decision_tree import CycleError, regroup, solve_tree
from solvent.exact.dominance import DominanceReport, Removal, iterated_dominance
from solvent.exact.evaluation import expected_length, policy_value, state_visitation
from solvent.exact.game_tree import GameTree
from solvent.exact.linear_program import LinearProgramSolution, solve_linear_program
from solvent.exact.matrix_game import (
    MatrixGames,
    MatrixGameSolution,
    solve_matrix_game,
    solve_matrix_games,
)
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
from solvent.exact.scoring import GapLocation, Score, cross_table, locate_gap, score
from solvent.exact.solution import CertificateError, ImproperGameError, Solution
from solvent.exact.solved_game import SolvedGame, SolvedTable, solve
from solvent.exact.store import StoreError, write_atomically
from solvent.exact.tree_solution import TreeSolution

__all__ = [
    "ArraySchema",
    "BestPlay",
    "CertificateError",
    "CycleError",
    "DominanceReport",
    "GameTree",
    "GapLocation",
    "ImproperGameError",
    "LinearProgramSolution",
    "MatrixGameSolution",
    "MatrixGames",
    "RationalSolution",
    "Removal",
    "Schema",
    "Score",
    "Solution",
    "SolvedGame",
    "SolvedTable",
    "Stake",
    "StoreError",
    "TreeSolution",
    "best_play",
    "best_response",
    "cross_table",
    "expected_length",
    "exploitability",
    "iterated_dominance",
    "load_policy",
    "load_solution",
    "locate_gap",
    "nash_conv",
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
