"""What is known of the small games: theorems, published values, and the boards of the books."""

from __future__ import annotations

from functools import reduce
from itertools import product
from operator import xor
from typing import Any

import numpy as np
import pytest

from solvent import solve
from solvent.games import (
    Blotto,
    EquipmentReplacement,
    Gambler,
    Inventory,
    Nim,
    RockPaperScissors,
)
from solvent.games.dyna_maze import MAZE
from solvent.games.equipment_replacement import REPLACE
from solvent.games.gambler import Capital
from solvent.games.inventory.rules import Shop
from solvent.games.racetrack import BOOK, BOOK_RIGHT
from solvent.model import compile_game


@pytest.mark.parametrize("heads", [0.1, 0.25, 0.4])
def test_bold_play_is_optimal_against_the_odds(heads: float) -> None:
    """Dubins and Savage 1965: of s < 1/2 the value is heads x that of 2 s, and so on."""
    table = compile_game(Gambler(heads=heads, goal=16))
    value = dict(zip(table.states, solve(table).values, strict=True))

    def bold(dollars: int) -> float:
        if dollars in (0, 16):
            return float(dollars == 16)
        if dollars <= 8:
            return heads * bold(2 * dollars)
        return heads + (1 - heads) * bold(2 * dollars - 16)

    for dollars in range(1, 16):
        assert value[Capital(dollars)] == pytest.approx(bold(dollars), abs=1e-12)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"horizon": 20, "worst": 30, "price": 30},
        {"horizon": 15, "wearing": [0, 1, 0, 3], "operating": 5, "scrap": 40},
    ],
)
def test_a_control_limit_is_optimal(parameters: dict[str, Any]) -> None:
    """Puterman 1994, section 4.7.5: who replaces at some wear does so at any larger one."""
    table = compile_game(EquipmentReplacement(**parameters))
    replaces = solve(table).policies[0].probabilities[:, REPLACE] == 1
    found: dict[int, list[bool]] = {}
    for replaced, state in sorted(zip(replaces, table.states, strict=True), key=lambda x: x[1]):
        found.setdefault(state.left, []).append(bool(replaced))
    assert all(by_wear == sorted(by_wear) for by_wear in found.values())
    assert sum(map(any, found.values())) > 3


EXPECTED_REWARDS = {0: [0, -1, -2, -5], 1: [5, 0, -3], 2: [6, -1], 3: [5]}
"""Of the inventory, Puterman 1994, section 3.2.2, by stock and order."""

PUBLISHED = {1: [0, 5, 6, 5], 2: [2, 25 / 4, 10, 21 / 2], 3: [n / 16 for n in (67, 129, 194, 227)]}
"""Values by periods left and stock, Puterman 1994, section 4.6.1."""

ORDERS = {1: [0, 0, 0, 0], 2: [2, 0, 0, 0], 3: [3, 0, 0, 0]}
"""The optimal orders there."""


def test_the_published_numbers_of_the_inventory() -> None:
    game = Inventory(horizon=4)
    for stock, rewards in EXPECTED_REWARDS.items():
        outcomes = [game.transition(Shop(2, stock), (order,)) for order in range(4 - stock)]
        assert [sum(o.probability * o.reward for o in found) for found in outcomes] == rewards
    table = compile_game(game)
    solution = solve(table)
    for left, values in PUBLISHED.items():
        for stock, value in enumerate(values):
            # A stock of 3 is never met in the first period, and all are in the later ones.
            state = table.index[Shop(left, stock)]
            assert solution.values[state] == value
            assert solution.policies[0].probabilities[state].argmax() == ORDERS[left][stock]


@pytest.mark.parametrize("misere", [False, True])
@pytest.mark.parametrize("heaps", [[3, 4, 5], [1, 1, 1, 2], [15, 6], [1, 1, 1, 1, 1]])
def test_boutons_theorem_in_every_position(heaps: list[int], misere: bool) -> None:
    table = compile_game(Nim(heaps, misere))
    for state, value in zip(table.states, solve(table).values.tolist(), strict=True):
        lost = reduce(xor, state.heaps) == 0
        if misere and max(state.heaps) <= 1:
            lost = not lost
        if any(state.heaps):
            wins = 1 if state.player == 0 else -1
            assert value == (-wins if lost else wins), state


@pytest.mark.parametrize("wins", [(1, 1, 1), (1, 2, 3), (7, 1, 1)])
def test_a_throw_is_as_frequent_as_the_victory_over_what_beats_it(wins: tuple[int, ...]) -> None:
    solution = solve(compile_game(RockPaperScissors(wins)))
    assert solution.value == pytest.approx(0, abs=1e-12)
    rock, paper, scissors = wins
    expected = np.array([scissors, rock, paper]) / sum(wins)
    for policy in solution.policies:
        np.testing.assert_allclose(policy.probabilities[0], expected, atol=1e-12)


@pytest.mark.parametrize(("army", "fields"), [(3, 2), (5, 3), (6, 3), (4, 4)])
def test_equal_armies_are_worth_nothing(army: int, fields: int) -> None:
    solution = solve(compile_game(Blotto([army, army], fields)))
    assert solution.value == pytest.approx(0, abs=1e-12)


def test_all_soldiers_are_divided_in_every_way() -> None:
    for own, army in zip(Blotto([5, 4], 3).divisions, (5, 4), strict=True):
        assert list(own) == [d for d in product(range(army + 1), repeat=3) if sum(d) == army]


def test_the_boards_are_those_of_the_figures() -> None:
    walls = {(r, c) for r in range(6) for c in range(9) if MAZE[r][c] == "#"}
    assert walls == {(1, 2), (2, 2), (3, 2), (4, 5), (0, 7), (1, 7), (2, 7)}
    assert (len(BOOK), {len(row) for row in BOOK}) == (32, {17})
    assert [row.count("F") for row in BOOK] == [1] * 6 + [0] * 26
    assert BOOK[-1] == "###SSSSSS########"
    assert sum(row.count("S") for row in BOOK) == 6
    assert (len(BOOK_RIGHT), {len(row) for row in BOOK_RIGHT}) == (30, {32})
    assert [row.count("F") for row in BOOK_RIGHT] == [1] * 9 + [0] * 21
    assert BOOK_RIGHT[-1] == "S" * 23 + "#" * 9
    # From the narrowest row on the track widens by a cell in each row, down to the line.
    assert [row.index(".") for row in BOOK_RIGHT[13:28]] == [*range(14, -1, -1)]
