"""Environments without a table: single, vectorised and for two agents."""

from __future__ import annotations

import json
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from timed_football import tiny

from solvent.baselines.opponents import make_opponents
from solvent.envs import SeatEnv, SeatVectorEnv
from solvent.envs.pettingzoo_env import TabularParallelEnv
from solvent.envs.registration import ENVIRONMENTS, parallel_env, without_table
from solvent.envs.simulation import Uniform
from solvent.games.football_clock.simulation import TimedFootballSampler
from solvent.registration import register_envs

register_envs()
SAMPLER = TimedFootballSampler(tiny("second-half", timeouts=1))
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]


def assert_equal(mine: Any, other: Any) -> None:
    """Infos of both vector environments, of which one has arrays of objects."""
    assert mine.keys() == other.keys()
    for name, array in mine.items():
        if isinstance(array, dict):
            assert_equal(array, other[name])
        else:
            for one, another in zip(array, other[name], strict=True):
                np.testing.assert_array_equal(one, another)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_many_environments_are_as_many_single_ones(mode: AutoresetMode, seat: Any) -> None:
    arguments: dict[str, Any] = {"seat": seat, "weights": [1, 2], "observation": "onehot"}
    pool = [Uniform(), Uniform()]
    many = SeatVectorEnv(SAMPLER, pool, 8, autoreset_mode=mode, **arguments)
    single: Any = SyncVectorEnv(
        [lambda: SeatEnv(SAMPLER, pool, **arguments)] * 8, autoreset_mode=mode
    )
    rng = np.random.default_rng(1)
    seen, infos = many.reset(seed=5)
    expected, expected_infos = single.reset(seed=5)
    ended = 0
    for _ in range(60):
        np.testing.assert_array_equal(seen, expected)
        np.testing.assert_array_equal(infos["action_mask"], np.stack(expected_infos["action_mask"]))
        assert (infos["seat"] == expected_infos["seat"]).all()
        actions = rng.integers(0, many.single_action_space.n, 8)
        seen, reward, terminated, truncated, infos = many.step(actions)
        expected, *others, expected_infos = single.step(actions)
        for mine, other in zip((reward, terminated, truncated), others, strict=True):
            np.testing.assert_array_equal(mine, other)
        assert (infos["illegal_action"] == expected_infos["illegal_action"]).all()
        ended += int(terminated.sum())
    assert ended > 20


def test_play_goes_on_from_a_saved_state() -> None:
    env = SeatVectorEnv(SAMPLER, [Uniform()], 16, seat="random", autoreset_mode="SameStep")
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    actions = rng.integers(0, env.single_action_space.n, (20, 16))
    for row in actions[:10]:
        env.step(row)
    saved = env.get_state()
    expected = [env.step(row)[0] for row in actions[10:]]
    again = SeatVectorEnv(SAMPLER, [Uniform()], 16, seat="random", autoreset_mode="SameStep")
    again.set_state(saved)
    for row, seen in zip(actions[10:], expected, strict=True):
        np.testing.assert_array_equal(again.step(row)[0], seen)


def test_both_seats_are_paid_a_constant_sum() -> None:
    """Who sits in seat 1 is paid 1 less what seat 0 is: 1, 1/2 or 0 either way."""
    returns = []
    for seat in (0, 1):
        env = SeatEnv(SAMPLER, [Uniform()], seat=seat)
        for seed in range(30):
            env.reset(seed=seed)
            paid, over = 0.0, False
            while not over:
                mask = env.action_masks()
                _, reward, over, _, _ = env.step(np.flatnonzero(mask)[0])
                paid += reward
            returns.append(paid)
            assert env.state.phase == "over"
            lead = env.state.margin * (1 - 2 * seat)
            assert paid == (np.sign(lead) + 1) / 2
    assert {0.0, 1.0} <= set(returns)


@pytest.mark.parametrize("name", [n for n in without_table() if ENVIRONMENTS[n].opponent])
def test_gymnasiums_checks_pass(name: str) -> None:
    env = gym.make(name, render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Unused features of gymnasium's own.
        check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=0)
    assert "player 0" in env.render()


def test_a_spec_survives_json() -> None:
    env = gym.make("solvent/FootballHalf-v0", timeouts=0, opponent={"uniform": 2, "paper-agent": 1})
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(json.loads(json.dumps(env.spec.to_json()))))
    assert again.spec == env.spec
    np.testing.assert_array_equal(env.reset(seed=3)[0], again.reset(seed=3)[0])


def test_environments_share_their_sampler() -> None:
    first, second = (gym.make("solvent/FootballGame-v0", timeouts=1).unwrapped for _ in range(2))
    assert isinstance(first, SeatEnv)
    assert isinstance(second, SeatEnv)
    assert first.episode.shared[-1] is second.episode.shared[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponent": "optimall"}, "opponent of football-strategy is 'optimall'.*'optimal'"),
        ({"opponent": {}}, "opponent is empty"),
        ({"opponent": "no/such.npz"}, r"no/such\.npz: cannot be read"),
        ({"opponent": "optimal"}, "too many to be solved on the spot"),
        ({"observation": "index"}, "observation is 'index'; allowed are onehot, vector"),
        ({"margin": 3}, "margin is 3; form 'half' begins at 0"),
        ({"seat": 2}, "seat is 2; allowed are 0, 1 and 'random'"),
        ({"timeout": 2}, "Did you mean 'timeouts'"),
    ],
)
@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_bad_arguments(make: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        make("solvent/FootballHalf-v0", **arguments)
    assert "\n" not in str(error.value)


def test_weights_have_to_be_positive() -> None:
    players, weights = make_opponents(SAMPLER, {"uniform": 0.0})
    with pytest.raises(ValueError, match=r"weights is .* positive number"):
        SeatEnv(SAMPLER, players, weights=weights)


def test_pettingzoos_parallel_check_passes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from pettingzoo.test import parallel_api_test

    parallel_api_test(TabularParallelEnv(SAMPLER), num_cycles=200)


def test_agents_play_a_registered_form_to_its_end() -> None:
    env = parallel_env("football-strategy", form="half", timeouts=1)
    assert isinstance(env, TabularParallelEnv)
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
        for agent, reward in rewards.items():
            total[agent] += reward
    assert decided > 100
    assert total["player_0"] == -total["player_1"]
    assert env.state_of_rules.phase == "over"


def test_the_aec_form_is_made_from_the_parallel_one() -> None:
    from solvent.envs.pettingzoo_games import football_strategy

    env = football_strategy.env(form="two-minutes", timeouts=0)
    env.reset(seed=1)
    steps = 0
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        mask = observation["action_mask"]
        env.step(None if terminated or truncated else int(mask.argmax()))
        steps += 1
    assert steps > 5
