"""Registers the environments of all known games with Gymnasium and PettingZoo.

Their names and parameters stand in the specs of the games. Registering imports no game's rules or
environment: an environment is named here, and imported when one is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import gymnasium as gym
import pettingzoo

from solvent.envs.registration import ENVIRONMENTS
from solvent.model.registry import GROUP, broken_games, game_specs


def register_envs() -> None:
    """Register the environments of all known games; those that are registered already are left."""
    register_gymnasium()
    register_pettingzoo()


def register_gymnasium() -> None:
    """Register what Gymnasium makes, and warn of each game that cannot be."""
    failed = dict(broken_games())
    for env_id, entry in ENVIRONMENTS.items():
        if env_id in gym.registry:
            continue
        try:
            gym.register(
                env_id,
                entry_point="solvent.baselines.environments:make_env",
                vector_entry_point="solvent.baselines.environments:make_vector_env",
                reward_threshold=entry.optimum,
                kwargs=entry.kwargs,
            )
        except gym.error.Error as error:  # Somebody else has taken the id.
            failed[entry.game] = f"{env_id}: {error}"
    for game, cause in failed.items():
        warnings.warn(f"the game {game} of {GROUP} cannot be registered: {cause}", stacklevel=2)


def register_pettingzoo() -> None:
    """Register what PettingZoo makes, if it has a registry, as it has from version 1.27 on."""
    if not hasattr(pettingzoo, "aec_registry"):
        return
    for game, spec in game_specs().items():
        if spec.pettingzoo is not None:
            _register_pettingzoo("aec", game, spec.pettingzoo)
            if spec.simultaneous:
                _register_pettingzoo("parallel", game, spec.pettingzoo)


def _register_pettingzoo(
    api: Literal["aec", "parallel"], game: str, parameters: Mapping[str, Any]
) -> None:
    registry = pettingzoo.aec_registry if api == "aec" else pettingzoo.parallel_registry
    if f"solvent/{game}-v0" not in registry:
        pettingzoo.register(
            api,
            f"solvent/{game}-v0",
            entry_point=f"solvent.envs.registration:{api}_env",
            kwargs={"game": game, **parameters},
        )
