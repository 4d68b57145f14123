"""The rules of Jack's car rental, one by one."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, factorial

import numpy as np
import pytest

from solvent.exact import solve
from solvent.games import CarRental
from solvent.games.car_rental.rules import PARTS, Cars, at_most, day
from solvent.model import compile_game, discounted
from solvent.model.arrays import Floats
from solvent.model.checks import check_table

NONE = 5
"""The action that moves none."""


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


def test_only_cars_that_are_there_are_moved() -> None:
    game = CarRental()
    assert game.legal_actions(Cars(0, 0)) == ((NONE,),)
    assert game.legal_actions(Cars(2, 0)) == ((NONE, NONE + 1, NONE + 2),)
    assert game.legal_actions(Cars(0, 1)) == ((NONE - 1, NONE),)
    assert game.legal_actions(Cars(20, 20)) == (tuple(range(11)),)
    assert game.info.actions[0][NONE] == "move none"
    assert game.info.actions[0][NONE + 2] == "2 to the second"
    assert game.info.actions[0][NONE - 3] == "3 to the first"


def rent(first: int, second: int, capacity: int = 20) -> Fraction:
    """What a morning lets expect."""
    return Fraction(day(capacity, 3, 3).rent[first] + day(capacity, 4, 2).rent[second], PARTS)


def reward(game: CarRental, state: Cars, moved: int) -> Fraction:
    [found] = {outcome.reward for outcome in game.transition(state, (NONE + moved,))}
    return found


def test_a_moved_car_costs_2_and_is_there_in_the_morning() -> None:
    game = CarRental()
    assert reward(game, Cars(4, 7), 0) == rent(4, 7)
    assert reward(game, Cars(4, 7), 3) == rent(1, 10) - 6
    assert reward(game, Cars(4, 7), -2) == rent(6, 5) - 4


def test_cars_beyond_the_capacity_leave() -> None:
    assert reward(CarRental(), Cars(5, 18), 5) == rent(0, 20) - 10
    assert reward(CarRental(8), Cars(8, 8), -1) == rent(8, 7, 8) - 2


def test_the_shuttle_takes_one_car_to_the_second_location() -> None:
    game = CarRental(shuttle=True)
    for moved, cost in ((3, 4), (1, 0), (0, 0), (-2, 4)):
        assert reward(game, Cars(8, 8), moved) == rent(8 - moved, 8 + moved) - cost


def test_more_than_10_cars_need_a_second_lot() -> None:
    game = CarRental(parking=True)
    assert reward(game, Cars(10, 10), 0) == rent(10, 10)
    assert reward(game, Cars(10, 10), 1) == rent(9, 11) - 2 - 4
    assert reward(game, Cars(12, 12), 0) == rent(12, 12) - 8


def test_both_locations_are_independent() -> None:
    game = CarRental()
    found = {o.state: o.probability for o in game.transition(Cars(6, 4), (NONE,))}
    one, other = day(20, 3, 3).parts[6], day(20, 4, 2).parts[4]
    for state, p in found.items():
        assert p * PARTS**4 == one[state.first] * other[state.second]
    assert sum(found.values()) == 1
