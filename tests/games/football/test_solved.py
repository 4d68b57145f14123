"""The kernels' solution as a solved game: the same as the table's, state by state."""

from __future__ import annotations

import pytest
from reduced_football import BACKWARDS, MIXED, reduced

from solvent.exact import SolvedGame, SolvedTable, solve
from solvent.games.football.chart import Chart
from solvent.games.football.packed import pack_rules
from solvent.games.football.solver.points import solve_points
from solvent.games.football.solver.solved import solve_football
from solvent.model import compile_game


@pytest.mark.parametrize(
    ("form", "chart"), [("drive", BACKWARDS), ("drive", MIXED), ("points", MIXED)]
)
def test_the_kernels_agree_with_the_table_in_every_state(form: str, chart: Chart) -> None:
    game = reduced(form, chart)
    if form == "points":
        rules = pack_rules(game.loaded_chart, game.loaded_ruleset)
        game = reduced(form, chart, kickoff_value=solve_points(rules).kickoff_value)
    solved = solve_football(game)
    assert isinstance(solved, SolvedGame)
    table = compile_game(game)
    other = SolvedTable(game, table, solve(table))
    assert solved.lower <= other.value <= solved.upper
    assert solved.value == pytest.approx(other.value, abs=1e-9)
    for state in table.states:
        assert solved.value_of(state) == pytest.approx(other.value_of(state), abs=1e-8)
        if game.is_terminal(state):
            continue
        for player in (0, 1):
            values, legal = solved.action_values(state, player), game.legal_actions(state)[player]
            policy = solved.policy(state, player)
            assert tuple(values) == tuple(policy) == legal
            assert sum(policy.values()) == pytest.approx(1)
            # What it plays is as good as the best, to 0 or to 1.
            best = max(values.values()) if player == 0 else min(values.values())
            assert best == pytest.approx(other.value_of(state), abs=1e-8)
            own = sum(share * values[action] for action, share in policy.items())
            assert own == pytest.approx(best, abs=1e-8)
