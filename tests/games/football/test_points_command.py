"""``solvent chart points``."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reduced_football import MIXED, RULES, chart_of
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.football.chart import csv_text, load_chart
from solvent.games.football.expected_points import read_expected_points
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.points import solve_points, solve_two_charts

CLOCK = {"half": 45, "stops": [15], "timeouts": 0, "largest_margin": 8}


@pytest.fixture
def chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a small chart, in the folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my chart.csv").write_text(csv_text(MIXED))
    return "my chart.csv"


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), prog_name="solvent")


def advised(message: str, **names: str) -> list[str]:
    """The words of the command that an error says, with what stands for names put in."""
    [command] = re.findall(r"`solvent (.*?)`", message)
    return [names.get(word, word) for word in shlex.split(command)]


def test_points_and_sheets_take_the_rules_as_solve_does(chart: str) -> None:
    rules = ["--ruleset", json.dumps(RULES)]
    wanted = solve_points(pack_rules(load_chart(chart), Ruleset.of(RULES)))
    shown = run("chart", "points", chart, *rules).stdout
    assert f"{wanted.kickoff_value:.6f} to the receiver" in shown
    sheet = json.loads(run("chart", "sheet", chart, *rules, "--to-goal", "4", "--json").stdout)
    assert sheet["situation"] == {"down": 1, "to_go": 3, "to_goal": 4, "punting": False}
    for command in ("points", "sheet"):
        refused = run("chart", command, chart, "--ruleset", '{"saftey": 3}')
        assert refused.exit_code == 2
        assert "Did you mean 'safety'?" in refused.stderr


def test_a_sheet_says_what_both_sides_call(chart: str) -> None:
    words = ["chart", "sheet", chart, "--ruleset", json.dumps(RULES)]
    words += ["--down", "2", "--to-goal", "4"]
    lines = run(*words).stdout.splitlines()
    assert lines[0] == "2nd and 3 at the other's 4 on chart mixed"
    assert re.fullmatch(r"-?\d\.\d{6} points to the offence", lines[1])
    for call in ("quick kick", "field goal", "punt", "A", "B"):
        assert re.search(rf"\b{call} +\d+\.\d\d% +\d+\.\d{{4}}", "\n".join(lines)), call
    sheet = json.loads(run(*words, "--json").stdout)
    mine, theirs = ([c["chance"] for c in sheet[side]] for side in ("offence", "defence"))
    against = np.array(sheet["payoff"]) @ theirs
    assert mine @ against == pytest.approx(sheet["value"])
    losses = [call["loss"] for call in sheet["offence"]]
    assert sheet["value"] - against == pytest.approx(losses)
    for numbers in (["--down", "3"], ["--to-goal", "9"], ["--to-go", "8"], ["--punting"]):
        refused = run(*words[:5], *numbers)
        assert refused.exit_code == 2
        assert "is no situation; allowed are downs from 1 to 2" in refused.stderr, numbers


def test_points_of_two_charts_are_made_and_given_as_the_error_says(
    chart: str, tmp_path: Path
) -> None:
    other = chart_of("other", [["3", "1"], ["inc", "4"]], ["punt4"] * 2, ["punt6"] * 2)
    (tmp_path / "other.csv").write_text(csv_text(other))
    rules = ["--ruleset", json.dumps(RULES)]
    words = ["solve", "football-strategy", "--chart", chart, "--other-chart", "other.csv", *rules]
    words += ["--to-goal", "4", "--json"]
    refused = run(*words)
    assert refused.exit_code == 2
    command = advised(refused.stderr, CHART=chart, FILE="x.json")
    made = run(*command, "--other-chart", "other.csv", *rules)
    assert made.exit_code == 0, made.stderr
    ours, theirs = solve_two_charts(
        *(pack_rules(one, Ruleset.of(RULES)) for one in (load_chart(chart), other))
    )
    assert f"gain                 {ours.gain:.6f} by each score" in made.stdout
    assert "the other side's other" in made.stdout
    value = json.loads(run(*words, "--expected-points", "x.json").stdout)["value"]
    first_and_goal = pack_rules(load_chart(chart), Ruleset.of(RULES)).index(Situation(1, 3, 4))
    assert value == pytest.approx(ours.values[first_and_goal], abs=1e-8)
    assert read_expected_points("x.json").other_side.kickoff == theirs.kickoff_value
    for side, pair in ((ours, (chart, "other.csv")), (theirs, ("other.csv", chart))):
        sheet = ["chart", "sheet", pair[0], "--other-chart", pair[1], *rules, "--to-goal", "4"]
        shown = json.loads(run(*sheet, "--json").stdout)
        assert shown["value"] == pytest.approx(side.values[first_and_goal], abs=1e-8)
    report = ["report", "--game", *words[1:-1], "--expected-points", "x.json"]
    reported = run(*report)
    assert reported.exit_code == 0, reported.stderr
    shown = re.findall(r'data-points="(.*?)"', Path("report.html").read_text("utf-8"))
    five_yards = pack_rules(load_chart(chart), Ruleset.of(RULES)).index(Situation(1, 3, 5))
    assert float(shown[0]) == pytest.approx(ours.values[five_yards], abs=1e-8)


def test_a_form_too_large_to_play_is_solved_as_the_error_says(
    chart: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solvent.games.football_clock.solution.SOLVED_IN_MEMORY", 10)
    game = ["--form", "second-half", "--chart", chart, "--margin", "-3"]
    game += ["--ruleset", json.dumps(RULES), "--clock", json.dumps(CLOCK)]
    refused = run("play", "football", *game)
    assert refused.exit_code == 2
    solved = run(*advised(refused.stderr, DIR="solved"))
    assert solved.exit_code == 0, solved.stderr
    assert "with --solution DIR and the same parameters" in refused.stderr
    reported = run("report", "--solution", "solved", *game)
    assert reported.exit_code == 0, reported.stderr
    played = run("play", "football", "--solution", "solved", *game, "--seed", "1")
    assert played.stdout.strip()
    assert "is a solution with" not in played.stderr
