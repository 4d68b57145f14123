"""Football in which each side plays from a chart of its own, against the generic solver."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from reduced_football import MIXED, RULES, random_chart

from solvent.exact import Solution, best_response, policy_value, solve
from solvent.games.football.baselines.players import BASELINES
from solvent.games.football.chart import Chart
from solvent.games.football.chart_files import load_chart
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.packed import PackedRules, pack_rules
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.points import (
    PointsSolution,
    solve_drive,
    solve_two_charts,
)
from solvent.games.football.solver.table import FootballTable
from solvent.model import TabularPolicy, compile_game
from solvent.report import write_report

PAGE = (Path(__file__).parents[3] / "docs/games/football-charts.md").read_text("utf-8")
RULESET = Ruleset.read(RULES)

WIDE = Chart.from_codes(
    "wide",
    [
        ["3", "1", "fum", "off1/3"],
        ["inc", "4 * 1 | int2 * 1", "2", "0"],
        ["5", "-1", "2 * 2 | fum * 1", "def1"],
        ["1", "2", "3", "long"],
    ],
    ["punt4", "punt3", "punt4", "punt5"],
    ["punt6", "punt5", "block * 1 | punt5 * 2", "punt4"],
)
"""More plays and more defences than the others have."""

PAIRS = ((random_chart(0), MIXED), (MIXED, WIDE), (random_chart(1), random_chart(2)))


@cache
def rules_of(chart: Chart) -> PackedRules:
    return pack_rules(chart, RULESET)


@cache
def solved(chart: Chart, other: Chart) -> tuple[PointsSolution, PointsSolution]:
    return solve_two_charts(rules_of(chart), rules_of(other))


def expected_points(chart: Chart, other: Chart) -> ExpectedPoints:
    ours, theirs = solved(chart, other)
    there = theirs.expected_points(rules_of(other), situations=True)
    return ours.expected_points(rules_of(chart), situations=True, other=there)


def until_score(chart: Chart, other: Chart, kickoff: float) -> FootballStrategy:
    return FootballStrategy(chart, "points", RULESET, kickoff_value=kickoff, other_chart=other)


@pytest.mark.parametrize(("chart", "other"), PAIRS, ids=lambda chart: chart.name)
def test_the_values_of_both_sides_are_those_of_the_generic_solver(
    chart: Chart, other: Chart
) -> None:
    ours, theirs = solved(chart, other)
    table = compile_game(until_score(chart, other, ours.kickoff_value))
    generic = solve(table)
    # Player 0 receives the kickoff.
    assert generic.value == pytest.approx(ours.kickoff_value + ours.gain, abs=1e-9)
    assert min(ours.kicks) == pytest.approx(generic.value, abs=1e-9)
    compared = [0, 0]
    for state, value in zip(table.states, generic.values.tolist(), strict=True):
        if state.phase == "call":
            side = (ours, theirs)[state.offence]
            s = rules_of(chart).index(Situation(*state.situation))
            assert side.values[s] * (-1) ** state.offence == pytest.approx(value, abs=1e-9)
            compared[state.offence] += 1
    assert min(compared) > 20
    assert ours.lower < ours.kickoff_value < ours.upper
    assert max(ours.error.max(), theirs.error.max()) < 1e-7


def start_value(game: FootballStrategy, solution: Solution) -> float:
    """Of a solution's strategies in a game with the same states and another K."""
    table = compile_game(game)
    first, second = (
        TabularPolicy.of(table, solution.policies[player].probabilities, player=player)
        for player in (0, 1)
    )
    return float(table.initial @ policy_value(table, first, second))


@pytest.mark.parametrize(("chart", "other"), PAIRS, ids=lambda chart: chart.name)
def test_the_gain_is_what_scores_bring_on_average(chart: Chart, other: Chart) -> None:
    """By the chain of kickoffs, whose state is who receives, under both sides' equilibria."""
    points, next_to_receive = [], []
    for own, its in ((chart, other), (other, chart)):
        solution = solve(compile_game(until_score(own, its, solved(own, its)[0].kickoff_value)))
        # Who scores pays K: with 0 there are points only, with 1 it is seen who does.
        scored, seen = (start_value(until_score(own, its, k), solution) for k in (0.0, 1.0))
        points.append(scored)
        # The receiver of this kickoff receives the next one if the other side scores.
        next_to_receive.append((1 + seen - scored) / 2)
    again, again_the_other = next_to_receive
    share = (1 - again_the_other) / (2 - again - again_the_other)
    gain = share * points[0] - (1 - share) * points[1]
    assert solved(chart, other)[0].gain == pytest.approx(gain, abs=1e-8)
    assert abs(gain) > 0.1


@pytest.mark.parametrize(("chart", "other"), PAIRS, ids=lambda chart: chart.name)
def test_a_drive_and_a_play_are_worth_what_the_endless_game_is_worth(
    chart: Chart, other: Chart
) -> None:
    ours, points = solved(chart, other)[0], expected_points(chart, other)
    assert solve_drive(rules_of(chart), points).values == pytest.approx(ours.values, abs=1e-9)
    for form in ("drive", "play"):
        game = compile_game(
            FootballStrategy(chart, form, RULESET, points, to_goal=[1, 8], other_chart=other)
        )
        for state, value in zip(game.states, solve(game).values.tolist(), strict=True):
            if state.phase == "call":
                s = rules_of(chart).index(Situation(*state.situation))
                assert value == pytest.approx(ours.values[s], abs=1e-9)


def test_what_is_for_one_chart_refuses_two(tmp_path: Path) -> None:
    chart, other = PAIRS[1]
    points = expected_points(chart, other)
    game = FootballStrategy(chart, "points", RULESET, points, other_chart=other)
    table = compile_game(game)
    with pytest.raises(ValueError, match=r"where both sides play from one chart; .*'mixed' and"):
        FootballTable.of(table, game)
    with pytest.raises(ValueError, match="report on form 'points' is for both sides on one chart"):
        write_report(game, tmp_path / "page.html")
    assert not BASELINES["paper-agent"].suits(table, 0)


def test_the_optimum_of_two_charts_is_the_generic_solvers() -> None:
    chart, other = PAIRS[1]
    points = expected_points(chart, other)
    game = compile_game(FootballStrategy(chart, "points", RULESET, points, other_chart=other))
    value = points.kickoff + solved(chart, other)[0].gain
    for player in (0, 1):
        policy = BASELINES["optimal"].make(game, player)
        assert best_response(game, policy).value == pytest.approx(value, abs=1e-8)


@pytest.mark.slow
def test_the_python_of_the_page_solves_two_charts() -> None:
    namespace: dict[str, Any] = {}
    for code in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(code, "football-charts.md", "exec"), namespace)
    game = FootballStrategy(expected_points=namespace["values"], other_chart="dice")
    assert game.loaded_points.other_side.chart == "dice"


@pytest.mark.slow
def test_the_page_states_what_two_shipped_charts_give() -> None:
    rows = re.findall(r"^\| `(\w+)` against `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for chart, other, figures in rows:
        rules = [pack_rules(load_chart(name), Ruleset()) for name in (chart, other)]
        ours, theirs = solve_two_charts(*rules)
        first_and_ten = [rules[0].index(Situation(1, 10, 80)), rules[0].index(Situation(1, 10, 50))]
        found = [
            ours.kickoff_value,
            ours.gain,
            *ours.values[first_and_ten],
            *theirs.values[first_and_ten],
        ]
        assert figures.replace("−", "-").split(" | ") == [f"{value:.2f}" for value in found]
