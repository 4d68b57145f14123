"""Opponents by name, and the registered environments in which one meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import data_equivalence
from two_players import random_policy

from solvent.baselines import make_baseline
from solvent.baselines.environments import make_env, make_opponents
from solvent.exact import save_policy
from solvent.games import Greed, Pig
from solvent.model import TabularPolicy, compile_game
from solvent.registration import register_envs

register_envs()
SMALL = {"limit": 12, "sides": 4}
GAME = compile_game(Greed(**SMALL))
SEATS: list[Any] = [0, 1, "random"]


def make(**arguments: Any) -> Any:
    return gym.make("solvent/Greed-v0", **(SMALL | arguments)).unwrapped


def saved(folder: Path, player: int, seed: int = 0, game: Any = GAME) -> Path:
    path = folder / f"policy-{player}-{seed}.npz"
    save_policy(path, random_policy(game, player, seed))
    return path


@pytest.mark.parametrize("seat", SEATS)
def test_a_name_is_the_baseline_of_the_other_seat(seat: Any) -> None:
    [opponent], weights = make_opponents(GAME, "stand-at-80", seat)
    players = {0: [1], 1: [0], "random": [1, 0]}[seat]
    assert [policy.player for policy in opponent] == players
    for policy in opponent:
        wanted = make_baseline("stand-at-80", GAME, policy.player)
        assert (policy.probabilities == wanted.probabilities).all()
    assert weights == [1.0]


def test_a_file_is_the_policy_that_was_saved(tmp_path: Path) -> None:
    path = saved(tmp_path, 1, seed=3)
    for specification in (path, str(path)):
        [opponent], _ = make_opponents(GAME, specification)
        assert (opponent[0].probabilities == random_policy(GAME, 1, 3).probabilities).all()
    # A file that is written anew is read anew.
    save_policy(path, random_policy(GAME, 1, 4))
    [opponent], _ = make_opponents(GAME, path)
    assert (opponent[0].probabilities == random_policy(GAME, 1, 4).probabilities).all()


def test_a_mixture_keeps_order_and_weights(tmp_path: Path) -> None:
    path = str(saved(tmp_path, 1))
    policy = TabularPolicy.uniform(GAME, player=1)
    opponents, weights = make_opponents(GAME, {"optimal": 2, path: 0.5, policy: 1})
    assert [pair[0].name for pair in opponents] == ["optimal", "random-0", "uniform"]
    assert weights == [2, 0.5, 1]
    assert opponents[2][0] is policy


def test_a_spec_survives_json(tmp_path: Path) -> None:
    mixture = {"optimal": 1, str(saved(tmp_path, 0)): 2.5}
    env = gym.make("solvent/Greed-v0", opponent=mixture, seat=1, observation="index", **SMALL)
    assert env.spec is not None
    text = env.spec.to_json()
    assert json.loads(text)["kwargs"]["opponent"] == mixture
    again = gym.make(EnvSpec.from_json(text))
    assert again.spec == env.spec
    for seed in range(10):
        first, second = env.reset(seed=seed), again.reset(seed=seed)
        assert data_equivalence(first, second, exact=True)
        assert env.step(1)[:3] == again.step(1)[:3]


def test_bad_opponents(tmp_path: Path) -> None:
    of_0, of_1 = saved(tmp_path, 0), saved(tmp_path, 1)
    other_game = saved(tmp_path, 1, seed=9, game=compile_game(Greed(5, 2)))
    pickled = tmp_path / "model.npz"
    pickled.write_bytes(b"\x80\x04K\x01.")
    cases: list[tuple[Any, Any, str]] = [
        ("optimum", 0, r"opponent for player 1 of greed is 'optimum'.* Did you mean 'optimal'"),
        ("q-learning", 0, "opponent for player 1 of greed is 'q-learning'; allowed are"),
        (str(tmp_path / "none.npz"), 0, "none.npz: cannot be read"),
        (str(pickled), 0, "model.npz: not a file of solvent's, or damaged"),
        (str(other_game), 0, "policy 'random-9' was made for the model"),
        (str(of_0), 0, "is a policy of player 0, but the opponent has to play for player 1"),
        (str(of_1), 1, "is a policy of player 1, but the opponent has to play for player 0"),
        (str(of_1), "random", "is a policy of player 1, but the opponent has to play for player 0"),
        ({}, 0, "opponent is empty"),
        ({"uniform": 0}, 0, r"weights is \[0\]; allowed is a positive number"),
        ({"uniform": "many"}, 0, r"weights is \['many'\]; allowed is a positive number"),
        (3, 0, "opponent is 3; allowed are names of baselines, files of policies"),
        (["uniform"], 0, r"opponent is \['uniform'\]; allowed are names"),
        ({3: 1}, 0, "opponent is 3; allowed are names"),
        (random_policy(GAME, 0, 1), 0, "has to play for player 1, but has only"),
    ]
    for opponent, seat, message in cases:
        for maker in (gym.make, gym.make_vec):
            with pytest.raises(ValueError, match=message) as error:
                maker("solvent/Greed-v0", opponent=opponent, seat=seat, **SMALL)
            assert "\n" not in str(error.value)


def test_any_game_of_two_will_do() -> None:
    env = make_env("pig", target=6, opponent="uniform", seat=1)
    assert env.game.model_hash == compile_game(Pig(6)).model_hash
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"a game for one, got an unexpected .* 'opponent'"):
        make_env("football-drive", opponent="uniform")
