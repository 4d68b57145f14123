"""Strategies of single states, solved in batches, against the matrix games of the rules."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import timed_football

from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.solver.call_sheet import call_sheet
from solvent.games.football_clock.layout import place_of
from solvent.games.football_clock.solution import TimedSolution
from solvent.games.football_clock.solver.state_strategies import (
    States,
    rate_kicks,
    rate_options,
    solve_calls,
    solved_from,
)
from solvent.model import compile_game

# The second has plays that score more points than any usual one.
GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("second-half", {"timeouts": 1}),
    ("full", {"half": 30, "rules": {**timed_football.RULES, "touchdown": 20, "safety": 7}}),
    ("half", {"timeouts": 1}),
)


@pytest.fixture(
    scope="module",
    params=[
        # The second half is a part of the whole game.
        pytest.param(game, id=game[0], marks=pytest.mark.slow if n == 0 else [])
        for n, game in enumerate(GAMES)
    ],
)
def solution(request: pytest.FixtureRequest) -> TimedSolution:
    form, parameters = request.param
    game = timed_football.tiny(form, **parameters)
    return TimedSolution.of(game)


def positions(solution: TimedSolution, phase: str) -> list[TimedPosition]:
    """Positions in a phase that play comes to, player 0 having the ball: three hundred at most."""
    found = [
        state
        for state in compile_game(solution.game, reference=True).states
        if state.phase == phase and state.offence == 0
    ]
    random.Random(1).shuffle(found)
    return found[:300]


def states_of(solution: TimedSolution, found: list[TimedPosition]) -> States:
    # A layer holds no choices; where one is made does not depend on its phase.
    held = [state._replace(phase="call") if state.phase == "choice" else state for state in found]
    places = [place_of(solution.layout, state) for state in held]
    columns = [
        (at.layer.half, at.layer.ticks, at.layer.own, at.layer.other, at.row, at.column)
        for at in places
    ]
    return States(*(np.array(column) for column in zip(*columns, strict=True)))


def test_strategies_are_optimal_in_the_matrix_of_the_rules(solution: TimedSolution) -> None:
    found = positions(solution, "call")
    chart = solution.game.loaded_chart
    offence = np.zeros((len(found), chart.plays + 3))
    defence = np.zeros((len(found), chart.defences))
    solve_calls(solved_from(solution), states_of(solution, found), offence, defence)
    assert offence.sum(axis=1) == pytest.approx(1)
    assert defence.sum(axis=1) == pytest.approx(1)
    mixed = 0
    for state, x, y in zip(found, offence, defence, strict=True):
        layer = call_sheet(solution, state)
        own = x[list(layer.actions[0])]
        assert own.sum() == pytest.approx(1)
        value = solution.value_of(state)
        assert (own @ layer.payoff).min() == pytest.approx(value, abs=1e-11)
        if own.max() < 1:
            # Where a field goal or a declaration is best, the defence answers the other calls.
            assert (layer.payoff @ y).max() == pytest.approx(value, abs=1e-11)
            mixed += 1
    assert mixed > 5


def test_kicks_are_worth_what_the_rules_say(solution: TimedSolution) -> None:
    found = positions(solution, "kickoff")
    states = states_of(solution, found)
    assert (states.row == solution.layout.kickoff_row).all()
    worth = np.zeros((len(found), 2))
    rate_kicks(solved_from(solution), states, worth)
    shift = 0.0 if solution.layout.for_points else 0.5
    for state, kicks in zip(found, worth, strict=True):
        assert kicks.max() + shift == pytest.approx(solution.value_of(state), abs=1e-12)


def test_options_are_worth_what_the_rules_say(solution: TimedSolution) -> None:
    found = positions(solution, "choice")
    results = {
        result.code: number
        for number, result in enumerate(solution.game.loaded_chart.results)
        if result.options
    }
    worth = np.zeros((len(found), 2))
    numbers = np.array([results[state.choice] for state in found])
    rate_options(solved_from(solution), states_of(solution, found), numbers, worth)
    shift = 0.0 if solution.layout.for_points else 0.5
    seen = set()
    for state, options in zip(found, worth, strict=True):
        mine = solution.game.who_decides(state) == state.offence
        best = options.max() if mine else options.min()
        assert best + shift == pytest.approx(solution.value_of(state), abs=1e-12)
        seen.add(mine)
    assert seen == {True, False}
