"""Environments that sample the table of a game, single and vectorised.

The compiled vector environments are loaded only when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solvent.envs.registration import register_envs
from solvent.envs.seat_env import SeatEnv
from solvent.envs.tabular_env import TabularEnv
from solvent.envs.text_observation import TextObservation

if TYPE_CHECKING:
    from solvent.envs.seat_vector_env import SeatVectorEnv
    from solvent.envs.vector_env import TabularVectorEnv

__all__ = [
    "SeatEnv",
    "SeatVectorEnv",
    "TabularEnv",
    "TabularVectorEnv",
    "TextObservation",
    "register_envs",
]


def __getattr__(name: str) -> Any:
    if name == "TabularVectorEnv":
        from solvent.envs.vector_env import TabularVectorEnv

        return TabularVectorEnv
    if name == "SeatVectorEnv":
        from solvent.envs.seat_vector_env import SeatVectorEnv

        return SeatVectorEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
