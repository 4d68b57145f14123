"""The adapter shows Stable-Baselines3 what its own vector environment would show."""

from __future__ import annotations

import numpy as np
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import DummyVecEnv

from solvent.envs import Env, VectorEnv
from solvent.model import TabularGame
from solvent.training import NativeVecEnv

N = 6


def native(game: TabularGame) -> NativeVecEnv:
    return NativeVecEnv(VectorEnv(game, N, observation="onehot", autoreset_mode="SameStep"))


def test_it_equals_the_vector_environment_of_stable_baselines3(small: TabularGame) -> None:
    ours = native(small)
    theirs = DummyVecEnv([lambda: Env(small, observation="onehot") for _ in range(N)])
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    ours.seed(3)
    theirs.seed(3)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    random = np.random.default_rng(0)
    ended = 0
    for _ in range(300):
        actions = random.integers(0, 2, N)
        a, b = ours.step(actions), theirs.step(actions)
        for mine, other in zip(a[:3], b[:3], strict=True):
            np.testing.assert_array_equal(mine, other)
            assert mine.dtype == other.dtype
        np.testing.assert_array_equal(get_action_masks(ours), get_action_masks(theirs))
        for done, mine, other in zip(a[2], a[3], b[3], strict=True):
            assert mine.get("TimeLimit.truncated", False) is False
            assert ("terminal_observation" in mine) == done
            if done:
                ended += 1
                last = other["terminal_observation"]
                np.testing.assert_array_equal(mine["terminal_observation"], last)
    assert ended > 100
