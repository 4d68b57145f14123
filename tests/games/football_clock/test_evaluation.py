"""Values of policies of football with a clock against each other and against best responses."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from timed_football import SMALL, tiny
from timed_policies import AlikeInRuns, LayersOfTable, random_policy

from solvent.exact import best_response, policy_value
from solvent.games.football_clock.evaluation import evaluate, evaluate_pairs
from solvent.games.football_clock.layout import Layer, layout_for
from solvent.games.football_clock.optimal import OptimalLayers
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solution import TimedSolution
from solvent.model import TabularGame, compile_game
from solvent.model.arrays import Floats

FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("two-minutes", {"timeouts": 1, "chart": SMALL}),
    ("half", {"half": 30, "timeouts": 1}),
    ("half", {"half": 60, "stops": [30], "untimed_down": False}),
    ("second-half", {"half": 30, "timeouts": 1, "chart": SMALL, "margin": -3}),
    ("full", {"half": 30, "chart": SMALL}),
)
NUMBERS = [
    # Every form once, but for the second half, which is a part of the whole game.
    pytest.param(
        number, id=f"{form}-{number}", marks=[pytest.mark.slow] if number in (2, 3) else []
    )
    for number, (form, _) in enumerate(FORMS)
]


@lru_cache(maxsize=1)
def tabulated(number: int) -> tuple[TimedFootball, TabularGame]:
    form, parameters = FORMS[number]
    football = tiny(form, **parameters)
    return football, compile_game(football)


@pytest.mark.parametrize("number", NUMBERS)
def test_two_random_policies(number: int) -> None:
    football, game = tabulated(number)
    layout, start = layout_for(football), football.initial()[0].state
    given = [[random_policy(game, player, seed) for player in (0, 1)] for seed in (1, 2)]
    of_x, of_y = (
        [LayersOfTable(football, game, policy, layout) for policy in seats] for seats in given
    )
    result = evaluate(layout, start, of_x[0], of_y[1])
    expected = game.at_start(policy_value(game, given[0][0], given[1][1]))
    assert result.first == pytest.approx(expected, abs=1e-12)
    result = evaluate(layout, start, of_x[1], of_y[0], threads=1)
    expected = game.at_start(policy_value(game, given[1][0], given[0][1]))
    even = 0.0 if layout.for_points else 1.0
    assert result.second == pytest.approx(even - expected, abs=1e-12)


@pytest.mark.parametrize("number", NUMBERS)
def test_best_response_to_a_random_policy(number: int) -> None:
    football, game = tabulated(number)
    layout, start = layout_for(football), football.initial()[0].state
    for player in (0, 1):
        policy = random_policy(game, player, 3)
        given = LayersOfTable(football, game, policy, layout)
        expected = game.at_start(best_response(game, policy).values)
        result = evaluate(layout, start, given, None)
        even = 0.0 if layout.for_points else 1.0
        to_player_0 = result.first if player == 0 else even - result.second
        assert to_player_0 == pytest.approx(expected, abs=1e-12)
        swapped = evaluate(layout, start, None, given)
        other = swapped.second if player == 0 else swapped.first
        assert other == pytest.approx(even - to_player_0 if player == 0 else to_player_0, abs=1e-12)


@pytest.mark.parametrize("number", NUMBERS)
def test_optimal_player_gets_the_value(number: int) -> None:
    football, _ = tabulated(number)
    layout, start = layout_for(football), football.initial()[0].state
    solution = TimedSolution.of(football)
    optimal = OptimalLayers(layout, solution.values)
    layers: dict[Layer, Floats] = {}
    pairs = [(optimal, optimal)]
    [result] = evaluate_pairs(layout, start, pairs, on_layer=layers.__setitem__)
    assert result.first == pytest.approx(solution.value, abs=1e-12)
    for layer, values in layers.items():
        np.testing.assert_allclose(values[0], [solution.values(layer)] * 2, atol=1e-12)
    answered = evaluate(layout, start, optimal, None)
    assert answered.first == pytest.approx(solution.value, abs=1e-12)
    assert answered.second == pytest.approx(result.second, abs=1e-12)


def test_pairs_get_what_they_get_alone_and_a_policy_is_asked_once() -> None:
    football = tiny("second-half", timeouts=1, half=30, chart=SMALL)
    layout, start = layout_for(football), football.initial()[0].state
    x, y, z = (AlikeInRuns(layout, seed, 4, True) for seed in (1, 2, 3))
    pairs = [(x, y), (x, None), (z, x), (None, z)]
    alone = [evaluate(layout, start, *pair) for pair in pairs]
    x.asked.clear()
    together = evaluate_pairs(layout, start, pairs)
    assert [(one.first, one.second) for one in together] == [
        (one.first, one.second) for one in alone
    ]
    # The tiny field is one block.
    assert len(x.asked) == len(set(x.asked)) == len(layout.layers)
