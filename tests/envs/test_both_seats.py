"""Both seats of an episode are in the same state and get the opposite rewards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_games import RandomGame

from solvent.envs import VectorEnv
from solvent.envs.both_seats import BothSeats
from solvent.envs.spaces import observations
from solvent.model import TabularGame, compile_game

EPISODES = 64


def both_seats(game: TabularGame, *arguments: Any) -> VectorEnv:
    return VectorEnv(BothSeats(game, *arguments), autoreset_mode="SameStep")


@pytest.fixture(scope="module")
def game() -> TabularGame:
    return compile_game(RandomGame(4, "simultaneous", cyclic=True))


def random_actions(rng: np.random.Generator, mask: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return np.where(mask, rng.random(mask.shape), -1).argmax(axis=1)


def test_outcomes_come_as_often_as_the_table_says(game: TabularGame) -> None:
    env = both_seats(game, 20_000)
    env.reset(seed=3)
    # All episodes in one state with one pair of actions, that with the most outcomes.
    row = int(np.diff(game.outcome_start).argmax())
    state = int(game.row_state[row])
    env.set_state({**env.get_state(), "state": np.full(20_000, state)})
    actions = np.repeat([action[row] for action in game.row_action], 20_000)
    outcomes = slice(*game.outcome_start[row : row + 2])
    _, reward, *_ = env.step(actions)
    mean = game.probability[outcomes] @ game.outcome_reward[outcomes]
    spread = game.probability[outcomes] @ (game.outcome_reward[outcomes] - mean) ** 2
    assert abs(reward[:20_000].mean() - mean) <= 5 * np.sqrt(spread / 20_000)


def test_the_seats_see_one_episode_and_get_opposite_rewards(game: TabularGame) -> None:
    env = both_seats(game, EPISODES, "onehot")
    seen = [observations(game, seat, "onehot") for seat in (0, 1)]
    rng = np.random.default_rng(1)
    observation, info = env.reset(seed=5)
    ended = 0
    for _ in range(100):
        at = env.get_state()["state"]
        np.testing.assert_array_equal(observation, np.concatenate([s[at] for s in seen]))
        mask = info["action_mask"]
        np.testing.assert_array_equal(mask, np.concatenate([m[at] for m in game.mask]))
        actions = random_actions(rng, mask)
        observation, reward, over, truncated, info = env.step(actions)
        np.testing.assert_array_equal(reward[:EPISODES], -reward[EPISODES:])
        np.testing.assert_array_equal(over[:EPISODES], over[EPISODES:])
        assert not truncated.any()
        for i in np.flatnonzero(over):
            last = seen[i // EPISODES][game.terminal]
            assert (info["final_obs"][i] == last).all(axis=1).any()
        ended += over.sum()
    assert ended > EPISODES


def test_a_state_is_gone_on_from(game: TabularGame) -> None:
    rng = np.random.default_rng(2)
    env, other = (both_seats(game, EPISODES) for _ in range(2))
    env.reset(seed=1)
    other.reset(seed=2)
    other.set_state(env.get_state())
    for _ in range(20):
        actions = random_actions(rng, env.action_masks())
        for mine, theirs in zip(env.step(actions)[:3], other.step(actions)[:3], strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (np.full(EPISODES, 10**9), "from 1000000000 to 1000000000; allowed are 0 to"),
        (np.full(EPISODES, -1), "from -1"),
        (np.zeros(EPISODES), "type float64"),
        (np.zeros(EPISODES - 1, np.int64), r"shape \(63,\)"),
        (np.zeros((EPISODES, 1), np.int64), r"shape \(64, 1\)"),
    ],
)
def test_a_saved_state_of_another_form_is_refused(
    state: np.ndarray,  # type: ignore[type-arg]
    message: str,
    game: TabularGame,
) -> None:
    env = both_seats(game, EPISODES)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=message):
        env.set_state({**env.get_state(), "state": state})


def test_seats_without_a_common_form_are_refused(game: TabularGame) -> None:
    narrow = replace(game, mask=(game.mask[0], game.mask[1][:, :2]))
    with pytest.raises(ValueError, match=r"have 3 and 2 actions"):
        both_seats(narrow, 4)
