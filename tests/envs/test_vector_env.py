"""The native vector environments equal SyncVectorEnv bit for bit, and go on from saved states."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray
from random_games import RandomGame
from refusals import assert_refused
from side_by_side import assert_equal, assert_steps_equal
from two_players import random_pool

from solvent.envs import Env, VectorEnv
from solvent.envs.batches import BothSeats
from solvent.games import FightingFantasy, Greed
from solvent.model import TabularPolicy, compile_game

MODES = list(AutoresetMode)
KINDS = dict(zip(MODES, ("vector", "onehot", "index"), strict=True))
# There are starts of many states and of few.
SPREAD = FightingFantasy(
    skill_difference=(-2, 1), stamina=(2, 9), opponent_stamina=(1, 6), luck=(0, 3)
)
ALONE, GREED = compile_game(SPREAD), compile_game(Greed(9, 3))
AT_ONCE = compile_game(RandomGame(4, "simultaneous", cyclic=True))
POOL = random_pool(GREED, 3)

Maker = Callable[..., Any]
FORMS: dict[str, Maker] = {
    "one player": lambda n, **more: VectorEnv(ALONE, n, **more),
    "seat": lambda n, **more: VectorEnv(GREED, n, POOL, **{"seat": "random"} | more),
    "both seats": lambda n, **more: VectorEnv(BothSeats(AT_ONCE, n // 2), **more),
}
SINGLE: dict[str, Maker] = {
    "one player": lambda **more: Env(ALONE, **more),
    "seat": lambda **more: Env(GREED, POOL, **{"seat": "random"} | more),
}
every_form = pytest.mark.parametrize("form", FORMS)
every_mode = pytest.mark.parametrize("mode", MODES)


def pair(form: str, n: int, mode: AutoresetMode, **arguments: Any) -> tuple[Any, Any]:
    sync: Any = SyncVectorEnv([lambda: SINGLE[form](**arguments)] * n, autoreset_mode=mode)
    return FORMS[form](n, autoreset_mode=mode, **arguments), sync


@pytest.mark.parametrize("form", SINGLE)
@every_mode
def test_seeds_in_lists_and_resets_of_some(mode: AutoresetMode, form: str) -> None:
    native, sync = pair(form, 6, mode, observation=KINDS[mode])
    mask = np.array([True, True, False, False, False, True])
    for seed in ([5, 5, 99, 0, 1, 2], [None, 7, None, 8, None, None], None):
        assert_equal(native.reset(seed=seed), sync.reset(seed=seed))
        assert_steps_equal(native, sync, 1, seed=0)
    for seed in (None, 3, [None, 1, None, None, None, 4]):
        ours, theirs = (
            env.reset(seed=seed, options={"reset_mask": mask.copy()}) for env in (native, sync)
        )
        assert_equal(ours, theirs)
        assert (ours[1]["_action_mask"] == mask).all()
    assert_steps_equal(native, sync, 20, seed=1)


@every_mode
def test_the_pool_is_replaced_between_steps(mode: AutoresetMode) -> None:
    native, sync = pair("seat", 12, mode)
    assert_equal(native.reset(seed=3), sync.reset(seed=3))
    for size in (2, 5, 1, 3):
        pool, weights = random_pool(GREED, size), list(range(1, size + 1))
        native.set_opponents(pool, weights)
        sync.call("set_opponents", pool, weights)
        assert native.get_state()["opponent"].max() < size
        assert_steps_equal(native, sync, 20, seed=size)


def arrays(result: Any) -> list[NDArray[Any]]:
    if isinstance(result, (dict, tuple)):
        parts = result.values() if isinstance(result, dict) else result
        return [array for part in parts for array in arrays(part)]
    return [result]


@every_form
def test_every_call_returns_new_arrays(form: str) -> None:
    env = FORMS[form](100, autoreset_mode="SameStep")
    everything = arrays((env.reset(seed=0), *(env.step(np.zeros(100, int)) for _ in range(4))))
    simulator = env.simulator
    held = [simulator.table.observation, simulator.table.mask, *simulator.arrays.values()]
    for i, a in enumerate(everything):
        assert not any(np.shares_memory(a, b) for b in (*everything[i + 1 :], *held))


@every_form
def test_a_saved_state_a_copy_and_a_pickled_one_go_on_alike(form: str) -> None:
    env = FORMS[form](40, autoreset_mode="SameStep")
    env.reset(seed=1)
    actions = np.random.default_rng(0).integers(0, env.single_action_space.n, (20, 40))
    for row in actions[:10]:
        env.step(row)
    again = FORMS[form](40, autoreset_mode="SameStep")
    again.set_state(env.get_state())
    twins = [again, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301
    for row in actions[10:]:
        expected = env.step(row)
        for twin in twins:
            assert_equal(twin.step(row), expected)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("one player", {"state": np.zeros(3, np.int32)}, r"shape \(3,\)"),
    ("one player", {"state": np.zeros(4)}, "type float64"),
    ("one player", {"state": np.full(4, 10**6, np.int32)}, "1000000"),
    ("one player", {"state": np.full(4, -1, np.int32)}, "from -1"),
    ("one player", {"stream": np.zeros(4, np.uint64)}, "streams from 1"),
    ("seat", {"side": np.full(4, 2, np.int32)}, "saved side goes from 2 to 2; allowed are 0 to 1"),
    ("seat", {"opponent": np.full(4, 3, np.int32)}, "opponent goes from 3 to 3; allowed are 0"),
    ("seat", {"opponent": np.full(4, -1, np.int32)}, "saved opponent goes from -1"),
    ("seat", {"owed": np.zeros(3)}, r"saved owed has shape \(3,\)"),
    ("seat", {"state": np.full(4, 10**6, np.int32)}, "1000000"),
    ("both seats", {"state": np.full(2, 10**9)}, "from 1000000000 to 1000000000; allowed are 0 to"),
    ("both seats", {"state": np.full(2, -1)}, "from -1"),
    ("both seats", {"state": np.zeros(2)}, "type float64"),
    ("both seats", {"state": np.zeros((2, 1), np.int64)}, r"shape \(2, 1\)"),
]


def test_a_saved_state_of_another_form_is_refused() -> None:
    def load(form: str, change: dict[str, Any]) -> None:
        env = FORMS[form](4)
        env.reset(seed=0)
        env.set_state(env.get_state() | change)

    assert_refused(REFUSED, load)
    needed = (
        ("one player", "needs the arrays 'state' and 'stream'"),
        ("seat", "needs the arrays 'state', .* and 'over'"),
    )
    assert_refused(needed, lambda form: FORMS[form](4).set_state({"state": np.zeros(4, np.int32)}))


def test_what_are_no_actions_is_refused_and_changes_nothing() -> None:
    for form in FORMS:
        env = FORMS[form](4)
        env.reset(seed=0)
        before, most = env.get_state(), env.single_action_space.n - 1
        wrong: tuple[tuple[Any, str], ...] = (
            ([0, 0, 99, 0], f"action of environment 2 is 99; allowed are whole numbers .* {most}"),
            ([0, -1, 99, 0], "action of environment 1 is -1; allowed"),
            ([0, 1], r"shape \(2,\) and type int64; expected whole numbers of shape \(4,\)"),
            ([0.0, 1.0, 0.0, float("nan")], "type float64; expected whole numbers"),
            (1, r"shape \(\)"),
            (None, "type object"),
        )
        assert_refused(wrong, env.step)
        assert_equal(env.get_state(), before)


def test_an_illegal_action_can_raise_instead() -> None:
    combat = compile_game(FightingFantasy(luck=0))
    # In the first state it has two actions.
    both = compile_game(RandomGame(0, "simultaneous", cyclic=True))
    both = replace(both, initial=np.eye(both.n_states)[0])
    for env, wrong in (
        (VectorEnv(combat, 3, illegal="raise"), 1),
        (VectorEnv(both, 3, TabularPolicy.uniform(both, player=1), illegal="raise"), 2),
    ):
        env.reset(seed=0)
        before = env.get_state()
        told = f"environment 2: action {wrong} is not legal in stat"
        assert_refused([([0, 0, wrong], told)], env.step)
        assert_equal(env.get_state(), before)
        env.step([0, 0, 0])


@every_form
def test_an_episode_is_needed(form: str) -> None:
    env = FORMS[form](4, autoreset_mode="Disabled")
    mask, zeros = np.array([False, True, False, True]), np.zeros(4, np.int64)
    rows = (
        (lambda: env.step(zeros), "reset"),
        (lambda: env.reset(options={"reset_mask": mask}), "reset"),
        (env.action_masks, "reset"),
        (env.get_state, "reset"),
    )
    assert_refused(rows, error=ResetNeeded)
    env.reset(seed=0)
    while not env.step(zeros)[2].any():
        pass
    assert_refused([(zeros, "some episodes have ended")], env.step, ResetNeeded)


def test_bad_arguments() -> None:
    env = FORMS["one player"](3)
    env.reset(seed=0)
    masks = (np.zeros(3, bool), np.ones(2, bool), np.ones(3, int), [0, 1, 0], None)
    resets: list[tuple[dict[str, Any], str]] = [
        *(({"options": {"reset_mask": mask}}, r"bool arrays of shape \(3,\)") for mask in masks),
        ({"seed": [1, 2]}, "2 seeds were given for 3 environments"),
    ]
    assert_refused(resets, lambda given: env.reset(**given))
    arguments: list[tuple[dict[str, Any], str]] = [
        ({"n": 0}, "num_envs is 0; allowed are whole numbers from 1"),
        ({"n": 2.5}, "num_envs is 2.5; allowed"),
        ({"autoreset_mode": "never"}, "'never' is not a valid AutoresetMode"),
        ({"render_mode": "human"}, "render_mode is 'human'; allowed are ansi, rgb_array"),
        ({"observation": "pixels"}, "observation is 'pixels'; allowed"),
        ({"illegal": "punish"}, "illegal is 'punish'; allowed"),
        ({"seat": 3}, "seat is 3"),
    ]
    assert_refused(arguments, lambda given: FORMS["seat"](**({"n": 2} | given)))


def test_pictures_of_all_environments() -> None:
    pytest.importorskip("pygame")
    for form, rules, table in (("one player", SPREAD, ALONE), ("seat", Greed(9, 3), GREED)):
        text, image = (
            FORMS[form](5, rules=rules, observation="index", render_mode=mode)
            for mode in ("ansi", "rgb_array")
        )
        at, _ = text.reset(seed=3)
        assert text.render() == tuple(rules.draw(table.states[s]) for s in at.tolist())
        image.reset(seed=3)
        pictures = [*image.render()]
        for _ in range(3):
            image.step(np.zeros(5, np.int64))
            pictures += image.render()
        [(shape, dtype)] = {(one.shape, one.dtype) for one in pictures}
        assert (len(shape), dtype) == (3, np.uint8)
        assert len(np.unique(pictures[-1])) > 10
