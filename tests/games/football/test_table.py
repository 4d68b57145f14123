"""The whole drive of Football Strategy as a table, through the generic solver."""

from __future__ import annotations

import pytest

from solvent.exact import exploitability, nash_conv, policy_value, solve
from solvent.games.football.rules import FootballStrategy
from solvent.model import TabularPolicy


@pytest.mark.slow
def test_the_whole_drive() -> None:
    """One component of over 100,000 states, five million pairs of calls."""
    table = FootballStrategy(form="drive").tabulate()
    assert table.n_states > 100_000
    solution = solve(table)
    assert solution.upper - solution.lower <= 1e-9
    assert nash_conv(table, *solution.policies) == pytest.approx(0, abs=1e-9)

    uniform = [TabularPolicy.uniform(table, player=player) for player in (0, 1)]
    worth = table.at_start(policy_value(table, *uniform))
    lost = [exploitability(table, policy, solution) for policy in uniform]
    assert solution.value - lost[0] < worth < solution.value + lost[1]
    assert min(lost) > 1
