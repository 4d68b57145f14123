"""The closed formulas, errata mended, equal the solver and exact policy evaluation."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from johnston import (
    victory_with_constant_luck,
    victory_without_luck,
)

from solvent.baselines import make_baseline
from solvent.exact import GameTree, policy_value, solve, solve_tree
from solvent.games import FightingFantasy
from solvent.games.fighting_fantasy.rules import (
    check_rounds,
    decided,
    decided_round,
    luck_succeeds,
    round_probabilities,
)
from solvent.model import compile_game

GRID = [(hero, opponent) for hero in range(1, 25, 3) for opponent in range(1, 25, 3)]


def test_equation_6_equals_the_solver_exactly() -> None:
    for difference, hero, opponent in product((-10, -3, 0, 2, 10), (1, 4, 7), (2, 5, 8)):
        game = GameTree(FightingFantasy(difference, hero, opponent, 0))
        exact = solve_tree(game.choices, game.score, game.start).value
        assert victory_without_luck(round_probabilities(difference), hero, opponent) == exact


@pytest.mark.parametrize(
    "rounds", [("1/3", "1/6", "1/2"), (0.7, 0, 0.3), (0, "1/2", "1/2"), ("1/4", "3/4", 0)]
)
def test_equations_6_and_13_hold_for_any_probabilities_of_a_round(rounds: tuple[Any, ...]) -> None:
    exact = check_rounds(rounds)
    for hero, opponent in np.ndindex(7, 7):
        value = victory_without_luck(exact, hero + 1, opponent + 1)
        # Without LUCK nothing is decided, so that the game itself is worth the same.
        game = FightingFantasy(0, hero + 1, opponent + 1, 0, round_probabilities=rounds)
        if (hero + opponent) % 5 == 0:
            assert solve(compile_game(game)).value == pytest.approx(float(value), abs=1e-14)
    game = FightingFantasy(0, [1, 7], [1, 7], 8, round_probabilities=rounds, luck_cost=0)
    table = compile_game(game)
    values = policy_value(table, make_baseline("offensive", table))
    for hero, opponent in np.ndindex(7, 7):
        expected = sum(
            float(p) * values[table.index[(0, hero + 1, opponent + 1, 8, outcome)]]
            for outcome, p in decided(exact).items()
        )
        formula = victory_with_constant_luck(exact, luck_succeeds(8), hero + 1, opponent + 1)
        assert float(formula) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("difference", "luck"), [(-2, 12), (-2, 7), (0, 9), (3, 5), (0, 1)])
def test_equation_13_equals_exact_policy_evaluation(difference: int, luck: int) -> None:
    table = compile_game(FightingFantasy(difference, [1, 14], [1, 14], luck, luck_cost=0))
    values = policy_value(table, make_baseline("offensive", table))
    start = decided_round(difference).items()
    rounds = round_probabilities(difference)
    for hero, opponent in np.ndindex(14, 14):
        expected = sum(
            float(p) * values[table.index[(difference, hero + 1, opponent + 1, luck, outcome)]]
            for outcome, p in start
        )
        formula = victory_with_constant_luck(rounds, luck_succeeds(luck), hero + 1, opponent + 1)
        assert float(formula) == pytest.approx(expected, abs=1e-13)


def test_equation_13_as_printed_is_no_probability() -> None:
    rounds = round_probabilities(0)
    mended = victory_with_constant_luck(rounds, luck_succeeds(11), 12, 12)
    printed = victory_with_constant_luck(rounds, luck_succeeds(11), 12, 12, as_printed=True)
    assert float(mended) == pytest.approx(0.846031, abs=5e-7)
    assert float(printed) == pytest.approx(10.643652, abs=5e-7)
