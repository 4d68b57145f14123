"""Reinforcement-learning environments with known solutions.

Importing this package registers its Gymnasium environments and nothing heavier: the solvers and
environments are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any

from solvent.envs.registration import register_envs

__version__ = "0.1.0"

_HOME = {
    "GAMES": "solvent.games",
    "make_game": "solvent.games",
    "Game": "solvent.model",
    "Outcome": "solvent.model",
    "TabularGame": "solvent.model",
    "TabularPolicy": "solvent.model",
    "against": "solvent.model",
    "check_game": "solvent.model",
    "compile_game": "solvent.model",
    "best_response": "solvent.exact",
    "exploitability": "solvent.exact",
    "load_policy": "solvent.exact",
    "locate_gap": "solvent.exact",
    "nash_conv": "solvent.exact",
    "policy_value": "solvent.exact",
    "save_policy": "solvent.exact",
    "score": "solvent.exact",
    "solve": "solvent.exact",
    "solve_tree": "solvent.exact",
    "state_visitation": "solvent.exact",
}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    """Load a public name from its room when it is first asked for."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'solvent' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})


register_envs()
