"""Observations, their spaces, and checks of actions and options."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.model import TabularGame, one_hot
from solvent.model.parameters import check_choice, check_integer, shown
from solvent.model.tabular import remembered

_INT64 = np.dtype(np.int64)

OBSERVATIONS = ("vector", "onehot", "index")

_encoded = remembered(one_hot)

PETTINGZOO = ("options",)
"""An option without a meaning that PettingZoo's own test passes to every environment."""


def observations(game: TabularGame, player: int, observation: str) -> NDArray[Any]:
    """The observations of a player, a row for each state.

    Args:
        game: The game.
        player: 0 or 1.
        observation: ``"vector"`` as the rules give it, ``"onehot"`` as
            :func:`solvent.model.one_hot` does, or ``"index"``, the number of the state.

    Returns:
        [S, D] float32, or [S, 1] int64 for ``"index"``.

    Raises:
        ValueError: If an argument is none of these, or the game brings no observations although
            they are asked for.
    """
    check_integer(player, "player", 0, 1)
    check_choice(observation, "observation", OBSERVATIONS)
    if observation == "index":
        return np.arange(game.n_states, dtype=np.int64)[:, None]
    if len(game.observation) <= player:
        raise ValueError(
            f"{game.info.name} has no observations for player {player}; "
            f"observation='index' needs none"
        )
    if observation == "vector":
        return np.ascontiguousarray(game.observation[player])
    return _encoded(game).observation[player]


def observed(game: TabularGame, player: int, observation: str) -> NDArray[Any]:
    """The observations of a player in the form of a vector environment's batch.

    Args:
        game: The game.
        player: 0 or 1.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``, as for :func:`observations`.

    Returns:
        [S, D] float32, or [S] int64 for ``"index"``.

    Raises:
        ValueError: As for :func:`observations`.
    """
    rows = observations(game, player, observation)
    return rows[:, 0] if observation == "index" else rows


def kind_that_fits(
    space: spaces.Space[Any], game: TabularGame, player: int, default: str = "vector"
) -> str:
    """The kind of observation of a game that a policy takes, as far as its space tells.

    Args:
        space: The observation space that the policy was made for.
        game: The game.
        player: The observing player, 0 or 1.
        default: The kind if that fits, or none does.

    Returns:
        ``"vector"``, ``"onehot"`` or ``"index"``.

    Raises:
        ValueError: If an argument is none of these.
    """
    check_choice(default, "observation", OBSERVATIONS)
    for kind in (default, *OBSERVATIONS):
        if kind == "index":
            fits = space == spaces.Discrete(game.n_states)
        else:
            # An observation may be normalized, so that the bounds are others.
            brings = isinstance(space, spaces.Box) and player < len(game.observation)
            fits = brings and space.shape == observed(game, player, kind).shape[1:]
        if fits:
            return kind
    return default


def observation_space(observation: NDArray[Any]) -> spaces.Space[Any]:
    """Numbers of states, or vectors within [-1, 1] ([0, 1] if no entry of [S, D] is negative)."""
    width = observation.shape[1]
    if observation.dtype == np.int64:
        return spaces.Discrete(int(observation.max()) + 1)
    low = -1.0 if (observation < 0).any() else 0.0
    return spaces.Box(low, 1.0, (width,), np.float32)


def check_action(action: Any, n_actions: int) -> int:
    """Return `action` as an int within 0..n_actions-1.

    Raises:
        ValueError: If it is not one.
    """
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < n_actions:
        raise ValueError(
            f"action is {shown(action)}; allowed are whole numbers from 0 to {n_actions - 1}"
        )
    return number


def check_actions(actions: Any, n_envs: int) -> NDArray[np.int64]:
    """Return the actions of `n_envs` environments as an array [n_envs]; their range is not read.

    Raises:
        ValueError: If they are not whole numbers, or not one per environment.
    """
    array = np.asarray(actions)
    if array.dtype is _INT64 and array.shape == (n_envs,) and array.flags.c_contiguous:
        return array
    if array.shape != (n_envs,) or array.dtype.kind not in "iu":
        raise ValueError(
            f"actions have shape {array.shape} and type {array.dtype}; "
            f"expected whole numbers of shape ({n_envs},)"
        )
    return np.ascontiguousarray(array, np.int64)


def check_options(
    options: Any, allowed: tuple[str, ...] = (), *, ignored: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """Return the `options` of a ``reset``, empty if there are none.

    Args:
        options: The options that were passed.
        allowed: The options that the environment knows.
        ignored: Options that are accepted without an effect.

    Raises:
        ValueError: If they are not a mapping, or have another key.
    """
    known = ", ".join(allowed) or "none"
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options is {shown(options)}; allowed is a mapping (of {known})")
    for key in options:
        if key not in (*allowed, *ignored):
            raise ValueError(f"options has {shown(key)}; allowed are: {known}")
    return options
