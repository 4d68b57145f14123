"""What every decision is worth in one position, against the generic solver's whole table."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from timed_football import CHART, SMALL, tiny

from solvent.exact import Solution, solve
from solvent.games import make_game
from solvent.games.football_clock.position import TimedPosition
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.call_sheet import (
    NEGLIGIBLE,
    action_values,
    call_sheet,
    optimal_strategy,
)
from solvent.games.football_clock.layout import layout_for
from solvent.games.football_clock.solution import TimedSolution
from solvent.model import TabularGame, compile_game

FORMS = ("two-minutes", "half", "full")


@cache
def solved(form: str) -> tuple[TimedSolution, TabularGame, Solution]:
    """A tiny game by the kernel and by the generic solver."""
    short: dict[str, Any] = {} if form == "two-minutes" else {"half": 30}
    game = tiny(form, SMALL if form == "full" else CHART, timeouts=1, **short)
    table = compile_game(game)
    return TimedSolution.of(game), table, solve(table)


def positions(table: TabularGame, count: int = 60) -> list[TimedPosition]:
    """Some in which play goes on."""
    live = np.flatnonzero(~table.terminal)
    drawn = np.random.default_rng(5).permutation(live)[:count]
    return [table.states[s] for s in drawn]  # type: ignore[misc]


def to_player(game: TimedFootball, value: float, player: int) -> float:
    if player == 0:
        return value
    return -value if game.for_points else 1 - value


@pytest.mark.parametrize("form", FORMS)
def test_the_best_action_is_worth_what_the_position_is(form: str) -> None:
    solution, table, generic = solved(form)
    for position in positions(table):
        value = generic.values[table.index[position]]
        for player in (0, 1):
            values = action_values(solution, position, player)
            assert tuple(values) == solution.game.legal_actions(position)[player]
            expected = to_player(solution.game, value, player)
            assert max(values.values()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_the_payoffs_are_those_of_the_generic_table(form: str) -> None:
    solution, table, generic = solved(form)
    calls = [position for position in positions(table, 150) if position.phase == "call"]
    assert len(calls) > 20
    for position in calls:
        sheet = call_sheet(solution, position)
        s = table.index[position]
        rows = np.arange(table.row_start[s], table.row_start[s + 1])
        counts = [table.action_count[player][s] for player in (0, 1)]
        payoff = generic.action_values[rows].reshape(counts)
        if position.offence == 1:
            payoff = to_player(solution.game, payoff, 1).T  # type: ignore[arg-type]
        assert sheet.payoff == pytest.approx(payoff, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_in_an_optimal_strategy_costs_anything(form: str) -> None:
    solution, table, _ = solved(form)
    for position in positions(table):
        for player in (0, 1):
            strategy = optimal_strategy(solution, position, player)
            assert sum(strategy.values()) == pytest.approx(1)
            values = action_values(solution, position, player)
            assert all(values[a] > max(values.values()) - NEGLIGIBLE for a in strategy)


def test_a_time_out_that_gains_nothing_is_kept() -> None:
    solution, table, _ = solved("two-minutes")
    asked = [p for p in table.states if p.phase == "time-out"]  # type: ignore[attr-defined]
    even = 0
    for position in asked[:400]:
        values = action_values(solution, position, position.asked)
        timeout = solution.game.actions.timeout
        if abs(values[timeout] - values[timeout + 1]) < NEGLIGIBLE / 2:
            even += 1
            assert optimal_strategy(solution, position, position.asked) == {timeout + 1: 1.0}
    assert even > 10


def test_a_call_sheet_is_for_calls_only() -> None:
    solution, _, _ = solved("half")
    with pytest.raises(ValueError, match="phase is 'kickoff'"):
        call_sheet(solution, solution.start)


@pytest.mark.slow
@pytest.mark.parametrize("chart", ["standard", "dice"])
def test_the_solution_of_a_shipped_chart_is_optimal_by_the_rules(chart: str) -> None:
    # One step of the rules in rationals from the solution's own values gives its values again.
    clock = {"half": 30, "stops": [], "timeouts": 1}
    game = make_game("football-strategy", form="half", chart=chart, clock=clock)
    assert isinstance(game, TimedFootball)
    layout = layout_for(game)
    solution = TimedSolution.of(game)
    rng = np.random.default_rng(7)
    for row in rng.integers(layout.kickoff_row, size=60).tolist():
        ticks = int(rng.integers(3))
        own, other = rng.integers(2, size=2).tolist() if ticks else (0, 0)
        situation = layout.rules.situation_at(row)
        position = TimedPosition("call", 2, ticks, timeouts=(own, other), **situation._asdict())
        stored = layout.moment(2, ticks, own, other)
        value = solution.values(stored)[row, 0]
        assert call_sheet(solution, position).strategies.value == pytest.approx(value, abs=1e-11)
