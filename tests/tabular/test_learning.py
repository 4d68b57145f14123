"""The textbooks' algorithms: planning, learning, and the curves of what they learn."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from random_games import RandomGame
from rational_tables import END, Row, table_of
from refusals import assert_refused

from solvent import (
    TabularGame,
    TabularPolicy,
    against,
    compile_game,
    discounted,
    exploitability,
    make_game,
    nash_conv,
    policy_value,
    solve,
)
from solvent.envs import Env
from solvent.tabular import (
    Bandit,
    Curves,
    Estimate,
    curves,
    double_q_learning,
    dyna_q,
    expected_sarsa,
    fictitious_play,
    gradient_bandit,
    importance_sampling,
    matrix_game,
    measure,
    minimax_q,
    mirror_descent,
    modified_policy_iteration,
    monte_carlo_control,
    monte_carlo_prediction,
    n_step_sarsa,
    n_step_td,
    off_policy_control,
    off_policy_prediction,
    policy_iteration,
    q_learning,
    regret_matching,
    regret_matching_plus,
    reinforce,
    replicator_dynamics,
    sarsa,
    sarsa_lambda,
    shapley_iteration,
    simple_bandit,
    td,
    td_lambda,
    ucb,
    value_iteration,
)

# Small games for the algorithms of ``solvent.tabular``, and runs of them


ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def random_table(seed: int, kind: str = "single", *, cyclic: bool = True) -> TabularGame:
    return compile_game(RandomGame(seed, kind, cyclic=cyclic))


def environment(game: TabularGame) -> Env:
    """In which an action that is not legal is an error."""
    return Env(game, observation="index", illegal="raise")


def after(estimates: Iterator[Estimate], n: int) -> Estimate:
    """What an algorithm knows after so many sweeps or episodes."""
    return next(islice(estimates, n - 1, None))


# Planning comes to the solver's values; exact errors of learning fall as the books say


Learn = Callable[..., Iterator[Estimate]]


def slow(n: int) -> float:
    """A step size with which estimates converge."""
    return float(n**-0.8)


def means(game: TabularGame, learn: Learn, *at: int, quantity: str, **options: Any) -> list[float]:
    """The mean of a quantity over three runs, after each of some numbers of episodes."""
    measured = measure(game, quantity, **options)
    numbers = []
    for seed in range(3):
        run, done = learn(environment(game), rng=np.random.default_rng(seed)), 0
        for n in at:
            numbers.append(measured(after(run, n - done)))
            done = n
    return [float(mean) for mean in np.reshape(numbers, (3, len(at))).mean(axis=0)]


# Learners, how many episodes they get, and by how much their errors then have fallen.
PREDICTIONS: dict[str, tuple[Learn, int, float]] = {
    "first-visit Monte Carlo": (monte_carlo_prediction, 1500, 3),
    "every-visit Monte Carlo": (partial(monte_carlo_prediction, first_visit=False), 1500, 3),
    "TD(0)": (partial(td, alpha=slow), 1500, 3),
    "n-step TD": (partial(n_step_td, alpha=slow), 1500, 3),
    "off-policy, of actions": (off_policy_prediction, 3000, 2),
    "weighted importance sampling": (partial(importance_sampling, weighted=True), 3000, 2),
    # It needs ratios that are bounded.
    "ordinary importance sampling": (importance_sampling, 3000, 2),
}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_predictions_converge_to_the_exact_values(name: str) -> None:
    learn, episodes, share = PREDICTIONS[name]
    game = random_table(0, cyclic=name != "ordinary importance sampling")
    uniform = TabularPolicy.uniform(game)
    if episodes == 3000:
        learn, pi = partial(learn, b=uniform), solve(game).policies[0]
    else:
        pi = uniform
    # All states are compared, so that all must be met.
    early, late = means(
        game, lambda env, rng: learn(env, pi, rng=rng), 10, episodes, quantity="rms", values=pi
    )
    assert late < early / share


def test_methods_of_one_step_and_without_traces_are_the_plain_ones() -> None:
    walk, cliff = compile_game("random-walk"), compile_game("CliffWalking-v1")
    pi, down = TabularPolicy.uniform(walk), TabularPolicy.uniform(cliff)
    # Hardly any random episode of 20 steps reaches the goal; a time limit is no end.
    limited = gym.wrappers.TimeLimit(environment(cliff), 20)
    for env, learners in (
        (environment(walk), [partial(td, pi=pi), partial(td_lambda, pi=pi, lambda_=0.0),
                             partial(n_step_td, pi=pi, n=1)]),
        (environment(cliff), [sarsa, partial(sarsa_lambda, lambda_=0.0),
                              partial(n_step_sarsa, n=1)]),
        (limited, [partial(td, pi=down), partial(n_step_td, pi=down, n=1)]),
    ):  # fmt: skip
        plain, *others = (
            after(learn(env, rng=np.random.default_rng(5)), 20).values for learn in learners
        )
        for other in others:
            np.testing.assert_allclose(plain, other, atol=1e-12)


def test_a_time_limit_is_no_end() -> None:
    """A task that goes on with probability .9, at a cost of 1, and is cut off after 3 steps."""
    game = table_of([[[(0.9, 0, -1), (0.1, END, 0)]]])
    pi, limited = TabularPolicy.uniform(game), gym.wrappers.TimeLimit(environment(game), 3)
    for n in (1, 2, 4):
        V = after(n_step_td(limited, pi, n=n, alpha=slow, rng=np.random.default_rng(0)), 2000).V
        assert -10 < V[0] < -6  # The value is -9; three steps cost 2.71 on the average.
    learners: list[Any] = [
        partial(monte_carlo_prediction, pi=pi),
        partial(importance_sampling, pi=pi, b=pi),
        partial(off_policy_prediction, pi=pi, b=pi),
        partial(off_policy_control, b=pi),
        monte_carlo_control,
        reinforce,
    ]
    assert_refused(
        ((learn, "cut an episode off after 3 steps") for learn in learners),
        lambda learn: after(learn(limited, rng=np.random.default_rng(0)), 10),
    )


def test_ordinary_and_weighted_importance_sampling_by_hand() -> None:
    """Of three episodes, in k of which b takes the action of pi, with probability 1/2, for 3."""
    game = table_of([[[(1, END, 0)], [(1, END, 3)]]])
    pi, b = TabularPolicy.deterministic(game, [1, 0]), TabularPolicy.uniform(game)

    def found(seed: int, weighted: bool) -> float:
        rng, env = np.random.default_rng(seed), environment(game)
        estimate = after(importance_sampling(env, pi, b, weighted=weighted, rng=rng), 3)
        return round(float(estimate.V.max()), 9)

    # The mean of 2 * 3 in k episodes and of 0 in the others; the weighted one is 3 once it is seen.
    pairs = {(found(seed, False), found(seed, True)) for seed in range(60)}
    assert pairs == {(0, 0), (2, 3), (4, 3), (6, 3)}


ONE_STEP: dict[str, tuple[Learn, int, tuple[float, float]]] = {
    name: (learn, 50, (2, 2))
    for name, learn in {
        "TD(0)": lambda env, pi, **k: td(env, pi, alpha=1.0, **k),
        "1-step TD": lambda env, pi, **k: n_step_td(env, pi, n=1, alpha=1.0, **k),
        "Sarsa": lambda env, pi, **k: sarsa(env, alpha=1.0, **k),
        "expected Sarsa": lambda env, pi, **k: expected_sarsa(env, alpha=1.0, **k),
        "Q-learning": lambda env, pi, **k: q_learning(env, alpha=1.0, **k),
        # Both its tables are met within 50 episodes.
        "double Q-learning": lambda env, pi, **k: double_q_learning(env, alpha=1.0, **k),
        "Dyna-Q": lambda env, pi, **k: dyna_q(env, alpha=1.0, **k),
    }.items()
}
ON_A_CHAIN: dict[str, tuple[Learn, int, tuple[float, float]]] = ONE_STEP | {
    "Monte Carlo, first episode": (monte_carlo_prediction, 1, (1 + 0.5 * 2, 2)),
    "TD(0), first episode": (td, 1, (0.1 * 1, 0.1 * 2)),
    # The trace of A is 0.5 * 0.6 when the reward of B comes, whose error is 2.
    "TD(lambda)": (
        lambda env, pi, **k: td_lambda(env, pi, lambda_=0.6, alpha=0.1, **k), 1,
        (0.1 * 1 + 0.1 * 0.5 * 0.6 * 2, 0.1 * 2),
    ),
    "2-step TD": (
        lambda env, pi, **k: n_step_td(env, pi, n=2, alpha=0.1, **k), 1,
        (0.1 * (1 + 0.5 * 2), 0.1 * 2),
    ),
    "Sarsa(lambda)": (
        lambda env, pi, **k: sarsa_lambda(env, lambda_=0.6, alpha=0.1, **k), 1,
        (0.1 * 1 + 0.1 * 0.5 * 0.6 * 2, 0.1 * 2),
    ),
    "2-step Sarsa": (
        lambda env, pi, **k: n_step_sarsa(env, n=2, alpha=0.1, **k), 1,
        (0.1 * (1 + 0.5 * 2), 0.1 * 2),
    ),
    "importance sampling": (
        lambda env, pi, **k: importance_sampling(env, pi, pi, **k), 1, (2, 2)
    ),
    "off-policy": (lambda env, pi, **k: off_policy_prediction(env, pi, pi, **k), 1, (2, 2)),
    "off-policy control": (lambda env, pi, **k: off_policy_control(env, pi, **k), 1, (2, 2)),
    "control": (lambda env, pi, **k: monte_carlo_control(env, **k), 1, (2, 2)),
    # The baseline learns from returns.
    "REINFORCE": (lambda env, pi, **k: reinforce(env, baseline=1.0, **k), 1, (2, 2)),
}  # fmt: skip


def test_a_discount_and_a_trace_by_hand() -> None:
    """Two moves, from A, which is state 0, to B, and to the end, pay 1 and 2; a discount of 1/2."""
    game = table_of([[[(1, 1, 1)]], [[(1, END, 2)]]])
    pi = TabularPolicy.uniform(game)
    for name, (learn, episodes, expected) in ON_A_CHAIN.items():
        run = learn(environment(game), pi, discount=0.5, rng=np.random.default_rng(0))
        assert after(run, episodes).values[:2] == pytest.approx(expected), name


def test_reinforce_discounts_the_steps_of_an_episode_too() -> None:
    """Section 13.3: the gradient of step t counts gamma^t; two actions, of which one is paid."""
    game = table_of([[[(1, 1, 0)]], [[(1, END, 0)], [(1, END, 4)]]])
    grown = set()
    for seed in range(10):
        run = reinforce(environment(game), alpha=0.1, discount=0.5, rng=np.random.default_rng(seed))
        first, second = np.log(after(run, 1).pi[1])
        grown.add(round(float(second - first), 9))
    # If it was taken, its preference grew by 0.1 * 0.5 * 4 * 1/2, and the other's fell by that.
    assert grown == {0.0, 0.2}


@pytest.mark.parametrize(("first_visit", "value"), [(True, 10.0), (False, 5.5)])
def test_what_first_and_every_visit_make_of_one_episode(first_visit: bool, value: float) -> None:
    """Sutton and Barto (2018), Exercise 5.5: ten steps in one state, a reward of 1 each.

    The episode of this seed is as long.
    """
    game = table_of([[[(0.9, 0, 1), (0.1, END, 1)]]])
    learn = partial(monte_carlo_prediction, environment(game), TabularPolicy.uniform(game))
    estimate = after(learn(first_visit=first_visit, rng=np.random.default_rng(0)), 1)
    assert estimate.V.tolist() == [value, 0]


CONTROLS: dict[str, Learn] = {
    "Monte Carlo": lambda env, rng: monte_carlo_control(env, rng=rng),
    "every-visit Monte Carlo": lambda env, rng: monte_carlo_control(
        env, first_visit=False, rng=rng
    ),
    "off-policy Monte Carlo": lambda env, rng: off_policy_control(
        env, TabularPolicy.uniform(env.game), rng=rng
    ),
    "Sarsa": lambda env, rng: sarsa(env, alpha=slow, rng=rng),
    "3-step Sarsa": lambda env, rng: n_step_sarsa(env, n=3, alpha=slow, rng=rng),
    "Sarsa(lambda)": lambda env, rng: sarsa_lambda(env, alpha=0.05, rng=rng),
    "expected Sarsa": lambda env, rng: expected_sarsa(env, alpha=slow, rng=rng),
    "Q-learning": lambda env, rng: q_learning(env, alpha=slow, rng=rng),
    "double Q-learning": lambda env, rng: double_q_learning(env, alpha=slow, rng=rng),
    "Dyna-Q": lambda env, rng: dyna_q(env, alpha=slow, rng=rng),
    "REINFORCE": lambda env, rng: reinforce(env, rng=rng),
    "REINFORCE with baseline": lambda env, rng: reinforce(env, baseline=0.1, rng=rng),
}


# What Dyna-Q remembers is right only where nothing is random.
@pytest.mark.parametrize("name", [name for name in CONTROLS if name != "Dyna-Q"])
def test_controls_come_near_the_optimum(name: str) -> None:
    """In three games, of which all choices together are worth more than 1 each."""
    # On long ways the weights of importance sampling have infinite variance.
    games = [random_table(seed, cyclic=name != "off-policy Monte Carlo") for seed in range(3)]
    gaps = [means(game, CONTROLS[name], 1, 800, quantity="gap") for game in games]
    early, late = np.mean(gaps, axis=0)
    assert late < early / 4


def test_equal_generators_learn_the_same() -> None:
    game = random_table(0)
    for name, learn in CONTROLS.items():
        runs = (
            after(learn(environment(game), np.random.default_rng(seed)), 20) for seed in (1, 1, 2)
        )
        first, again, other = (np.array(e.pi if e.Q is None else e.Q) for e in runs)
        np.testing.assert_array_equal(first, again, err_msg=name)
        assert not np.array_equal(first, other), name


def test_the_maximum_is_biased_and_two_tables_are_not() -> None:
    """Sutton and Barto (2018), Example 6.7: left is worth -0.1 on average, right 0.

    Rewards of B are 0.9 or -1.1 with equal probability here, in the book N(-0.1, 1). Q-learning
    takes left far more often than the 5% that exploration does, and double Q-learning does not.
    """
    noisy: Row = [(0.5, END, 0.9), (0.5, END, -1.1)]
    game = table_of([[[(1, END, 0)], [(1, 1, 0)]], [noisy] * 10])
    assert solve(game).value == 0

    def left(learn: Learn) -> float:
        rngs = map(np.random.default_rng, range(100))
        runs = [learn(environment(game), alpha=0.1, rng=rng) for rng in rngs]
        return float(np.mean([e.pi[0, 1] for run in runs for e in islice(run, 100)]))  # type: ignore[call-overload,index]

    assert left(q_learning) > 0.3
    assert left(double_q_learning) < 0.75 * left(q_learning)


def test_sarsa_takes_the_safe_path_and_q_learning_the_optimal_one() -> None:
    """Sutton and Barto (2018), Example 6.6, without noise: the value of what each of them does."""
    game = compile_game("CliffWalking-v1")
    learners = {
        "Sarsa": lambda rng: expected_sarsa(environment(game), alpha=0.5, rng=rng),
        "Q-learning": lambda rng: q_learning(environment(game), alpha=0.5, rng=rng),
    }
    acts, learned = (
        curves(game, learners, "value", until=300, runs=2, points=20, policy=policy).means
        for policy in ("behaviour", "greedy")
    )
    assert learned["Q-learning"][-1] == pytest.approx(-13)
    assert acts["Q-learning"][-1] < -40
    assert acts["Sarsa"][-1] > -30
    assert learned["Sarsa"][-1] <= -15


def test_what_cannot_be_learned_or_planned_is_refused() -> None:
    """Parameters outside their ranges, unnumbered states, and rows that are no policy.

    The last would be weighted by wrong probabilities, and estimates would tend to wrong values.
    """
    game, both = random_table(0), random_table(0, "simultaneous")
    uniform = TabularPolicy.uniform(game)
    first, rows = TabularPolicy.deterministic(game, [0] * game.n_states), uniform.probabilities
    turns = random_table(0, "alternating")
    pair = tuple(TabularPolicy.uniform(turns, player=player) for player in (0, 1))
    drawn = Env(turns, [pair], seat="random", observation="index")
    half = discounted(game, 0.8)
    env, lake, games = environment(game), gym.make("FrozenLake-v1"), ROCK_PAPER_SCISSORS
    unit, never = "allowed are numbers from 0 to 1$", "b never takes action 1 in state 0"
    twice = r"discount is 0\.9, but .* ends at random for a discount of 0\.8 already"
    no_rows = "allowed are rows of probabilities that sum to 1"
    learners: list[tuple[Callable[..., Any], str]] = [
        (partial(q_learning, env, alpha=2), f"alpha is 2; {unit}"),
        (partial(q_learning, env, alpha=np.nan), f"alpha is nan; {unit}"),
        (partial(q_learning, env, epsilon=10), "epsilon is 10; allowed are numbers within 0..1"),
        (partial(q_learning, env, discount=1.5), f"discount is 1.5; {unit}"),
        (partial(q_learning, lake, discount=-1), f"discount is -1; {unit}"),
        (partial(td_lambda, env, uniform, lambda_=-1), f"lambda_ is -1; {unit}"),
        (partial(td_lambda, env, uniform, alpha=2), f"alpha is 2; {unit}"),
        (partial(sarsa_lambda, env, lambda_=1.1), f"lambda_ is 1.1; {unit}"),
        (partial(sarsa_lambda, env, alpha=-0.1), f"alpha is -0.1; {unit}"),
        (partial(n_step_td, env, uniform, n=0), "n is 0; allowed are whole numbers from 1"),
        (partial(n_step_sarsa, env, n=1.5), "n is 1.5; allowed are whole numbers from 1"),
        (partial(dyna_q, env, n=-1), "n is -1; allowed are whole numbers from 0"),
        (partial(reinforce, env, alpha=-1), "alpha is -1; allowed are numbers from 0"),
        (partial(reinforce, env, baseline=2), f"baseline is 2; {unit}"),
        (partial(gradient_bandit, env, alpha=-1), "alpha is -1; allowed are numbers from 0"),
        (partial(minimax_q, games, explore=2), f"explore is 2; {unit}"),
        (partial(minimax_q, games, discount=2), f"discount is 2; {unit}"),
        (partial(minimax_q, games, alpha=2), f"alpha is 2; {unit}"),
        (partial(q_learning, Env(half, observation="index"), discount=0.9), twice),
        (partial(q_learning, Env(game)), r"observation space is Box.*observation='index'"),
        (partial(q_learning, drawn), "seat is drawn"),
        (partial(td, lake, np.full((16, 4), 0.25), initial=0.5), r"initial is 0.5; allowed is 0"),
        (partial(importance_sampling, env, pi=rows, b=first), never),
        (partial(off_policy_prediction, env, pi=rows, b=first), never),
        (partial(off_policy_control, env, b=first), never),
        (partial(td, env, pi=2 * rows), no_rows),
        (partial(td, env, pi=1 - 2 * rows), no_rows),
        (partial(td, lake, solve(compile_game(lake)).policies[0]),
         "policy 'optimal' is for a table, whose order is not"),
    ]  # fmt: skip
    plans: list[tuple[Callable[..., Any], str]] = [
        (partial(value_iteration, game, discount=1.5), f"discount is 1.5; {unit}"),
        (partial(value_iteration, half, discount=0.9), twice),
        (partial(value_iteration, both), r"both players of random have a choice; .*against"),
        (partial(modified_policy_iteration, game, sweeps=-1), "sweeps is -1; allowed"),
        (partial(shapley_iteration, compile_game("CliffWalking-v1")), "is a game for 1"),
        (partial(mirror_descent, games, step=-1), "step is -1; allowed"),
    ]
    seeded = [(partial(learn, rng=np.random.default_rng(0)), told) for learn, told in learners]
    assert_refused(seeded + plans, lambda run: next(run()))
    drawn_for = partial(curves, game, {"Q-learning": lambda rng: q_learning(env, rng=rng)})
    assert_refused((
        (lambda: drawn_for(until=0), "until is 0; allowed are whole numbers"),
        (lambda: drawn_for(until=5, runs=0), "runs is 0; allowed are whole numbers"),
        (lambda: drawn_for(until=5, points=0), "points is 0; allowed are whole numbers"),
    ))  # fmt: skip
    covered = importance_sampling(env, first, rows, rng=np.random.default_rng(0))
    assert after(covered, 100).V.any()


def test_in_seat_1_values_are_those_of_the_table() -> None:
    """The environment adds 1 to a loss of -1, and may end before the learner's first turn."""
    game = compile_game(make_game("pig", target=6))
    opponent, pi = (TabularPolicy.uniform(game, player=player) for player in (0, 1))
    left = against(game, opponent)
    env = Env(game, opponent, seat=1, observation="index")
    drawn = curves(
        left, {"mc": lambda rng: monte_carlo_prediction(env, pi, rng=rng)}, "rms",
        values=TabularPolicy.of(left, pi.probabilities, player=1), until=3_000, points=2,
        states=left.on_turn(1),
    )  # fmt: skip
    assert drawn.numbers["mc"][0, -1] < 0.3


def test_parameters_at_the_ends_of_their_ranges_mean_something() -> None:
    game = random_table(0)
    estimate = after(value_iteration(game, discount=0), 1)
    np.testing.assert_allclose(estimate.V, after(value_iteration(game), 1).V)  # The next reward.
    # Without planning, Dyna-Q is Q-learning; NumPy's numbers count as numbers.
    learned = [
        after(learn(environment(game), rng=np.random.default_rng(0), **setting), 20).Q
        for learn, setting in (
            (q_learning, {"alpha": np.float32(0.5)}),
            (dyna_q, {"n": 0, "alpha": 0.5}),
        )
    ]
    np.testing.assert_array_equal(*learned)


def test_curves_bring_gymnasiums_numbers_of_states_into_the_order_of_the_table() -> None:
    """FrozenLake has as many states as its table, which reaches them in another order."""
    lake = gym.make("FrozenLake-v1", is_slippery=False)
    table = compile_game(lake)
    learners = {
        name: lambda rng, env=env: q_learning(env, alpha=0.5, epsilon=1, rng=rng, discount=0.9)
        for name, env in (("gymnasium", lake), ("table", environment(table)))
    }
    optimum = solve(discounted(table, 0.9)).values[:-1]
    for quantity, best, values in (("rms", 0, optimum), ("value", 1, None)):
        drawn = curves(table, learners, quantity, until=2_000, points=2, values=values)
        for numbers in drawn.numbers.values():
            assert numbers[0, -1] == pytest.approx(best, abs=1e-3)


PLANS = [value_iteration, policy_iteration, modified_policy_iteration]


@pytest.mark.parametrize("kind", ["single", "opponent"])
@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("plan", PLANS)
def test_plans_end_at_the_solution(plan: Learn, kind: str, cyclic: bool) -> None:
    for seed in range(5):
        game = random_table(seed, kind, cyclic=cyclic)
        *_, last = plan(game)
        sign = 1 if kind == "single" else -1
        np.testing.assert_allclose(last.V, sign * solve(game).values, atol=1e-8)


def test_each_policy_of_policy_iteration_is_better_than_the_last() -> None:
    for seed in range(5):
        game = random_table(seed)
        values = [estimate.V for estimate in policy_iteration(game)]
        assert len(values) >= 2
        uniform = policy_value(game, TabularPolicy.uniform(game))
        np.testing.assert_allclose(values[0], uniform, atol=1e-8)
        assert all((better >= worse - 1e-8).all() for worse, better in pairwise(values))


def test_a_policy_that_stays_for_ever_for_nothing_has_the_value_0() -> None:
    *_, last = policy_iteration(table_of([[[(1, 0, 0)], [(1, END, -1)]]]), theta=1e-6)
    assert last.pi[0].tolist() == [1, 0]
    assert last.V[0] == 0


def test_modified_policy_iteration_is_value_iteration_or_in_between() -> None:
    game = random_table(2)
    plain = [estimate.V for estimate in value_iteration(game)]
    without = [estimate.V for estimate in modified_policy_iteration(game, sweeps=0)]
    np.testing.assert_array_equal(plain, without)
    assert len(list(modified_policy_iteration(game, sweeps=5))) < len(plain) / 2


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


def test_plans_discount_once() -> None:
    plain = random_table(3)
    for plan in PLANS:
        *_, once = plan(plain, discount=0.8)
        *_, last = plan(discounted(plain, 0.8))
        np.testing.assert_allclose(last.V[: plain.n_states], once.V, atol=1e-8)


# Learning in games for two, as the theorems say

MATRICES = [np.random.default_rng(seed).integers(-3, 4, (4, 3)).astype(float) for seed in range(3)]
# Policies with which rock, paper, scissors does not begin in its equilibrium.
UNEVEN = np.array([[0.5, 0.3, 0.2], [0, 0, 0]]), np.array([[0.2, 0.3, 0.5], [0, 0, 0]])


@pytest.mark.parametrize("learn", [regret_matching, regret_matching_plus, fictitious_play])
def test_what_can_be_exploited_falls_with_the_root_of_time(learn: Learn) -> None:
    """The regret of each player is at most range * sqrt(actions * T), by Blackwell's theorem.

    Fictitious play converges too, whatever the matrix, though slowly: Robinson (1951).
    """
    checked = (100, 400, 1600) if learn is fictitious_play else (25, 100, 400)
    for payoffs in [*MATRICES, ROCK_PAPER_SCISSORS]:
        m, n = payoffs.shape
        factor = 2 if learn is fictitious_play else (np.sqrt(m) + np.sqrt(n)) / 2
        exploit = measure(matrix_game(payoffs), "exploitability")
        for t, estimate in enumerate(islice(learn(payoffs), checked[-1]), 1):
            if t in checked:
                assert exploit(estimate) <= factor * np.ptp(payoffs) / np.sqrt(t)


def test_replicators_circle_round_the_equilibrium() -> None:
    """The product of all shares is kept, so that no orbit comes nearer; its average does."""
    run = replicator_dynamics(ROCK_PAPER_SCISSORS, h=0.05, start=UNEVEN)
    orbit = [(estimate.pi[0][0], estimate.pi[1][0]) for estimate in islice(run, 4000)]
    kept = [np.log(x).sum() + np.log(y).sum() for x, y in orbit]
    assert np.ptp(kept) < 1e-5
    away = [np.abs(x - 1 / 3).max() + np.abs(y - 1 / 3).max() for x, y in orbit]
    assert min(away) > 0.15
    assert np.mean([x for x, _ in orbit], axis=0) == pytest.approx([1 / 3] * 3, abs=0.02)


def test_mirror_descent_needs_a_magnet() -> None:
    """Without, it spirals outwards; with one that weakens it comes to the equilibrium."""
    exploit = measure(matrix_game(ROCK_PAPER_SCISSORS), "exploitability")
    run = partial(mirror_descent, ROCK_PAPER_SCISSORS, step=0.4, start=UNEVEN)
    first = exploit(Estimate(pi=UNEVEN))
    assert exploit(after(run(temperature=lambda t: 0.0), 2000)) > first / 2
    assert exploit(after(run(temperature=lambda t: 1 / t), 2000)) < first / 10


# Curves are exact, say where nothing ends, and can be drawn


def test_measures_are_the_solvers_numbers() -> None:
    """Also for who wants little, and of a policy that is greedy or the one that acts."""
    game, other, both = (random_table(0, kind) for kind in ("single", "opponent", "simultaneous"))
    solution, theirs = solve(game), solve(other)
    uniform, pair = (
        tuple(TabularPolicy.uniform(table, player=player) for player in players)
        for table, players in ((game, (0,)), (both, (0, 1)))
    )
    exact = policy_value(game, uniform[0])
    value, live = game.at_start(exact), ~game.terminal
    errors, V = (exact - solution.values)[live], Estimate(V=exact)
    acts, best = (
        Estimate(pi=uniform[0].probabilities),
        Estimate(pi=theirs.policies[1].probabilities),
    )
    Q = np.zeros(game.mask[0].shape)
    Q[game.row_state, game.row_action[0]] = solution.action_values
    Q[~game.mask[0] & live[:, None]] = -np.inf
    greedy, gap = Estimate(Q=Q, pi=uniform[0].probabilities), solution.value - value
    *_, last = value_iteration(other)
    mean = np.mean([exploitability(both, policy) for policy in pair])
    alike = Estimate(pi=(pair[0].probabilities, pair[1].probabilities))
    rows: list[tuple[TabularGame, str, dict[str, Any], Estimate, float]] = [
        (game, "value", {}, acts, value),
        (game, "gap", {}, acts, gap),
        (game, "gap", {}, greedy, 0),
        (game, "gap", {"policy": "behaviour"}, greedy, gap),
        (game, "rms", {"values": uniform[0]}, V, 0),
        (game, "rms", {}, V, np.sqrt((errors**2).mean())),
        (game, "rms", {"states": np.array([2])}, V, abs(exact[2] - solution.values[2])),
        (other, "gap", {}, best, 0),
        (other, "value", {}, best, -theirs.value),
        (other, "rms", {}, last, 0),
        (both, "exploitability", {}, alike, mean),
    ]
    for table, quantity, options, estimate, expected in rows:
        found = measure(table, quantity, **options)(estimate)
        assert found == pytest.approx(expected, abs=1e-8), (table.info.name, quantity, options)
    assert gap > 0.1


def test_a_policy_that_never_ends_is_at_the_bottom_and_stops_nothing() -> None:
    game = compile_game("CliffWalking-v1")
    drawn = curves(
        game,
        {"Q-learning": lambda rng: q_learning(environment(game), alpha=0.5, rng=rng)},
        "value",
        until=150,
        points=30,
    )
    [numbers] = drawn.numbers["Q-learning"]
    assert np.isneginf(numbers[0])
    assert (numbers[-1], drawn.optimum) == pytest.approx((-13, -13))
    picture = drawn.svg()
    assert ">−∞</text>" in picture
    assert "nan" not in picture
    # Values that are all alike are in the middle, with numbers that differ beside them.
    flat = Curves("value", np.arange(3), {"one": np.full((1, 3), 9.0)}, 9.0).svg()
    numbers = re.findall(r'text-anchor="end">([^<]*)<', flat)
    assert len(numbers) == len(set(numbers)) > 2
    # What is below the chart is at its edge, and what never ends below that.
    deep = Curves("value", np.arange(3), {"one": np.array([[-np.inf, -500.0, 5.0]])}, 9.0)
    [points] = re.findall(r'points="([^"]*)"', deep.svg(lowest=-10))
    never, low, high = (float(point.split(",")[1]) for point in points.split())
    assert never > low + 10 > high + 10
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


def lost_on_testbed(
    learners: dict[str, Learn], arms: np.ndarray, until: int, policy: str = "greedy"
) -> dict[str, float]:
    """The mean gap of each learner after some pulls, over bandits with these means."""
    lost = []
    for bandit in map(Bandit, arms):
        runs = {name: partial(learn, bandit) for name, learn in learners.items()}
        drawn = curves(bandit.game, runs, until=until, points=2, policy=policy)
        lost.append([numbers[-1] for numbers in drawn.means.values()])
    return dict(zip(learners, np.mean(lost, axis=0), strict=True))


def test_on_the_testbed_who_explores_finds_more() -> None:
    """Sutton and Barto (2018), Figures 2.2 to 2.5: the best arm of ten is worth 1.54 on average.

    Greedy play is stuck at about 1, the others come to 1.3 or more.
    """
    arms = np.random.default_rng(0).normal(size=(20, 10))
    lost = lost_on_testbed(BANDITS, arms, 500, "behaviour")
    assert lost.pop("greedy") > 0.4
    assert max(lost.values()) < 0.35


def test_a_baseline_helps_where_rewards_are_far_from_0() -> None:
    """Figure 2.5: with means around 4 the gradient bandit needs its baseline."""
    arms = 4 + np.random.default_rng(1).normal(size=(20, 10))
    learners: dict[str, Learn] = {
        "with": lambda env, rng: gradient_bandit(env, alpha=0.4, rng=rng),
        "without": lambda env, rng: gradient_bandit(env, alpha=0.4, baseline=False, rng=rng),
    }
    lost = lost_on_testbed(learners, arms, 300)
    assert lost["with"] < 0.7 * lost["without"]


def test_the_bound_of_an_arm_is_that_of_the_box() -> None:
    """Equation 2.10: before pull 4 the arms have 1 + c sqrt(ln 4 / 2) and c sqrt(ln 4)."""
    for c, best in ((2.8, 0), (3.0, 1)):
        run = ucb(Bandit([1.0, 0.0], deviation=0.0), c=c, rng=np.random.default_rng(0))
        *_, estimate = islice(run, 3)
        assert estimate.pi[0].tolist() == [best == 0, best == 1]
