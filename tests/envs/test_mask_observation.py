"""Masks in the observation, under the keys that a tool wants."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from solvent.envs import MaskObservation
from solvent.registration import register_envs

register_envs()


def make() -> gym.Env:
    return gym.make("solvent/GreedSmall-v0")


def test_the_observation_is_joined_by_the_mask() -> None:
    plain, env = make(), MaskObservation(make(), observation="obs", mask="legal")
    env.action_space.seed(0)
    told, seen = plain.reset(seed=3), env.reset(seed=3)
    for _ in range(200):
        for found, expected in zip(seen, told, strict=True):
            if found is seen[0]:
                assert list(found) == ["obs", "legal"]
                assert (found["obs"] == expected).all()
                assert (found["legal"] == told[-1]["action_mask"]).all()
                assert env.observation_space.contains(found)
        assert seen[1:-1] == told[1:-1]
        if len(seen) > 2 and seen[2]:
            told, seen = plain.reset(), env.reset()
        else:
            action = env.action_space.sample(seen[0]["legal"])
            told, seen = plain.step(action), env.step(action)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
def test_gymnasium_accepts_it_and_its_spec_makes_it_again() -> None:
    env = MaskObservation(make(), mask="legal")
    check_env(env, skip_render_check=True)
    again = gym.make(env.spec)
    assert list(again.reset(seed=0)[0]) == ["observation", "legal"]


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="observation and mask are both 'x'; allowed are diff"):
        MaskObservation(make(), "x", "x")
    env = gym.Env()
    env.action_space = gym.spaces.Box(0, 1, (2,), np.float32)
    with pytest.raises(ValueError, match=r"actions are Box\(.*; allowed are discrete ones"):
        MaskObservation(env)
