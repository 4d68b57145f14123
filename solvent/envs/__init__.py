"""Environments that sample a game, single and vectorised.

They are loaded when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvent.lazy import attach

if TYPE_CHECKING:
    from solvent.envs.env import Env, SeatEnv, TabularEnv
    from solvent.envs.mask_observation import MaskObservation
    from solvent.envs.text_observation import TextObservation
    from solvent.envs.vector_env import SeatVectorEnv, TabularVectorEnv, VectorEnv

_HOMES = {
    "Env": "solvent.envs.env",
    "MaskObservation": "solvent.envs.mask_observation",
    "SeatEnv": "solvent.envs.env",
    "SeatVectorEnv": "solvent.envs.vector_env",
    "TabularEnv": "solvent.envs.env",
    "TabularVectorEnv": "solvent.envs.vector_env",
    "TextObservation": "solvent.envs.text_observation",
    "VectorEnv": "solvent.envs.vector_env",
}

__all__ = [
    "Env",
    "MaskObservation",
    "SeatEnv",
    "SeatVectorEnv",
    "TabularEnv",
    "TabularVectorEnv",
    "TextObservation",
    "VectorEnv",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(__name__, _HOMES)
