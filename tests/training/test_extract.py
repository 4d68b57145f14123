"""A network's table is what its model plays, on the inputs of its training, or it is refused."""

from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from random_tables import predicted
from refusals import assert_refused
from sb3_contrib import MaskablePPO, RecurrentPPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecFrameStack,
    VecNormalize,
)
from stable_baselines3.dqn.policies import DQNPolicy
from wrapped_envs import Late

import solvent
from solvent.envs import Env, VectorEnv
from solvent.envs.sampling import observed
from solvent.exact import score
from solvent.games import FightingFantasy, Greed
from solvent.model import (
    GymnasiumTable,
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
    one_hot,
)
from solvent.training import (
    ALGORITHMS,
    ExactEvalCallback,
    NativeVecEnv,
    extract,
)
from solvent.training.extract import network_player


@pytest.mark.parametrize(
    ("name", "normalized"),
    [
        *((name, False) for name in ALGORITHMS),
        *((name, True) for name in ("ppo", "masked_dqn", "qr_dqn")),
    ],
)
def test_the_mode_is_what_predict_answers_in_every_state(
    name: str, normalized: bool, small: TabularGame, make_model: Any
) -> None:
    if normalized:
        model = learner(VecNormalize(native(small)), name, 600)
    else:
        model = make_model(name, small).learn(512)
    for _ in range(2):
        rows = one_hot(small).observation[0]
        if normalized:
            rows = model.env.normalize_obs(small.observation[0])
        expected = predicted(model, small, rows, masked=ALGORITHMS[name].masked).probabilities
        np.testing.assert_array_equal(extract(model, small).mode.probabilities, expected)
        assert (expected.sum(axis=0) > 0).all(), "it always does the same, which shows nothing"
        # The statistics move on, and are followed.
        model.env.step(np.ones(model.n_envs, np.int64))


def linear(game: TabularGame, weights: dict[int, float], bias: float = 0.0) -> PPO:
    """A network without hidden layers: the logit of action 1 is linear in the observation."""
    env = NativeVecEnv(VectorEnv(game, 1, observation="onehot", autoreset_mode="SameStep"))
    model = PPO("MlpPolicy", env, n_steps=2, batch_size=2, policy_kwargs={"net_arch": []})
    layer = model.policy.action_net
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias[:] = torch.tensor([0.0, bias])
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
    assert (extract(make_model("maskable_ppo", small), small).illegal == 0).all()


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
        (A2C, SomeStates),
        (MaskablePPO, ContraryWithMasks),
        (DQN, ContraryValues),
    ],
)
def test_a_class_that_chooses_actions_of_its_own_is_refused_with_a_state(
    kind: Any, policy: Any, small: TabularGame
) -> None:
    model = made(kind, policy, small)
    plays = r"predicts another action .* in state Combat.*: \d; pass its predictions as a func"
    assert_refused((
        (lambda: solvent.score(small, model), plays),
        (lambda: solvent.score(Env(small), model, deterministic=True), plays),
        (lambda: extract(model, small), plays),
        (lambda: model.learn(16, callback=ExactEvalCallback(small, every=16)), plays),
    ))  # fmt: skip
    if kind is not MaskablePPO:
        # The way out.
        assert 0 < solvent.score(small, partial(greedily, model)).value < 1


class Tempered(ActorCriticPolicy):
    """Draws from the squared probabilities, so that its most probable actions are the same."""

    def _predict(self, observation: Any, deterministic: bool = False) -> Any:
        dist: Any = self.get_distribution(observation).distribution
        if deterministic:
            return dist.probs.argmax(dim=1)
        return torch.distributions.Categorical(logits=2 * dist.logits).sample()


def test_what_is_drawn_in_a_way_of_its_own_is_refused(small: TabularGame) -> None:
    tempered, replaced = made(PPO, Tempered, small), made(PPO, "MlpPolicy", small)
    plain = replaced.predict
    replaced.predict = lambda *arguments, **named: plain(*arguments, **named)
    rows = (
        (tempered, "Tempered has a _predict of its own"),
        (replaced, "ActorCriticPolicy has a <lambda> of its own"),
    )
    assert_refused(rows, partial(solvent.score, small))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_plain_arrays_play_as_the_network_does(
    name: str, small: TabularGame, make_model: Any
) -> None:
    model = make_model(name, small).learn(64)
    found, acting = extract(model, small), np.flatnonzero(small.on_turn(0))
    seen, legal = observed(small, 0, "onehot")[acting], small.mask[0][acting]
    for mode, policy in ((False, found.sampled), (True, found.mode)):
        player = network_player(model, observation="onehot", mode=mode)
        played = player.choose(player.network(seen), legal)
        np.testing.assert_allclose(played, policy.probabilities[acting], atol=1e-6)


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


SHORT: dict[str, dict[str, Any]] = {
    "ppo": {"n_steps": 64, "batch_size": 64, "n_epochs": 2},
    "a2c": {"n_steps": 8},
    "trpo": {"n_steps": 64, "batch_size": 64},
    "dqn": {"learning_starts": 64, "batch_size": 32, "train_freq": 1, "buffer_size": 2000},
}
SHORT["qr_dqn"] = {**SHORT["dqn"], "policy_kwargs": {"n_quantiles": 5}}


def native(game: TabularGame, count: int = 4) -> NativeVecEnv:
    return NativeVecEnv(VectorEnv(game, count, autoreset_mode="SameStep"))


def learner(venv: Any, name: str = "ppo", steps: int = 300) -> Any:
    arguments: dict[str, Any] = {"seed": 0, "gamma": 1.0, "device": "cpu"}
    arguments |= SHORT[ALGORITHMS[name].hyperparameters]
    model = ALGORITHMS[name].model("MlpPolicy", venv, **arguments)
    return model.learn(steps) if steps else model


def test_a_network_that_lost_what_it_saw_is_refused(small: TabularGame, tmp_path: Path) -> None:
    """Loaded onto an environment, a network no longer tells what it was trained on."""
    venv, path = VecNormalize(native(small), epsilon=1e-6, clip_obs=2.0), tmp_path / "model.zip"
    model = learner(venv, "dqn")
    model.save(path)
    bare = DQN.load(path)
    elsewhere = DQN.load(path, env=native(small), force_reset=False)
    dropped = "what it last saw was dropped when it was given"
    assert_refused((
        (bare, "trained under VecNormalize, pass it as a function"),
        (elsewhere, "last saw observations that are no"),
        *((DQN.load(path, env=env), dropped)
          for env in (native(small), VecNormalize(native(small)), venv)),
    ), lambda loaded: extract(loaded, small, observation="vector"))  # fmt: skip
    kept = DQN.load(path, env=venv, force_reset=False)
    found, expected = (extract(one, small, observation="vector").mode for one in (kept, model))
    as_function = solvent.policy_from(
        small, lambda seen: bare.predict(venv.normalize_obs(seen), deterministic=True)[0]
    )
    for policy in (found, as_function):
        np.testing.assert_array_equal(policy.probabilities, expected.probabilities)


class HalvedNormalize(VecNormalize):
    """A class that is not known: it might normalize otherwise."""


class LateMonitor(Monitor):
    """Likewise: it might show the observation before."""


class OwnVector(gym.vector.VectorWrapper):  # type: ignore[type-arg]
    """Likewise: its actions might be others."""


def test_wrappers_of_vector_environments_that_are_not_known_are_refused(
    small: TabularGame,
) -> None:
    vector = VectorEnv(small, 4, autoreset_mode="SameStep")
    unknown = r"^(LateMonitor|VecNormalize|VecFrameStack|OwnVector|HalvedNormalize) is not known"
    venvs = (
        DummyVecEnv([lambda: LateMonitor(Env(small))]),
        VecFrameStack(VecNormalize(native(small)), 2),
        VecNormalize(VecFrameStack(native(small), 2)),
        VecNormalize(VecNormalize(native(small))),
        VecNormalize(VecNormalize(native(small)), norm_obs=False),
        VecFrameStack(native(small), 2),
        NativeVecEnv(OwnVector(vector)),
        HalvedNormalize(native(small)),
        HalvedNormalize(native(small), norm_obs=False),
    )
    assert_refused(
        ((venv, unknown) for venv in venvs),
        lambda venv: extract(learner(venv, steps=0), small, observation="vector"),
    )
    # In other processes nobody sees how environments are wrapped.
    venv = SubprocVecEnv([lambda: gym.make("FrozenLake-v1")], start_method="fork")
    with closing(venv), pytest.raises(ValueError, match=r"^SubprocVecEnv is not known"):
        solvent.score("FrozenLake-v1", learner(venv, steps=0))


def test_networks_of_something_else_are_refused(small: TabularGame) -> None:
    """FrozenLake counts its cells row by row, the table in the order in which they are reached."""
    lake = compile_game(GymnasiumTable.from_env(gym.make("FrozenLake-v1")))
    assert [state.number for state in lake.states] != list(range(lake.n_states))
    easy, hard = (
        compile_game(FightingFantasy(stamina=3, opponent_stamina=3, skill_difference=difference))
        for difference in (-1, 1)
    )
    assert easy.observation[0].shape == hard.observation[0].shape
    lost = learner(native(easy), steps=100)
    lost.env = None
    sac = SAC("MlpPolicy", "Pendulum-v1", device="cpu", buffer_size=10)
    recurrent = RecurrentPPO("MlpLstmPolicy", Env(small), n_steps=8, device="cpu")
    late = learner(DummyVecEnv([lambda: Late(Env(small))]), steps=0)
    index = learner(DummyVecEnv([lambda: Env(small, observation="index")]), steps=0)
    difficult = "another game: its skill_difference is -1, not 1"
    doubled = replace(small, outcome_reward=small.outcome_reward * 2)
    assert_refused([
        (linear(small, {}), small, "vector",
         r"takes .*\(18,\).*'vector' of ff-combat is .*\(5,\)"),
        (sac, small, None, "the network is a SACPolicy; allowed are"),
        (learner("FrozenLake-v1", steps=0), lake, "index",
         "FrozenLakeEnv does not say which table"),
        (index, compile_game(FightingFantasy()), "index", "of ff-combat is Discrete"),
        *((learner(native(easy), steps=steps), hard, "vector", difficult) for steps in (0, 100)),
        (lost, hard, "vector", "last saw"),
        (learner(native(small), steps=100), doubled, "vector",
         "another ff-combat: it was trained on the model"),
        (recurrent, small, "vector", "depends on earlier"),
        (late, small, "vector", "Late is not known"),
    ], lambda model, game, observation: extract(model, game, observation=observation))  # fmt: skip
    with pytest.raises(ValueError, match="Late is not known"):
        late.learn(100, callback=ExactEvalCallback(small, every=100, observation="vector"))


@pytest.mark.parametrize("seat", [0, 1])
def test_a_network_is_scored_in_the_seat_that_it_learned(seat: int) -> None:
    """Also in the game in which its opponent is folded into chance."""
    game, other = (compile_game(Greed(limit=limit, sides=3)) for limit in (7, 8))
    opponent = TabularPolicy.uniform(game, player=1 - seat)
    vector = VectorEnv(game, 4, opponent, seat=seat, autoreset_mode="SameStep")
    for env, steps in (
        (NativeVecEnv(vector), 0),
        (NativeVecEnv(vector), 100),
        (Env(game, opponent, seat=seat), 0),
    ):
        model = learner(env, steps=steps)
        for scored in (game, against(game, opponent)):
            assert extract(model, scored, player=seat).sampled.player == seat
        rows = (
            (game, 1 - seat, f"learned to be player {seat}; say player={seat}"),
            (other, seat, "another game: its limit is 7, not 8"),
        )
        assert_refused(rows, lambda scored, own: extract(model, scored, player=own))  # noqa: B023


def test_a_game_may_have_another_start_and_probabilities_of_its_own(small: TabularGame) -> None:
    begun, model = np.where(small.terminal, 0.0, 1.0), learner(native(small), steps=100)
    extract(model, replace(small, initial=begun / begun.sum()), observation="vector")
    extract(model, replace(small, probability=small.probability.copy()), observation="vector")


def test_a_network_that_was_loaded_as_another_kind_is_refused(
    small: TabularGame, tmp_path: Path
) -> None:
    """One kind is told the legal actions and the other is not, so they play differently."""
    path = tmp_path / "model.zip"
    for own, other in (("dqn", "masked_dqn"), ("masked_dqn", "dqn")):
        learner(native(small), own, 100).save(path)
        extract(ALGORITHMS[own].model.load(path), small, observation="vector")
        loaded = ALGORITHMS[other].model.load(path)
        with pytest.raises(ValueError, match=r"trained by \w*DQN, but loaded as one of \w*DQN"):
            extract(loaded, small, observation="vector")


COMBAT = "solvent/FFCombat-v0"


@pytest.mark.parametrize("name", ["trpo", "qr_dqn", "maskable_ppo"])
def test_a_plain_model_is_scored_as_it_plays(name: str) -> None:
    env = gym.make(COMBAT)
    model = learner(env, name, 200)
    game: TabularGame = env.unwrapped.game  # type: ignore[attr-defined]

    def predicted(seen: Any, masks: Any) -> Any:
        told: Any = {"action_masks": masks} if name == "maskable_ppo" else {}
        return model.predict(seen, deterministic=True, **told)[0]

    found = solvent.score(COMBAT, model, deterministic=True)
    assert found == solvent.score(game, predicted, takes_mask=True)
    expected = extract(model, game, observation="vector")
    assert solvent.score(env, model) == score(game, expected.sampled, illegal=expected.illegal)


def test_a_model_of_a_gymnasium_environment_is_scored_in_one_line(tmp_path: Path) -> None:
    """A network knows the squares that are never reached: up to 8 in both smaller lakes."""
    lake = "FrozenLake-v1"
    small, large = (
        gym.make(lake, desc=desc, is_slippery=False)
        for desc in (["SFG", "FHH", "HFH"], ["SFGF", "FHHF", "HHFF"])
    )
    own = learner(small, "a2c", 0)
    own.save(tmp_path / "model.zip")
    loaded = A2C.load(tmp_path / "model.zip", device="cpu")
    trained, sees_9 = learner(lake, "dqn", 200), r"takes Discrete\(9\), but .* is Discrete\(12\)"
    sees_16 = r"takes Discrete\(16\), but the state number of Cliff"
    for model, envs, other, message in (
        (trained, (lake, gym.make(lake)), "CliffWalking-v1", sees_16),
        (own, (small,), large, sees_9),
        (loaded, (small,), large, sees_9),
    ):
        played = solvent.score(envs[0], partial(greedily, model)).value
        for env in envs:
            assert solvent.score(env, model, deterministic=True).value == played
        with pytest.raises(ValueError, match=message):
            solvent.score(other, model)


def greedily(model: Any, seen: Any) -> Any:
    return model.predict(seen, deterministic=True)[0]


def test_a_loaded_network_sees_the_numbers_of_its_environment_not_those_of_the_table(
    tmp_path: Path,
) -> None:
    """The table of FrozenLake has as many states as the environment, in another order."""
    lake = "FrozenLake-v1"
    model = learner(lake, "a2c", 100)
    model.save(tmp_path / "model.zip")
    loaded, rules = A2C.load(tmp_path / "model.zip", device="cpu"), solvent.make_game(lake)
    expected = solvent.score(lake, model)
    for game in (lake, rules, compile_game(rules)):
        assert solvent.score(game, loaded) == expected
    assert solvent.score(rules, loaded, observation="index").value != expected.value
    half = solvent.make_game(lake, discount=0.5)
    assert solvent.score(half, loaded).value == solvent.score(lake, loaded, discount=0.5).value
    firm, open_water = (
        gym.make(lake, is_slippery=False),
        gym.make(lake, desc=["SFFF"] * 3 + ["FFFG"]),
    )
    envs = (firm, open_water, DummyVecEnv([lambda: gym.make(lake), lambda: firm]))
    assert_refused(
        ((env, "its FrozenLakeEnv has other transitions") for env in envs),
        lambda env: solvent.score(lake, learner(env, "a2c", 50)),
    )


def test_what_a_network_sees_is_read_off_its_space(small: TabularGame) -> None:
    for kind in ("vector", "onehot", "index"):
        model = learner(Env(small, observation=kind), "a2c", 0)
        told = extract(model, small, observation=kind).sampled
        for found in (
            extract(model, small).sampled,
            solvent.policy_from(small, model),
            solvent.policy_from(Env(small, observation="onehot"), model),
        ):
            np.testing.assert_array_equal(found.probabilities, told.probabilities, err_msg=kind)
