"""Readings are exact, change nothing in what is learned, and the parts of a gap sum to it."""

import json
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from microscope import DoubleDQN
from random_games import RandomGame
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.vec_env import VecNormalize

import solvent
from solvent.envs import VectorEnv
from solvent.envs.env import learned_seat
from solvent.exact import policy_value, score, solve, state_visitation
from solvent.model import TabularGame, TabularPolicy, compile_game, from_arrays
from solvent.report.charts import microscope_section
from solvent.training import (
    ALGORITHMS,
    ExactAdvantages,
    ExactEvalCallback,
    ExactTargets,
    Microscope,
    NativeVecEnv,
    extract,
    microscope,
    read_curve,
    train,
)
from solvent.training.environments import make_vector_env
from solvent.training.learner_values import ActorGradient, LearnerValues
from solvent.training.microscope import approximation, visited_gap


def test_the_true_gradient_is_that_of_finite_differences(
    small: TabularGame, make_model: Any
) -> None:
    model = make_model("maskable_ppo", small).learn(256)
    policy, values = extract(model, small).sampled, LearnerValues(model, small)
    network, q = ActorGradient(values), values.value(policy).q
    visits = state_visitation(small, policy)
    gradient = network.of(visits[:, None] * network.probabilities * network.advantage(q))

    actor = actor_of(model)
    assert sum(p.numel() for p in actor) == len(gradient)
    plain = torch.nn.utils.parameters_to_vector(actor).detach()
    directions = np.random.default_rng(0).normal(size=(3, len(gradient)))
    for way in (gradient, *directions):
        way = way / np.linalg.norm(way)
        ends = []
        for step in (0.02, -0.02):
            moved = plain + step * torch.from_numpy(way).float()
            torch.nn.utils.vector_to_parameters(moved, actor)
            ends.append(small.at_start(policy_value(small, extract(model, small).sampled)))
        slope = (ends[0] - ends[1]) / 0.04
        assert slope == pytest.approx(way @ gradient, rel=5e-3, abs=2e-5)


def actor_of(model: Any) -> list[Any]:
    policy = model.policy
    return [*policy.mlp_extractor.policy_net.parameters(), *policy.action_net.parameters()]


class Used(BaseCallback):
    """Compares the gradients foretold at the end of each rollout with those of the optimizer."""

    def __init__(self, game: TabularGame) -> None:
        super().__init__()
        self.game, self.compared = game, 0
        self.told: Any = None
        self.given: list[Any] = []

    def _on_training_start(self) -> None:
        actor = actor_of(self.model)

        def record(*_: Any) -> None:
            self.given.append(torch.cat([-p.grad.reshape(-1) for p in actor]).numpy().copy())

        self.model.policy.optimizer.register_step_pre_hook(record)

    def _on_rollout_start(self) -> None:
        if self.told is not None:
            np.testing.assert_array_equal(self.told, self.given)
            self.compared += 1

    @torch.enable_grad()
    def _on_rollout_end(self) -> None:
        with torch.no_grad():
            extract(self.model, self.game, gate=False)
        self.given.clear()
        self.told = ActorGradient(LearnerValues(self.model, self.game)).used()

    def _on_step(self) -> bool:
        return True


@pytest.mark.parametrize("name", ["ppo", "maskable_ppo"])
def test_the_foretold_gradients_are_those_of_the_update(
    name: str, small: TabularGame, make_model: Any
) -> None:
    used = Used(small)
    make_model(name, small).learn(600, callback=used)
    assert used.compared >= 2


def test_an_update_with_exact_values_and_many_samples_has_the_true_direction(
    small: TabularGame, make_model: Any
) -> None:
    model = make_model("ppo", small, n_steps=512, batch_size=4096, n_epochs=1)
    scope = Microscope(small, every=10_000)
    model.learn(4096, callback=[ExactAdvantages(small), scope])
    gradient = scope.readings[0].gradient
    assert gradient.cosine > 0.97
    assert gradient.noise < 0.2
    # The advantages are exact already, and all of the batch is one step before the network moves.
    for name in ("exact_advantages", "unclipped", "first_cosine"):
        assert getattr(gradient, name) == pytest.approx(gradient.cosine, abs=1e-6), name


class Recompute(BaseCallback):
    """Scores the network by itself, at every moment at which the curve might be drawn."""

    def __init__(self, game: TabularGame) -> None:
        super().__init__()
        self.game = game
        self.seen: dict[int, tuple[float, ...]] = {}

    def _on_rollout_start(self) -> None:
        policies = extract(self.model, self.game, gate=False)
        scores = [score(self.game, policy) for policy in (policies.sampled, policies.mode)]
        figures = [(found.value, found.optimality_gap) for found in scores]
        self.seen[self.num_timesteps] = figures[0] + figures[1]

    def _on_step(self) -> bool:
        return True

    _on_training_end = _on_rollout_start


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("ppo", "masked_dqn") else pytest.mark.slow)
        for name in ALGORITHMS
    ],
)
def test_readings_and_the_learning_curve_are_exact_and_change_nothing_in_what_is_learned(
    name: str, small: TabularGame, make_model: Any, tmp_path: Path
) -> None:
    # One after the other, since making a learner seeds the global generators.
    plain = make_model(name, small).learn(1000)
    scope, apart = Microscope(small, every=200), Recompute(small)
    exact = ExactEvalCallback(small, every=300, path=tmp_path / "curve.csv")
    watched = make_model(name, small).learn(1000, callback=[apart, scope, exact])
    for a, b in zip(plain.policy.parameters(), watched.policy.parameters(), strict=True):
        np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    optimum = pytest.approx(solve(small).value, abs=1e-9)
    assert len(scope.readings) >= 5
    last, found = scope.readings[-1], extract(watched, small)
    assert last.greedy_gap == pytest.approx(score(small, found.mode).optimality_gap, abs=1e-12)
    assert last.gap + last.value == optimum
    curve = read_curve(tmp_path / "curve.csv")
    assert curve == exact.curve
    # The first moments at or after each multiple of 300 at which learning pauses, and the end.
    pauses = {min(s for s in apart.seen if s >= k) for k in (0, 300, 600, 900)}
    assert [point.timesteps for point in curve] == sorted(pauses | {max(apart.seen)})
    for point in curve:
        figures = (point.value, point.gap, point.mode_value, point.mode_gap)
        assert figures == pytest.approx(apart.seen[point.timesteps], abs=1e-12)
        assert point.value + point.gap == optimum
    seconds = [point.seconds for point in curve]
    assert seconds == sorted(seconds)


def test_the_critic_is_compared_with_the_value_of_its_discount(
    small: TabularGame, make_model: Any
) -> None:
    for gamma in (1.0, 0.9):
        model = make_model("ppo", small, gamma=gamma)
        scope = Microscope(small, every=1000)
        model.learn(128, callback=scope)
        policy = extract(model, small).sampled
        seen = LearnerValues(model, small).rows
        critic = model.policy.predict_values(torch.from_numpy(seen)).detach().numpy()[:, 0]
        told = solvent.evaluate(small, policy, critic=critic, discount=gamma)
        visits = np.where(small.terminal, 0, solvent.evaluate(small, policy).occupancy)
        error, residual = critic - told.v[: small.n_states], told.bellman_residual[: small.n_states]
        last = scope.readings[-1]
        for found, values in (
            (last.bias, error),
            (last.value_error**2, error**2),
            (last.bellman_residual**2, residual**2),
        ):
            assert found == pytest.approx(visits @ values / visits.sum(), abs=1e-6)


def test_the_overestimation_of_a_network_that_is_set_by_hand(
    small: TabularGame, make_model: Any
) -> None:
    model = make_model("masked_dqn", small)
    with torch.no_grad():
        layer = model.policy.q_net.q_net[-1]
        layer.weight.zero_()
        layer.bias[:] = torch.tensor([0.25, 0.75])
    scope = Microscope(small, every=10)
    model.learn(8, callback=scope)  # Too few steps to learn from.
    reading = scope.readings[-1]
    mask = small.mask[0]
    # Luck is tested wherever it may be; the lowest legal action is taken elsewhere.
    greedy = TabularPolicy.deterministic(small, np.where(mask[:, 1], 1, mask.argmax(axis=1)))
    epsilon, uniform = model.exploration_rate, TabularPolicy.uniform(small).probabilities
    acting = TabularPolicy.of(small, (1 - epsilon) * greedy.probabilities + epsilon * uniform)
    own = policy_value(small, greedy)
    visits = np.where(small.terminal, 0, state_visitation(small, acting))
    weight = visits / visits.sum()
    estimate = np.where(mask[:, 1], 0.75, 0.25)
    assert reading.value == pytest.approx(score(small, acting).value)
    assert reading.bias == pytest.approx(weight @ (estimate - own), abs=1e-6)
    best = weight @ (estimate - solve(small).values)
    assert reading.optimal_bias == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_of_the_visited_model_is_the_best_policy_of_tried_actions(seed: int) -> None:
    game = compile_game(RandomGame(seed, "single", cyclic=True))
    visited = game.mask[0] & (np.random.default_rng(seed).random(game.mask[0].shape) < 0.4)
    uniform = TabularPolicy.uniform(game).probabilities
    choices = [
        [np.eye(len(tried))[a] for a in np.flatnonzero(tried)] or [anything]
        for tried, anything in zip(visited, uniform, strict=True)
    ]
    best = max(
        game.at_start(policy_value(game, TabularPolicy.of(game, np.array(rows))))
        for rows in product(*choices)
    )
    solution = solve(game)
    assert visited_gap(game, visited, solution) == pytest.approx(solution.value - best, abs=1e-9)
    assert visited_gap(game, np.ones_like(visited), solution) == pytest.approx(0, abs=1e-9)


def test_what_the_best_weights_of_a_network_lose() -> None:
    """Of four states of one move, the third alone wants the second action: a linear network fails.

    It may be wrong in one of four states, and an episode has two moves on average. On the lake some
    equally good moves never end.
    """
    rewards = [[1, 0], [1, 0], [0, 1], [1, 0]]
    bandit = from_arrays(np.full((4, 2, 4), 0.25), rewards, discount=0.5, actions_first=False)
    lake = solvent.compile_game("FrozenLake-v1")
    for game, kind, layers, lost in (
        (bandit, PPO, [], 0.25 * 2),
        (bandit, PPO, [32], 0),
        (lake, DQN, [64, 64], 0),
    ):
        observation = "onehot" if game is lake else "vector"
        env = VectorEnv(game, 2, observation=observation, autoreset_mode="SameStep")
        kwargs: Any = {"policy_kwargs": {"net_arch": layers}, "gamma": 1.0, "seed": 0}
        values = LearnerValues(kind("MlpPolicy", NativeVecEnv(env), **kwargs), game)
        assert approximation(values, solve(game)) == pytest.approx(lost, abs=1e-9)


def test_expected_targets_are_the_bellman_update_of_the_target_network(
    small: TabularGame, make_model: Any
) -> None:
    for name in ("dqn", "qr_dqn", "masked_dqn"):
        model, exact = make_model(name, small), ExactTargets(small)
        model.learn(200, callback=exact)
        batch = model.replay_buffer.sample(64)
        assert (batch.dones == 1).all()
        values = exact.values
        target = model.quantile_net_target if name == "qr_dqn" else model.q_net_target
        with torch.no_grad():
            q = target(torch.from_numpy(values.rows))
        q = (q.mean(dim=1) if name == "qr_dqn" else q).numpy()
        best = np.where(values.allowed, q, -np.inf).max(axis=1)
        expected = small.expectation(np.where(small.terminal, 0, best))
        states = values.states(batch.observations.numpy())
        actions = values.played(states, batch.actions.numpy()[:, 0])
        rows = [
            small.row(s, (a, 0)) for s, a in zip(states.tolist(), actions.tolist(), strict=True)
        ]
        np.testing.assert_allclose(batch.rewards.numpy()[:, 0], expected[rows], atol=1e-6)


def test_double_dqn_values_the_action_that_the_learning_network_prefers(
    small: TabularGame, make_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = DoubleDQN("MlpPolicy", make_model("dqn", small).env, learning_starts=0, seed=0)
    model.learn(8)
    for network, biases in ((model.q_net, (1.0, 0.0)), (model.q_net_target, (0.2, 5.0))):
        with torch.no_grad():
            network.q_net[-1].weight.zero_()
            network.q_net[-1].bias[:] = torch.tensor(biases)
    buffer: Any = model.replay_buffer
    batch, target = buffer.sample(8), model.q_net_target
    monkeypatch.setattr(buffer, "sample", lambda *_, **__: batch)
    loss = Mock(wraps=torch.nn.functional.smooth_l1_loss)
    monkeypatch.setattr("stable_baselines3.dqn.dqn.F.smooth_l1_loss", loss)
    model.train(1, batch_size=8)
    expected = batch.rewards + (1 - batch.dones) * model.gamma * 0.2
    torch.testing.assert_close(loss.call_args.args[1], expected)
    assert model.q_net_target is target


def test_the_parts_sum_to_the_gap(small: TabularGame) -> None:
    settings = {"n_envs": 8, "learning_starts": 64, "batch_size": 32}
    found = microscope(small, "dqn", timesteps=600, readings=2, hyperparameters=settings)
    parts = found.parts
    assert parts.gap == found.readings[-1].greedy_gap
    total = parts.approximation + parts.exploration + parts.estimation + parts.optimization
    assert total == pytest.approx(parts.gap, abs=1e-12)
    assert parts.exact_learner == "dqn+exact targets"
    kept = json.loads(json.dumps([found.as_dict()], allow_nan=False))
    assert kept[0]["readings"][0]["gradient"] is None
    assert 'data-parts="dqn"' in microscope_section(kept).html


FEW = {"n_envs": 8, "n_steps": 16, "batch_size": 64}


def test_the_microscope_trains_as_train_does_and_writes_nothing(
    small: TabularGame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SB3_LOGDIR", str(tmp_path / "log"))
    asked: dict[str, Any] = {"timesteps": 512, "hyperparameters": FEW, "seed": 3}
    seen = microscope(small, "ppo", parts=False, **asked)
    assert not any(tmp_path.iterdir())
    scope = Microscope(small, every=256, observation="onehot")
    result = train(small, "ppo", folder=tmp_path / "run", progress=False, callback=scope, **asked)
    np.testing.assert_array_equal(seen.policies[0].probabilities, result.policy.probabilities)
    two = (repr(replace(own.readings[-1], occupancy=None)) for own in (scope, seen))
    assert len(set(two)) == 1


def test_the_record_of_a_training_says_that_it_was_given_exact_values(
    small: TabularGame, tmp_path: Any
) -> None:
    asked: dict[str, Any] = {
        "timesteps": 256, "folder": tmp_path, "progress": False, "hyperparameters": FEW,
    }  # fmt: skip
    exact = CallbackList([ExactAdvantages(small, observation="onehot")])
    result = train(small, "ppo", callback=CallbackList([exact]), **asked)
    assert result.saw == ("exact advantages",)
    assert json.loads((tmp_path / "run.json").read_text())["saw"] == ["exact advantages"]
    with pytest.raises(ValueError, match="given_exact_values"):
        train(small, "ppo", **asked)


def test_what_the_microscope_cannot_read_is_refused(small: TabularGame) -> None:
    blind = deepcopy(small)
    object.__setattr__(blind, "observation", (np.zeros((small.n_states, 2), np.float32),))
    for game, wrap, message in (
        (small, VecNormalize, "VecNormalize"),
        (blind, lambda venv: venv, "1 observations"),
    ):
        env = VectorEnv(game, 2, observation="vector", autoreset_mode="SameStep")
        model = PPO("MlpPolicy", wrap(NativeVecEnv(env)), n_steps=8, batch_size=16)
        with pytest.raises(ValueError, match=message):
            model.learn(16, callback=Microscope(game, every=8))


def test_a_bellman_update_goes_on_to_the_state_in_which_the_learner_acts_again() -> None:
    model, left, values = of_seat(0)
    assert (~values.acting & ~left.terminal).any()
    true = values.value(solve(left).policies[0])
    # What a network says where it does not act is never asked for.
    found = values.backed_up(np.where(values.acting, true.v, 99.0))
    np.testing.assert_allclose(found[values.acting], true.q[values.acting], atol=1e-9)
    model.gamma = 0.9
    with pytest.raises(ValueError, match="game in turns"):
        LearnerValues(model, left, player=0, observation="onehot")
    # To a win the environment adds nothing, to a loss in seat 1, which the table has as -1, it
    # adds 1; episodes that end before the first turn of that seat have no state to learn in.
    second, left, values = of_seat(1)
    best = solve(left).policies[1]
    plain, estimated = values.value(best), values.value(best, estimated=True)
    np.testing.assert_allclose(estimated.v, plain.v + ~left.terminal, atol=1e-9)
    kinds: dict[str, Any] = {"player": 1, "observation": "onehot"}
    scope = Microscope(left, every=1_000, **kinds)
    second.learn(2_000, callback=[scope, ExactTargets(left, **kinds)])
    assert np.isfinite([reading.value_error for reading in scope.readings]).all()
    assert not scope.visited[left.terminal].any()


def of_seat(player: int) -> tuple[Any, TabularGame, LearnerValues]:
    """A learner of Greed in a seat, the game with its opponent folded in, and its values."""
    env = make_vector_env("solvent/GreedSmall-v0", 4, {"observation": "onehot", "seat": player})
    left = learned_seat(env).left
    model = ALGORITHMS["dqn"].model(
        "MlpPolicy", NativeVecEnv(env), gamma=1.0, learning_starts=64, buffer_size=2_000
    )
    return model, left, LearnerValues(model, left, player=player, observation="onehot")
