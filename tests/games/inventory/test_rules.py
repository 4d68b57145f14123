"""The rules of Puterman's inventory, and every number of his section 4.6.1."""

from __future__ import annotations

from fractions import Fraction

from solvent import solve
from solvent.games import Inventory
from solvent.games.inventory.rules import Shop
from solvent.model import Outcome, compile_game

GAME = Inventory()

EXPECTED_REWARDS = {0: [0, -1, -2, -5], 1: [5, 0, -3], 2: [6, -1], 3: [5]}
"""Puterman 1994, section 3.2.2, by stock and order."""

PUBLISHED = {
    1: [0, 5, 6, 5],
    2: [2, Fraction(25, 4), 10, Fraction(21, 2)],
    3: [Fraction(n, 16) for n in (67, 129, 194, 227)],
}
"""Values by periods left and stock, Puterman 1994, section 4.6.1."""

ORDERS = {1: [0, 0, 0, 0], 2: [2, 0, 0, 0], 3: [3, 0, 0, 0]}
"""The optimal orders there."""


def test_the_expected_rewards_are_those_of_the_book() -> None:
    for stock, rewards in EXPECTED_REWARDS.items():
        [orders] = GAME.legal_actions(Shop(2, stock))
        found = [
            sum(o.probability * o.reward for o in GAME.transition(Shop(2, stock), (order,)))
            for order in orders
        ]
        assert found == rewards


def test_what_is_demanded_is_sold_as_far_as_it_lasts() -> None:
    quarter = Fraction(1, 4)
    # Orders of 1 cost 4 + 2, goods of 2 cost 2, each that is sold brings 8.
    assert GAME.transition(Shop(2, 1), (1,)) == (
        Outcome(quarter, Shop(1, 2), -8),
        Outcome(2 * quarter, Shop(1, 1), 0),
        Outcome(quarter, Shop(1, 0), 8),
    )
    assert GAME.transition(Shop(1, 1), (0,)) == (
        Outcome(quarter, Shop(0, 1), -1),
        Outcome(3 * quarter, Shop(0, 0), 7),
    )


def test_the_published_values_and_orders() -> None:
    table = compile_game(Inventory(horizon=4))
    solution = solve(table)
    for left, values in PUBLISHED.items():
        for stock, value in enumerate(values):
            # A stock of 3 is never met in the first period, and all are in the later ones.
            state = table.index[Shop(left, stock)]
            assert solution.values[state] == float(value)
            order = int(solution.policies[0].probabilities[state].argmax())
            assert order == ORDERS[left][stock]
