"""PPO that evaluates its network once for each distinct observation learns what PPO learns."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger
from torch import nn

from solvent.envs import VectorEnv
from solvent.model import TabularGame
from solvent.training import NativeVecEnv
from solvent.training.distinct import DistinctMaskablePPO, DistinctPPO

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
    for theirs, ours in zip(
        expected.policy.optimizer.state.values(),
        found.policy.optimizer.state.values(),
        strict=True,
    ):
        assert theirs["step"] == ours["step"] == UPDATES * 16
        for name in ("exp_avg", "exp_avg_sq"):
            torch.testing.assert_close(ours[name], theirs[name], rtol=1e-3, atol=1e-7)
    for name in ("actions", "rewards", "episode_starts"):
        ours, theirs = (
            getattr(found.rollout_buffer, name),
            getattr(expected.rollout_buffer, name),
        )
        if name == "actions":  # Of these two, one has been put in the order of minibatches.
            ours = found.rollout_buffer.swap_and_flatten(ours)
        np.testing.assert_array_equal(ours, theirs)


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
    theirs, ours = (one.policy.optimizer.state_dict()["state"] for one in (loaded, model))
    for k, state in ours.items():
        for name, tensor in state.items():
            assert torch.equal(theirs[k][name], tensor)


def test_what_is_not_plain_is_left_to_stable_baselines(small: TabularGame) -> None:
    for unusual in ({"clip_range_vf": 0.1}, {"target_kl": 0.001}):
        expected, found = (learned(kind, small, 2, **unusual) for kind in (PPO, DistinctPPO))
        assert not found._is_plain()
        assert torch.equal(weights(found), weights(expected)), unusual


@pytest.mark.slow  # Starts a process.
def test_a_training_does_not_load_the_compiler(tmp_path: Path) -> None:
    code = f"""
import sys
from solvent.training import train
train("solvent/FFCombat-v0", timesteps=20000, evaluations=1, folder={str(tmp_path)!r})
assert "torch._dynamo" not in sys.modules
import torch
torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))])
assert "torch._dynamo" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
