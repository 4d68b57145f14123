"""The spaces of arrays of masks and observations, and checks of actions and options."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.model.parameters import shown

PETTINGZOO = ("options",)
"""An option without a meaning that PettingZoo's own test passes to every environment."""


def action_space(mask: NDArray[np.int8]) -> spaces.Discrete:
    """One number per column of a mask [S, A]; a new space, since each holds its own generator."""
    return spaces.Discrete(mask.shape[1])


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
        options: What was passed.
        allowed: The options that the environment knows.
        ignored: Those that change nothing, but have to be let through.

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
