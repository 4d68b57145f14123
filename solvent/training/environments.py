"""Native vector environments for training, and the games that are learned in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
from gymnasium.vector import AutoresetMode, VectorEnv

from solvent.envs import TabularVectorEnv
from solvent.envs.registration import ENVIRONMENTS, compiled_game
from solvent.model import Game, TabularGame, cached_table
from solvent.model.parameters import UnexpectedArgumentError, check_choice, shown
from solvent.model.registry import make_game, register_plugin
from solvent.registration import find_environment, register_envs

OF_AN_ENVIRONMENT = ("observation", "illegal", "render_mode")
"""Arguments of every environment of this package; all others are parameters of the game."""


def named_environment(
    game: str | Game | TabularGame, env_kwargs: Mapping[str, Any] | None
) -> tuple[str | None, dict[str, Any]]:
    """Return the id of the environment to train in, and its arguments.

    Args:
        game: A name of a game, the id of an environment, or a game.
        env_kwargs: Arguments of the environment. ``observation`` is ``"onehot"`` by default.

    Returns:
        The id, None for a game of one's own, and the arguments.

    Raises:
        ValueError: If there is nothing of that name.
    """
    kwargs = dict(env_kwargs or {})
    env_id = game.partition(":")[2] or game if isinstance(game, str) else None
    if env_id is not None:
        register_plugin(env_id)
    if env_id is not None and env_id not in gym.registry:
        env_id, kwargs = find_environment(str(game), kwargs)
    return env_id, {"observation": "onehot", **kwargs}


def make_vector_env(
    game: str | Game | TabularGame, num_envs: int, env_kwargs: Mapping[str, Any]
) -> VectorEnv[Any, Any, Any]:
    """Make a native vector environment over a table, in the mode that training needs.

    Args:
        game: The id of an environment, one of Gymnasium's that publishes its table of transitions
            and one of MiniGrid's included, or a game in which only one player has a choice.
        num_envs: Number of environments.
        env_kwargs: Arguments of the environment.

    Raises:
        ValueError: If there is no such environment, it has no table, or an argument is not one
            of its own.
    """
    if not isinstance(game, str):
        return TabularVectorEnv(
            game, num_envs, autoreset_mode=AutoresetMode.SAME_STEP.value, **env_kwargs
        )
    register_envs()
    register_plugin(game)
    try:
        published = gym.spec(game).vector_entry_point is None
    except (gym.error.Error, ImportError):
        published = False
        check_choice(game, "environment", ENVIRONMENTS)
    if published:
        # Gymnasium's own environments of tables: the vector environment is ours.
        own = {name: env_kwargs[name] for name in OF_AN_ENVIRONMENT if name in env_kwargs}
        rules = make_game(game, **{k: v for k, v in env_kwargs.items() if k not in own})
        return make_vector_env(rules, num_envs, own)
    try:
        env = make_registered_env(game, num_envs, env_kwargs)
    except UnexpectedArgumentError as error:
        # Gymnasium makes a new error of the message; the first one names the allowed arguments.
        first = error.__context__
        raise (first if isinstance(first, UnexpectedArgumentError) else error) from None
    except (gym.error.Error, TypeError) as error:
        raise ValueError(f"environment {game!r} cannot be made: {error}") from error
    if not isinstance(getattr(env.unwrapped, "game", None), TabularGame):
        env.close()
        raise ValueError(f"environment is {shown(game)}; allowed are those that sample a table")
    return env


def make_registered_env(
    env_id: str, num_envs: int, env_kwargs: Mapping[str, Any]
) -> VectorEnv[Any, Any, Any]:
    """Make the native vector environment of an id, in the mode that training needs.

    Args:
        env_id: Id of the environment.
        num_envs: Number of environments.
        env_kwargs: Arguments of the environment.
    """
    register_envs()
    return gym.make_vec(
        env_id, num_envs=num_envs, autoreset_mode=AutoresetMode.SAME_STEP.value, **env_kwargs
    )


def table_for_self_play(
    game: str | Game | TabularGame, parameters: Mapping[str, Any]
) -> TabularGame:
    """Return the table of a two-player game.

    Args:
        game: The id of an environment, or the game.
        parameters: Parameters of the game that differ from the environment's, with an id.

    Raises:
        ValueError: If the game is not for two, there is no such environment, or a parameter is
            unknown or not allowed.
    """
    if isinstance(game, str):
        entry = ENVIRONMENTS[check_choice(game, "environment", ENVIRONMENTS)]
        table = compiled_game(entry.game, {**entry.parameters, **parameters})[1]
    elif parameters:
        raise ValueError(f"env_kwargs has {', '.join(parameters)}; a game has its parameters")
    else:
        table = game if isinstance(game, TabularGame) else cached_table(game)
    if table.info.players != 2:
        raise ValueError(f"{table.info.name} is a game for one; self-play needs one for two")
    return table
