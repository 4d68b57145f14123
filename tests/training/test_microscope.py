"""Readings are exact, change nothing in what is learned, and the parts of a gap sum to it."""

import json
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from microscope import DoubleDQN
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.vec_env import VecNormalize

import solvent
from solvent.envs import VectorEnv
from solvent.envs.env import learned_seat
from solvent.exact import policy_value, score, solve, state_visitation
from solvent.model import TabularGame, TabularPolicy, from_arrays
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
    train,
)
from solvent.training.environments import make_vector_env
from solvent.training.learner_values import ActorGradient, LearnerValues
from solvent.training.microscope import approximation, visited_gap


@pytest.fixture
def bandit() -> TabularGame:
    """Four states of one move, of which the third alone wants the second action."""
    return from_arrays(
        np.full((4, 2, 4), 0.25),
        [[1, 0], [1, 0], [0, 1], [1, 0]],
        discount=0.5,
        actions_first=False,
    )


def random_game(seed: int) -> TabularGame:
    """Five states, three actions and an end, with rewards and outcomes drawn."""
    random = np.random.default_rng(seed)
    P = random.random((5, 3, 5)) * (random.random((5, 3, 5)) < 0.5) + 0.3 * np.eye(5)[4]
    P /= P.sum(axis=2, keepdims=True)
    start = np.array([0.5, 0.5, 0, 0, 0])
    return from_arrays(P, random.normal(size=(5, 3)), start=start, terminal=[4])


@pytest.mark.parametrize("name", ["maskable_ppo"])
def test_the_true_gradient_is_that_of_finite_differences(
    name: str, small: TabularGame, make_model: Any
) -> None:
    model = make_model(name, small).learn(256)
    policy = extract(model, small).sampled
    network = ActorGradient(LearnerValues(model, small))
    q = LearnerValues(model, small).value(policy).q
    visits = state_visitation(small, policy)
    gradient = network.of(visits[:, None] * network.probabilities * network.advantage(q))

    actor = [*model.policy.mlp_extractor.policy_net.parameters()]
    actor += [*model.policy.action_net.parameters()]
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


class Used(BaseCallback):
    """Compares the gradients foretold at the end of each rollout with those of the optimizer."""

    def __init__(self, game: TabularGame) -> None:
        super().__init__()
        self.game, self.compared = game, 0
        self.told: Any = None
        self.given: list[Any] = []

    def _on_training_start(self) -> None:
        policy = self.model.policy
        actor = [*policy.mlp_extractor.policy_net.parameters(), *policy.action_net.parameters()]

        def record(*_: Any) -> None:
            self.given.append(torch.cat([-p.grad.reshape(-1) for p in actor]).numpy().copy())

        policy.optimizer.register_step_pre_hook(record)

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
    assert gradient.exact_advantages == pytest.approx(gradient.cosine, abs=1e-6)
    assert gradient.unclipped == pytest.approx(gradient.cosine, abs=1e-6)
    assert gradient.first_cosine == gradient.cosine


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("ppo", "masked_dqn") else pytest.mark.slow)
        for name in ALGORITHMS
    ],
)
def test_readings_and_the_learning_curve_change_nothing_in_what_is_learned(
    name: str, small: TabularGame, make_model: Any
) -> None:
    # One after the other, since making a learner seeds the global generators.
    plain = make_model(name, small).learn(800)
    scope, curve = Microscope(small, every=200), ExactEvalCallback(small, every=100)
    watched = make_model(name, small).learn(800, callback=[scope, curve])
    assert len(curve.curve) >= 5
    for a, b in zip(plain.policy.parameters(), watched.policy.parameters(), strict=True):
        np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    assert len(scope.readings) >= 5
    last, found = scope.readings[-1], extract(watched, small)
    assert last.greedy_gap == pytest.approx(score(small, found.mode).optimality_gap, abs=1e-12)
    assert last.gap + last.value == pytest.approx(solve(small).value, abs=1e-9)


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
        error = critic - told.v[: small.n_states]
        last = scope.readings[-1]
        assert last.bias == pytest.approx(visits @ error / visits.sum(), abs=1e-6)
        assert last.value_error**2 == pytest.approx(visits @ error**2 / visits.sum(), abs=1e-6)
        squares = visits @ told.bellman_residual[: small.n_states] ** 2 / visits.sum()
        assert last.bellman_residual**2 == pytest.approx(squares, abs=1e-6)


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
    greedy = np.zeros(mask.shape)
    greedy[np.arange(len(mask)), np.where(mask[:, 1], 1, mask.argmax(axis=1))] = 1
    epsilon = model.exploration_rate
    uniform = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1)
    acting = TabularPolicy.of(small, (1 - epsilon) * greedy + epsilon * uniform)
    own = policy_value(small, TabularPolicy.of(small, greedy))
    visits = np.where(small.terminal, 0, state_visitation(small, acting))
    weight = visits / visits.sum()
    estimate = np.where(mask[:, 1], 0.75, 0.25)
    assert reading.value == pytest.approx(score(small, acting).value)
    assert reading.bias == pytest.approx(weight @ (estimate - own), abs=1e-6)
    best = weight @ (estimate - solve(small).values)
    assert reading.optimal_bias == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_of_the_visited_model_is_the_best_policy_of_tried_actions(seed: int) -> None:
    game = random_game(seed)
    visited = np.random.default_rng(seed).random(game.mask[0].shape) < 0.4
    choices = []
    for state in range(4):
        tried = np.flatnonzero(visited[state])
        choices.append([np.eye(3)[a] for a in tried] or [np.full(3, 1 / 3)])
    best = max(
        game.at_start(policy_value(game, TabularPolicy.of(game, np.array([*rows, np.ones(3) / 3]))))
        for rows in product(*choices)
    )
    solution = solve(game)
    assert visited_gap(game, visited, solution) == pytest.approx(solution.value - best, abs=1e-9)
    assert visited_gap(game, np.ones_like(visited), solution) == pytest.approx(0, abs=1e-9)


def test_a_linear_network_cannot_single_out_a_state_in_the_middle(bandit: TabularGame) -> None:
    gaps = {}
    for layers in ([], [32]):
        env = NativeVecEnv(VectorEnv(bandit, 2, autoreset_mode="SameStep"))
        kwargs: Any = {"policy_kwargs": {"net_arch": layers}}
        model = PPO("MlpPolicy", env, n_steps=8, batch_size=16, gamma=1.0, **kwargs)
        gaps[len(layers)] = approximation(LearnerValues(model, bandit), solve(bandit))
    # It may be wrong in one of four states, and an episode has two moves on average.
    assert gaps[0] == pytest.approx(0.25 * 2)
    assert gaps[1] == pytest.approx(0, abs=1e-9)


def test_a_network_can_follow_the_optimum_where_some_equally_good_moves_never_end() -> None:
    lake = solvent.compile_game("FrozenLake-v1")
    env = NativeVecEnv(VectorEnv(lake, 2, observation="onehot", autoreset_mode="SameStep"))
    model = DQN("MlpPolicy", env, policy_kwargs={"net_arch": [64, 64]}, seed=0)
    assert approximation(LearnerValues(model, lake), solve(lake)) == pytest.approx(0, abs=1e-9)


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
    told: list[torch.Tensor] = []

    def loss(now: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        told.append(target)
        return ((now - target) ** 2).mean()

    buffer: Any = model.replay_buffer
    batch, target = buffer.sample(8), model.q_net_target
    monkeypatch.setattr(buffer, "sample", lambda *_, **__: batch)
    monkeypatch.setattr("stable_baselines3.dqn.dqn.F.smooth_l1_loss", loss)
    model.train(1, batch_size=8)
    expected = batch.rewards + (1 - batch.dones) * model.gamma * 0.2
    torch.testing.assert_close(told[0], expected)
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


def test_the_microscope_trains_as_train_does_and_writes_nothing(
    small: TabularGame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SB3_LOGDIR", str(tmp_path / "log"))
    settings = {"n_envs": 8, "n_steps": 16, "batch_size": 64}
    seen = microscope(small, "ppo", timesteps=512, hyperparameters=settings, parts=False, seed=3)
    assert not any(tmp_path.iterdir())
    scope = Microscope(small, every=256, observation="onehot")
    result = train(
        small, "ppo", timesteps=512, hyperparameters=settings, seed=3, folder=tmp_path / "run",
        progress=False, callback=scope,
    )  # fmt: skip
    np.testing.assert_array_equal(seen.policies[0].probabilities, result.policy.probabilities)
    assert [one.row() for one in scope.readings] != []
    assert scope.readings[-1].row() == seen.readings[-1].row()


def test_the_record_of_a_training_says_that_it_was_given_exact_values(
    small: TabularGame, tmp_path: Any
) -> None:
    asked: dict[str, Any] = {"timesteps": 256, "folder": tmp_path, "progress": False}
    asked["hyperparameters"] = {"n_envs": 8, "n_steps": 16, "batch_size": 64}
    exact = CallbackList([ExactAdvantages(small, observation="onehot")])
    result = train(small, "ppo", callback=CallbackList([exact]), **asked)
    assert result.saw == ("exact advantages",)
    assert json.loads((tmp_path / "run.json").read_text())["saw"] == ["exact advantages"]
    with pytest.raises(ValueError, match="given_exact_values"):
        train(small, "ppo", **asked)


def test_what_the_microscope_cannot_read_is_refused(small: TabularGame, make_model: Any) -> None:
    env = NativeVecEnv(VectorEnv(small, 2, observation="vector", autoreset_mode="SameStep"))
    normalized = PPO("MlpPolicy", VecNormalize(env), n_steps=8, batch_size=16)
    with pytest.raises(ValueError, match="VecNormalize"):
        normalized.learn(16, callback=Microscope(small, every=8))
    blind = deepcopy(small)
    object.__setattr__(blind, "observation", (np.zeros((small.n_states, 2), np.float32),))
    env = NativeVecEnv(VectorEnv(blind, 2, observation="vector", autoreset_mode="SameStep"))
    with pytest.raises(ValueError, match="1 observations"):
        PPO("MlpPolicy", env, n_steps=8, batch_size=16).learn(
            16, callback=Microscope(blind, every=8)
        )


def test_a_bellman_update_goes_on_to_the_state_in_which_the_learner_acts_again() -> None:
    env = make_vector_env("solvent/GreedSmall-v0", 4, {"observation": "onehot"})
    seat = learned_seat(env)
    model = ALGORITHMS["dqn"].model("MlpPolicy", NativeVecEnv(env), gamma=1.0)
    values = LearnerValues(model, seat.left, player=seat.player, observation="onehot")
    assert (~values.acting & ~seat.left.terminal).any()
    true = values.value(solve(seat.left).policies[seat.player])
    # What a network says where it does not act is never asked for.
    found = values.backed_up(np.where(values.acting, true.v, 99.0))
    np.testing.assert_allclose(found[values.acting], true.q[values.acting], atol=1e-9)
    # To a win the environment adds nothing, to a loss in seat 1, which the table has as -1, it
    # adds 1; episodes that end before the first turn of that seat have no state to learn in.
    env = make_vector_env("solvent/GreedSmall-v0", 4, {"observation": "onehot", "seat": 1})
    other = learned_seat(env)
    second = ALGORITHMS["dqn"].model(
        "MlpPolicy", NativeVecEnv(env), gamma=1.0, learning_starts=64, buffer_size=2_000
    )
    of_second = LearnerValues(second, other.left, player=1, observation="onehot")
    best = solve(other.left).policies[1]
    plain, estimated = of_second.value(best), of_second.value(best, estimated=True)
    np.testing.assert_allclose(estimated.v, plain.v + ~other.left.terminal, atol=1e-9)
    kinds = {"player": 1, "observation": "onehot"}
    scope = Microscope(other.left, every=1_000, **kinds)  # type: ignore[arg-type]
    exact = ExactTargets(other.left, **kinds)  # type: ignore[arg-type]
    second.learn(2_000, callback=[scope, exact])
    assert np.isfinite([reading.value_error for reading in scope.readings]).all()
    assert not scope.visited[other.left.terminal].any()
    model.gamma = 0.9
    with pytest.raises(ValueError, match="game in turns"):
        LearnerValues(model, seat.left, player=seat.player, observation="onehot")
