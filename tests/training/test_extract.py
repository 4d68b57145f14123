"""A network's table is what its model plays: the same mode, value and mass on illegal actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from random_tables import predicted
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.dqn.policies import DQNPolicy

import solvent
from solvent.envs import Env, VectorEnv
from solvent.exact import score
from solvent.model import TabularGame, one_hot
from solvent.training import (
    ALGORITHMS,
    ExactEvalCallback,
    NativeVecEnv,
    extract,
)
from solvent.training.extract import network_player


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_mode_is_what_predict_answers_in_every_state(
    name: str, small: TabularGame, make_model: Any
) -> None:
    model = make_model(name, small)
    model.learn(512)
    mode = extract(model, small).mode
    rows = one_hot(small).observation[0]
    expected = predicted(model, small, rows, masked=ALGORITHMS[name].masked)
    np.testing.assert_array_equal(mode.probabilities, expected.probabilities)
    both = expected.probabilities.sum(axis=0)
    assert (both > 0).all(), "the network always does the same, so the test shows nothing"


def linear(game: TabularGame, weights: dict[int, float], bias: float = 0.0) -> PPO:
    """A network without hidden layers: the logit of action 1 is linear in the observation."""
    env = NativeVecEnv(VectorEnv(game, 1, observation="onehot", autoreset_mode="SameStep"))
    model = PPO("MlpPolicy", env, n_steps=2, batch_size=2, policy_kwargs={"net_arch": []})
    layer = model.policy.action_net
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


class Contrary(ActorCriticPolicy):
    """Plays the other action."""

    def _predict(self, observation: Any, deterministic: bool = False) -> Any:
        return 1 - super()._predict(observation, deterministic)


class ContraryWithMasks(MaskableActorCriticPolicy):
    def _predict(
        self, observation: Any, deterministic: bool = False, action_masks: Any = None
    ) -> Any:
        return 0 * super()._predict(observation, deterministic, action_masks)


class ContraryValues(DQNPolicy):
    def _predict(self, obs: Any, deterministic: bool = True) -> Any:
        return 1 - super()._predict(obs, deterministic)


class SomeStates(ActorCriticPolicy):
    """Plays the other action in few states."""

    def _predict(self, observation: Any, deterministic: bool = False) -> Any:
        few = (observation[:, 1] > 0.9) & (observation[:, 4] > 0)
        return torch.where(few, 1, 0) ^ super()._predict(observation, deterministic)


class Batchwise(BaseFeaturesExtractor):
    """Features that depend on the batch: in training mode, and if stubborn always."""

    stubborn = False

    def __init__(self, space: Any) -> None:
        super().__init__(space, space.shape[0])
        self.norm = torch.nn.BatchNorm1d(space.shape[0])

    def train(self, mode: bool = True) -> Any:
        return super().train(mode or self.stubborn)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        normed: torch.Tensor = self.norm(seen)
        return normed


def made(kind: Any, policy: Any, game: TabularGame, **arguments: Any) -> Any:
    return kind(policy, Env(game), seed=0, device="cpu", **arguments)


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        (PPO, Contrary),
        (A2C, SomeStates),
        (MaskablePPO, ContraryWithMasks),
        (DQN, ContraryValues),
    ],
)
def test_a_class_that_chooses_actions_of_its_own_is_refused_with_a_state(
    kind: Any, policy: Any, small: TabularGame
) -> None:
    model = made(kind, policy, small)
    plays = r"by its predict another action .* in state Combat.*: \d; pass what it plays as a func"
    for call in (
        lambda: solvent.score(small, model),
        lambda: solvent.score(Env(small), model, deterministic=True),
        lambda: extract(model, small),
        lambda: model.learn(16, callback=ExactEvalCallback(small, every=16)),
    ):
        with pytest.raises(ValueError, match=plays):
            call()
    with pytest.raises(ValueError, match=r"of its own|plays other actions than the last layers"):
        network_player(model, masked=False, observation="vector")
    if kind is not MaskablePPO:
        # The way out.
        found = solvent.score(small, lambda seen: model.predict(seen, deterministic=True)[0])
        assert 0 < found.value < 1


class Tempered(ActorCriticPolicy):
    """Draws from the squared probabilities, so that its most probable actions are the same."""

    def _predict(self, observation: Any, deterministic: bool = False) -> Any:
        dist: Any = self.get_distribution(observation).distribution
        if deterministic:
            return dist.probs.argmax(dim=1)
        return torch.distributions.Categorical(logits=2 * dist.logits).sample()


def test_what_is_drawn_in_a_way_of_its_own_is_refused(small: TabularGame) -> None:
    model = made(PPO, Tempered, small)
    with pytest.raises(ValueError, match=r"Tempered has a _predict of its own"):
        solvent.score(small, model)
    replaced = made(PPO, "MlpPolicy", small)
    plain = replaced.predict
    replaced.predict = lambda *arguments, **named: plain(*arguments, **named)
    with pytest.raises(ValueError, match=r"ActorCriticPolicy has a <lambda> of its own"):
        solvent.score(small, replaced)


def test_features_that_depend_on_the_batch_are_refused(small: TabularGame) -> None:
    kwargs = {"features_extractor_class": Batchwise}
    model = made(PPO, "MlpPolicy", small, policy_kwargs=kwargs, n_steps=64).learn(64)
    mode = extract(model, small).mode.probabilities
    acting = np.flatnonzero(small.mask[0].all(axis=1))
    chosen, _ = model.predict(small.observation[0][acting], deterministic=True)
    np.testing.assert_array_equal(mode[acting].argmax(axis=1), chosen)
    model.policy.features_extractor.stubborn = True
    with pytest.raises(ValueError, match=r"for the same observation, of state Combat.*\.eval\(\)"):
        solvent.score(small, model)
    # Plain arrays have no such layer.
    with pytest.raises(ValueError, match="plays other actions than the last layers"):
        network_player(model, masked=False, observation="vector")
