"""Baselines, opponents and networks by name or file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from bad_files import bad_files, forge
from rational_tables import END, table_of
from two_players import random_policy

from solvent.baselines import baseline_names, baseline_policies, make_baseline
from solvent.baselines.environments import make_env, make_opponents
from solvent.baselines.network import Network, NetworkPlayer, load_network, save_network
from solvent.exact import StoreError, save_policy, score
from solvent.games import FightingFantasy, Greed, Pig
from solvent.games.fighting_fantasy.baselines import RULES
from solvent.model import TabularPolicy, compile_game
from solvent.registration import register_envs

PIG = compile_game(Pig(target=8))
COMBAT = compile_game(FightingFantasy(stamina=4, opponent_stamina=5, luck=3))


def test_all_baselines_of_a_game_are_policies_for_it() -> None:
    for game, player, own in (
        (COMBAT, 0, {"q-learning", *RULES}),
        (PIG, 0, set()),
        (PIG, 1, set()),
    ):
        policies = baseline_policies(game, player=player)
        assert tuple(policies) == baseline_names(game, player)
        assert set(policies) == {"optimal", "uniform", "first-legal", *own}
        for name, policy in policies.items():
            policy.check_is_for(game)
            assert (policy.name, policy.player) == (name, player)
        gap = {n: score(game, policy).optimality_gap for n, policy in policies.items()}
        assert gap["optimal"] == pytest.approx(0, abs=1e-9)
        assert gap["uniform"] > 0.01


def test_q_learning_plays_no_move_where_an_episode_has_ended() -> None:
    table = table_of([[[(1.0, END, 1.0)], [(0.5, 0, 0.0), (0.5, END, 4.0)]]])
    half = replace(table, initial=np.array([0.5, 0.5]))
    learned = make_baseline("q-learning", half)
    assert score(half, learned).optimality_gap == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="no start from which an episode goes on"):
        make_baseline("q-learning", replace(table, initial=np.array([0.0, 1.0])))


def test_uniform_and_first_legal_are_what_their_names_say() -> None:
    for game, player in ((COMBAT, 0), (PIG, 1)):
        uniform, first = (
            make_baseline(name, game, player).probabilities for name in ("uniform", "first-legal")
        )
        for s in np.flatnonzero(~game.terminal):
            legal = game.mask[player][s]
            assert (uniform[s] == np.where(legal, 1 / legal.sum(), 0)).all()
            assert first[s].argmax() == np.flatnonzero(legal)[0]


def test_names_are_those_of_the_game() -> None:
    assert list(baseline_policies(COMBAT, ["never", "optimal"])) == ["never", "optimal"]
    for game, name, message in (
        (COMBAT, "unifrom", r"baseline of ff-combat is 'unifrom'; allowed are .*'uniform'"),
        # Only one who plays alone learns by Q-learning.
        (PIG, "q-learning", "baseline of pig is 'q-learning'"),
    ):
        with pytest.raises(ValueError, match=message):
            make_baseline(name, game)


register_envs()
SMALL = {"limit": 12, "sides": 4}
GAME = compile_game(Greed(**SMALL))


def make(**arguments: Any) -> Any:
    return gym.make("solvent/Greed-v0", **(SMALL | arguments)).unwrapped


def saved(folder: Path, player: int, seed: int = 0, game: Any = GAME) -> Path:
    path = folder / f"policy-{player}-{seed}.npz"
    save_policy(path, random_policy(game, player, seed))
    return path


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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    shapes = ((3, 4), (4, 2))
    weights = tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    biases = tuple(np.zeros(outputs, np.float32) for _, outputs in shapes)
    player = NetworkPlayer(Network(weights, biases, "tanh"), "sampled", True, "onehot", "mine")
    save_network(tmp_path / "network.npz", player, {"seed": 7})
    return tmp_path / "network.npz"


def test_a_network_comes_back(file: Path) -> None:
    again = load_network(file)
    assert (again.rule, again.masked, again.observation, again.name) == (
        "sampled", True, "onehot", "mine",
    )  # fmt: skip
    assert [weight.shape for weight in again.network.weights] == [(3, 4), (4, 2)]


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"layers": 10**9}, {}, "layers is 1000000000; there are 4 arrays"),
        ({"layers": -1}, {}, "layers is -1; there are 4 arrays"),
        ({"layers": "two"}, {}, "layers is 'two'; expected a whole number"),
        ({"layers": 1}, {}, "layers is 1; there are 4 arrays"),
        (
            {"layers": 0},
            dict.fromkeys(("weight 0", "weight 1", "bias 0", "bias 1")),
            "a network has at least one layer",
        ),
        ({"masked": "yes"}, {}, "masked is 'yes'; expected true or false"),
        ({"rule": "best"}, {}, "rule is 'best'; allowed are"),
        ({"activation": "x" * 100_000}, {}, "activation is 'xxx"),
        ({"name": None}, {}, "lacks name"),
        ({}, {"weight 0": np.ones((3, 4))}, "weight 0 is float64; expected float32"),
        ({}, {"weight 0": np.ones(3, np.float32)}, "expected 2 dimensions"),
        ({}, {"bias 0": np.full(4, np.nan, np.float32)}, "bias 0 has an entry that is not"),
        ({}, {"bias 0": np.ones(3, np.float32)}, "do not fit"),
        ({}, {"weight 1": np.ones((5, 2), np.float32)}, "do not fit"),
        ({"layers": 2}, {"bias 1": None, "bias 7": np.ones(2, np.float32)}, "not a network"),
    ],
)
def test_what_is_no_network_is_named(
    header: dict[str, Any], arrays: dict[str, Any], message: str, file: Path
) -> None:
    with pytest.raises(StoreError) as caught:
        load_network(forge(file, header, **arrays))
    assert message in str(caught.value)
    assert len(str(caught.value)) < len(str(file)) + 250


def test_other_files_are_one_line(tmp_path: Path) -> None:
    for path in bad_files(tmp_path, ".npz"):
        with pytest.raises(StoreError, match="bad/"):
            load_network(path)
