"""The decisions of single states of a solution, against the generic solver's whole table."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from timed_football import CHART, SMALL, tiny

from solvent.exact import Solution, solve
from solvent.games.football_clock.solution import NEGLIGIBLE, TimedSolution
from solvent.model import TabularGame, compile_game

FORMS = ("two-minutes", "half", "full")


@cache
def solved(form: str) -> tuple[TimedSolution, TabularGame, Solution]:
    """A tiny game by the layers and by the generic solver."""
    clock = {} if form == "two-minutes" else {"half": 30}
    game = tiny(form, SMALL if form == "full" else CHART, timeouts=1, **clock)
    table = compile_game(game)
    return TimedSolution.of(game), table, solve(table)


@pytest.mark.parametrize("form", FORMS)
def test_optimal_actions_have_the_value_of_the_state(form: str) -> None:
    solution, table, generic = solved(form)
    live = np.random.default_rng(5).permutation(np.flatnonzero(~table.terminal))[:60]
    for s in live.tolist():
        state = table.states[s]
        for player, sign in ((0, 1), (1, -1)):
            values = solution.action_values(state, player)
            chances = solution.policy(state, player)
            assert tuple(values) == tuple(chances) == solution.game.legal_actions(state)[player]
            best = max(sign * value for value in values.values())
            assert best == pytest.approx(sign * generic.values[s], abs=1e-9)
            assert sum(chances.values()) == pytest.approx(1)
            assert all(sign * values[a] > best - NEGLIGIBLE for a, p in chances.items() if p > 0)


@pytest.mark.parametrize("form", FORMS)
def test_payoffs_of_calls_are_those_of_the_table(form: str) -> None:
    solution, table, generic = solved(form)
    compared = 0
    for s, state in enumerate(table.states):
        if state.phase == "call" and s % 3 == 0:
            payoffs = generic.action_values[table.row_start[s] : table.row_start[s + 1]]
            found = solution._payoffs(state)
            np.testing.assert_allclose(found, payoffs.reshape(found.shape), rtol=0, atol=1e-12)
            compared += 1
    assert compared > 20


def test_a_time_out_that_gains_nothing_is_kept() -> None:
    solution, table, _ = solved("two-minutes")
    timeout, even = solution.game.actions.timeout, 0
    for state in [at for at in table.states if at.phase == "time-out"][:400]:
        values = solution.action_values(state, state.asked)
        if abs(values[timeout] - values[timeout + 1]) < NEGLIGIBLE / 2:
            even += 1
            assert solution.policy(state, state.asked) == {timeout: 0.0, timeout + 1: 1.0}
    assert even > 10
