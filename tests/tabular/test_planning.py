"""Planning by sweeps comes to what the solver proves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tabular_runs import Finite, cliff, random_table

from solvent.envs import Env
from solvent.exact import nash_conv, policy_value, solve
from solvent.model import TabularGame, TabularPolicy, compile_game, discounted
from solvent.tabular import (
    Estimate,
    modified_policy_iteration,
    policy_evaluation,
    policy_iteration,
    q_learning,
    shapley_iteration,
    value_iteration,
)

Plan = Callable[..., Iterator[Estimate]]
PLANS = [value_iteration, policy_iteration, modified_policy_iteration]


def ends_at_random(game: TabularGame, discount: float) -> TabularGame:
    """The same game, which ends after each move with the probability that a discount leaves."""
    n, end = len(game.next_state), int(np.flatnonzero(game.terminal)[0])
    twice = np.repeat(np.arange(n), 2)
    stops = np.arange(2 * n) % 2 == 1
    return replace(
        game,
        outcome_start=2 * game.outcome_start,
        next_state=np.where(stops, end, game.next_state[twice]),
        probability=np.where(stops, 1 - discount, discount) * game.probability[twice],
        outcome_reward=game.outcome_reward[twice],
    )


@pytest.mark.parametrize("kind", ["single", "opponent"])
@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("plan", PLANS)
def test_plans_end_at_the_solution(plan: Plan, kind: str, cyclic: bool) -> None:
    for seed in range(5):
        game = random_table(seed, kind, cyclic=cyclic)
        *_, last = plan(game)
        sign = 1 if kind == "single" else -1
        np.testing.assert_allclose(last.V, sign * solve(game).values, atol=1e-8)


@pytest.mark.parametrize("plan", PLANS)
def test_a_discount_is_a_game_that_ends_at_random(plan: Plan) -> None:
    game = random_table(3)
    *_, last = plan(game, discount=0.8)
    exact = solve(ends_at_random(game, 0.8)).values
    np.testing.assert_allclose(last.V, exact, atol=1e-8)
    assert np.abs(exact - solve(game).values).max() > 0.05


def test_each_policy_of_policy_iteration_is_better_than_the_last() -> None:
    for seed in range(5):
        game = random_table(seed)
        values = [estimate.V for estimate in policy_iteration(game)]
        assert len(values) >= 2
        assert values[0] is not None
        np.testing.assert_allclose(
            values[0], policy_value(game, TabularPolicy.uniform(game)), atol=1e-8
        )
        for worse, better in pairwise(values):
            assert (better >= worse - 1e-8).all()


def test_a_policy_that_stays_for_ever_for_nothing_has_the_value_0() -> None:
    game = compile_game(Finite({"here": [[(1, "here", 0)], [(1, "end", -1)]]}, "here"))
    *_, last = policy_iteration(game, theta=1e-6)
    assert isinstance(last.pi, np.ndarray)
    assert last.pi[0].tolist() == [1, 0]
    assert last.V is not None
    assert last.V[0] == 0


def test_modified_policy_iteration_is_value_iteration_or_in_between() -> None:
    game = random_table(2)
    plain = [estimate.V for estimate in value_iteration(game)]
    without = [estimate.V for estimate in modified_policy_iteration(game, sweeps=0)]
    np.testing.assert_array_equal(plain, without)
    assert len(list(modified_policy_iteration(game, sweeps=5))) < len(plain) / 2


def test_evaluation_is_exact_and_its_error_falls_with_each_sweep() -> None:
    game = random_table(1)
    policy = TabularPolicy.uniform(game)
    exact = policy_value(game, policy)
    errors = [np.abs(estimate.V - exact).max() for estimate in policy_evaluation(game, policy)]
    assert errors[-1] < 1e-9
    assert all(b <= a for a, b in pairwise(errors[:-3]))


@pytest.mark.parametrize("kind", ["alternating", "simultaneous"])
def test_shapleys_iteration_ends_at_the_solution(kind: str) -> None:
    game = random_table(1, kind)
    solution = solve(game)
    *_, last = shapley_iteration(game)
    np.testing.assert_allclose(last.V, solution.values, atol=1e-8)
    first, second = (
        TabularPolicy.of(game, pi, player=player) for player, pi in enumerate(last.pi or ())
    )
    assert nash_conv(game, first, second) < 1e-7


def test_two_who_choose_are_refused() -> None:
    game = random_table(0, "simultaneous")
    with pytest.raises(ValueError, match=r"both players of random have a choice; .*against"):
        next(value_iteration(game))
    with pytest.raises(ValueError, match="is a game for 1"):
        next(shapley_iteration(cliff()))


def test_nothing_is_discounted_twice() -> None:
    plain = random_table(3)
    game = discounted(plain, 0.8)
    twice = r"discount is 0\.9, but .* ends at random for a discount of 0\.8 already"
    with pytest.raises(ValueError, match=twice):
        next(value_iteration(game, discount=0.9))
    env = Env(game, observation="index")
    with pytest.raises(ValueError, match=twice):
        next(q_learning(env, discount=0.9, rng=np.random.default_rng(0)))
    *_, once = value_iteration(plain, discount=0.8)
    *_, last = value_iteration(game)
    assert once.V is not None
    assert last.V is not None
    np.testing.assert_allclose(last.V[: plain.n_states], once.V, atol=1e-8)
