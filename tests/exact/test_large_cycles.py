"""Large components and those in which both choose at once, through the solver."""

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from rational_tables import END, Row, table_of
from refusals import assert_refused

from solvent.exact import (
    ImproperGameError,
    certificate,
    chain,
    markov_game,
    mdp,
    policy_value,
    solve,
    solve_matrix_games,
    state_visitation,
)
from solvent.exact.decomposition import optimum
from solvent.model import GameInfo, TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints


def table(target: Ints, probability: Floats, reward: Floats, count: Any) -> TabularGame:
    """States 0..n-1, and the end n; play begins in state 0.

    Args:
        target: [rows, B] where joint actions lead.
        probability: [rows, B].
        reward: [rows, B].
        count: [n, 2] how many actions the players have in a state.
    """
    count = np.array(count)
    n, (rows, outcomes), width = len(count), target.shape, range(count.max())
    names = tuple(map(str, width))
    mask = np.append(count, [[0, 0]], axis=0)[:, :, None] > width
    return TabularGame(
        info=GameInfo("large", 2, (names, names), False, (-np.inf, np.inf), ()),
        states=range(n + 1),
        row_start=np.cumsum([0, *count.prod(axis=1), 0]),
        outcome_start=np.arange(rows + 1) * outcomes,
        next_state=target.ravel(),
        probability=probability.ravel(),
        outcome_reward=reward.ravel(),
        mask=(mask[:, 0], mask[:, 1]),
        initial=(np.arange(n + 1) == 0).astype(float),
    )


def grid(m: int, gamma: float) -> TabularGame:
    """FrozenLake without holes, from one corner to the opposite one."""
    y, x = np.divmod(np.arange(m * m), m)
    steps = [(0, -1), (1, 0), (0, 1), (-1, 0)]
    place = [np.clip(y + b, 0, m - 1) * m + np.clip(x + a, 0, m - 1) for a, b in steps]
    move = [np.stack([place[d % 4] for d in (a - 1, a, a + 1)], 1) for a in range(4)]
    target = np.stack(move, 1).reshape(-1, 3)
    reward = (target == m * m - 1).astype(float)
    target[target == m * m - 1] = m * m
    exits = np.full((len(target), 1), m * m)
    chance = np.column_stack((np.full(target.shape, gamma / 3), np.full(len(target), 1 - gamma)))
    rewards = np.column_stack((reward, np.zeros(len(target))))
    return table(np.column_stack((target, exits)), chance, rewards, [[4, 1]] * m * m)


def random_problem(n: int, gamma: float) -> TabularGame:
    """Three actions, each to four states drawn at random."""
    rng = np.random.default_rng(0)
    target = np.column_stack((rng.integers(0, n, (3 * n, 4)), np.full(3 * n, n)))
    chance = np.column_stack((gamma * rng.dirichlet(np.ones(4), 3 * n), np.full(3 * n, 1 - gamma)))
    return table(target, chance, np.repeat(rng.normal(size=(3 * n, 1)), 5, axis=1), [[3, 1]] * n)


@pytest.mark.parametrize(
    "game",
    [grid(12, 0.999), grid(12, 0.5), random_problem(150, 0.99), random_problem(150, 0.999999)],
    ids=["grid", "grid of small values", "random", "random, long"],
)
def test_iteration_finds_what_elimination_finds(
    game: TabularGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "ELIMINATED", 1000)
    policy = TabularPolicy.uniform(game, player=0)
    functions = (policy_value, state_visitation)
    eliminated = [solve(game).values, *(f(game, policy) for f in functions)]
    monkeypatch.setattr(chain, "ELIMINATED", 0)
    monkeypatch.setattr(mdp, "APPROACHED", 0)
    monkeypatch.setattr(chain, "LARGEST_WORK", 0)
    iterated = [solve(game).values, *(f(game, policy) for f in functions)]
    for found, expected in zip(iterated, eliminated, strict=True):
        # A residual of rounding, some thousands or a million moves long.
        scale = max(1e-12, 1e-16 * float(eliminated[2].sum())) * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=scale)


def test_sweeps_that_fail_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    game = grid(24, 0.99)
    right = solve(game).values

    def fail(*given: Any) -> bool:
        given[3][:] = 7.0  # the values
        return False

    monkeypatch.setattr(mdp, "_settle", fail)
    np.testing.assert_allclose(optimum(game)[0], right, rtol=0, atol=1e-9)


def test_without_a_tolerance_policies_are_evaluated_to_rounding() -> None:
    game = random_problem(4000, 0.999)
    near, exact = solve(game), solve(game, tolerance=0)
    assert near.lower <= exact.upper
    assert exact.lower <= near.upper
    assert exact.upper - exact.lower < 0.2 * (near.upper - near.lower)


@pytest.mark.parametrize("luck", [0.5, 1e-6])
def test_a_ring_with_equal_actions(luck: float) -> None:
    """A ring of 700 states, left from the last with some luck, else gone round again; each move
    costs 1, and the two actions of a state are the same.

    From the start it is left after 700 / luck moves on average.
    """
    n = 700
    onwards = np.repeat((np.arange(n) + 1) % n, 2)
    chance = np.tile([1.0, 0.0], (2 * n, 1))
    chance[-2:] = 1 - luck, luck
    target = np.column_stack((onwards, np.full(2 * n, n)))
    solution = solve(table(target, chance, -np.ones((2 * n, 2)), [[2, 1]] * n), tolerance=1e-7)
    assert solution.value == pytest.approx(-n / luck, rel=1e-9)
    assert solution.lower <= -n / luck <= solution.upper
    assert (solution.policies[0].probabilities[:n, 0] == 1).all(), "of equals, the first"


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_long_line_is_eliminated(shuffled: bool) -> None:
    """A fair walk of cost 1 a move, or a lazy one, that ends at both ends: i (n + 1 - i) moves.

    Sweeps would need millions. Shuffled states are put in an order first.
    """
    n = 3000
    place = np.random.default_rng(0).permutation(n) if shuffled else np.arange(n)
    at = np.append(place, n)
    ways = np.stack((at[np.r_[1:n, n]], at[np.r_[n, : n - 1]], place), 1)
    target = np.repeat(ways[np.argsort(place)], 2, axis=0)
    chance = np.tile([[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]], (n, 1))
    solution = solve(table(target, chance, -np.ones(chance.shape), [[2, 1]] * n))
    step = np.argsort(place) + 1.0
    np.testing.assert_allclose(solution.values[:n], -step * (n + 1 - step), rtol=1e-11)
    assert solution.lower <= -step[0] * (n + 1 - step[0]) <= solution.upper
    assert (solution.policies[0].probabilities[:n, 1] == 1).all()


def test_a_free_loop_with_many_ways_out_is_proved() -> None:
    """A ring in which to go on costs nothing, and each state may wait for a prize of its own.

    As one state the ring has as many choices as states: as a mask they would take 2.5 GB.
    """
    n = 50_000
    ring = (np.arange(n) + 1) % n
    target = np.column_stack((ring, np.arange(n) + n)).reshape(-1, 1)
    target = np.concatenate((target, np.full((2 * n, 1), 2 * n)))
    prize = np.random.default_rng(0).random(n)
    reward = np.concatenate((np.zeros(2 * n), np.repeat(prize, 2)))[:, None]
    solution = solve(table(target, np.ones((4 * n, 1)), reward, [[2, 1]] * 2 * n))
    assert solution.lower <= prize.max() <= solution.upper
    assert solution.upper - solution.lower < 1e-12
    np.testing.assert_allclose(solution.values[:n], prize.max(), rtol=1e-12)


@pytest.mark.parametrize("off", [0.0, 1e-12, -1e-12])
def test_a_discounted_game_is_proved_without_equations(
    off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each move ends play with probability .1: values that are off by d are proved within 20 d."""
    game = grid(12, 0.9)
    values, policies, _ = optimum(game)
    truth = float(game.initial @ values)
    monkeypatch.setattr(certificate, "SMALL", 0)
    monkeypatch.delattr(certificate, "Chain")
    monkeypatch.delattr(certificate, "solve_values")
    lower, upper = certificate.bracket(game, values + off * ~game.terminal, policies)
    assert lower <= truth <= upper
    assert upper - lower < 20 * abs(off) + 1e-13


# Games in which both players choose at once, with and without cycles, through the solver


def local_game(m: int, gamma: float, in_turn: bool) -> TabularGame:
    """Moves on a square of m x m places with random probabilities, three actions or four."""
    rng, n = np.random.default_rng(3), m * m
    owner = rng.integers(0, 2, n)[:, None]
    count = np.where(owner == [0, 1], 4, 1) if in_turn else np.full((n, 2), 3)
    y, x = np.divmod(np.repeat(np.arange(n), count.prod(axis=1)), m)
    around = [(0, 0), (0, -1), (1, 0), (0, 1), (-1, 0)]
    target = [np.clip(y + b, 0, m - 1) * m + np.clip(x + a, 0, m - 1) for a, b in around]
    ends = np.full((len(y), 1), 1 - gamma)
    chance = np.column_stack((gamma * rng.dirichlet(np.ones(5), len(y)), ends))
    rewards = np.repeat(rng.normal(size=(len(y), 1)), 6, axis=1)
    return table(np.stack((*target, np.full(len(y), n)), 1), chance, rewards, count)


def test_a_war_of_attrition_is_refused() -> None:
    """Who ends loses 1. While both stay they bet on a fair coin, which gains neither anything."""
    both = np.array([[True, True], [False, False]])
    ends: list[Row] = [[(1.0, END, reward)] for reward in (1.0, -1.0, 0.0)]
    wars = (table_of([[[(0.5, 0, bet), (0.5, 0, -bet)], *ends]]) for bet in (0.0, 3.0))
    assert_refused(
        ((replace(war, mask=(both, both)), "who has to end it.* with a discount") for war in wars),
        solve,
        ImproperGameError,
    )


@pytest.mark.parametrize("in_turn", [False, True])
def test_games_of_local_moves_need_no_strategy_iteration(
    in_turn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markov_game, "optimize", None)
    table = local_game(40, 0.9999, in_turn)
    solution = solve(table)
    assert solution.upper - solution.lower < 1e-8
    # Shapley's equations hold in every state.
    q = solution.action_values
    if in_turn:
        q = q.reshape(-1, 4)
        value = np.where(table.action_count[0][:-1] > 1, q.max(axis=1), q.min(axis=1))
    else:
        value = solve_matrix_games(q.reshape(-1, 3, 3)).value
    np.testing.assert_allclose(value, solution.values[:-1], rtol=0, atol=1e-10)


def test_where_newtons_method_ends_in_a_wrong_place_iteration_begins_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = local_game(4, 0.5, in_turn=False)
    values = solve(table).values
    newton, wrong = markov_game.newton, []

    def mistaken(component: markov_game.GameComponent) -> markov_game.Near | None:
        near = newton(component)
        assert near is not None
        x, y = (np.repeat(1.0 / count, count) for count in component.count)
        wrong.append(replace(near, x=x, y=y, converged=True))
        return wrong[-1]

    monkeypatch.setattr(markov_game, "newton", mistaken)
    assert solve(table).values == pytest.approx(values, abs=1e-9)
    # From the side of either player.
    assert len(wrong) == 2


def test_matrix_games_that_the_compiled_method_leaves_are_solved_by_highs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = local_game(4, 0.5, in_turn=False)
    values, compiled = solve(table).values, markov_game.solve_all_stages

    def leave_most(*arguments: Any) -> tuple[Any, ...]:
        value, change, solved = compiled(*arguments)
        solved[1:] = False
        value[1:], arguments[4][3:], arguments[5][3:] = 9, 1 / 3, 1 / 3
        return value, change, solved

    monkeypatch.setattr(markov_game, "solve_all_stages", leave_most)
    np.testing.assert_allclose(solve(table).values, values, rtol=0, atol=1e-9)


SUBSETS = [states for size in (1, 2, 3) for states in combinations(range(3), size)]


@pytest.mark.parametrize("player", [0, 1])
def test_what_can_be_kept_up_for_ever_is_found_in_all_sets_of_states(player: int) -> None:
    """Play stays in a set of states if in each of them the other player has an action for that."""
    rng, sign, found = random.Random(player), 1 - 2 * player, Counter[tuple[bool, bool]]()
    both = np.array([[True, True]] * 3 + [[False, False]])
    for _ in range(300):
        rows: list[list[Row]] = [
            [
                [(0.5, rng.choice((0, 1, 2, 2, END)), rng.choice((0, 0, 0, 1, -1))) for _ in "12"]
                for _ in range(4)
            ]
            for _ in range(3)
        ]
        game = replace(table_of(rows), mask=(both, both))
        c = markov_game.component_of(game, np.arange(3), np.zeros(4))
        shares = [(share, 1 - share) for share in rng.choices((0, 0.5, 1), k=3)]
        v = [*rng.choices((-1, 0, 1), k=3), 0]
        # What may follow an action of the other player, and what it gains on the average by that.
        left: dict[tuple[int, int], tuple[set[int], bool, float]] = {}
        for s, a in product(range(3), range(2)):
            met = [
                (share * p, t, r)
                for own, share in enumerate(shares[s])
                for p, t, r in rows[s][2 * own + a if player == 0 else 2 * a + own]
                if share
            ]
            gain = -sign * sum(p * (r + v[t] - v[s]) for p, t, r in met)
            left[s, a] = {t for _, t, _ in met}, any(r for *_, r in met), gain
        improper = cancelling = False
        for states in SUBSETS:
            kept = [[left[s, a] for a in (0, 1) if left[s, a][0] <= {*states}] for s in states]
            free = all(any(not paid for _, paid, _ in own) for own in kept)
            improper |= free and all(sign * v[s] > 0 for s in states)
            lossless = [[paid for _, paid, gain in own if gain >= 0] for own in kept]
            cancelling |= all(lossless) and any(map(any, lossless))
        values, fixed = np.array([v[:3], [0.0] * 3]), np.ravel(shares)
        assert markov_game.has_improper_response(c, values, fixed, player, 1.0) == improper
        assert markov_game.has_cancelling_response(c, values, fixed, player) == cancelling
        found[improper, cancelling] += 1
    assert min(found[True, False], found[False, True]) > 5, found
