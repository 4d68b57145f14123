"""Wrappers around an environment: those that a score refuses, and those that it takes."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import wrappers

from solvent.envs import Env, MaskObservation

Wrap = Callable[[Any], Any]


class Late(gym.Wrapper[Any, Any, Any, Any]):
    """A class that is not known: it might show the observation before."""


class OwnLimit(wrappers.TimeLimit):
    """A subclass of a wrapper that is known."""


class OwnEnv(Env):
    """A subclass of this package's environment: its actions might be others."""


class Proxy(gym.Env[Any, Any]):
    """Wraps an environment without being a wrapper."""

    def __init__(self, env: Any) -> None:
        self.inner = env
        self.observation_space, self.action_space = env.observation_space, env.action_space

    @property
    def unwrapped(self) -> Any:
        return self.inner


def replaced(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """An environment whose method was replaced, with the class that it had."""
    step = env.step
    env.step = lambda action: step(1 - action)  # type: ignore[method-assign]
    return env


# Wrappers by the name of the layer that is refused.
REFUSED: dict[str, Wrap] = {
    "Late": Late,
    "OwnLimit": lambda env: OwnLimit(env, 50),
    "OwnEnv": lambda env: OwnEnv(env.game, observation=env.episode.observation),
    "Proxy": Proxy,
    "OrderEnforcing": lambda env: replaced(wrappers.OrderEnforcing(env)),
    "Env": replaced,
    "TransformObservation": lambda env: wrappers.TransformObservation(env, lambda o: o, None),
    "RescaleObservation": lambda env: wrappers.RescaleObservation(
        env, np.float32(0), np.float32(1)
    ),
    "NormalizeObservation": wrappers.NormalizeObservation,
    "FrameStackObservation": lambda env: wrappers.FrameStackObservation(env, 2),
    "DelayObservation": lambda env: wrappers.DelayObservation(env, 1),
    "TimeAwareObservation": lambda env: wrappers.TimeAwareObservation(wrappers.TimeLimit(env, 50)),
    "MaxAndSkipObservation": lambda env: wrappers.MaxAndSkipObservation(env, 2),
    "TransformAction": lambda env: wrappers.TransformAction(env, lambda a: 1 - a, env.action_space),
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.5),
}

if hasattr(wrappers, "RepeatAction"):
    # Gymnasium 1.2 has none.
    REFUSED["RepeatAction"] = lambda env: wrappers.RepeatAction(env, 2)

# Likewise, for what Stable-Baselines3 needs another policy class for.
DICTIONARIES: dict[str, Wrap] = {"MaskObservation": MaskObservation}

HARMLESS: list[Wrap] = [
    wrappers.OrderEnforcing,
    wrappers.PassiveEnvChecker,
    wrappers.RecordEpisodeStatistics,
    wrappers.NormalizeReward,
    lambda env: wrappers.ClipReward(env, -1, 1),
    lambda env: wrappers.TransformReward(env, lambda reward: 2 * reward),
    lambda env: wrappers.TimeLimit(env, 3),
    lambda env: wrappers.Autoreset(wrappers.RecordEpisodeStatistics(env)),
]
