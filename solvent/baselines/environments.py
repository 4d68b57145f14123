"""Environments of games by name, opponents included, as ``gym.make`` makes them from an id."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solvent.baselines.opponents import Specification, make_opponents
from solvent.envs.env import Env, Seat, SeatEnv, TabularEnv
from solvent.envs.registration import rules_and_source
from solvent.envs.simulation import OnePlayerSampler, Sampler
from solvent.model import TabularGame
from solvent.model.parameters import check_arguments
from solvent.model.registry import find_spec

if TYPE_CHECKING:
    from solvent.envs.vector_env import VectorEnv

OF_A_SEAT = ("opponent", "seat", "solution")
"""Arguments of an environment for two, unless the game has a parameter of that name."""


def make_env(
    game: str,
    *,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    **arguments: Any,
) -> Env:
    """Make the environment of a game, or of one seat in a game for two.

    Args:
        game: Name of the game, as for :func:`solvent.make_game`.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``, as for
            :class:`solvent.envs.TabularEnv`; without a table, those of the game's simulations.
        illegal: Treatment of illegal actions: ``"remap"`` plays the lowest legal one instead,
            ``"raise"`` raises a ValueError.
        render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.
        arguments: The game's own parameters, and in a game for two those of :func:`_seat`.

    Raises:
        UnexpectedArgumentError: If an argument is unknown; a ValueError and a TypeError.
        ValueError: If a name is unknown, a value is not allowed, or an opponent does not fit.
    """
    source, of_env = _asked(game, arguments)
    shown: dict[str, Any] = {"illegal": illegal, "render_mode": render_mode}
    if isinstance(source, OnePlayerSampler):
        return Env(source.episodes(1, observation), **shown)
    of_env |= {"observation": observation, **shown}
    return SeatEnv(source, **of_env) if "opponents" in of_env else TabularEnv(source, **of_env)


# Gymnasium reads here which render modes are native, as it would of a class.
make_env.metadata = Env.metadata  # type: ignore[attr-defined]


def make_vector_env(
    game: str,
    num_envs: int = 1,
    *,
    observation: str = "vector",
    illegal: str = "remap",
    render_mode: str | None = None,
    autoreset_mode: str = "NextStep",
    **arguments: Any,
) -> VectorEnv:
    """Make a vector environment of a game.

    Args:
        game: Name of the game, as for :func:`solvent.make_game`.
        num_envs: Number of environments.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``, as for
            :class:`solvent.envs.TabularEnv`; without a table, those of the game's simulations.
        illegal: Treatment of illegal actions: ``"remap"`` plays the lowest legal one instead,
            ``"raise"`` raises a ValueError.
        render_mode: None, ``"ansi"`` or ``"rgb_array"``.
        autoreset_mode: Behavior at the end of an episode, see
            :class:`solvent.envs.vector_env.VectorEnv`.
        arguments: The game's own parameters, and in a game for two those of :func:`_seat`.

    Raises:
        UnexpectedArgumentError: If an argument is unknown; a ValueError and a TypeError.
        ValueError: If a name is unknown, a value is not allowed, or an opponent does not fit.
    """
    # Compiled loops take a while to import.
    from solvent.envs.vector_env import SeatVectorEnv, TabularVectorEnv, VectorEnv

    source, of_env = _asked(game, arguments)
    shown: dict[str, Any] = {"illegal": illegal, "render_mode": render_mode}
    shown["autoreset_mode"] = autoreset_mode
    if isinstance(source, OnePlayerSampler):
        return VectorEnv(source.episodes(num_envs, observation), **shown)
    of_env |= {"num_envs": num_envs, "observation": observation, **shown}
    if "opponents" in of_env:
        return SeatVectorEnv(source, **of_env)
    return TabularVectorEnv(source, **of_env)


def _asked(game: str, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the sampler or table of a game, and the arguments of its kind of environment."""
    own = inspect.signature(find_spec(game).maker()).parameters
    of_seat = {name: arguments[name] for name in OF_A_SEAT if name in arguments and name not in own}
    parameters = {name: value for name, value in arguments.items() if name not in of_seat}
    rules, source = rules_and_source(game, parameters)
    if rules.info.players == 2:
        assert not isinstance(source, OnePlayerSampler)
        return source, {"rules": rules, **_seat(source, **of_seat)}
    check_arguments(of_seat, f"{game}, a game for one,", own)
    return source, {"rules": rules}


def _seat(
    source: TabularGame | Sampler,
    *,
    opponent: Specification | Mapping[Specification, float] | None = None,
    seat: Seat = 0,
    solution: str | Path | None = None,
) -> dict[str, Any]:
    """Return arguments of a :class:`~solvent.envs.SeatEnv`.

    Args:
        source: The table or sampler of the game.
        opponent: An opponent or a mixture (:mod:`solvent.baselines.opponents`). Default:
            ``"optimal"``, or
            ``"uniform"`` in a game without a table.
        seat: The learner's seat: 0, 1, or ``"random"`` for one that is drawn for each episode.
        solution: The folder of the solution of a game without a table, which an optimal opponent
            may need.

    Raises:
        ValueError: If a name is unknown, a value is not allowed, or an opponent does not fit.
    """
    if opponent is None:
        opponent = "optimal" if isinstance(source, TabularGame) else "uniform"
    opponents, weights = make_opponents(source, opponent, seat, solution)
    return {"opponents": opponents, "weights": weights, "seat": seat}
