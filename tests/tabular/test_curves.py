"""Curves are exact, say where nothing ends, and can be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np
import pytest
from tabular_runs import cliff, environment, random_table

from solvent.exact import exploitability, policy_value, solve
from solvent.model import TabularPolicy
from solvent.tabular import (
    Bandit,
    Curves,
    Estimate,
    curves,
    gradient_bandit,
    measure,
    q_learning,
    simple_bandit,
    ucb,
    value_iteration,
)

SVG = "{http://www.w3.org/2000/svg}"


def test_measures_are_the_solvers_numbers() -> None:
    game = random_table(0)
    solution, uniform = solve(game), TabularPolicy.uniform(game)
    value = game.at_start(policy_value(game, uniform))
    estimate = Estimate(pi=uniform.probabilities)
    assert measure(game, "value")(estimate) == pytest.approx(value)
    assert measure(game, "gap")(estimate) == pytest.approx(solution.value - value)
    exact = policy_value(game, uniform)
    assert measure(game, "rms", values=uniform)(Estimate(V=exact)) == 0
    live = ~game.terminal
    error = np.sqrt(((exact - solution.values)[live] ** 2).mean())
    assert measure(game, "rms")(Estimate(V=exact)) == pytest.approx(error)
    one = measure(game, "rms", states=np.array([2]))(Estimate(V=exact))
    assert one == pytest.approx(abs(exact[2] - solution.values[2]))


def test_who_wants_little_is_measured_by_what_it_wants() -> None:
    game = random_table(0, "opponent")
    best = solve(game).policies[1].probabilities
    assert measure(game, "gap")(Estimate(pi=best)) == pytest.approx(0, abs=1e-9)
    assert measure(game, "value")(Estimate(pi=best)) == pytest.approx(-solve(game).value)
    uniform = TabularPolicy.uniform(game, player=1).probabilities
    assert measure(game, "gap")(Estimate(pi=uniform)) > 0.1
    *_, last = value_iteration(game)
    assert measure(game, "rms")(last) == pytest.approx(0, abs=1e-8)


def test_exploitability_is_the_mean_of_both() -> None:
    game = random_table(0, "simultaneous")
    both = [TabularPolicy.uniform(game, player=player) for player in (0, 1)]
    estimate = Estimate(pi=(both[0].probabilities, both[1].probabilities))
    mean = np.mean([exploitability(game, policy) for policy in both])
    assert measure(game, "exploitability")(estimate) == pytest.approx(mean)


def test_a_policy_is_greedy_or_the_one_that_acts() -> None:
    game = random_table(0)
    Q = np.zeros(game.mask[0].shape)
    Q[game.row_state, game.row_action[0]] = solve(game).action_values
    Q[~game.mask[0] & ~game.terminal[:, None]] = -np.inf
    estimate = Estimate(Q=Q, pi=TabularPolicy.uniform(game).probabilities)
    assert measure(game, "gap")(estimate) == pytest.approx(0, abs=1e-9)
    assert measure(game, "gap", policy="behaviour")(estimate) > 0.1


def test_a_policy_that_never_ends_is_at_the_bottom_and_stops_nothing() -> None:
    game = cliff()
    drawn = curves(
        game,
        {"Q-learning": lambda rng: q_learning(environment(game), alpha=0.5, rng=rng)},
        "value",
        until=150,
        points=30,
    )
    [numbers] = drawn.numbers["Q-learning"]
    assert np.isneginf(numbers[0])
    assert numbers[-1] == pytest.approx(-13)
    assert drawn.optimum == pytest.approx(-13)
    picture = drawn.svg()
    assert "−∞, never ends" in picture
    assert "nan" not in picture
    runs = np.array([[1.0, -np.inf], [2.0, -np.inf], [4.0, 3.0], [8.0, 5.0]])
    drawn = Curves("value", np.arange(2), {"one": runs}, 9.0)
    np.testing.assert_array_equal(drawn.medians["one"], [2.0, -np.inf])


def test_runs_are_many_equal_by_seed_and_evenly_measured() -> None:
    game = random_table(0)
    algorithms = {"Q": lambda rng: q_learning(environment(game), rng=rng)}
    first, again, other = (
        curves(game, algorithms, until=40, runs=3, points=4, seed=seed) for seed in (1, 1, 2)
    )
    assert first.at.tolist() == [1, 14, 27, 40]
    assert first.numbers["Q"].shape == (3, 4)
    np.testing.assert_array_equal(first.numbers["Q"], again.numbers["Q"])
    assert (first.numbers["Q"] != other.numbers["Q"]).any()
    assert len({tuple(run) for run in first.numbers["Q"].tolist()}) == 3
    np.testing.assert_allclose(first.means["Q"], first.numbers["Q"].mean(axis=0))


BANDITS = {
    "greedy": lambda env, rng: simple_bandit(env, epsilon=0.0, rng=rng),
    "epsilon .1": lambda env, rng: simple_bandit(env, epsilon=0.1, rng=rng),
    "optimistic": lambda env, rng: simple_bandit(env, epsilon=0.0, alpha=0.1, initial=5.0, rng=rng),
    "UCB": lambda env, rng: ucb(env, rng=rng),
    "gradient": lambda env, rng: gradient_bandit(env, alpha=0.1, rng=rng),
}


def test_on_the_testbed_who_explores_finds_more() -> None:
    """Sutton and Barto (2018), Figures 2.2 to 2.5: the best arm of ten is worth 1.54 on average.

    Greedy play is stuck at about 1, the others come to 1.3 or more.
    """
    rng = np.random.default_rng(0)
    gap: dict[str, list[float]] = {name: [] for name in BANDITS}
    for _ in range(20):
        bed = Bandit(rng.normal(size=10))
        found = curves(
            bed.game,
            {name: partial(learn, bed) for name, learn in BANDITS.items()},
            until=500,
            points=2,
            policy="behaviour",
        ).means
        for name, numbers in found.items():
            gap[name].append(numbers[-1])
    lost = {name: np.mean(numbers) for name, numbers in gap.items()}
    assert lost.pop("greedy") > 0.4
    assert max(lost.values()) < 0.35


def test_a_baseline_helps_where_rewards_are_far_from_0() -> None:
    """Figure 2.5: with means around 4 the gradient bandit needs its baseline."""
    rng = np.random.default_rng(1)
    gap: dict[bool, list[float]] = {True: [], False: []}

    def gradient(env: Bandit, baseline: bool, rng: np.random.Generator) -> Iterator[Estimate]:
        return gradient_bandit(env, alpha=0.4, baseline=baseline, rng=rng)

    for _ in range(20):
        env = Bandit(4 + rng.normal(size=10))
        for baseline in (True, False):
            found = curves(
                env.game,
                {"": partial(gradient, env, baseline)},
                until=300,
                points=2,
            )
            gap[baseline].append(found.means[""][-1])
    assert np.mean(gap[True]) < 0.7 * np.mean(gap[False])


def test_the_bound_of_an_arm_is_that_of_the_box() -> None:
    """Equation 2.10: before pull 4 the arms have 1 + c sqrt(ln 4 / 2) and c sqrt(ln 4)."""
    for c, best in ((2.8, 0), (3.0, 1)):
        bandit = Bandit([1.0, 0.0], deviation=0.0)
        run = ucb(bandit, c=c, rng=np.random.default_rng(0))
        *_, estimate = islice(run, 3)
        assert estimate.pi[0].tolist() == [best == 0, best == 1]
