"""The environments that have a name in Gymnasium's registry.

A line per environment in :data:`ENVIRONMENTS` is all that a new game needs here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium as gym

from solvent.envs.tabular_env import TabularEnv

if TYPE_CHECKING:
    from solvent.envs.vector_env import TabularVectorEnv
    from solvent.model import Game, TabularGame


class Entry(NamedTuple):
    """What an id stands for.

    Attributes:
        game: A name of :data:`solvent.games.GAMES`.
        optimum: The value of the game from its start, by :func:`solvent.exact.solve`.
        parameters: The game's, where they are not its defaults; JSON-able.
    """

    game: str
    optimum: float
    parameters: Mapping[str, Any] = {}


ENVIRONMENTS: Mapping[str, Entry] = {
    "solvent/FFCombat-v0": Entry("ff-combat", 0.7372926032646748),
    "solvent/FFCombatRandom-v0": Entry(
        "ff-combat",
        0.5563283613569667,
        {
            "skill_difference": [-3, 3],
            "stamina": [2, 24],
            "opponent_stamina": [2, 24],
            "luck": [0, 12],
        },
    ),
}


def register_envs() -> None:
    """Register every environment with Gymnasium; those that are registered already are left."""
    for name, entry in ENVIRONMENTS.items():
        if name not in gym.registry:
            gym.register(
                name,
                entry_point="solvent.envs.registration:GameEnv",
                vector_entry_point="solvent.envs.registration:game_vector_env",
                reward_threshold=entry.optimum,
                kwargs={"game": entry.game, **entry.parameters},
            )


class GameEnv(TabularEnv):
    """The environment of a listed game: what ``gym.make`` makes of an id.

    Args:
        game: A name of :data:`solvent.games.GAMES`.
        observation: As for :class:`~solvent.envs.TabularEnv`, like the next two.
        illegal: As there.
        render_mode: As there.
        parameters: The game's own.

    Raises:
        ValueError: If the name or a parameter is unknown, or a value is not allowed.
    """

    def __init__(
        self,
        game: str,
        *,
        observation: str = "vector",
        illegal: str = "remap",
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        rules, table = _compiled(game, parameters)
        super().__init__(
            table, rules=rules, observation=observation, illegal=illegal, render_mode=render_mode
        )


def game_vector_env(
    game: str,
    num_envs: int = 1,
    *,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    autoreset_mode: str = "NextStep",
    **parameters: Any,
) -> TabularVectorEnv:
    """The native vector environment of a listed game: what ``gym.make_vec`` makes of an id.

    The arguments are those of :class:`GameEnv` and of :class:`solvent.envs.TabularVectorEnv`.
    """
    from solvent.envs.vector_env import TabularVectorEnv

    rules, table = _compiled(game, parameters)
    return TabularVectorEnv(
        table,
        num_envs,
        rules=rules,
        observation=observation,
        illegal=illegal,
        render_mode=render_mode,
        autoreset_mode=autoreset_mode,
    )


def _compiled(name: str, parameters: Mapping[str, Any]) -> tuple[Game, TabularGame]:
    """A game and its table, which is built once for many environments with equal parameters."""
    try:
        text = json.dumps(parameters, sort_keys=True)
    except TypeError as error:
        raise ValueError(f"parameters of {name} are {parameters!r}: {error}") from None
    return _compile(name, text)


@lru_cache(maxsize=8)
def _compile(name: str, parameters: str) -> tuple[Game, TabularGame]:
    from solvent.games import make_game
    from solvent.model import compile_game

    game = make_game(name, **json.loads(parameters))
    return game, compile_game(game)
