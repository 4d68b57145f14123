from collections.abc import Callable

import pytest
from stable_baselines3.common.base_class import BaseAlgorithm

from solvent import TabularGame, compile_game, make_game
from solvent.envs import VectorEnv
from solvent.training import ALGORITHMS, NativeVecEnv

MakeModel = Callable[..., BaseAlgorithm]

# For a few hundred steps, by the algorithm's file of hyperparameters.
SHORT: dict[str, dict[str, object]] = {
    "ppo": {"n_steps": 16, "batch_size": 64, "n_epochs": 2},
    "a2c": {"n_steps": 16},
    "trpo": {"n_steps": 16, "batch_size": 64, "n_critic_updates": 2},
    "dqn": {"learning_starts": 64, "batch_size": 32, "train_freq": 1},
    "qr_dqn": {
        "learning_starts": 64,
        "batch_size": 32,
        "train_freq": 1,
        "policy_kwargs": {"n_quantiles": 5},
    },
}


@pytest.fixture(scope="session")
def default() -> TabularGame:
    """The combat of the published baseline values, 12/12/9 against an equal."""
    return compile_game(make_game("ff-combat"))


@pytest.fixture
def make_model() -> MakeModel:
    """An untrained learner on a native environment."""

    def make(name: str, game: TabularGame, *, illegal: str = "remap", **kwargs: object):  # type: ignore[no-untyped-def]
        env = VectorEnv(game, 8, observation="onehot", illegal=illegal, autoreset_mode="SameStep")
        kwargs = SHORT[ALGORITHMS[name].hyperparameters] | kwargs
        arguments = {"seed": 0, "gamma": 1.0, "device": "cpu"} | kwargs
        return ALGORITHMS[name].model("MlpPolicy", NativeVecEnv(env), **arguments)  # type: ignore[arg-type]

    return make
