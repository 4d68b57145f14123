"""A wrapper that puts the legal actions into the observation."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs


class MaskObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """An environment whose observations are dictionaries of an observation and the legal actions.

    Gymnasium's convention is a mask in ``info``. Some tools read it from the observation, each
    under its own names.

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
