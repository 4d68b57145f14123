"""The table of Jack's car rental, and its Poisson numbers."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import exp, factorial

import numpy as np
import pytest

from solvent.exact import solve
from solvent.games import CarRental
from solvent.games.car_rental.rules import PARTS, at_most, day
from solvent.model import compile_game, discounted
from solvent.model.arrays import Floats
from solvent.model.checks import check_table


@pytest.mark.parametrize("game", [CarRental(6), CarRental(12, shuttle=True, parking=True)])
def test_the_table_is_that_of_the_rules(game: CarRental) -> None:
    if game.capacity < 10:
        check_table(game)
    table = compile_game(game)
    for s in (0, 5, table.n_states - 1):
        row = int(table.row_start[s])
        outcomes = game.transition(table.states[s], (int(table.row_action[0][row]),))
        found = slice(table.outcome_start[row], table.outcome_start[row + 1])
        assert [table.states[i] for i in table.next_state[found]] == [o.state for o in outcomes]
        assert table.probability[found].tolist() == [float(o.probability) for o in outcomes]
        assert table.outcome_reward[found].tolist() == [float(o.reward) for o in outcomes]


def test_no_tail_is_cut_off() -> None:
    assert [n / PARTS for n in at_most(2, 3)] == pytest.approx(
        [exp(-3), 3 * exp(-3), 1 - 4 * exp(-3)], rel=1e-15
    )
    assert at_most(0, 3) == (PARTS,)
    for mean in (2, 3, 4):
        assert sum(at_most(20, mean)) == PARTS


@cache
def poisson_day(requests: int, returns: int) -> tuple[Floats, Floats]:
    """The probabilities [21, 21] and the rent [21], by sums over all numbers up to 60.

    Beyond those there is less than 1e-40.
    """

    def poisson(mean: int, n: int) -> float:
        return exp(-mean) * mean**n / factorial(n)

    probability, rent = np.zeros((21, 21)), np.zeros(21)
    for morning, asked in product(range(21), range(60)):
        rent[morning] += poisson(requests, asked) * 10 * min(asked, morning)
        for back in range(60):
            evening = min(morning - min(asked, morning) + back, 20)
            probability[morning, evening] += poisson(requests, asked) * poisson(returns, back)
    return probability, rent


@pytest.mark.parametrize(("requests", "returns"), [(3, 3), (4, 2)])
def test_a_day_is_that_of_poisson_numbers(requests: int, returns: int) -> None:
    found, (probability, rent) = day(20, requests, returns), poisson_day(requests, returns)
    assert (found.parts.sum(axis=1) == PARTS**2).all()
    np.testing.assert_allclose((found.parts / PARTS**2).astype(float), probability, rtol=1e-14)
    np.testing.assert_allclose([n / PARTS for n in found.rent], rent, rtol=1e-14)


def poisson_optimum(game: CarRental) -> float:
    """The optimum at a discount of 0.9, by value iteration over both locations at once."""
    (p, earned), (q, other) = poisson_day(3, 3), poisson_day(4, 2)
    first, second = np.indices((21, 21))
    values = np.zeros((21, 21))
    for _ in range(400):
        ahead = earned[:, None] + other + 0.9 * p @ values @ q.T
        if game.parking:
            ahead -= 4.0 * (first > 10) + 4.0 * (second > 10)
        values = np.max(
            [
                np.where(
                    (moved <= first) & (-moved <= second),
                    ahead[(first - moved).clip(0, 20), (second + moved).clip(0, 20)]
                    - 2 * (abs(moved) - (game.shuttle and moved > 0)),
                    -np.inf,
                )
                for moved in range(-5, 6)
            ],
            axis=0,
        )
    return float(values.mean())


def test_the_bracket_holds_for_the_problem_as_it_is_described() -> None:
    """The table was rounded to 2**-26, and the values were 5e-8 to 2e-6 beside the brackets."""
    for both in (False, True):
        game = CarRental(shuttle=both, parking=both)
        solution = solve(discounted(game, 0.9))
        assert solution.upper - solution.lower < 1e-9, game
        assert solution.lower < poisson_optimum(game) < solution.upper, game
