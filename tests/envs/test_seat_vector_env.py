"""The native vector environment for one seat equals SyncVectorEnv, and has the exact values."""

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
from random_games import RandomGame
from scipy import stats
from side_by_side import assert_equal, assert_steps_equal
from two_players import OneShot, random_policy, random_pool

from solvent.envs import SeatEnv, SeatVectorEnv
from solvent.exact import best_response, policy_value, solve
from solvent.games import Greed, Pig
from solvent.model import TabularGame, TabularPolicy, compile_game

MODES = list(AutoresetMode)
WEIGHTS = [1.0, 2.0, 0.5]
TABLES = {
    "greed": compile_game(Greed(9, 3)),
    "pig": compile_game(Pig(9)),
    "simultaneous": compile_game(RandomGame(4, "simultaneous", cyclic=True)),
}


def pair(
    game: TabularGame, opponents: Any, n: int, mode: AutoresetMode, **arguments: Any
) -> tuple[SeatVectorEnv, SyncVectorEnv[Any, Any]]:
    native = SeatVectorEnv(game, opponents, n, autoreset_mode=mode, **arguments)
    single: list[Callable[[], gym.Env[Any, Any]]]
    single = [lambda: SeatEnv(game, opponents, **arguments)] * n
    return native, SyncVectorEnv(single, autoreset_mode=mode)


@pytest.mark.parametrize("observation", ["vector", "onehot", "index"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("mode", MODES)
def test_one_seat_one_opponent_and_every_observation(
    mode: AutoresetMode, seat: Any, observation: str
) -> None:
    game = TABLES["greed"]
    opponent = random_policy(game, 1 - seat, 5)
    native, sync = pair(game, opponent, 10, mode, seat=seat, observation=observation)
    assert_equal(native.reset(seed=1), sync.reset(seed=1))
    assert_steps_equal(native, sync, 60, seed=1)


@pytest.mark.parametrize("mode", MODES)
def test_the_pool_is_replaced_between_steps(mode: AutoresetMode) -> None:
    game = TABLES["greed"]
    native, sync = pair(game, random_pool(game, 1), 12, mode, seat="random")
    native.set_opponents(random_pool(game, 2))
    sync.call("set_opponents", random_pool(game, 2))
    assert_equal(native.reset(seed=3), sync.reset(seed=3))
    for size in (2, 5, 1, 3):
        assert_steps_equal(native, sync, 20, seed=size)
        pool, weights = random_pool(game, size), list(range(1, size + 1))
        native.set_opponents(pool, weights)
        sync.call("set_opponents", pool, weights)
        assert native.get_state()["opponent"].max() < size
    assert_steps_equal(native, sync, 20, seed=9)


@pytest.mark.parametrize("mode", MODES)
def test_seeds_in_lists_and_resets_of_some(mode: AutoresetMode) -> None:
    game = TABLES["greed"]
    native, sync = pair(game, random_pool(game, 3), 6, mode, seat="random")
    seeds = [5, 5, 99, 0, 1, 2]
    assert_equal(native.reset(seed=seeds), sync.reset(seed=seeds))
    assert_steps_equal(native, sync, 1, seed=0)
    mask = np.array([True, True, False, False, False, True])
    for seed in (None, 3, [None, 1, None, None, None, 4]):
        ours = native.reset(seed=seed, options={"reset_mask": mask.copy()})
        assert_equal(ours, sync.reset(seed=seed, options={"reset_mask": mask.copy()}))
        assert (ours[1]["_seat"] == mask).all()
    assert_equal(native.reset(), sync.reset())
    assert_steps_equal(native, sync, 20, seed=1)


def test_every_call_returns_new_arrays() -> None:
    game = TABLES["greed"]
    native = SeatVectorEnv(
        game, random_pool(game, 2), 50, seat="random", autoreset_mode=AutoresetMode.SAME_STEP
    )

    def arrays(result: Any) -> list[np.ndarray]:
        if isinstance(result, dict):
            return [a for value in result.values() for a in arrays(value)]
        if isinstance(result, tuple):
            return [a for value in result for a in arrays(value)]
        return [result]

    calls = [native.reset(seed=0), *(native.step(np.zeros(50, int)) for _ in range(4))]
    everything = [a for call in calls for a in arrays(call)]
    table = native.simulator.table
    tables = [table.observation, table.mask, *native.simulator.arrays.values()]
    for i, a in enumerate(everything):
        assert not any(np.shares_memory(a, b) for b in (*everything[i + 1 :], *tables))


def counts_of(env: SeatVectorEnv, plays: int) -> dict[str, np.ndarray]:
    """Seats, opponents and joint actions of one-move plays, in which the learner plays 0."""
    found: dict[str, list[Any]] = {"seat": [], "opponent": [], "state": []}
    for seed in range(plays // env.num_envs):
        _, infos = env.reset(seed=seed * env.num_envs)
        found["seat"].append(infos["seat"])
        found["opponent"].append(infos["opponent"])
        found["state"].append(env.step(np.zeros(env.num_envs, int))[0])
    return {name: np.concatenate(values) for name, values in found.items()}


def test_seats_opponents_and_their_actions_have_the_frequencies_asked_for() -> None:
    game = compile_game(OneShot())
    pool = random_pool(game, 3)
    env = SeatVectorEnv(
        game, pool, 4000, weights=WEIGHTS, seat="random", observation="index",
        autoreset_mode="Disabled",
    )  # fmt: skip
    seen = counts_of(env, 40_000)
    assert stats.chisquare(np.bincount(seen["seat"])).pvalue > 1e-3
    for seat in (0, 1):
        chosen = seen["opponent"][seen["seat"] == seat]
        expected = np.array(WEIGHTS) / sum(WEIGHTS) * len(chosen)
        assert stats.chisquare(np.bincount(chosen, minlength=3), expected).pvalue > 1e-3
        for k in range(3):
            met = seen["state"][(seen["seat"] == seat) & (seen["opponent"] == k)]
            actions = np.array([game.states[s][1 - seat] for s in met])
            chances = pool[k][1 - seat].probabilities[0]
            count = np.bincount(actions, minlength=4)
            assert (count[chances == 0] == 0).all()
            some = chances > 0
            if some.sum() > 1:
                assert stats.chisquare(count[some], chances[some] * len(met)).pvalue > 1e-4


def mean_return(
    env: SeatVectorEnv, learners: dict[int, TabularPolicy], plays_each: int
) -> tuple[float, float]:
    """Mean and standard error of the first plays of each environment, which end the same step.

    The first plays to end anywhere would be the short ones, so each environment counts as many.
    """
    rng = np.random.default_rng(0)
    n = env.num_envs
    cumulative = np.stack([np.cumsum(learners[s].probabilities, axis=1) for s in sorted(learners)])
    number = {seat: v for v, seat in enumerate(sorted(learners))}
    at, infos = env.reset(seed=0)
    left, running = np.full(n, plays_each), np.zeros(n)
    total = squares = 0.0
    while left.any():
        view = np.vectorize(number.get)(infos["seat"]) if len(number) > 1 else 0
        draw = rng.random((n, 1))
        actions = (cumulative[view, at] <= draw).sum(axis=1).clip(max=cumulative.shape[2] - 1)
        at, reward, over, _, infos = env.step(actions)
        running += reward
        counted = running[over & (left > 0)]
        total += counted.sum()
        squares += (counted**2).sum()
        left -= over & (left > 0)
        running[over] = 0
    plays = n * plays_each
    mean = total / plays
    return mean, float(np.sqrt((squares / plays - mean**2) / plays))


def rollout(game: TabularGame, seat: Any, learners: Any, opponents: Any, plays: int) -> Any:
    env = SeatVectorEnv(
        game, opponents, 20_000, seat=seat, observation="index",
        autoreset_mode=AutoresetMode.SAME_STEP,
    )  # fmt: skip
    return mean_return(env, learners, plays // 20_000)


def test_a_million_plays_of_greed_have_the_exact_mean() -> None:
    game = compile_game(Greed(20, 4))
    uniform = TabularPolicy.uniform(game, player=1)
    optimal = solve(game).policies[0]
    for policy in (optimal, best_response(game, uniform).policies[0]):
        exact = float(game.initial @ policy_value(game, policy, uniform))
        mean, error = rollout(game, 0, {0: policy}, uniform, 500_000)
        assert error < 1e-3
        assert abs(mean - exact) < 3.3 * error


def test_the_mean_from_either_seat_against_a_pool() -> None:
    game = TABLES["pig"]
    learners = {p: random_policy(game, p, 50 + p) for p in (0, 1)}
    pool = random_pool(game, 2)
    from_0 = [game.initial @ policy_value(game, learners[0], pair[1]) for pair in pool]
    from_1 = [1 - game.initial @ policy_value(game, pair[0], learners[1]) for pair in pool]
    for seat, exact in ((0, from_0), (1, from_1), ("random", from_0 + from_1)):
        taken = {p: learners[p] for p in (0, 1) if seat in (p, "random")}
        mean, error = rollout(game, seat, taken, pool, 60_000)
        assert abs(mean - np.mean(exact)) < 3.3 * error


@pytest.mark.slow
def test_a_million_plays_of_the_usual_greed_have_the_exact_mean() -> None:
    game = compile_game(Greed())
    uniform = TabularPolicy.uniform(game, player=1)
    optimal = solve(game).policies[0]
    exact = float(game.initial @ policy_value(game, optimal, uniform))
    mean, error = rollout(game, 0, {0: optimal}, uniform, 1_000_000)
    assert error < 1e-3
    assert abs(mean - exact) < 3.3 * error


def test_a_saved_state_goes_on_as_if_nothing_had_happened() -> None:
    game = TABLES["greed"]
    env, other = (SeatVectorEnv(game, random_pool(game, 3), 40, seat="random") for _ in range(2))
    env.reset(seed=1)
    actions = np.random.default_rng(0).integers(0, env.single_action_space.n, (30, 40))
    for a in actions[:10]:
        env.step(a)
    saved = env.get_state()
    expected = [env.step(a) for a in actions[10:]]
    for twin in (env, other):
        twin.set_state(saved)
        for a, result in zip(actions[10:], expected, strict=True):
            assert_equal(twin.step(a), result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"side": np.full(4, 2, np.int32)}, "saved side goes from 2 to 2; allowed are 0 to 1"),
        ({"opponent": np.full(4, 3, np.int32)}, "saved opponent goes from 3 to 3; allowed are 0"),
        ({"opponent": np.full(4, -1, np.int32)}, "saved opponent goes from -1"),
        ({"owed": np.zeros(3)}, r"saved owed has shape \(3,\)"),
        ({"state": np.full(4, 10**6, np.int32)}, "1000000"),
    ],
)
def test_a_saved_state_of_another_form_is_refused(change: Any, message: str) -> None:
    game = TABLES["greed"]
    env = SeatVectorEnv(game, random_pool(game, 3), 4, seat="random")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.set_state(env.get_state() | change)
    with pytest.raises(ValueError, match=r"needs the arrays 'state', .* and 'over'"):
        env.set_state({"state": np.zeros(4, np.int32)})


def through_pickle(env: Any) -> Any:
    """As subprocess vector environments send one; nothing from outside is unpickled."""
    return pickle.loads(pickle.dumps(env))  # noqa: S301


@pytest.mark.parametrize("twin_of", [copy.deepcopy, through_pickle])
def test_a_copy_plays_on_by_itself(twin_of: Any) -> None:
    game = TABLES["greed"]
    env = SeatVectorEnv(game, random_pool(game, 3), 10, seat="random")
    env.reset(seed=1)
    twin = twin_of(env)
    for action in (0, 1, 0, 1, 1):
        assert_equal(twin.step(np.full(10, action)), env.step(np.full(10, action)))


def test_bad_actions_and_arguments() -> None:
    game = TABLES["greed"]
    pool = random_pool(game, 3)
    env = SeatVectorEnv(game, pool, 3)
    with pytest.raises(ResetNeeded):
        env.step([0, 0, 0])
    env.reset(seed=0)
    before = env.get_state()
    for actions in ([0, 0, 99], [0, -1, 0], [0, 0], [0.0, 0.0, 0.0]):
        with pytest.raises(ValueError, match=r"allowed are whole numbers|expected whole numbers"):
            env.step(actions)
    with pytest.raises(ValueError, match="has to play for player 1"):
        env.set_opponents(pool[0][0])
    assert_equal(env.get_state(), before)
    with pytest.raises(ValueError, match="num_envs is 0"):
        SeatVectorEnv(game, pool, 0)
    with pytest.raises(ValueError, match="seat is 3"):
        SeatVectorEnv(game, pool, 1, seat=3)  # type: ignore[arg-type]
    shot = compile_game(OneShot())
    strict = SeatVectorEnv(shot, TabularPolicy.uniform(shot, player=1), 2, illegal="raise")
    strict.reset(seed=0)
    with pytest.raises(ValueError, match="environment 1: action 2 is not legal"):
        strict.step([0, 2])


def test_masks_and_pictures_of_all_environments() -> None:
    rules = Greed(9, 3)
    game = TABLES["greed"]
    env = SeatVectorEnv(
        game, random_pool(game, 2), 5, seat="random", rules=rules, render_mode="ansi",
        observation="index",
    )  # fmt: skip
    at, infos = env.reset(seed=3)
    for i, seat in enumerate(infos["seat"].tolist()):
        legal = game.mask[seat][at[i]] | game.terminal[at[i]]
        assert (infos["action_mask"][i] == legal).all()
        assert (env.action_masks()[i] == legal).all()
    assert env.render() == tuple(rules.draw(game.states[s]) for s in at.tolist())
