"""Environments of games by name, opponents included, as ``gym.make`` makes them from an id."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
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
    kinds = (Env, SeatEnv, TabularEnv)
    made: Env = _made(kinds, game, arguments, observation, illegal=illegal, render_mode=render_mode)
    return made


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

    shown = {"illegal": illegal, "render_mode": render_mode, "autoreset_mode": autoreset_mode}
    kinds = (VectorEnv, SeatVectorEnv, TabularVectorEnv)
    made: VectorEnv = _made(kinds, game, arguments, observation, num_envs=num_envs, **shown)
    return made


def _made(
    kinds: tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]],
    game: str,
    arguments: Mapping[str, Any],
    observation: str,
    **shown: Any,
) -> Any:
    """Make an environment of a simulator, of a seat against opponents, or of a table for one."""
    of_simulator, of_seat, of_table = kinds
    own = inspect.signature(find_spec(game).maker()).parameters
    seat = {name: arguments[name] for name in OF_A_SEAT if name in arguments and name not in own}
    parameters = {name: value for name, value in arguments.items() if name not in seat}
    rules, source = rules_and_source(game, parameters)
    if rules.info.players == 2:
        assert not isinstance(source, OnePlayerSampler)
        pool = _seat(source, **seat)
        return of_seat(source, rules=rules, observation=observation, **pool, **shown)
    check_arguments(seat, f"{game}, a game for one,", own)
    if isinstance(source, OnePlayerSampler):
        return of_simulator(source.episodes(shown.pop("num_envs", 1), observation), **shown)
    return of_table(source, rules=rules, observation=observation, **shown)


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
