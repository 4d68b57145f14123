"""The environments that have a name in the registries of Gymnasium and PettingZoo.

A line per environment, in :data:`ENVIRONMENTS` and for a game of two in :data:`PETTINGZOO` or
:data:`PETTINGZOO_PARALLEL`, is all that a new game needs here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import gymnasium as gym
import pettingzoo

from solvent.envs.tabular_env import TabularEnv
from solvent.model.parameters import shown

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from solvent.envs.pettingzoo_env import TabularAECEnv, TabularParallelEnv
    from solvent.envs.simulated_parallel_env import SimulatedParallelEnv
    from solvent.envs.simulation import Sampler
    from solvent.envs.vector_env import TabularVectorEnv
    from solvent.model import Game, TabularGame


class Entry(NamedTuple):
    """What an id stands for.

    Attributes:
        game: A name of :data:`solvent.games.GAMES`.
        optimum: The value of the game from its start, by :func:`solvent.exact.solve`; against an
            opponent that is not optimal, what a best response gets.
        parameters: The game's, where they are not its defaults; JSON-able.
        opponent: In a game for two, who plays against the learner unless the caller says: a
            name of :func:`solvent.baselines.all_baselines`. None in a game for one.
    """

    game: str
    optimum: float
    parameters: Mapping[str, Any] = {}
    opponent: str | None = None


class Simulated(NamedTuple):
    """What an id stands for whose game has too many states for a table.

    Attributes:
        game: A name of :data:`solvent.games.GAMES`.
        parameters: The game's, where they are not its defaults; JSON-able.
        opponent: Who plays against the learner unless the caller says.
    """

    game: str
    parameters: Mapping[str, Any]
    opponent: str = "uniform"


ONE_PLAYER = ("solvent.envs.registration:GameEnv", "solvent.envs.registration:game_vector_env")
ONE_SEAT = (
    "solvent.baselines.opponents:GameSeatEnv",
    "solvent.baselines.opponents:seat_vector_env",
)
"""Makers of single and vector environments. Those for one seat know opponents by name, so they
live where the baselines do."""

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
    "solvent/FootballStrategy-v0": Entry("football-strategy", 0.4276550008965, opponent="optimal"),
    "solvent/FootballAgent-v0": Entry("football-strategy", 4.056183788860, opponent="paper-agent"),
    "solvent/FootballDrive-v0": Entry("football-drive", -0.944881148276792),
    "solvent/Gamebook-v0": Entry("gamebook", 0.7348611111111111),
    "solvent/Greed-v0": Entry("greed", 0.5138417330406193, opponent="optimal"),
    "solvent/NinthTide-v0": Entry("gamebook", 0.627629889784241, {"book": "ninth-tide"}),
}

WITHOUT_TABLE = (
    "solvent.baselines.simulated:SimulatedGameEnv",
    "solvent.baselines.simulated:simulated_vector_env",
)
"""Makers of single and vector environments of games that are too large for a table."""

SIMULATED: Mapping[str, Simulated] = {
    "solvent/FootballTwoMinutes-v0": Simulated("football-strategy", {"form": "two-minutes"}),
    "solvent/FootballHalf-v0": Simulated("football-strategy", {"form": "half"}),
    "solvent/FootballSecondHalf-v0": Simulated("football-strategy", {"form": "second-half"}),
    "solvent/FootballGame-v0": Simulated("football-strategy", {"form": "full"}),
}
"""Environments of games that are sampled without a table; time-outs are among their parameters."""

PETTINGZOO: Mapping[str, Mapping[str, Any]] = {
    "greed": {},
    "pig": {"target": 20},
}
"""Games for two by name, with the parameters that they have in PettingZoo unless the caller says
otherwise: Pig to 20 instead of 100, whose table takes a minute to build."""

PETTINGZOO_PARALLEL: Mapping[str, Mapping[str, Any]] = {
    "football-strategy": {},
}
"""The same for games whose players act at the same time. They have a parallel environment, and an
AEC environment made from it."""


def register_envs() -> None:
    """Register every environment; those that are registered already are left."""
    for name, entry in ENVIRONMENTS.items():
        if name not in gym.registry:
            single, many = ONE_PLAYER if entry.opponent is None else ONE_SEAT
            opponent = {} if entry.opponent is None else {"opponent": entry.opponent}
            gym.register(
                name,
                entry_point=single,
                vector_entry_point=many,
                reward_threshold=entry.optimum,
                kwargs={"game": entry.game, **entry.parameters, **opponent},
            )
    for name, large in SIMULATED.items():
        if name not in gym.registry:
            single, many = WITHOUT_TABLE
            gym.register(
                name,
                entry_point=single,
                vector_entry_point=many,
                kwargs={"game": large.game, **large.parameters, "opponent": large.opponent},
            )
    for game, parameters in {**PETTINGZOO, **PETTINGZOO_PARALLEL}.items():
        _register_pettingzoo("aec", game, parameters)
    for game, parameters in PETTINGZOO_PARALLEL.items():
        _register_pettingzoo("parallel", game, parameters)


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
        rules, table = compiled_game(game, parameters)
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

    rules, table = compiled_game(game, parameters)
    return TabularVectorEnv(
        table,
        num_envs,
        rules=rules,
        observation=observation,
        illegal=illegal,
        render_mode=render_mode,
        autoreset_mode=autoreset_mode,
    )


def aec_env(game: str, **arguments: Any) -> AECEnv[str, Any, Any]:
    """A PettingZoo environment of a listed game in which one agent acts after the other.

    Where both act at once, neither sees the other's action before it has chosen its own.

    Args:
        game: A name of :data:`solvent.games.GAMES`.
        arguments: Those of :func:`raw_aec_env`.

    Raises:
        ValueError: If the name or an argument is unknown, or a value is not allowed.
    """
    from pettingzoo.utils.conversions import parallel_to_aec
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper

    if game in PETTINGZOO_PARALLEL:
        return parallel_to_aec(parallel_env(game, **arguments))
    return OrderEnforcingWrapper(raw_aec_env(game, **arguments))


def parallel_env(
    game: str,
    *,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    **parameters: Any,
) -> TabularParallelEnv | SimulatedParallelEnv:
    """A PettingZoo environment of a listed game whose players act at the same time.

    Args:
        game: A name of :data:`solvent.games.GAMES`.
        observation: As for :class:`solvent.envs.TabularEnv`, like the next two.
        illegal: As there.
        render_mode: As there.
        parameters: The game's own.

    Raises:
        ValueError: As :func:`aec_env`.
    """
    if is_sampled(game, parameters):
        from solvent.envs.simulated_parallel_env import SimulatedParallelEnv

        return SimulatedParallelEnv(
            sampled_game(game, parameters),
            observation=observation,
            illegal=illegal,
            render_mode=render_mode,
        )
    from solvent.envs.pettingzoo_env import TabularParallelEnv

    rules, table = compiled_game(game, parameters)
    return TabularParallelEnv(
        table, rules=rules, observation=observation, illegal=illegal, render_mode=render_mode
    )


def raw_aec_env(
    game: str,
    *,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    **parameters: Any,
) -> TabularAECEnv:
    """The same without the wrapper that reports calls before ``reset`` in PettingZoo's words.

    Args:
        game: As there.
        observation: As for :class:`solvent.envs.TabularEnv`, like the next two.
        illegal: As there.
        render_mode: As there.
        parameters: The game's own.

    Raises:
        ValueError: As there.
    """
    from solvent.envs.pettingzoo_env import TabularAECEnv

    rules, table = compiled_game(game, parameters)
    return TabularAECEnv(
        table, rules=rules, observation=observation, illegal=illegal, render_mode=render_mode
    )


def compiled_game(name: str, parameters: Mapping[str, Any]) -> tuple[Game, TabularGame]:
    """A game and its table, which is built once for many environments with equal parameters.

    Args:
        name: Of the game.
        parameters: The game's own.

    Raises:
        ValueError: If the name or a parameter is unknown, or a value is not allowed.
    """
    return _compile(name, _as_text(name, parameters))


def sampled_game(name: str, parameters: Mapping[str, Any]) -> Sampler:
    """What samples a game without a table; made once for many environments.

    Args:
        name: Of the game.
        parameters: The game's own.

    Raises:
        ValueError: If the name or a parameter is unknown, a value is not allowed, or the game is
            one that is sampled from its table.
    """
    return _sample(name, _as_text(name, parameters))


def is_sampled(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a game is one that :func:`sampled_game` samples.

    Raises:
        ValueError: If the name or a parameter is unknown, or a value is not allowed.
    """
    from solvent.games import TimedFootball

    return isinstance(_make(name, _as_text(name, parameters)), TimedFootball)


def _as_text(name: str, parameters: Mapping[str, Any]) -> str:
    try:
        return json.dumps(parameters, sort_keys=True)
    except TypeError as error:
        raise ValueError(f"parameters of {name} are {shown(parameters)}: {error}") from None


@lru_cache(maxsize=8)
def _make(name: str, parameters: str) -> Game:
    from solvent.games import make_game

    return make_game(name, **json.loads(parameters))


@lru_cache(maxsize=8)
def _compile(name: str, parameters: str) -> tuple[Game, TabularGame]:
    from solvent.model import compile_game

    game = _make(name, parameters)
    return game, compile_game(game)


@lru_cache(maxsize=8)
def _sample(name: str, parameters: str) -> Sampler:
    from solvent.games import TimedFootball

    game = _make(name, parameters)
    if not isinstance(game, TimedFootball):
        raise ValueError(f"{name} is sampled from its table, not without one")
    from solvent.games.football_clock.simulation import TimedFootballSampler

    return TimedFootballSampler(game)
