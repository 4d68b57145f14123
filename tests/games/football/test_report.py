"""The pictures and tables of football: what is shown is what the exact solution says."""

from __future__ import annotations

import base64
import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from reduced_football import BACKWARDS, CHART, MIXED, RULES, reduced

from solvent.exact import score, solve
from solvent.exact.matrix_game import solve_matrix_game
from solvent.games import FootballStrategy
from solvent.games.football.baselines.players import STRATEGIES
from solvent.games.football.chart import Chart
from solvent.games.football.chart_files import SHIPPED, csv_text, load_chart
from solvent.games.football.expected_points import shipped_expected_points
from solvent.games.football.packed import pack_rules
from solvent.games.football.report import (
    GO,
    KICK,
    MOST_TO_GO,
    PUNT,
    QUICK_KICK,
    WAY_COLOURS,
    both_sides,
    by_chart,
    fourth_downs,
    maps,
    points_by_down,
    scored_baselines,
    sheets_data,
    untabled_football,
)
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.points import call_sheet, solve_points
from solvent.games.football.solver.solved import SolvedFootball, solve_football
from solvent.model import TabularPolicy, compile_game
from solvent.report.page import render

DOCS = Path(__file__).parents[3] / "docs" / "games"


def solved_of(game: FootballStrategy) -> SolvedFootball:
    solved = solve_football(game)
    assert solved is not None
    return solved


@pytest.fixture(scope="module")
def standard() -> SolvedFootball:
    return solved_of(FootballStrategy())


@pytest.fixture(scope="module", params=[BACKWARDS, MIXED], ids=lambda chart: chart.name)
def small(request: pytest.FixtureRequest) -> SolvedFootball:
    return solved_of(reduced(chart=request.param))


def test_the_ways_of_the_last_down_are_worth_what_their_matrices_say(small: SolvedFootball) -> None:
    rules, found = small.rules, fourth_downs(small)
    field, downs, plays = rules.ruleset.field, rules.ruleset.downs, rules.chart.plays
    assert found.way.shape == (field - 1, min(MOST_TO_GO, field - 1))
    for x, y in np.ndindex(*found.way.shape):
        to_goal, to_go = field - 1 - x, y + 1
        if to_go > to_goal:
            assert found.way[x, y] == -1
            assert np.isnan(found.values[:, x, y]).all()
            continue
        here = Situation(downs, to_go, to_goal)
        sheet = call_sheet(rules, small, here)
        chosen = [i for i, action in enumerate(sheet.actions) if action <= plays]
        ways = {
            GO: solve_matrix_game(sheet.payoff[chosen]).value,
            PUNT: call_sheet(rules, small, here._replace(punting=True)).value,
        }
        if plays + 1 in sheet.actions:
            ways[KICK] = sheet.payoff[sheet.actions.index(plays + 1), 0]
        expected = [ways[GO], ways[PUNT], ways.get(KICK, np.nan)]
        assert found.values[:, x, y] == pytest.approx(expected, nan_ok=True)
        way = GO if found.way[x, y] == QUICK_KICK else found.way[x, y]
        assert ways[way] == pytest.approx(small.values[rules.index(here)])
        others = [value for name, value in ways.items() if name != way]
        assert found.margin[x, y] == pytest.approx(ways[way] - max(others), abs=1e-9)
        quick = small.offence_strategy[rules.index(here), plays]
        if way == GO:
            assert found.quick_kick[x, y] == quick
            assert (found.way[x, y] == QUICK_KICK) == (quick >= 0.5)
        assert np.isfinite(found.fake[x, y]) == (way == PUNT)


def test_the_standard_map_has_all_ways_and_its_colours_say_which(standard: SolvedFootball) -> None:
    found = fourth_downs(standard)
    assert set(np.unique(found.way)) == {-1, GO, QUICK_KICK, PUNT, KICK}
    best, *others = maps(found, "4th")
    assert len(others) == 2
    root = ElementTree.fromstring(f"<g>{best.svg()}</g>")
    drawn = np.full(found.way.shape, -1)
    for path in root.iter("path"):
        for x, y, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", path.get("d") or ""):
            run = drawn[int(x) : int(x) + int(length), int(y)]
            assert (run == -1).all()
            run[:] = WAY_COLOURS.index(path.get("stroke") or "")
    assert (drawn == found.way).all()


def unpacked(data: dict[str, Any]) -> Any:
    """[downs, distances, lines, row]"""
    numbers = np.frombuffer(base64.b64decode(data["numbers"]), "<i2").astype(float)
    return numbers.reshape(len(data["downs"]), len(data["distances"]), data["field"] - 1, -1)


def test_the_page_holds_the_sheet_of_every_situation(small: SolvedFootball) -> None:
    data = sheets_data(small)
    rules, rows = small.rules, unpacked(data)
    actions, defences = len(data["offence"]), len(data["defence"])
    last = rules.ruleset.downs
    for d, (down, punting) in enumerate([*((n, False) for n in range(1, last + 1)), (last, True)]):
        for i, to_go in enumerate(data["distances"]):
            for x in range(1, rules.ruleset.field):
                here = Situation(down, min(to_go, x), x, punting)
                sheet = call_sheet(rules, small, here)
                value, *parts = np.split(
                    rows[d, i, x - 1], np.cumsum([1, actions, actions, defences])
                )
                s = rules.index(here)
                assert value * data["point"] == pytest.approx(sheet.value, abs=data["point"])
                for names, (loss, chance), calls, strategy in zip(
                    (data["offence"], data["defence"]),
                    (parts[:2], parts[2:]),
                    both_sides(rules.chart, sheet),
                    (small.offence_strategy[s], small.defence_strategy[s]),
                    strict=True,
                ):
                    legal = [name for name, lost in zip(names, loss, strict=True) if lost >= 0]
                    assert legal == [call.name for call in calls]
                    assert chance * data["chance"] == pytest.approx(strategy, abs=data["chance"])
                    assert (loss[chance > 0] == 0).all()
                defence_loss = small.calls[1][s] - small.values[s]
                assert parts[2] * data["point"] == pytest.approx(defence_loss, abs=data["point"])


def test_the_standard_sheet_is_the_documented_one(standard: SolvedFootball) -> None:
    sheet = call_sheet(standard.rules, standard, Situation(1, 10, 80))
    offence, defence = both_sides(standard.rules.chart, sheet)
    text = (DOCS / "football-solution.md").read_text("utf-8")
    tables = re.findall(r"^\| ([0-9A-J]+|quick kick) \| ([\d.]+)% \| ([\d.]+) \|$", text, re.M)
    assert tables == [
        (call.name, f"{100 * call.chance:.2f}", f"{call.loss:.3f}") for call in offence + defence
    ]
    assert f"worth {sheet.value:.4f} points" in text


def test_the_documented_points_are_those_of_the_solver(standard: SolvedFootball) -> None:
    text = (DOCS / "football-solution.md").read_text("utf-8")
    for name, values in points_by_down(standard).items():
        [row] = re.findall(rf"^\| {name} \| (.*) \|$", text, re.M)
        numbers = [float(cell.replace("−", "-")) for cell in row.split(" | ")]
        assert numbers == [round(float(values[-x]), 2) for x in (99, 80, 65, 50, 35, 20, 10, 1)]


def test_bars_near_the_goal_are_why_a_first_down_at_ten_is_worth_less() -> None:
    chart = load_chart("standard")
    barred = shipped_expected_points(chart, Ruleset()).first_down
    assert barred[9] < barred[10]
    rules = pack_rules(chart, Ruleset(barred=()))
    assert (np.diff(solve_points(rules).expected_points(rules).first_down) < 0).all()


def test_the_pictures_in_the_documentation_are_those_of_the_solver(
    standard: SolvedFootball,
) -> None:
    script = runpy.run_path(str(DOCS.parent / "scripts" / "football.py"))
    for name, drawn in script["pictures"](standard).items():
        assert (DOCS / name).read_text().strip() == drawn.strip()
        assert set(re.findall(r"https?://[^\s\"'<>]+", drawn)) == {"http://www.w3.org/2000/svg"}
        assert "href" not in drawn
        assert len(drawn) < 100_000


def test_lines_of_expected_points_end_before_the_other_goal(standard: SolvedFootball) -> None:
    lines = by_chart(standard)
    assert list(lines) == list(SHIPPED)
    for name, values in lines.items():
        shipped = shipped_expected_points(load_chart(name), Ruleset())
        assert values == pytest.approx(shipped.first_down[::-1], abs=1e-7)
    assert points_by_down(standard)["4th and 10"][79] == pytest.approx(
        standard.values[standard.rules.index(Situation(4, 10, 20))]
    )


@pytest.mark.parametrize("chart", [BACKWARDS, MIXED], ids=lambda chart: chart.name)
def test_baselines_lose_what_the_general_scoring_says(chart: Chart) -> None:
    game = reduced(chart=chart, to_goal=[2, 7])
    table = compile_game(game)
    solution = solve(table)
    solved = solved_of(game)
    baselines = {b.name: b for b in scored_baselines(solved)}
    policies = [TabularPolicy.uniform(table, player=player) for player in (0, 1)]
    scores = [score(table, policy, solution) for policy in policies]
    uniform = baselines["uniform"]
    assert uniform.exploitability == pytest.approx([s.optimality_gap for s in scores])
    assert uniform.value == pytest.approx(np.mean([s.value for s in scores]))
    assert uniform.worst_start_gap == pytest.approx(max(s.worst_start_gap for s in scores))
    assert uniform.normalized == 0
    assert baselines["optimal"].gap == 0
    assert baselines["optimal"].normalized == 1
    assert all(b.gap > 0 for b in baselines.values() if b.name != "optimal")


def test_until_the_next_score_the_kernels_say_what_the_table_says() -> None:
    ruleset = Ruleset.read(RULES)
    points = solve_points(pack_rules(MIXED, ruleset)).expected_points(pack_rules(MIXED, ruleset))
    game = FootballStrategy(MIXED, "points", ruleset, points)
    known = untabled_football(game)
    assert known is not None
    table = compile_game(game)
    solution = solve(table)
    assert known.solved.value == pytest.approx(solution.value)
    assert known.solved.lower <= known.solved.value <= known.solved.upper
    [uniform] = [b for b in known.baselines if b.name == "uniform"]
    best = best_gaps(table, solution)
    # The table's uniform player picks its kickoff at random too, which loses more.
    assert uniform.exploitability is not None
    assert uniform.exploitability[0] == pytest.approx(best[0], abs=0.2)
    assert uniform.gap > 0


def best_gaps(table: Any, solution: Any) -> list[float]:
    return [
        score(table, TabularPolicy.uniform(table, player=p), solution).optimality_gap
        for p in (0, 1)
    ]


def test_what_the_kernels_do_not_solve_is_left_to_the_table() -> None:
    ruleset = Ruleset.read(RULES)
    points = solve_points(pack_rules(MIXED, ruleset)).expected_points(pack_rules(MIXED, ruleset))
    other = FootballStrategy(MIXED, "points", ruleset, points, kickoff_value=points.kickoff + 0.1)
    assert untabled_football(other) is None
    for game in (reduced("play", MIXED), reduced(chart=CHART)):
        assert untabled_football(game) is None
        text = render(game)
        assert "<h3>Baselines</h3>" in text
        assert "<h3>Call sheets</h3>" not in text


def test_the_page_of_a_drive_needs_no_table() -> None:
    game = reduced(chart=MIXED)
    text = render(game)
    solved = solved_of(game)
    start = solved.rules.index(Situation(1, 3, 4))
    assert f'data-value="{solved.values[start]}"' in text
    assert "too large for a table" not in text
    for title in ("Baselines", "Call sheets", "Expected points", "The 2nd-down map"):
        assert f"<h3>{title}</h3>" in text
    assert text.count("data-baseline=") == len(STRATEGIES) + 2
    assert "{{ data }}" not in text
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)[^\s\"'<>]+", text)


def test_agents_of_a_drive_have_their_curves_and_the_sheets(
    tmp_path: Path, task_maker: Callable[..., dict[str, Any]]
) -> None:
    rules = {**RULES, "downs": 2}
    ruleset = Ruleset.read(rules)
    chart = tmp_path / "mixed.csv"
    chart.write_text(csv_text(MIXED))
    packed = pack_rules(load_chart(chart), ruleset)
    points = tmp_path / "points.json"
    points.write_text(solve_points(packed).expected_points(packed).json_text())
    parameters = {
        "chart": str(chart),
        "ruleset": rules,
        "expected_points": str(points),
        "to_goal": 5,
    }
    task = task_maker(
        tmp_path,
        "solvent/FootballStrategy-v0",
        "football-strategy",
        parameters,
        [("ppo", 2), ("dqn", 1)],
    )
    (tmp_path / "results.json").write_text(json.dumps({"tasks": [task]}))
    text = render(tmp_path)
    assert "Recorded exploitability over the training on solvent/FootballStrategy-v0" in text
    assert text.count('data-policy="greedy"') == 3
    for title in (
        "Learning curves, as recorded",
        "Call sheets",
        "Expected points",
        "The 2nd-down map",
    ):
        assert f"<h3>{title}</h3>" in text
