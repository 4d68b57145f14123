"""Learners and the environment's adapter do what those of Stable-Baselines3 do, with masks."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import nn

from solvent.envs import Env, VectorEnv
from solvent.model import TabularGame, one_hot
from solvent.training import NativeVecEnv
from solvent.training.learners import DistinctMaskablePPO, DistinctPPO


def test_training_never_plays_an_illegal_action(small: TabularGame, make_model: Any) -> None:
    model = make_model("masked_dqn", small, illegal="raise", exploration_final_eps=0.5)
    model.learn(1000)
    plain = make_model("dqn", small, illegal="raise", exploration_final_eps=0.5)
    with pytest.raises(ValueError, match="not legal"):
        plain.learn(4000)
    with pytest.raises(ValueError, match="n_steps is 3"):
        make_model("masked_dqn", small, n_steps=3)


def test_the_buffer_keeps_the_masks_of_the_states_that_follow(
    small: TabularGame, make_model: Any
) -> None:
    model = make_model("masked_dqn", small, buffer_size=400)
    model.learn(1000)
    buffer = model.replay_buffer
    assert buffer.full
    rows = one_hot(small).observation[0]
    state_of = {row.tobytes(): s for s, row in enumerate(rows)}
    going_on = np.argwhere(buffer.dones == 0)
    assert len(going_on) > 100
    for t, i in going_on.tolist():
        state = state_of[buffer.next_observations[t, i].tobytes()]
        np.testing.assert_array_equal(buffer.next_masks[t, i], small.mask[0][state])


def test_values_of_illegal_actions_do_not_leak_into_targets(
    small: TabularGame, make_model: Any
) -> None:
    # Testing luck is worth a fortune to this target network, but only where it is forbidden
    # does that show: there the mask has to hide it.
    forced = ~small.mask[0][:, 1] & ~small.terminal
    seen = one_hot(small).observation[0][forced]
    results = []
    for fortune in (0.0, 1e6):
        model = make_model("masked_dqn", small, learning_rate=1e-2)
        model.learn(64)
        with torch.no_grad():
            model.q_net_target.q_net[-1].bias[1] += fortune
        n = model.replay_buffer.n_envs
        for k in range(model.replay_buffer.buffer_size // 1000):
            pick = np.arange(k * n, (k + 1) * n) % len(seen)
            model.replay_buffer.add(
                seen[pick],
                seen[pick],
                np.zeros(n),
                np.zeros(n),
                np.zeros(n),
                [{"action_mask": np.array([True, False])}] * n,
            )
        model.replay_buffer.dones[: 64 // n] = 1
        model.set_random_seed(0)
        model.train(gradient_steps=5, batch_size=32)
        results.append(model.q_net(torch.as_tensor(seen)).detach().numpy())
    np.testing.assert_array_equal(results[0], results[1])


PAIRS = ((PPO, DistinctPPO), (MaskablePPO, DistinctMaskablePPO))
UPDATES = 3


def learned(kind: type[BaseAlgorithm], game: TabularGame, updates: int, **changes: Any) -> Any:
    """A learner after some updates, of which the learning rate would fall to 0 after ten."""
    env = VectorEnv(game, 32, observation="onehot", autoreset_mode="SameStep")
    arguments: dict[str, Any] = {
        "n_steps": 16, "batch_size": 128, "n_epochs": 4, "gamma": 1.0, "gae_lambda": 0.6,
        "ent_coef": 0.03, "learning_rate": 0.01, "seed": 3, "device": "cpu",
    }  # fmt: skip
    model = kind("MlpPolicy", NativeVecEnv(env), **arguments | changes)  # type: ignore[arg-type]
    model.set_logger(Logger(None, []))
    model.learn(updates * 32 * 16, log_interval=None)  # type: ignore[arg-type]
    return model


def weights(model: BaseAlgorithm) -> torch.Tensor:
    return torch.cat([weight.detach().ravel() for weight in model.policy.parameters()])


@pytest.mark.parametrize(
    ("plain", "distinct", "policy_kwargs"),
    [
        (*PAIRS[0], {"activation_fn": nn.ELU, "optimizer_kwargs": {"weight_decay": 0.1}}),
        (*PAIRS[1], {"activation_fn": nn.Tanh}),
    ],
)
def test_updates_are_those_of_stable_baselines(
    small: TabularGame, plain: Any, distinct: Any, policy_kwargs: dict[str, Any]
) -> None:
    kwargs = {"policy_kwargs": policy_kwargs}
    before = weights(learned(plain, small, 0, **kwargs))
    expected, found = (learned(kind, small, UPDATES, **kwargs) for kind in (plain, distinct))
    assert found._is_plain()
    moved = (weights(expected) - before).norm()
    assert moved > 1
    assert (weights(found) - weights(expected)).norm() < 1e-5 * moved


def test_the_figures_are_those_of_stable_baselines(small: TabularGame) -> None:
    # Of one epoch, since they are means over the last one; some ratios leave the clip range.
    once = {"n_epochs": 1, "clip_range": 0.02}
    theirs, ours = (
        learned(kind, small, 1, **once).logger.name_to_value for kind in (PPO, DistinctPPO)
    )
    assert theirs["train/clip_fraction"] > 0.1
    same = [name for name in theirs if name.startswith("train/") and name != "train/loss"]
    assert len(same) == 9
    for name in same:
        assert ours[name] == pytest.approx(theirs[name], rel=1e-4, abs=1e-6), name


@pytest.mark.parametrize(("plain", "distinct"), PAIRS)
def test_a_saved_network_is_one_of_stable_baselines(
    small: TabularGame, tmp_path: Path, plain: Any, distinct: Any
) -> None:
    model = learned(distinct, small, 1)
    model.save(tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as file:
        data = file.read("data").decode()
    assert "solvent" not in data
    assert json.loads(data)["policy_class"]["__module__"] == model.policy_class.__module__
    loaded = plain.load(tmp_path / "model.zip", device="cpu")
    assert type(loaded) is plain
    assert torch.equal(weights(loaded), weights(model))


def test_what_is_not_plain_is_left_to_stable_baselines(small: TabularGame) -> None:
    for unusual in ({"clip_range_vf": 0.1}, {"target_kl": 0.001}):
        expected, found = (learned(kind, small, 2, **unusual) for kind in (PPO, DistinctPPO))
        assert not found._is_plain()
        assert torch.equal(weights(found), weights(expected)), unusual


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
