"""The single environment: it samples its table, and keeps Gymnasium's contracts."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from random_tables import random_table

from solvent.envs import TabularEnv
from solvent.games import FightingFantasy, Pig
from solvent.model import (
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
    legal_action_table,
    one_hot,
)
from solvent.registration import register_envs

register_envs()
SMALL = FightingFantasy(stamina=(2, 4), opponent_stamina=5, luck=(0, 2))
KINDS = ["vector", "onehot", "index"]


@pytest.mark.parametrize("observation", KINDS)
@pytest.mark.parametrize("name", ["solvent/FFCombat-v0", "solvent/FFCombatRandom-v0"])
def test_gymnasiums_checker_has_nothing_to_say(name: str, observation: str) -> None:
    # Warnings are errors here, so this is the whole test.
    check_env(gym.make(name, observation=observation).unwrapped)


@pytest.mark.parametrize("observation", KINDS)
def test_stable_baselines3s_checker_has_nothing_to_say(observation: str) -> None:
    from stable_baselines3.common.env_checker import check_env as check_sb3_env

    check_sb3_env(TabularEnv(SMALL, observation=observation))


@pytest.mark.parametrize("seed", range(10))
def test_every_step_is_an_outcome_of_the_row_that_the_action_plays(seed: int) -> None:
    game = random_table(seed)
    env = TabularEnv(game, observation="index")
    played = legal_action_table(game.mask[0])
    rng = np.random.default_rng(seed)
    state, info = env.reset(seed=seed)
    assert game.initial[state] > 0
    for _ in range(300):
        action = int(rng.integers(played.shape[1]))
        row = game.row(state, (int(played[state, action]), 0))
        after, reward, terminated, truncated, info = env.step(action)
        outcomes = {
            (int(game.next_state[n]), float(game.outcome_reward[n]))
            for n in range(game.outcome_start[row], game.outcome_start[row + 1])
            if game.probability[n] > 0
        }
        assert (after, reward) in outcomes
        assert terminated is bool(game.terminal[after])
        assert truncated is False
        assert type(reward) is float
        assert info["illegal_action"] is not bool(game.mask[0][state, action])
        legal = game.mask[0][after] if not terminated else np.ones_like(game.mask[0][after])
        assert (info["action_mask"] == legal).all()
        assert (env.action_masks() == legal).all()
        assert info["action_mask"].dtype == np.int8
        state = env.reset()[0] if terminated else after


def test_observations_are_those_of_the_rules() -> None:
    table = compile_game(SMALL)
    encoded = one_hot(table).observation[0]
    envs = [TabularEnv(SMALL, observation=kind) for kind in KINDS]
    for seed in range(30):
        vector, onehot, index = (env.reset(seed=seed)[0] for env in envs)
        for action in (1, 0, 1):
            state = envs[0].state
            assert table.states[index] == state
            assert (vector == SMALL.observe(state, 0)).all()
            assert (onehot == encoded[index]).all()
            assert vector.dtype == onehot.dtype == np.float32
            (vector, *_), (onehot, *_), (index, *_) = (env.step(action) for env in envs)
            if table.terminal[index]:
                break


def test_what_is_returned_belongs_to_the_caller() -> None:
    env = TabularEnv(SMALL)
    first, info = env.reset(seed=1)
    kept = first.copy()
    first[:] = 9
    info["action_mask"][:] = 9
    again, info = env.reset(seed=1)
    assert (again == kept).all()
    assert info["action_mask"].max() <= 1


def through_pickle(env: Any) -> Any:
    """As subprocess vector environments send one; nothing from outside is unpickled."""
    return pickle.loads(pickle.dumps(env))  # noqa: S301


@pytest.mark.parametrize("twin_of", [copy.deepcopy, through_pickle])
def test_a_copy_plays_on_by_itself(twin_of: Any) -> None:
    env = TabularEnv(SMALL, observation="index", render_mode="rgb_array")
    env.reset(seed=3)
    env.render()
    twin = twin_of(env)

    def continuation(which: TabularEnv) -> list[Any]:
        return [which.step(0)[0], *(which.reset()[0] for _ in range(10))]

    assert continuation(twin) == continuation(env)
    assert twin.render().shape == env.render().shape


def test_a_deep_copy_shares_the_arrays() -> None:
    env = TabularEnv(SMALL)
    assert copy.deepcopy(env).game is env.game


@pytest.mark.parametrize("player", [0, 1])
def test_a_seat_in_a_game_for_two(player: int) -> None:
    rules = Pig(target=6, signed=True)
    pig = compile_game(rules)
    folded = against(pig, TabularPolicy.uniform(pig, player=1 - player))
    env = TabularEnv(folded, player=player, rules=rules, render_mode="ansi")
    rewards = set()
    for seed in range(40):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            assert (observation == rules.observe(env.state, player)).all()
            action = int(np.flatnonzero(info["action_mask"])[-1])
            observation, reward, over, _, info = env.step(action)
        winner = int(np.argmax(env.state.scores))
        assert reward == (1 if winner == player else -1)
        rewards.add(reward)
    assert rewards == {1.0, -1.0}


def test_an_illegal_action_can_raise_instead() -> None:
    env = TabularEnv(FightingFantasy(luck=0), illegal="raise")
    env.reset(seed=0)
    with pytest.raises(
        ValueError, match=r"action 1 is not legal in state Combat\(.*legal are \[0\]"
    ):
        env.step(1)
    env.step(0)


@pytest.mark.parametrize("action", [2, -1, float("nan"), 0.0, None, "0", np.array([0, 1])])
def test_what_is_no_action_is_refused_and_changes_nothing(action: Any) -> None:
    env, other = TabularEnv(SMALL), TabularEnv(SMALL)
    for e in (env, other):
        e.reset(seed=0)
    with pytest.raises(ValueError, match="allowed are whole numbers from 0 to 1") as error:
        env.step(action)
    assert "\n" not in str(error.value)
    assert (env.step(0)[0] == other.step(0)[0]).all()


def test_actions_of_any_integer_kind_are_taken() -> None:
    env = TabularEnv(SMALL)
    for action in (0, np.int8(1), np.int64(0), np.array(1)):
        env.reset(seed=0)
        env.step(action)


def test_stepping_needs_a_play() -> None:
    env = TabularEnv(SMALL)
    for use in (lambda: env.step(0), env.action_masks, lambda: env.state):
        with pytest.raises(ResetNeeded, match="call reset"):
            use()
    env.reset(seed=0)
    while not env.step(0)[2]:
        pass
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observation": "pixels"}, "observation is 'pixels'; allowed are index, onehot, vector"),
        ({"observation": "one-hot"}, "Did you mean 'onehot'"),
        ({"illegal": "punish"}, "illegal is 'punish'; allowed are raise, remap"),
        ({"player": 2}, "player is 2; allowed are"),
        ({"player": 1}, "player 0 of ff-combat has a choice in state"),
        ({"render_mode": "svg"}, "render_mode is 'svg'; allowed are ansi, human, rgb_array"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        TabularEnv(SMALL, **arguments)
    assert "\n" not in str(error.value)


def test_a_table_alone_cannot_be_drawn() -> None:
    table: TabularGame = compile_game(SMALL)
    with pytest.raises(ValueError, match="a table cannot be drawn; pass its game as rules="):
        TabularEnv(table, render_mode="ansi")
    env = TabularEnv(table, rules=SMALL, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == SMALL.draw(env.state)


def test_an_environment_loads_neither_numba_nor_pygame() -> None:
    import subprocess

    code = (
        "import sys\n"
        "from solvent.envs import TabularEnv\n"
        "from solvent.games import Pig, FightingFantasy\n"
        "TabularEnv(FightingFantasy()).reset(seed=1)\n"
        "print([m for m in ('numba', 'pygame', 'torch') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
