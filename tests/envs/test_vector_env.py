"""The native vector environment equals SyncVectorEnv bit for bit, and samples its table."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from random_tables import random_table
from scipy import stats
from side_by_side import assert_equal, assert_steps_equal

from solvent.envs import TabularEnv, TabularVectorEnv
from solvent.games import FightingFantasy
from solvent.model import (
    Game,
    TabularGame,
    compile_game,
    legal_action_table,
)

MODES = list(AutoresetMode)
SPREAD = FightingFantasy(
    skill_difference=(-2, 1), stamina=(2, 9), opponent_stamina=(1, 6), luck=(0, 3)
)


def pair(
    game: Game | TabularGame, n: int, mode: AutoresetMode, **arguments: Any
) -> tuple[TabularVectorEnv, SyncVectorEnv[Any, Any]]:
    table = game if isinstance(game, TabularGame) else compile_game(game)
    native = TabularVectorEnv(table, n, autoreset_mode=mode, **arguments)
    single: list[Callable[[], gym.Env[Any, Any]]] = [lambda: TabularEnv(table, **arguments)] * n
    return native, SyncVectorEnv(single, autoreset_mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_hundred_thousand_steps_are_bit_for_bit_those_of_sync(mode: AutoresetMode) -> None:
    native, sync = pair(FightingFantasy(luck=3), 100, mode)
    assert_equal(native.reset(seed=7), sync.reset(seed=7))
    ended, illegal = assert_steps_equal(native, sync, 1000, seed=0)
    assert ended > 5000
    assert illegal > 5000


@pytest.mark.parametrize("observation", ["vector", "onehot", "index"])
@pytest.mark.parametrize("mode", MODES)
def test_every_observation_and_a_start_of_many_states(
    mode: AutoresetMode, observation: str
) -> None:
    native, sync = pair(SPREAD, 30, mode, observation=observation)
    assert_equal(native.reset(seed=1), sync.reset(seed=1))
    ended, illegal = assert_steps_equal(native, sync, 150, seed=1)
    assert ended > 100
    assert illegal > 100


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("seed", range(8))
def test_random_tables_of_every_shape(seed: int, player: int) -> None:
    mode = MODES[seed % 3]
    game = random_table(seed, player)
    native, sync = pair(game, 20, mode, player=player)
    assert_equal(native.reset(seed=seed), sync.reset(seed=seed))
    assert_steps_equal(native, sync, 100, seed)


@pytest.mark.parametrize("mode", MODES)
def test_seeds_in_lists_and_resets_of_some(mode: AutoresetMode) -> None:
    native, sync = pair(SPREAD, 6, mode)
    seeds = [5, 5, 99, 0, 1, 2]
    first = native.reset(seed=seeds)
    assert_equal(first, sync.reset(seed=seeds))
    assert (first[0][0] == first[0][1]).all()
    assert_steps_equal(native, sync, 1, seed=0)
    some: list[int | None] = [None, 7, None, 8, None, None]
    assert_equal(native.reset(seed=some), sync.reset(seed=some))
    for seed in (None, 3, [None, 1, None, None, None, 4]):
        mask = np.array([True, True, False, False, False, True])
        ours = native.reset(seed=seed, options={"reset_mask": mask.copy()})
        assert_equal(ours, sync.reset(seed=seed, options={"reset_mask": mask.copy()}))
        assert (ours[1]["_action_mask"] == mask).all()
    assert_equal(native.reset(), sync.reset())
    assert_steps_equal(native, sync, 20, seed=1)


def test_environment_i_is_the_single_environment_with_seed_plus_i() -> None:
    native = TabularVectorEnv(SPREAD, 5, observation="index")
    observation, _ = native.reset(seed=40)
    for i in range(5):
        assert observation[i] == TabularEnv(SPREAD, observation="index").reset(seed=40 + i)[0]


def test_without_seeds_no_two_environments_go_the_same_way() -> None:
    native, other = (TabularVectorEnv(SPREAD, 50, observation="index") for _ in range(2))
    first, second = native.reset()[0], other.reset()[0]
    assert (first != second).any()
    assert len(set(native.get_state()["stream"].tolist())) == 50


@pytest.mark.parametrize("mode", MODES)
def test_every_call_returns_new_arrays(mode: AutoresetMode) -> None:
    native = TabularVectorEnv(SPREAD, 200, autoreset_mode=mode)

    def arrays(result: Any) -> list[np.ndarray]:
        if isinstance(result, dict):
            return [a for value in result.values() for a in arrays(value)]
        if isinstance(result, tuple):
            return [a for value in result for a in arrays(value)]
        return [result]

    calls = [native.reset(seed=0), native.step(np.zeros(200, int))]
    if mode is not AutoresetMode.DISABLED:
        calls += [native.step(np.zeros(200, int)), native.step(np.zeros(200, int))]
    everything = [a for call in calls for a in arrays(call)]
    tables = [native.simulator.table.observation, native.simulator.table.mask]
    for i, a in enumerate(everything):
        assert not any(np.shares_memory(a, b) for b in (*everything[i + 1 :], *tables))


def next_states(game: TabularGame, state: int, action: int, n: int, seed: int) -> np.ndarray:
    """Where `n` environments go from one state by one action."""
    env = TabularVectorEnv(game, n, observation="index", autoreset_mode="Disabled")
    env.reset(seed=seed)
    env.set_state(env.get_state() | {"state": np.full(n, state, np.int32)})
    return env.step(np.full(n, action))[0]


def test_transitions_have_the_support_and_frequencies_of_the_table() -> None:
    n = 4000
    rows = 0
    for seed in (0, 1, 2, 3):
        game = random_table(seed)
        played = legal_action_table(game.mask[0])
        for state in np.flatnonzero(~game.terminal)[:2].tolist():
            for action in range(played.shape[1]):
                row = game.row(state, (int(played[state, action]), 0))
                outcomes = slice(game.outcome_start[row], game.outcome_start[row + 1])
                expected = n * np.bincount(
                    game.next_state[outcomes], game.probability[outcomes], game.n_states
                )
                seen = np.bincount(
                    next_states(game, state, action, n, seed), minlength=game.n_states
                )
                support = expected > 0
                assert (seen[~support] == 0).all()
                if support.sum() > 1:
                    test = stats.chisquare(seen[support], expected[support])
                    # 1e-4, since there are some dozens of tests at one fixed seed.
                    assert test.pvalue > 1e-4, (seed, state, action)
                    rows += 1
    assert rows > 10


def test_starts_have_the_support_and_frequencies_of_the_table() -> None:
    game = compile_game(FightingFantasy(stamina={3: 1, 4: 2, 6: 5}, luck=(0, 1)))
    seen = TabularVectorEnv(game, 8000, observation="index").reset(seed=0)[0]
    counts = np.bincount(seen, minlength=game.n_states)
    support = game.initial > 0
    assert (counts[~support] == 0).all()
    assert stats.chisquare(counts[support], 8000 * game.initial[support]).pvalue > 1e-3


def test_a_saved_state_goes_on_as_if_nothing_had_happened() -> None:
    env, other = (TabularVectorEnv(SPREAD, 40) for _ in range(2))
    env.reset(seed=1)
    actions = np.random.default_rng(0).integers(0, 2, (30, 40))
    for a in actions[:10]:
        env.step(a)
    saved = env.get_state()
    expected = [env.step(a) for a in actions[10:]]
    for twin in (env, other):
        twin.set_state(saved)
        for a, result in zip(actions[10:], expected, strict=True):
            assert_equal(twin.step(a), result)


def through_pickle(env: Any) -> Any:
    """As subprocess vector environments send one; nothing from outside is unpickled."""
    return pickle.loads(pickle.dumps(env))  # noqa: S301


@pytest.mark.parametrize("twin_of", [copy.deepcopy, through_pickle])
def test_a_copy_plays_on_by_itself(twin_of: Any) -> None:
    env = TabularVectorEnv(SPREAD, 10)
    env.reset(seed=1)
    twin = twin_of(env)
    for action in (0, 1, 0, 1, 1):
        assert_equal(twin.step(np.full(10, action)), env.step(np.full(10, action)))


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        ({}, "needs the arrays 'state' and 'stream'"),
        ({"state": np.zeros(3, np.int32), "stream": np.ones(4, np.uint64)}, "shape \\(3,\\)"),
        ({"state": np.zeros(4), "stream": np.ones(4, np.uint64)}, "type float64"),
        ({"state": np.full(4, 10**6, np.int32), "stream": np.ones(4, np.uint64)}, "1000000"),
        ({"state": np.full(4, -1, np.int32), "stream": np.ones(4, np.uint64)}, "from -1"),
        ({"state": np.zeros(4, np.int32), "stream": np.zeros(4, np.uint64)}, "streams from 1"),
    ],
)
def test_a_saved_state_of_another_form_is_refused(saved: Any, message: str) -> None:
    env = TabularVectorEnv(SPREAD, 4)
    with pytest.raises(ValueError, match=message):
        env.set_state(saved)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 1, 2], "action of environment 2 is 2; allowed are whole numbers from 0 to 1"),
        ([0, -1, 5], "action of environment 1 is -1; allowed"),
        ([0, 1], r"shape \(2,\) and type int64; expected whole numbers of shape \(3,\)"),
        ([0.0, 1.0, float("nan")], "type float64; expected whole numbers"),
        (1, r"shape \(\)"),
        (None, "type object"),
    ],
)
def test_what_are_no_actions_is_refused_and_changes_nothing(actions: Any, message: str) -> None:
    env = TabularVectorEnv(SPREAD, 3)
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(ValueError, match=message) as error:
        env.step(actions)
    assert "\n" not in str(error.value)
    assert_equal(env.get_state(), before)


def test_an_illegal_action_can_raise_instead() -> None:
    env = TabularVectorEnv(FightingFantasy(luck=0), 3, illegal="raise")
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(ValueError, match=r"environment 2: action 1 is not legal in state Combat"):
        env.step([0, 0, 1])
    assert_equal(env.get_state(), before)
    env.step([0, 0, 0])


def test_a_play_is_needed() -> None:
    env = TabularVectorEnv(SPREAD, 3, autoreset_mode="Disabled")
    mask = np.array([False, True, False])
    for use in (
        lambda: env.step([0, 0, 0]),
        lambda: env.reset(options={"reset_mask": mask}),
        env.action_masks,
        env.get_state,
    ):
        with pytest.raises(ResetNeeded, match="reset"):
            use()
    env.reset(seed=0)
    while not env.step([0, 0, 0])[2].any():
        pass
    with pytest.raises(ResetNeeded, match="some episodes have ended"):
        env.step([0, 0, 0])


@pytest.mark.parametrize(
    "mask", [np.zeros(3, bool), np.ones(2, bool), np.ones(3, int), [0, 1, 0], None]
)
def test_a_reset_mask_of_another_form_is_refused(mask: Any) -> None:
    env = TabularVectorEnv(SPREAD, 3)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"allowed are bool arrays of shape \(3,\)"):
        env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs is 0; allowed are whole numbers from 1"),
        ({"num_envs": 2.5}, "num_envs is 2.5; allowed"),
        ({"autoreset_mode": "never"}, "'never' is not a valid AutoresetMode"),
        ({"render_mode": "human"}, "render_mode is 'human'; allowed are ansi, rgb_array"),
        ({"observation": "pixels"}, "observation is 'pixels'; allowed"),
        ({"illegal": "punish"}, "illegal is 'punish'; allowed"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TabularVectorEnv(SPREAD, **({"num_envs": 2} | arguments))


def test_a_wrong_number_of_seeds_is_refused() -> None:
    with pytest.raises(ValueError, match="2 seeds were given for 3 environments"):
        TabularVectorEnv(SPREAD, 3).reset(seed=[1, 2])


def test_masks_and_drawings_of_all_environments() -> None:
    env = TabularVectorEnv(SPREAD, 4, render_mode="ansi", observation="index")
    observation, infos = env.reset(seed=3)
    assert (env.action_masks() == infos["action_mask"].astype(bool)).all()
    frames = env.render()
    assert frames == tuple(SPREAD.draw(env.game.states[s]) for s in observation.tolist())


def test_pictures_of_all_environments_are_of_one_size() -> None:
    pytest.importorskip("pygame", reason="the core draws text only")
    env = TabularVectorEnv(SPREAD, 4, render_mode="rgb_array")
    env.reset(seed=3)
    frames = env.render()
    assert frames is not None
    assert len({frame.shape for frame in frames}) == 1
