"""Observations that are read: the drawing of a game in place of its vector."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from solvent.envs.env import Env


class Texts(spaces.Text):
    """All texts up to a length, whatever their characters; samples are of letters and digits.

    Args:
        max_length: In characters.
        seed: Of the samples.
    """

    def __init__(self, max_length: int, seed: int | None = None) -> None:
        super().__init__(max_length, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        """Whether `x` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


class TextObservation(gym.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """An environment that shows what the rules draw, for agents that read.

    Of a gamebook that is the page: the text of the section, the fight, the hero, and the options,
    numbered as actions are. What matters no more for the rest of the book is not shown. Where a
    drawing does not tell all, neither does the observation.

    Args:
        env: An environment of this package that has the rules of its game.
        max_length: Of an observation, in characters.

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
