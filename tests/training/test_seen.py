"""A network is asked what it was given in training, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from sb3_contrib import RecurrentPPO
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecEnv,
    VecEnvWrapper,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
)

from solvent.envs import SeatVectorEnv, TabularEnv, TabularVectorEnv
from solvent.envs.spaces import observations
from solvent.exact import StoreError, policy_value
from solvent.games import FightingFantasy, Greed
from solvent.model import (
    GymnasiumTable,
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
    legal_action_table,
)
from solvent.training import (
    ALGORITHMS,
    ExactEvalCallback,
    NativeVecEnv,
    Normalization,
    extract,
    extract_boltzmann,
    extract_policy,
    load_model,
)
from solvent.training.extract import network_player

SHORT: dict[str, dict[str, Any]] = {
    "ppo": {"n_steps": 64, "batch_size": 64, "n_epochs": 2},
    "a2c": {"n_steps": 8},
    "trpo": {"n_steps": 64, "batch_size": 64},
    "dqn": {"learning_starts": 64, "batch_size": 32, "train_freq": 1, "buffer_size": 2000},
}
SHORT["qr_dqn"] = {**SHORT["dqn"], "policy_kwargs": {"n_quantiles": 5}}


def native(game: TabularGame, count: int = 4) -> NativeVecEnv:
    return NativeVecEnv(TabularVectorEnv(game, count, autoreset_mode="SameStep"))


def learner(venv: Any, name: str = "ppo", steps: int = 300) -> BaseAlgorithm:
    arguments: dict[str, Any] = {"seed": 0, "gamma": 1.0, "device": "cpu"}
    arguments |= SHORT[ALGORITHMS[name].hyperparameters]
    model = ALGORITHMS[name].model("MlpPolicy", venv, **arguments)
    return model.learn(steps) if steps else model


def predicted(
    model: BaseAlgorithm, venv: VecNormalize, game: TabularGame, *, masked: bool = False
) -> TabularPolicy:
    """What `predict` answers to each state's observation, normalized as the environment does."""
    played = legal_action_table(game.mask[0])
    actions = np.zeros(game.n_states, np.int64)
    for s in np.flatnonzero(~game.terminal).tolist():
        seen = venv.normalize_obs(game.observation[0][s])
        kwargs: Any = {"action_masks": game.mask[0][s]} if masked else {}
        action, _ = model.predict(seen, deterministic=True, **kwargs)
        actions[s] = played[s, int(action)]
    return TabularPolicy.deterministic(game, actions)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_under_vec_normalize_the_mode_is_what_predict_answers_in_every_state(
    name: str, small: TabularGame
) -> None:
    venv = VecNormalize(native(small))
    model = learner(venv, name, 600)
    mode = extract_policy(model, small, observation="vector", deterministic=True)
    expected = predicted(model, venv, small, masked=ALGORITHMS[name].masked)
    np.testing.assert_array_equal(mode.probabilities, expected.probabilities)
    assert (expected.probabilities.sum(axis=0) > 0).all(), "it always does the same"


class Recompute(BaseCallback):
    """The value of what `predict` answers, at every moment at which the curve may be drawn."""

    def __init__(self, venv: VecNormalize, game: TabularGame) -> None:
        super().__init__()
        self.venv, self.game = venv, game
        self.values: dict[int, float] = {}

    def _on_rollout_start(self) -> None:
        policy = predicted(self.model, self.venv, self.game)
        values = policy_value(self.game, policy)
        self.values[self.num_timesteps] = self.game.at_start(values)

    def _on_step(self) -> bool:
        return True

    _on_training_end = _on_rollout_start


@pytest.mark.parametrize("monitored", ["inside", "outside"])
def test_the_curve_follows_the_statistics_as_they_move(monitored: str, small: TabularGame) -> None:
    if monitored == "inside":
        venv = VecNormalize(VecMonitor(native(small)))
        whole: VecEnv = venv
    else:
        venv = VecNormalize(native(small))
        whole = VecCheckNan(VecMonitor(venv))
    apart = Recompute(venv, small)
    exact = ExactEvalCallback(small, every=1, observation="vector")
    learner(whole, steps=0).learn(1000, callback=[apart, exact])
    found = {point.timesteps: point.mode_value for point in exact.curve}
    assert len(set(apart.values.values())) > 1
    assert found == pytest.approx(apart.values, abs=1e-12)


@pytest.mark.slow
def test_a_rollout_under_vec_normalize_confirms_the_exact_value(default: TabularGame) -> None:
    venv = VecNormalize(native(default, 64))
    arguments: dict[str, Any] = {"n_steps": 32, "batch_size": 512, "seed": 0, "device": "cpu"}
    model = PPO("MlpPolicy", venv, gamma=1.0, **arguments)
    callback = ExactEvalCallback(default, every=20_000, observation="vector")
    model.learn(100_000, callback=callback)
    exact = callback.curve[-1].mode_value
    plays = 20_000
    env = TabularVectorEnv(default, plays, autoreset_mode="SameStep")
    observation, _ = env.reset(seed=1)
    won, open_ = np.zeros(plays), np.ones(plays, bool)
    while open_.any():
        actions, _ = model.predict(venv.normalize_obs(observation), deterministic=True)
        observation, reward, ended, _, _ = env.step(actions)
        won[open_] += reward[open_]
        open_ &= ~ended
    assert abs(won.mean() - exact) < 4 * np.sqrt(exact * (1 - exact) / plays)
    # What is not normalized is told apart.
    venv.norm_obs = False
    model._last_obs = default.observation[0][:64]
    raw = extract_policy(model, default, observation="vector", deterministic=True)
    wrong = default.at_start(policy_value(default, raw))
    assert abs(won.mean() - wrong) > 4 * np.sqrt(wrong * (1 - wrong) / plays)


def test_statistics_that_move_after_training_are_followed(small: TabularGame) -> None:
    venv = VecNormalize(native(small))
    model = learner(venv)
    venv.reset()
    for _ in range(20):
        venv.step(np.ones(4, np.int64))
    mode = extract_policy(model, small, observation="vector", deterministic=True)
    expected = predicted(model, venv, small)
    np.testing.assert_array_equal(mode.probabilities, expected.probabilities)


def test_action_values_are_softened_as_they_are_normalized(small: TabularGame) -> None:
    venv = VecNormalize(native(small))
    model = learner(venv, "dqn")
    cold = extract_boltzmann(model, small, 1e-9, observation="vector")
    expected = predicted(model, venv, small)
    np.testing.assert_allclose(cold.probabilities, expected.probabilities, atol=1e-9)


@pytest.mark.parametrize("name", ["ppo", "dqn"])
def test_normalized_rewards_disturb_nothing(name: str, small: TabularGame) -> None:
    model = learner(VecNormalize(native(small), norm_obs=False), name)
    mode = extract_policy(model, small, observation="vector", deterministic=True)
    for s in np.flatnonzero(~small.terminal).tolist():
        action, _ = model.predict(small.observation[0][s], deterministic=True)
        assert mode.probabilities[s, legal_action_table(small.mask[0])[s, int(action)]] == 1


@pytest.mark.parametrize("name", ["ppo", "dqn"])
def test_a_loaded_network_wants_the_statistics_with_which_it_was_trained(
    name: str, small: TabularGame, tmp_path: Path
) -> None:
    venv = VecNormalize(native(small), epsilon=1e-6, clip_obs=2.0)
    model = learner(venv, name)
    expected = extract(model, small, observation="vector")
    model.save(tmp_path / "model.zip")
    Normalization.of(VecMonitor(venv)).save(tmp_path / "normalization.npz")

    loaded = load_model(tmp_path / "model.zip", name, trust=True)
    with pytest.raises(ValueError, match="trained under VecNormalize: give its statistics as"):
        extract(loaded, small, observation="vector")
    saved = Normalization.load(tmp_path / "normalization.npz")
    for given in (saved, venv):
        found = extract(loaded, small, observation="vector", normalization=given)
        for kind in ("sampled", "mode"):
            np.testing.assert_array_equal(
                getattr(found, kind).probabilities, getattr(expected, kind).probabilities
            )
    other = VecNormalize(native(small))
    other.reset()
    with pytest.raises(ValueError, match="it was trained with other statistics"):
        extract(loaded, small, observation="vector", normalization=other)


@pytest.mark.parametrize("name", ["ppo", "dqn"])
def test_a_network_that_lost_what_it_saw_is_refused(
    name: str, small: TabularGame, tmp_path: Path
) -> None:
    """Loaded onto an environment, a network no longer tells what it was trained on."""
    venv = VecNormalize(native(small))
    model = learner(venv, name)
    model.save(tmp_path / "model.zip")
    for env in (native(small), VecNormalize(native(small)), venv):
        again = type(model).load(tmp_path / "model.zip", env=env)
        with pytest.raises(ValueError, match="what it last saw was dropped when it was given"):
            extract(again, small, observation="vector")
    kept = type(model).load(tmp_path / "model.zip", env=venv, force_reset=False)
    found, expected = (extract(one, small, observation="vector") for one in (kept, model))
    np.testing.assert_array_equal(found.mode.probabilities, expected.mode.probabilities)


class HalvedNormalize(VecNormalize):
    def normalize_obs(self, obs: Any) -> Any:
        return super().normalize_obs(obs) / np.float32(2)


def test_a_kind_of_vec_normalize_of_ones_own_is_followed(small: TabularGame) -> None:
    venv = HalvedNormalize(native(small))
    model = learner(venv)
    mode = extract_policy(model, small, observation="vector", deterministic=True)
    expected = predicted(model, venv, small)
    np.testing.assert_array_equal(mode.probabilities, expected.probabilities)


def test_statistics_are_those_of_vec_normalize_to_the_bit(
    small: TabularGame, tmp_path: Path
) -> None:
    venv = VecNormalize(native(small), clip_obs=1.0)
    learner(venv, steps=100)
    path = tmp_path / "normalization.npz"
    Normalization.of(venv).save(path)
    rows = small.observation[0]
    np.testing.assert_array_equal(Normalization.load(path)(rows), venv.normalize_obs(rows))
    assert np.abs(venv.normalize_obs(rows)).max() == 1.0


def test_a_damaged_or_wrong_normalization_is_refused(small: TabularGame, tmp_path: Path) -> None:
    path = tmp_path / "normalization.npz"
    good = Normalization(np.zeros(5), np.ones(5))
    with pytest.raises(StoreError, match="cannot be read"):
        Normalization.load(path)
    good.save(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(StoreError, match="damaged"):
        Normalization.load(path)
    for mean, var, rest in (
        (np.zeros(5), np.ones(4), {}),
        (np.zeros(5), np.full(5, np.nan), {}),
        (np.zeros(5), -np.ones(5), {}),
        (np.zeros((5, 1)), np.ones((5, 1)), {}),
        (np.zeros(5), np.ones(5), {"clip": 0.0}),
        (np.zeros(5), np.ones(5), {"epsilon": float("nan")}),
    ):
        with pytest.raises(ValueError, match=r"(mean|var|clip|epsilon) (is|has)"):
            Normalization(mean, var, **rest)
    with pytest.raises(ValueError, match="has no VecNormalize with norm_obs=True"):
        Normalization.of(VecNormalize(native(small), norm_obs=False))
    narrow = Normalization(np.zeros(4), np.ones(4))
    with pytest.raises(
        ValueError, match=r"normalization is of observations of shape \(4,\); they have \(5,\)"
    ):
        extract(learner(native(small)), small, observation="vector", normalization=narrow)


class Halved(gym.ObservationWrapper[Any, Any, Any]):
    def observation(self, observation: Any) -> Any:
        return observation / 2


class OutOfOrder(gym.ObservationWrapper[Any, Any, Any]):
    def observation(self, observation: Any) -> Any:
        return observation[::-1].copy()


class Late(gym.Wrapper[Any, Any, Any, Any]):
    """Shows the observation before."""

    def reset(self, **kwargs: Any) -> Any:
        self.last, info = self.env.reset(**kwargs)
        return self.last, info

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        observation, self.last = self.last, observation
        return observation, *rest


class LateMonitor(Monitor):
    step = Late.step  # type: ignore[assignment]

    def reset(self, **kwargs: Any) -> Any:
        self.last, info = super().reset(**kwargs)
        return self.last, info


class Permuted(gym.ObservationWrapper[Any, Any, Any]):
    """Shows the next row of the table, the first one instead of the last."""

    def observation(self, observation: Any) -> Any:
        env: Any = self.unwrapped
        kinds = (observations(env.game, 0, kind) for kind in ("vector", "onehot"))
        rows = next(rows for rows in kinds if rows.shape[1:] == observation.shape)
        [at] = np.flatnonzero((rows == observation).all(axis=1))
        return rows[(at + 1) % len(rows)]


class PermutedFunction(wrappers.TransformObservation):  # type: ignore[type-arg]
    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env, lambda seen: seen, None)

    observation = Permuted.observation  # type: ignore[assignment]


class LateByVecEnv(VecEnvWrapper):
    def reset(self) -> Any:
        self.last = self.venv.reset()
        return self.last

    def step_wait(self) -> Any:
        observation, *rest = self.venv.step_wait()
        observation, self.last = self.last, observation
        return observation, *rest


class Named(gym.Wrapper[Any, Any, Any, Any]):
    """Changes nothing that is seen or played."""

    def __str__(self) -> str:
        return "named"


class HalvedByVecEnv(VecEnvWrapper):
    def reset(self) -> Any:
        return self.venv.reset() / 2

    def step_wait(self) -> Any:
        observation, *rest = self.venv.step_wait()
        return observation / 2, *rest


def clipped(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """Most observations stay as they are, so that the last few seen may well be rows."""
    return wrappers.TransformObservation(
        env, lambda seen: np.minimum(seen, np.float32(0.99)), env.observation_space
    )


def cast(env: gym.Env[Any, Any], dtype: Any) -> gym.Env[Any, Any]:
    space = gym.spaces.Box(-1, 1, env.observation_space.shape, dtype)
    return wrappers.TransformObservation(env, lambda seen: seen.astype(dtype), space)


def rescaled(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    return wrappers.RescaleObservation(env, np.float32(0), np.float32(1))


@pytest.mark.parametrize("steps", [0, 100])
@pytest.mark.parametrize(
    ("wrap", "name"),
    [
        (Halved, "Halved"),
        (OutOfOrder, "OutOfOrder"),
        (clipped, "TransformObservation"),
        (rescaled, "RescaleObservation"),
        (wrappers.NormalizeObservation, "NormalizeObservation"),
        (lambda env: cast(env, np.float16), "TransformObservation"),
    ],
)
def test_a_wrapper_that_changes_observations_is_refused_by_name(
    wrap: Callable[..., Any], name: str, steps: int, small: TabularGame
) -> None:
    for outer in (DummyVecEnv, lambda envs: VecNormalize(DummyVecEnv(envs))):
        venv = outer([lambda: Monitor(wrap(TabularEnv(small)))])
        model = learner(venv, steps=steps)
        with pytest.raises(ValueError, match=name):
            extract(model, small, observation="vector")


@pytest.mark.parametrize(
    "wrap",
    [
        Monitor,
        Named,
        wrappers.FlattenObservation,
        wrappers.RecordEpisodeStatistics,
        lambda env: cast(env, np.float64),
        lambda env: wrappers.TransformObservation(env, lambda seen: seen, None),
        lambda env: wrappers.TransformReward(env, lambda reward: 2 * reward),
        lambda env: wrappers.TimeLimit(env, 50),
    ],
)
@pytest.mark.parametrize("steps", [0, 100])
def test_a_wrapper_that_leaves_observations_as_they_are_passes(
    wrap: Callable[..., Any], steps: int, small: TabularGame
) -> None:
    model = learner(DummyVecEnv([lambda: wrap(TabularEnv(small))]), steps=steps)
    plain = learner(native(small), steps=0)
    plain.set_parameters(model.get_parameters())
    found, expected = (extract(one, small, observation="vector") for one in (model, plain))
    np.testing.assert_array_equal(found.sampled.probabilities, expected.sampled.probabilities)


def test_the_time_limit_that_rl_zoo_puts_in_the_place_of_gymnasiums_passes(
    small: TabularGame,
) -> None:
    class PatchedTimeLimit(wrappers.TimeLimit):
        __module__ = "rl_zoo3.gym_patches"

        def step(self, action: Any) -> Any:
            return self.env.step(action)

    model = learner(DummyVecEnv([lambda: PatchedTimeLimit(TabularEnv(small), 50)]), steps=0)
    extract(model, small, observation="vector")


@pytest.mark.parametrize("wrap", [Late, LateMonitor, Permuted, PermutedFunction])
@pytest.mark.parametrize("observation", ["vector", "onehot"])
def test_a_wrapper_that_shows_another_row_is_refused_by_name(
    wrap: type, observation: str, small: TabularGame
) -> None:
    """What was seen are rows of the game, so that nothing but the wrapper tells."""
    rows = {row.tobytes() for row in observations(small, 0, observation)}
    for steps in (0, 100):
        venv = DummyVecEnv([lambda: wrap(TabularEnv(small, observation=observation))])
        model = learner(venv, steps=steps)
        assert not steps or {seen.tobytes() for seen in model._last_obs} <= rows  # type: ignore[union-attr]
        with pytest.raises(ValueError, match=f"{wrap.__name__} around the environment may change"):
            extract(model, small, observation=observation)


def test_one_environment_of_several_that_shows_another_row_is_refused(small: TabularGame) -> None:
    rows = small.observation[0]
    shown = {row.tobytes(): other for row, other in zip(rows, np.roll(rows, 1, 0), strict=True)}

    def permuted() -> gym.Env[Any, Any]:
        return wrappers.TransformObservation(
            TabularEnv(small), lambda seen: shown[seen.tobytes()], None
        )

    model = learner(DummyVecEnv([lambda: TabularEnv(small), permuted]), steps=100)
    with pytest.raises(ValueError, match="TransformObservation around the environment shows"):
        extract(model, small, observation="vector")


def test_wrappers_of_stable_baselines_that_are_not_followed_are_refused(
    small: TabularGame,
) -> None:
    for venv in (
        LateByVecEnv(native(small)),
        LateByVecEnv(VecNormalize(native(small))),
        VecNormalize(LateByVecEnv(native(small))),
        VecNormalize(VecNormalize(native(small))),
        VecNormalize(VecNormalize(native(small)), norm_obs=False),
    ):
        for steps in (0, 100):
            model = learner(venv, steps=steps)
            with pytest.raises(
                ValueError, match=r"(LateByVecEnv|VecNormalize) around the env\w+ may"
            ):
                extract(model, small, observation="vector")


class HalvedVector(gym.vector.VectorWrapper):  # type: ignore[type-arg]
    def reset(self, **kwargs: Any) -> Any:
        observation, infos = self.env.reset(**kwargs)
        return observation / 2, infos

    def step(self, actions: Any) -> Any:
        observation, *rest = self.env.step(actions)
        return observation / 2, *rest


@pytest.mark.parametrize("steps", [0, 100])
def test_a_wrapper_of_a_native_environment_is_refused_by_name(
    steps: int, small: TabularGame
) -> None:
    env = HalvedVector(TabularVectorEnv(small, 4, autoreset_mode="SameStep"))
    with pytest.raises(ValueError, match="HalvedVector"):
        extract(learner(NativeVecEnv(env), steps=steps), small, observation="vector")


def test_a_wrapper_of_stable_baselines_is_refused_by_name(small: TabularGame) -> None:
    for venv in (HalvedByVecEnv(native(small)), HalvedByVecEnv(VecNormalize(native(small)))):
        with pytest.raises(ValueError, match="HalvedByVecEnv"):
            extract(learner(venv, steps=100), small, observation="vector")


def test_the_curve_is_refused_where_it_would_be_wrong(small: TabularGame) -> None:
    model = learner(DummyVecEnv([lambda: Halved(TabularEnv(small))]), steps=0)
    callback = ExactEvalCallback(small, every=100, observation="vector")
    with pytest.raises(ValueError, match="Halved"):
        model.learn(100, callback=callback)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: wrappers.FrameStackObservation(env, 2),
        lambda env: wrappers.DelayObservation(env, 1),
        lambda env: wrappers.TimeAwareObservation(wrappers.TimeLimit(env, 50)),
        lambda env: wrappers.MaxAndSkipObservation(env, 2),
    ],
)
def test_a_wrapper_that_shows_the_past_is_refused(
    wrap: Callable[..., Any], small: TabularGame
) -> None:
    model = learner(DummyVecEnv([lambda: wrap(TabularEnv(small))]), steps=0)
    with pytest.raises(ValueError, match=r"\w+ around the environment shows the past, so that"):
        extract(model, small, observation="vector")


def make_combat() -> gym.Env[Any, Any]:
    return gym.make("solvent/FFCombat-v0")


@pytest.mark.slow
def test_environments_that_hide_their_wrappers_are_refused(default: TabularGame) -> None:
    makes = [make_combat]
    for venv in (
        NativeVecEnv(gym.vector.AsyncVectorEnv(makes, autoreset_mode="SameStep")),
        SubprocVecEnv(makes, start_method="spawn"),
    ):
        try:
            with pytest.raises(
                ValueError, match=r"(Async|Subproc)V\w+ around the env\w+ hides what"
            ):
                extract(learner(venv, steps=0), default, observation="vector")
        finally:
            venv.close()


def test_stacked_frames_are_refused(small: TabularGame) -> None:
    model = learner(VecFrameStack(DummyVecEnv([lambda: TabularEnv(small)]), 3), steps=100)
    with pytest.raises(ValueError, match="VecFrameStack around the environment shows the past"):
        extract(model, small, observation="vector")


def test_a_recurrent_network_is_refused(small: TabularGame) -> None:
    model = RecurrentPPO("MlpLstmPolicy", TabularEnv(small), n_steps=8, device="cpu")
    with pytest.raises(ValueError, match="RecurrentActorCriticPolicy, which depends on what it"):
        extract(model, small, observation="vector")


class Swapped(gym.ActionWrapper[Any, Any, Any]):
    def action(self, action: Any) -> Any:
        return 1 - action


@pytest.mark.parametrize(
    "wrap",
    [
        Swapped,
        lambda env: wrappers.StickyAction(env, 0.5),
        pytest.param(
            lambda env: wrappers.RepeatAction(env, 2),
            marks=pytest.mark.skipif(
                not hasattr(wrappers, "RepeatAction"), reason="not in Gymnasium 1.2"
            ),
        ),
    ],
)
def test_a_wrapper_that_plays_other_actions_is_refused(
    wrap: Callable[..., Any], small: TabularGame
) -> None:
    model = learner(DummyVecEnv([lambda: wrap(TabularEnv(small))]), steps=0)
    with pytest.raises(ValueError, match="plays other actions than the network chooses"):
        extract(model, small, observation="vector")


@pytest.mark.parametrize("steps", [0, 100])
def test_numbers_of_states_that_a_wrapper_may_change_are_refused(
    steps: int, small: TabularGame
) -> None:
    def other_order(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        last = small.n_states - 1
        return wrappers.TransformObservation(env, lambda at: last - at, env.observation_space)

    def as_it_is(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        return wrappers.TransformObservation(env, lambda at: at, env.observation_space)

    for wrap, message in ((other_order, "TransformObservation"), (Halved, "Halved")):
        env = wrap(TabularEnv(small, observation="index"))
        model = learner(DummyVecEnv([lambda env=env: env]), steps=0 if wrap is Halved else steps)
        with pytest.raises(ValueError, match=message):
            extract(model, small, observation="index")
    env = as_it_is(TabularEnv(small, observation="index"))
    extract(learner(DummyVecEnv([lambda: env]), steps=steps), small, observation="index")


def test_numbers_of_states_of_another_table_are_refused(small: TabularGame) -> None:
    """FrozenLake counts its cells row by row, the table in the order in which they are reached."""
    lake = gym.make("FrozenLake-v1")
    game = compile_game(GymnasiumTable.from_env(lake))
    assert [state.number for state in game.states] != list(range(game.n_states))
    model = PPO("MlpPolicy", lake, n_steps=8, batch_size=8, device="cpu")
    with pytest.raises(ValueError, match="its environment does not say of which table"):
        extract(model, game, observation="index")
    other = learner(DummyVecEnv([lambda: TabularEnv(small, observation="index")]), steps=0)
    with pytest.raises(ValueError, match="the game has Discrete"):
        extract(other, compile_game(FightingFantasy()), observation="index")


def test_a_network_of_a_game_with_other_parameters_is_refused() -> None:
    trained, scored = (
        compile_game(FightingFantasy(stamina=3, opponent_stamina=3, skill_difference=difference))
        for difference in (-1, 1)
    )
    assert trained.observation[0].shape == scored.observation[0].shape
    for model in (learner(native(trained), steps=100), learner(native(trained), steps=0)):
        with pytest.raises(ValueError, match="another game: its skill_difference is -1, not 1"):
            extract(model, scored, observation="vector")
        with pytest.raises(ValueError, match="another game: its skill_difference"):
            extract_policy(model, scored, observation="vector")
    callback = ExactEvalCallback(scored, every=10, observation="vector")
    with pytest.raises(ValueError, match="another game"):
        learner(native(trained), steps=0).learn(10, callback=callback)
    loaded = learner(native(trained), steps=100)
    loaded.env = None
    with pytest.raises(ValueError, match="last saw"):
        extract(loaded, scored, observation="vector")


def test_a_network_of_other_rules_under_the_same_name_is_refused(small: TabularGame) -> None:
    model = learner(native(small), steps=100)
    begun = np.where(small.terminal, 0.0, 1.0)
    elsewhere = replace(small, initial=begun / begun.sum())
    extract(model, elsewhere, observation="vector")
    copied = replace(small, probability=small.probability.copy())
    extract(model, copied, observation="vector")
    changed = replace(small, outcome_reward=small.outcome_reward * 2)
    with pytest.raises(ValueError, match="another ff-combat: it was trained on the model"):
        extract(model, changed, observation="vector")


def test_an_opponent_may_be_folded_into_chance() -> None:
    game = compile_game(Greed(limit=7, sides=3))
    opponent = TabularPolicy.uniform(game, player=1)
    env = SeatVectorEnv(game, opponent, 4, seat=0, autoreset_mode="SameStep")
    for steps in (0, 100):
        model = learner(NativeVecEnv(env), steps=steps)
        for scored in (game, against(game, opponent)):
            extract(model, scored, observation="vector")
        with pytest.raises(ValueError, match="another game: its limit is 7, not 8"):
            extract(model, compile_game(Greed(limit=8, sides=3)), observation="vector")


def test_a_player_without_a_table_sees_what_its_game_shows(small: TabularGame) -> None:
    for venv, name in (
        (VecNormalize(native(small)), "VecNormalize"),
        (DummyVecEnv([lambda: Halved(TabularEnv(small))]), "Halved"),
        (VecFrameStack(DummyVecEnv([lambda: TabularEnv(small)]), 2), "VecFrameStack"),
        (DummyVecEnv([lambda: Late(TabularEnv(small))]), "Late"),
        (DummyVecEnv([lambda: rescaled(TabularEnv(small))]), "RescaleObservation"),
    ):
        with pytest.raises(ValueError, match=name):
            network_player(learner(venv, steps=0), masked=False, observation="vector")


def test_what_is_loaded_and_never_learned_is_taken_at_its_space(
    small: TabularGame, tmp_path: Path
) -> None:
    learner(native(small), steps=0).save(tmp_path / "model.zip")
    loaded = load_model(tmp_path / "model.zip", "ppo", trust=True)
    extract(loaded, small, observation="vector")
    model = learner(DummyVecEnv([lambda: rescaled(TabularEnv(small))]), steps=0)
    model.save(tmp_path / "model.zip")
    loaded = load_model(tmp_path / "model.zip", "ppo", trust=True)
    with pytest.raises(ValueError, match="the network takes no observation='vector'"):
        extract(loaded, small, observation="vector")


@pytest.mark.parametrize(("own", "other"), [("dqn", "masked_dqn"), ("masked_dqn", "dqn")])
def test_a_network_that_was_loaded_as_another_kind_is_refused(
    own: str, other: str, small: TabularGame, tmp_path: Path
) -> None:
    """One kind is told the legal actions and the other is not, so they play differently."""
    learner(native(small), own, 100).save(tmp_path / "model.zip")
    extract(load_model(tmp_path / "model.zip", own, trust=True), small, observation="vector")
    loaded = load_model(tmp_path / "model.zip", other, trust=True)
    with pytest.raises(ValueError, match=r"trained by \w*DQN, but loaded as one of \w*DQN"):
        extract(loaded, small, observation="vector")


def test_any_learner_with_a_policy_network_may_be_normalized(small: TabularGame) -> None:
    venv = VecNormalize(native(small))
    model = A2C("MlpPolicy", venv, device="cpu", seed=1).learn(200)
    mode = extract_policy(model, small, observation="vector", deterministic=True)
    expected = predicted(model, venv, small)
    np.testing.assert_array_equal(mode.probabilities, expected.probabilities)
