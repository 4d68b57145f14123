"""Environments of football with a clock, which has no table: single, vectorised, for two agents."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo.test import parallel_api_test
from side_by_side import assert_equal, assert_steps_equal
from timed_football import tiny

from solvent.baselines.environments import make_opponents
from solvent.envs import Env, VectorEnv
from solvent.envs.batch_simulator import Uniform
from solvent.envs.pettingzoo_env import TabularParallelEnv
from solvent.envs.registration import ENVIRONMENTS, parallel_env, samples_table
from solvent.games.football_clock.simulation import TimedFootballSampler

SAMPLER = TimedFootballSampler(tiny("second-half", timeouts=1))


@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_many_environments_are_as_many_single_ones(seat: Any) -> None:
    arguments: dict[str, Any] = {"seat": seat, "weights": [1, 2], "observation": "onehot"}
    pool = [Uniform(), Uniform()]
    for mode in AutoresetMode:
        many = VectorEnv(SAMPLER, 8, pool, autoreset_mode=mode, **arguments)
        single: Any = SyncVectorEnv(
            [lambda: Env(SAMPLER, pool, **arguments)] * 8, autoreset_mode=mode
        )
        assert_equal(many.reset(seed=5), single.reset(seed=5))
        ended, _ = assert_steps_equal(many, single, 60, seed=1)
        assert ended > 20
    again = VectorEnv(SAMPLER, 8, pool, autoreset_mode=mode, **arguments)
    again.set_state(many.get_state())
    assert_equal(again.step(np.zeros(8, int)), many.step(np.zeros(8, int)))


@pytest.mark.parametrize(
    "name", [n for n, one in ENVIRONMENTS.items() if one.opponent and not samples_table(n)]
)
def test_gymnasiums_checks_pass(name: str) -> None:
    env = gym.make(name, render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Unused features of gymnasium's own.
        check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=0)
    assert "player A" in env.render()


def test_bad_arguments() -> None:
    for arguments, message in (
        ({"opponent": "optimall"}, "opponent of football-strategy is 'optimall'.*'optimal'"),
        ({"opponent": {}}, "opponent is empty"),
        ({"opponent": "no/such.npz"}, r"no/such\.npz: cannot be read"),
        ({"opponent": "optimal"}, "too many to be solved on the spot"),
        ({"observation": "index"}, "observation is 'index'; allowed are onehot, vector"),
        ({"margin": 3}, "margin is 3; form 'half' begins at 0"),
        ({"seat": 2}, "seat is 2; allowed are 0, 1 and 'random'"),
        ({"timeout": 2}, "Did you mean 'timeouts'"),
    ):
        for make in (gym.make, gym.make_vec):
            with pytest.raises(ValueError, match=message) as error:
                make("solvent/FootballHalf-v0", **arguments)
            assert "\n" not in str(error.value)
    players, weights = make_opponents(SAMPLER, {"uniform": 0.0})
    with pytest.raises(ValueError, match=r"weights is .* positive number"):
        Env(SAMPLER, players, weights=weights)


def test_agents_play_a_registered_form_to_its_end() -> None:
    parallel_api_test(TabularParallelEnv(SAMPLER), num_cycles=200)
    env = parallel_env("football-strategy", form="half", timeouts=1)
    seen, _ = env.reset(seed=2)
    rng, total = np.random.default_rng(2), dict.fromkeys(env.possible_agents, 0.0)
    decided = 0
    while env.agents:
        masks = {agent: seen[agent]["action_mask"] for agent in env.agents}
        acting = [agent for agent, mask in masks.items() if mask.any()]
        assert acting
        decided += len(acting)
        actions = {
            agent: int(rng.choice(np.flatnonzero(mask))) if mask.any() else 0
            for agent, mask in masks.items()
        }
        seen, rewards, *_ = env.step(actions)
        total = {agent: total[agent] + reward for agent, reward in rewards.items()}
    assert decided > 100
    assert total["player_0"] == -total["player_1"]
    assert env.episode.state.phase == "over"
