"""How much the published agent gives away on the standard chart, exactly."""

from __future__ import annotations

import pytest

from solvent.baselines.timed_football_agent import AgentSheets
from solvent.exact.kernels.timed_football.evaluation import evaluate
from solvent.exact.kernels.timed_football.optimal import OptimalSheets
from solvent.exact.kernels.timed_football.solution import TimedSolution, layout_for
from solvent.exact.kernels.timed_football.solve import solve_layout
from solvent.exact.kernels.timed_football.store import SheetStore
from solvent.games.football.timed import TimedFootball


@pytest.mark.slow
def test_the_published_agent_in_the_last_two_minutes() -> None:
    football = TimedFootball(form="two-minutes", timeouts=0)
    layout, [begin] = layout_for(football), football.initial()
    store = SheetStore(layout)
    solve_layout(layout, store)
    solution = TimedSolution(store, football)
    agent, optimal = AgentSheets(layout), OptimalSheets(layout, solution.values)
    against_optimal = evaluate(layout, begin.state, agent, optimal)
    assert against_optimal.first == pytest.approx(0.4922, abs=1e-4)
    assert against_optimal.second == pytest.approx(0.4650, abs=1e-4)
    at_worst = evaluate(layout, begin.state, agent, None)
    assert at_worst.average < against_optimal.average - 0.05
