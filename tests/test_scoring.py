"""Whatever names the game, and wherever the policy is from, the score is the same."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers

import solvent
from solvent import exact
from solvent.envs import Env, MaskObservation, pettingzoo_games
from solvent.exact import score as score_table
from solvent.model import TabularGame, TabularPolicy, against, compile_game

COMBAT = "solvent/FFCombat-v0"
GREED = {"limit": 9, "sides": 4}


@pytest.fixture(scope="module")
def game() -> TabularGame:
    table: TabularGame = gym.make(COMBAT).unwrapped.game  # type: ignore[attr-defined]
    return table


@pytest.fixture(scope="module")
def greed() -> TabularGame:
    return compile_game(solvent.make_game("greed", **GREED))


def some(width: int, actions: int = 2) -> Any:
    """Logits that are linear in the observation."""
    weights = np.random.default_rng(1).normal(size=(width, actions))
    return lambda seen: seen @ weights


def test_whatever_names_the_game_the_score_is_the_same(game: TabularGame) -> None:
    f = some(5)
    expected = score_table(game, solvent.policy_from(game, f, outputs="logits"))
    envs = [gym.make(COMBAT), gym.make(COMBAT).unwrapped, gym.make_vec(COMBAT, 2), COMBAT]
    for named in [game, solvent.make_game("ff-combat"), Env(game), *envs]:
        found = solvent.score(named, f, outputs="logits")
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.optimum == pytest.approx(expected.optimum, abs=1e-9)
        assert 0 < found.illegal_mass < 1


@pytest.mark.parametrize("kind", ["vector", "onehot", "index"])
def test_a_function_sees_what_the_environment_shows(kind: str, game: TabularGame) -> None:
    env = Env(game, observation=kind)
    numbered = np.random.default_rng(0).integers(0, 2, game.n_states)
    seen = solvent.envs.sampling.observed(game, 0, kind)
    known = {row.tobytes(): action for row, action in zip(seen, numbered, strict=True)}

    def f(observations: Any) -> Any:
        return np.array([known[row.tobytes()] for row in observations])

    assert solvent.score(env, f).value == solvent.score(game, numbered).value
    assert solvent.score(game, f, observation=kind).value == solvent.score(game, numbered).value


@pytest.mark.parametrize("seat", [0, 1])
def test_the_opponent_of_an_environment_is_the_opponent(seat: int, greed: TabularGame) -> None:
    uniform = TabularPolicy.uniform(greed, player=1 - seat)
    width, actions = greed.observation[seat].shape[1], greed.mask[seat].shape[1]
    f = some(width, actions)
    env = Env(greed, uniform, seat=seat)  # type: ignore[arg-type]
    found = solvent.score(env, f, outputs="logits", illegal="mask")
    policy = solvent.policy_from(greed, f, outputs="logits", illegal="mask", player=seat)
    left = against(greed, uniform)
    expected = score_table(left, TabularPolicy(policy.probabilities, left.model_hash, seat))
    assert found.value == expected.value
    assert found.optimality_gap == expected.optimality_gap
    assert found.exploitability == pytest.approx(solvent.exploitability(greed, policy), abs=1e-12)
    # A table for the whole game serves as well, and so do both in the whole game.
    assert solvent.score(env, policy).value == found.value
    worst = solvent.score(greed, f, outputs="logits", illegal="mask", player=seat)
    assert worst.optimality_gap == pytest.approx(found.exploitability, abs=1e-12)
    assert worst.value < found.value


def test_against_several_opponents_it_is_the_worst(greed: TabularGame) -> None:
    one, other = (TabularPolicy.uniform(greed, player=1), solvent.solve(greed).policies[1])
    f = some(greed.observation[0].shape[1], greed.mask[0].shape[1])
    found = solvent.score(Env(greed, [one, other]), f, outputs="logits")
    assert found == solvent.score(greed, f, outputs="logits")


def test_of_two_seats_one_is_named(greed: TabularGame) -> None:
    both = [tuple(TabularPolicy.uniform(greed, player=p) for p in (1, 0))]
    env = Env(greed, both, seat="random")
    f = some(greed.observation[0].shape[1], greed.mask[0].shape[1])
    with pytest.raises(ValueError, match=r"seat is 'random'; .*say player=0 or player=1"):
        solvent.score(env, f, outputs="logits")
    alone = Env(greed, both[0][1], seat=1)
    assert solvent.score(env, f, outputs="logits", player=1) == solvent.score(
        alone, f, outputs="logits"
    )
    with pytest.raises(ValueError, match=r"player is 0; the learner of .* is 1"):
        solvent.score(alone, f, outputs="logits", player=0)


LAKE = [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]
"""The optimal actions of FrozenLake, by the number of the square."""


def test_the_squares_of_a_frozen_lake_have_gymnasiums_numbers() -> None:
    values = np.eye(4)[LAKE]
    for policy, outputs in (
        (LAKE, None),
        (np.array(LAKE), "actions"),
        (values, "probabilities"),
        (values * 7 - 3, "action_values"),
        (lambda squares: np.array(LAKE)[squares], None),
    ):
        found = solvent.score("FrozenLake-v1", policy, outputs=outputs)
        assert found.value == pytest.approx(14 / 17, abs=1e-12)
        assert found.optimality_gap == pytest.approx(0, abs=1e-12)
    env = gym.make("FrozenLake-v1")
    table = solvent.compile_game(solvent.model.GymnasiumTable.from_env(env))
    policy = solvent.policy_from(env, LAKE)
    assert solvent.locate_gap(table, policy).gap == pytest.approx(0, abs=1e-12)


def test_numbers_that_are_never_reached_are_in_a_table_too() -> None:
    # Taxi numbers 500 states, of which 404 are met.
    table = solvent.compile_game(solvent.model.GymnasiumTable.from_env(gym.make("Taxi-v4")))
    best = solvent.solve(table).policies[0].probabilities.argmax(axis=1)
    numbered = np.zeros(500, int)
    for state, action in zip(table.states, best, strict=True):
        if not state.over:  # type: ignore[attr-defined]
            numbered[state.number] = action  # type: ignore[attr-defined]
    assert table.n_states != 500
    assert solvent.score("Taxi-v4", numbered).optimality_gap == pytest.approx(0, abs=1e-9)


def test_arrays_are_of_the_states_of_a_table(game: TabularGame) -> None:
    uniform = TabularPolicy.uniform(game)
    # Rows of the end are not read, and float32 is precise enough.
    rows = np.where(game.terminal[:, None], np.nan, uniform.probabilities).astype(np.float32)
    assert solvent.score(game, rows) == solvent.score(game, uniform)
    torch = pytest.importorskip("torch")
    traced = torch.nn.Parameter(torch.as_tensor(rows))
    assert solvent.score(game, traced) == solvent.score(game, uniform)


def test_a_mask_in_the_observation_is_for_a_function_of_both(game: TabularGame) -> None:
    f = some(5)
    env = wrappers.RecordEpisodeStatistics(MaskObservation(gym.make(COMBAT)))
    with pytest.raises(ValueError, match=r"^MaskObservation .*own environment.*takes_mask=True"):
        solvent.score(env, f, outputs="logits")
    found = solvent.score(
        env.unwrapped,  # type: ignore[arg-type]
        lambda seen, mask: np.where(mask, f(seen), -np.inf),
        outputs="logits",
        takes_mask=True,
    )
    assert found == solvent.score(COMBAT, f, outputs="logits", illegal="mask")
    assert found.illegal_mass == 0


def test_of_an_environment_of_pettingzoo_the_table_is_scored(greed: TabularGame) -> None:
    env: Any = pettingzoo_games.greed.env(**GREED)
    f = some(greed.observation[1].shape[1], greed.mask[1].shape[1])
    found = solvent.score(env, f, outputs="logits", player=1)
    assert found == solvent.score(greed, f, outputs="logits", player=1)


NO_TABLES = [
    (None, "game is None; allowed are a name"),
    ("solvent/FFCombt-v0", "no game or environment 'solvent/FFCombt-v0'; did you mean"),
    ("CartPole-v1", "CartPoleEnv has no P"),
    ("solvent/FootballHalf-v0", "too many states for a table; only a network can be scored"),
]
NO_POLICIES: list[tuple[Any, dict[str, Any], str]] = [
    ("optimal", {}, "policy is 'optimal'; allowed are a TabularPolicy, a function"),
    (None, {}, "policy is None; allowed are"),
    ([[1], [1, 2]], {}, "allowed are a TabularPolicy"),
    (np.zeros((2, 2, 2)), {}, "allowed are a TabularPolicy"),
    (np.zeros((3, 2)), {}, r"shape \(3, 2\); ff-combat has \d+ states"),
    (LAKE, {"observation": "index"}, "observation is 'index'; it is not for an array"),
    (LAKE, {"takes_mask": True}, "takes_mask is True; it is not for an array"),
]
OTHER_SEAT = "is of player 1, but player 0 is scored here"
NOT_FOR_TABLES: list[tuple[dict[str, Any], str]] = [
    ({"outputs": "logits"}, "outputs is 'logits'; it is not for a Tabular"),
    ({"illegal": "mask"}, "illegal is 'mask'; it is not for a Tabular"),
    ({"observation": "index"}, "observation is 'index'; it is not for a Tabular"),
    ({"player": 0}, OTHER_SEAT),
]
TAKES_TABLES: list[Any] = [
    solvent.against,
    solvent.best_response,
    solvent.exploitability,
    solvent.locate_gap,
    solvent.policy_value,
    solvent.state_visitation,
    exact.score,
    lambda game, rows: solvent.nash_conv(game, rows, rows),
    lambda game, rows: exact.cross_play_matrix(game, [rows], [rows]),
    lambda game, rows: solvent.save_policy("never.npz", rows),
]


def test_what_cannot_be_scored_is_refused(game: TabularGame, greed: TabularGame) -> None:
    second = TabularPolicy.uniform(greed, player=1)
    rows = TabularPolicy.uniform(greed).probabilities
    refused = [
        *(((named, lambda seen: seen), {}, message) for named, message in NO_TABLES),
        *(((game, policy), arguments, message) for policy, arguments, message in NO_POLICIES),
        *(((greed, second), arguments, message) for arguments, message in NOT_FOR_TABLES),
        ((Env(greed, second), second), {}, OTHER_SEAT),
        (("FrozenLake-v1", LAKE[:15]), {}, r"array of shape \(15,\); FrozenLake-v1 has 16 states"),
        (("FrozenLake-v1", second), {}, "made for the model"),
    ]
    for scored, arguments, message in refused:
        with pytest.raises(ValueError, match=message):
            solvent.score(*scored, **arguments)
    for call in TAKES_TABLES:
        with pytest.raises(ValueError, match=r"expected is a TabularPolicy\. solvent\.score takes"):
            call(greed, rows)
    mass = np.full((game.n_states, 2), 0.4) * (game.mask[0] | game.terminal[:, None])
    with pytest.raises(ValueError, match=r"does not sum to 1 .*solvent\.policy_from"):
        TabularPolicy.of(game, mass)
