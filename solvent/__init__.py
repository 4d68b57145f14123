"""Reinforcement-learning environments with known solutions.

Importing this package loads nothing heavy. Its environments are registered as soon as Gymnasium or
PettingZoo is imported, before or after; solvers and environments are loaded when they are first
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach, when_imported

if TYPE_CHECKING:
    from solvent.exact import (
        SolvedGame,
        best_response,
        exploitability,
        load_policy,
        locate_gap,
        nash_conv,
        policy_value,
        save_policy,
        solve,
        solve_tree,
        state_visitation,
    )
    from solvent.grading import grade
    from solvent.model import (
        Game,
        Outcome,
        TabularGame,
        TabularPolicy,
        against,
        check_game,
        compile_game,
        discounted,
    )
    from solvent.model.registry import GAMES, GameSpec, make_game
    from solvent.registration import register_envs
    from solvent.scoring import policy_from, score

__version__ = "0.2.0"

_HOMES = {
    "GAMES": "solvent.model.registry",
    "Game": "solvent.model",
    "GameSpec": "solvent.model.registry",
    "Outcome": "solvent.model",
    "SolvedGame": "solvent.exact",
    "TabularGame": "solvent.model",
    "TabularPolicy": "solvent.model",
    "against": "solvent.model",
    "best_response": "solvent.exact",
    "check_game": "solvent.model",
    "compile_game": "solvent.model",
    "discounted": "solvent.model",
    "exploitability": "solvent.exact",
    "grade": "solvent.grading",
    "load_policy": "solvent.exact",
    "locate_gap": "solvent.exact",
    "make_game": "solvent.model.registry",
    "nash_conv": "solvent.exact",
    "policy_from": "solvent.scoring",
    "policy_value": "solvent.exact",
    "register_envs": "solvent.registration",
    "save_policy": "solvent.exact",
    "score": "solvent.scoring",
    "solve": "solvent.exact",
    "solve_tree": "solvent.exact",
    "state_visitation": "solvent.exact",
}

__all__ = [
    "GAMES",
    "Game",
    "GameSpec",
    "Outcome",
    "SolvedGame",
    "TabularGame",
    "TabularPolicy",
    "__version__",
    "against",
    "best_response",
    "check_game",
    "compile_game",
    "discounted",
    "exploitability",
    "grade",
    "load_policy",
    "locate_gap",
    "make_game",
    "nash_conv",
    "policy_from",
    "policy_value",
    "register_envs",
    "save_policy",
    "score",
    "solve",
    "solve_tree",
    "state_visitation",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, _HOMES)

when_imported("gymnasium", "solvent.registration:register_gymnasium")
when_imported("pettingzoo", "solvent.registration:register_pettingzoo")
