"""Wrappers of environments for agents that read: the legal actions, or the drawing of a game."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from solvent.envs.env import Env


class MaskObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """An environment whose observation is a dictionary of what it was and of the legal actions.

    Gymnasium's convention is a mask in ``info``. Some tools read it from the observation, each
    under names of its own.

    Args:
        env: An environment with discrete actions and ``info["action_mask"]``.
        observation: The key of the observation.
        mask: The key of the mask, [A] int8.

    Raises:
        ValueError: If the actions are not discrete, or the keys are equal.
    """

    def __init__(
        self, env: gym.Env[Any, Any], observation: str = "observation", mask: str = "action_mask"
    ) -> None:
        RecordConstructorArgs.__init__(self, observation=observation, mask=mask)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.action_space, spaces.Discrete):
            raise ValueError(f"actions are {env.action_space}; allowed are discrete ones")
        if observation == mask:
            raise ValueError(f"observation and mask are both {mask!r}; allowed are different keys")
        self._keys = observation, mask
        legal = spaces.Box(0, 1, (int(env.action_space.n),), np.int8)
        self.observation_space = spaces.Dict({observation: env.observation_space, mask: legal})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_mask(observation, info), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_mask(observation, info), reward, terminated, truncated, info

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(self._keys, (observation, info["action_mask"].copy()), strict=True))


class Texts(spaces.Text):
    """All texts up to a length, whatever their characters; samples are of letters and digits.

    Args:
        max_length: Largest number of characters.
        seed: Seed of the samples.
    """

    def __init__(self, max_length: int, seed: int | None = None) -> None:
        super().__init__(max_length, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


class TextObservation(gym.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """An environment that shows what the rules draw, for agents that read.

    Of a gamebook that is the page: the text of the section, the fight, the hero, and the options,
    numbered as actions are. What matters no more for the rest of the book is not shown. Where a
    drawing does not tell all, neither does the observation.

    Args:
        env: An environment of this package that has the rules of its game.
        max_length: Maximum length of an observation, in characters.

    Raises:
        ValueError: If it is another environment, or has a table only, which nothing draws.
    """

    def __init__(self, env: gym.Env[Any, Any], max_length: int = 20_000) -> None:
        RecordConstructorArgs.__init__(self, max_length=max_length)
        gym.ObservationWrapper.__init__(self, env)
        inner = env.unwrapped
        if not isinstance(inner, Env) or inner.rules is None:
            raise ValueError(f"{env} has no rules that could draw; pass them as rules=")
        self._inner = inner
        self._draw = inner.rules.draw
        self.observation_space = Texts(max_length)

    def observation(self, observation: Any) -> str:
        """The drawing of the state in which the episode is."""
        return self._draw(self._inner.state)
