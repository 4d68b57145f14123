"""Episodes of Yahtzee without a table: those of the table, of single environments, of the rules."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from side_by_side import assert_equal, assert_steps_equal

from solvent.envs import Env, VectorEnv
from solvent.envs.batch_simulator import OnePlayerSampler
from solvent.envs.registration import rules_and_source
from solvent.games.yahtzee.episodes import YahtzeeEpisodes, sampler_of
from solvent.games.yahtzee.rules import Yahtzee
from solvent.registration import register_envs

register_envs()
SMALL = [
    Yahtzee("aces,twos,full-house,yahtzee", dice=5, faces=2, bonus_at=8),
    Yahtzee("twos,full-house,yahtzee", dice=3, faces=2, bonus_at=5, joker="free", rolls=2),
]
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("game", SMALL, ids=str)
def test_episodes_are_those_of_the_table_bit_for_bit(game: Yahtzee, mode: AutoresetMode) -> None:
    mine = VectorEnv(YahtzeeEpisodes(game, 32), autoreset_mode=mode)
    other: Any = VectorEnv(game, 32, autoreset_mode=mode)
    assert_equal(mine.reset(seed=3), other.reset(seed=3))
    ended, illegal = assert_steps_equal(mine, other, 150, seed=0)
    assert min(ended, illegal) > 100


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("observation", ["vector", "onehot"])
def test_many_environments_are_as_many_single_ones(mode: AutoresetMode, observation: str) -> None:
    game, n = Yahtzee(), 6
    many = VectorEnv(YahtzeeEpisodes(game, n, observation), autoreset_mode=mode)
    single: Any = SyncVectorEnv(
        [lambda: Env(YahtzeeEpisodes(game, 1, observation))] * n, autoreset_mode=mode
    )
    assert_equal(many.reset(seed=5), single.reset(seed=5))
    ended, illegal = assert_steps_equal(many, single, 150, seed=1)
    assert min(ended, illegal) > 5


def test_what_is_seen_and_legal_is_as_the_rules_say() -> None:
    game, n = Yahtzee(), 64
    env = VectorEnv(YahtzeeEpisodes(game, n))
    env.reset(seed=2)
    rng = np.random.default_rng(2)
    jokers = 0
    for _ in range(60):
        # Yahtzees are rare: some dice are put on the table.
        saved = env.get_state()
        rolled = saved["hand"] > 0
        alike = np.flatnonzero(env.simulator._rules.face >= 0)
        change = rolled & (rng.random(n) < 0.1)
        saved["hand"][change] = rng.choice(alike, change.sum())
        env.set_state(saved)
        seen, mask = env.simulator.look()
        for i in range(n):
            state = env.simulator.state(i)
            np.testing.assert_array_equal(seen[i], game.observe(state, 0))
            if game.is_terminal(state):
                assert mask[i].all()
            else:
                assert tuple(np.flatnonzero(mask[i])) == game.legal_actions(state)[0]
                jokers += bool(state.dice) and game.is_joker(state)
        actions = (mask * rng.random(mask.shape)).argmax(axis=1)
        env.step(actions)
    assert jokers > 20


def test_gymnasiums_checks_pass() -> None:
    env = gym.make("solvent/Yahtzee-v0", render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Unused features of gymnasium's own.
        check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=0)
    assert env.render().startswith("dice, 3 rolls left: ? ? ? ? ?\nupper section: aces twos")


def test_a_saved_state_is_checked() -> None:
    env = VectorEnv(YahtzeeEpisodes(SMALL[0], 3))
    env.reset(seed=0)
    saved = env.get_state()
    for name, value in [("filled", 16), ("hand", 99), ("hand", -2), ("upper", 9), ("rolls", 4)]:
        wrong = {**saved, name: np.full_like(saved[name], value)}
        with pytest.raises(ValueError, match=f"saved {name} goes from {value}"):
            env.set_state(wrong)


def test_small_forms_are_sampled_from_a_table() -> None:
    assert sampler_of(SMALL[0]) is None
    sampler: Any = rules_and_source("yahtzee", {})[1]
    assert isinstance(sampler, OnePlayerSampler)
    for more, message in (
        ({"opponents": ["greedy"]}, "yahtzee is a game for one; it has no opponents"),
        ({"seat": 1}, "seat is 1; allowed"),
    ):
        for make in (Env, VectorEnv):
            with pytest.raises(ValueError, match=message):
                make(sampler, **more)
    env = gym.make("solvent/Yahtzee-v0", boxes="aces,chance", faces=2, dice=3)
    assert env.unwrapped.game.n_states > 10
