"""Networks of Stable-Baselines3 are scored as they are, from memory and from their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib import QRDQN, TRPO, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN
from stable_baselines3.common.base_class import BaseAlgorithm

import solvent
from solvent.envs import Env
from solvent.model import TabularGame
from solvent.training import extract, load_model

COMBAT = "solvent/FFCombat-v0"

MODELS: dict[str, tuple[type[BaseAlgorithm], dict[str, Any]]] = {
    "a2c": (A2C, {}),
    "trpo": (TRPO, {"n_steps": 128, "batch_size": 128}),
    "qr_dqn": (QRDQN, {"learning_starts": 10, "policy_kwargs": {"n_quantiles": 7}}),
    "maskable_ppo": (MaskablePPO, {"n_steps": 64}),
    "dqn": (DQN, {"learning_starts": 10}),
}


def made(name: str, env: Any, **arguments: Any) -> Any:
    kind, own = MODELS[name]
    return kind("MlpPolicy", env, **own, seed=0, device="cpu", **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["trpo", "qr_dqn", "maskable_ppo"])
def test_a_plain_model_is_scored_as_it_plays(name: str) -> None:
    env = gym.make(COMBAT)
    model = made(name, env).learn(200)
    found = solvent.score(COMBAT, model, deterministic=True)
    game: TabularGame = env.unwrapped.game  # type: ignore[attr-defined]
    masked = name == "maskable_ppo"

    def predicted(seen: Any, masks: Any) -> Any:
        told: Any = {"action_masks": masks} if masked else {}
        return model.predict(seen, deterministic=True, **told)[0]

    assert found == solvent.score(game, predicted, takes_mask=True)
    expected = extract(model, game, observation="vector")
    assert solvent.score(env, model) == solvent.score(
        game, expected.sampled, illegal=expected.illegal
    )


def test_a_model_of_a_gymnasium_environment_is_scored_in_one_line() -> None:
    lake = "FrozenLake-v1"
    model = made("dqn", lake).learn(200)
    played = solvent.score(lake, lambda seen: model.predict(seen, deterministic=True)[0])
    for env in (lake, gym.make(lake)):
        assert solvent.score(env, model, deterministic=True).value == played.value
    with pytest.raises(ValueError, match=r"takes Discrete\(16\), but the state number of Cliff"):
        solvent.score("CliffWalking-v1", model)


def test_what_a_network_sees_is_read_off_its_space(small: TabularGame) -> None:
    for kind in ("vector", "onehot", "index"):
        model = made("a2c", Env(small, observation=kind))
        told = extract(model, small, observation=kind).sampled
        for found in (
            extract(model, small).sampled,
            solvent.policy_from(small, model),
            solvent.policy_from(Env(small, observation="onehot"), model),
        ):
            np.testing.assert_array_equal(found.probabilities, told.probabilities, err_msg=kind)


def test_a_policy_of_the_past_is_refused_by_name(tmp_path: Path) -> None:
    model = RecurrentPPO("MlpLstmPolicy", COMBAT, n_steps=8, device="cpu")
    with pytest.raises(ValueError, match="depends on what it saw before"):
        solvent.score(COMBAT, model)
    model.save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="no function of the state and so has no table"):
        load_model(tmp_path / "model.zip", "recurrent_ppo", trust=True)
