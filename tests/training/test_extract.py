"""A network's table is the network: same mode, same value, same mass on illegal actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.base_class import BaseAlgorithm

from solvent.envs import VectorEnv
from solvent.exact import score
from solvent.model import TabularGame, TabularPolicy, legal_action_table, one_hot
from solvent.training import (
    ALGORITHMS,
    NativeVecEnv,
    extract,
)


def predicted(model: BaseAlgorithm, game: TabularGame, masked: bool) -> TabularPolicy:
    """What `predict` answers in each state, played as the environment plays it."""
    observations = one_hot(game).observation[0]
    played = legal_action_table(game.mask[0])
    actions = np.zeros(game.n_states, np.int64)
    for s in np.flatnonzero(~game.terminal).tolist():
        kwargs: Any = {"action_masks": game.mask[0][s]} if masked else {}
        action, _ = model.predict(observations[s], deterministic=True, **kwargs)
        actions[s] = played[s, int(action)]
    return TabularPolicy.deterministic(game, actions)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_mode_is_what_predict_answers_in_every_state(
    name: str, small: TabularGame, make_model: Any
) -> None:
    model = make_model(name, small)
    model.learn(512)
    mode = extract(model, small).mode
    expected = predicted(model, small, ALGORITHMS[name].masked)
    np.testing.assert_array_equal(mode.probabilities, expected.probabilities)
    both = expected.probabilities.sum(axis=0)
    assert (both > 0).all(), "the network always does the same, so the test shows nothing"


def linear(game: TabularGame, weights: dict[int, float], bias: float = 0.0) -> PPO:
    """A network without hidden layers: the logit of action 1 is linear in the observation."""
    env = NativeVecEnv(VectorEnv(game, 1, observation="onehot", autoreset_mode="SameStep"))
    model = PPO("MlpPolicy", env, n_steps=2, batch_size=2, policy_kwargs={"net_arch": []})
    layer = model.policy.action_net
    assert isinstance(layer, torch.nn.Linear)
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.zero_()
        layer.bias[1] = bias
        for column, weight in weights.items():
            layer.weight[1, column] = weight
    return model


def test_a_network_that_tests_luck_on_won_rounds_has_the_known_value(default: TabularGame) -> None:
    # The last three inputs say whether the round was lost, is over, or was won.
    model = linear(default, {-3: -60, -1: 60})
    assert score(default, extract(model, default).sampled).value == pytest.approx(0.6616, abs=5e-5)


def test_the_mass_on_illegal_actions_is_moved_and_reported(
    small: TabularGame, make_model: Any
) -> None:
    policies = extract(linear(small, {}, bias=1.0), small)
    forced = ~small.mask[0][:, 1] & ~small.terminal
    assert forced.any()
    np.testing.assert_allclose(policies.illegal[forced], 1 / (1 + np.exp(-1.0)), rtol=1e-6)
    assert (policies.illegal[~forced] == 0).all()
    assert (policies.illegal_mode[forced] == 1).all()
    assert (policies.sampled.probabilities[forced] == [1, 0]).all()
    assert score(small, policies.sampled, illegal=policies.illegal).illegal_mass > 0
    masked = extract(make_model("maskable_ppo", small), small)
    assert (masked.illegal == 0).all()


def test_what_cannot_be_extracted_is_refused(small: TabularGame) -> None:
    network = linear(small, {})
    sac = SAC("MlpPolicy", "Pendulum-v1", device="cpu", buffer_size=10)
    for refused, message in (
        (lambda: extract(network, small, observation="vector"),
         r"takes .*\(18,\).*'vector' of ff-combat is .*\(5,\)"),
        (lambda: extract(sac, small), "the network is a SACPolicy; allowed are"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            refused()
