"""Registers the environments of all known games with Gymnasium and PettingZoo.

Their names and parameters stand in the specs of the games. Registering imports no game's rules or
environment: an environment is named here, and imported when one is made.
"""

import inspect
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import gymnasium as gym
import pettingzoo

from solvent.envs.registration import ENVIRONMENTS
from solvent.model.parameters import as_options
from solvent.model.registry import (
    GROUP,
    Environment,
    GameSpec,
    broken_games,
    find_spec,
    game_specs,
    meaning,
    register_game,
)

HERE = "here/"
"""Begins the id of the environment that a game without environments is given."""


def register_envs() -> None:
    """Register the environments of all known games; those that are registered already are left.

    Warns of each game that cannot be registered. PettingZoo has a registry from version 1.27 on.
    """
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
    own = {game: spec for game, spec in game_specs().items() if spec.pettingzoo is not None}
    for game, spec in own.items() if hasattr(pettingzoo, "aec_registry") else ():
        kinds: tuple[Literal["aec", "parallel"], ...] = ("aec", "parallel")
        for api in kinds[: 1 + spec.simultaneous]:
            registry = getattr(pettingzoo, f"{api}_registry")
            if (env_id := f"solvent/{game}-v0") not in registry:
                pettingzoo.register(
                    api,
                    env_id,
                    entry_point=f"solvent.envs.registration:{api}_env",
                    kwargs={"game": game, **(spec.pettingzoo or {})},
                )


def find_environment(name: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the environment in which one trains on a game, and its arguments.

    That is, of a game's environments, the one that has most of the parameters asked for. A game
    without environments is given one for as long as the process lasts.

    Args:
        name: A name of a game, as for :func:`solvent.make_game`.
        given: Parameters of the game and of the environment.

    Returns:
        The Gymnasium id, and what differs from it.

    Raises:
        ValueError: If there is nothing of that name, or no parameter is given for a game none of
            whose environments has its defaults.
    """
    if name in ENVIRONMENTS:
        return name, dict(given)
    spec, asked = find_spec(name), {**meaning(name)[1], **given}
    maker = spec.maker()
    if not spec.environments:
        taken = inspect.signature(maker).parameters
        own = {
            name: value for name, value in arguments_of_game(spec, asked).items() if name in taken
        }
        for_two = maker(**own).info.players == 2
        plain = re.sub(r".*[:/\\]|\.py$|-v\d+$|\(.*", "", name)
        environment = Environment(opponent="optimal" if for_two else None)
        # An id of Gymnasium's is kept as it is: by it a policy's file says its game.
        given_id = name if name in gym.registry and "/" not in name else f"{plain}-v0"
        spec = replace(spec, environments={f"{HERE}{given_id}": environment})
    elif not arguments_of_game(spec, asked) and all(
        one.parameters for one in spec.environments.values()
    ):
        env_id, environment = next(iter(spec.environments.items()))
        words = as_options(environment.parameters)
        raise ValueError(
            f"{name} with its defaults has too many states to train on; say {words}, as {env_id} "
            f"has, or other parameters"
        )
    register_game(spec)
    register_envs()
    env_id = max(
        spec.environments,
        key=lambda env_id: sum(
            1 if asked.get(key) == value else -1
            for key, value in spec.environments[env_id].parameters.items()
        ),
    )
    # A plain name stands for the game's defaults, whatever its environments have.
    defaults = inspect.signature(maker).parameters
    others = {
        key: defaults[key].default
        for key in spec.environments[env_id].parameters
        if key in defaults and defaults[key].default is not inspect.Parameter.empty
    }
    return env_id, {**others, **asked}


def arguments_of_game(spec: GameSpec, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an environment that make its game, as for :func:`make_game`."""
    own = {*inspect.signature(spec.maker()).parameters, "modifiers", "discount"}
    return {name: value for name, value in parameters.items() if name in own}
