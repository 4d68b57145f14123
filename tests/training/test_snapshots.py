"""The pool holds what the learner was, and goes into a checkpoint and out again."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from two_players import OneShot, random_policy

from solvent.envs import VectorEnv
from solvent.games.greed.rules import Greed
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.training import ALGORITHMS, extract
from solvent.training.snapshots import (
    AveragePolicy,
    SelfPlayEnv,
    SnapshotCallback,
    policies_of_seats,
)


@pytest.fixture(scope="module")
def greed() -> TabularGame:
    return compile_game(Greed(6, 2))


def make(game: TabularGame, size: int = 3, latest: float = 0.5) -> tuple[Any, SelfPlayEnv]:
    uniform = [TabularPolicy.uniform(game, player=p) for p in (0, 1)]
    env = VectorEnv(
        game, 16, [uniform], seat="random", observation="onehot", autoreset_mode="SameStep"
    )
    play = partial(policies_of_seats, game, "onehot")
    averages = [AveragePolicy(game, seat) for seat in (0, 1)]
    venv = SelfPlayEnv(env, play, averages=averages, size=size, latest=latest)
    model = ALGORITHMS["maskable_ppo"].model(
        "MlpPolicy",
        venv,
        seed=0,
        device="cpu",
        n_steps=8,
        batch_size=64,  # type: ignore[call-arg]
    )
    venv.seed(0)
    return model, venv


def test_the_pool_keeps_the_latest_snapshots(greed: TabularGame) -> None:
    model, venv = make(greed)
    venv.remember(model)
    assert venv.weights == [1.0]
    callback, played = SnapshotCallback(venv, 128), {}
    for _ in range(5):
        played[model.num_timesteps] = [extract(model, greed, player=p).sampled for p in (0, 1)]
        model.learn(128, callback=callback, reset_num_timesteps=False)
    played[model.num_timesteps] = [extract(model, greed, player=p).sampled for p in (0, 1)]
    # A snapshot is taken when the next transitions are collected, and none were after the end.
    assert [past.timesteps for past in venv.snapshots] == [256, 384, 512]
    assert venv.weights == [0.25, 0.25, 0.5]
    pool = venv.env.unwrapped.opponents  # type: ignore[attr-defined]
    for past, opponent in zip(venv.snapshots, pool, strict=True):
        by_player = {policy.player: policy for policy in opponent}
        for player in (0, 1):
            expected = played[past.timesteps][player].probabilities
            np.testing.assert_array_equal(past.opponent[player].probabilities, expected)
            np.testing.assert_array_equal(by_player[player].probabilities, expected)


def test_a_saved_average_of_another_form_is_refused(greed: TabularGame) -> None:
    model, venv = make(greed)
    venv.remember(model)
    venv.reset()
    state = venv.get_state()
    for name, changed, message in (
        ("average 1", state["average 1"][:-1], "'average' has shape"),
        ("average 0", np.full_like(state["average 0"], np.nan), "negative or not a number"),
        ("average 1", 2 * state["average 1"], "does not sum to 1"),
        ("average 1", state["average 1"][:, ::-1], "to an illegal action"),
        ("remembered", state["remembered"] + 0.5, "saved remembered is"),
        ("remembered", state["remembered"] - 2, "saved remembered is"),
    ):
        with pytest.raises(ValueError, match=message):
            venv.set_state({**state, name: changed})


def test_the_kth_counts_k_squared_times() -> None:
    game = compile_game(OneShot())
    policies = [random_policy(game, 1, seed) for seed in range(5)]
    average = AveragePolicy(game, 1)
    for policy in policies:
        average.add(policy)
    weights = np.arange(1, 6) ** 2 / 55
    expected = np.tensordot(weights, [policy.probabilities for policy in policies], axes=1)
    np.testing.assert_allclose(average.policy().probabilities, expected, atol=1e-15)
