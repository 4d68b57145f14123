"""``solvent chart sheet``."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.football.chart_files import load_chart
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.solver.points import PointsSolution, solve_points


@pytest.fixture(scope="module")
def dice() -> PointsSolution:
    return solve_points(pack_rules(load_chart("dice"), Ruleset()))


@pytest.fixture
def solved(dice: PointsSolution, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chart `dice` solved once for all tests."""
    monkeypatch.setattr(
        "solvent.games.football.solver.points.solve_points", lambda rules, **_: dice
    )


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["chart", "sheet", *words], prog_name="solvent")


@pytest.mark.usefixtures("solved")
def test_a_sheet_says_what_both_sides_call() -> None:
    result = run("dice", "--down", "4", "--to-go", "2", "--to-goal", "38")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "4th and 2 at the other's 38 on chart dice"
    assert re.fullmatch(r"-?\d\.\d{6} points to the offence", lines[1])
    for call in ("quick kick", "field goal", "punt", "A", "F"):
        assert re.search(rf"\b{call} +\d+\.\d\d% +\d+\.\d{{4}}", result.stdout)


@pytest.mark.usefixtures("solved")
def test_a_sheet_for_programs() -> None:
    sheet = json.loads(run("dice", "--to-goal", "5", "--json").stdout)
    assert sheet["situation"] == {"down": 1, "to_go": 5, "to_goal": 5, "punting": False}
    payoff = np.array(sheet["payoff"])
    strategies = [
        np.array([call["chance"] for call in sheet[side]]) for side in ("offence", "defence")
    ]
    assert strategies[0] @ payoff @ strategies[1] == pytest.approx(sheet["value"])
    assert (payoff @ strategies[1]).max() == pytest.approx(sheet["value"])
    losses = [call["loss"] for call in sheet["offence"]]
    assert sheet["value"] - payoff @ strategies[1] == pytest.approx(losses)


def test_there_is_no_such_situation() -> None:
    for numbers in (
        ("--down", "5"),
        ("--to-goal", "100"),
        ("--to-go", "8", "--to-goal", "7"),
        ("--punting",),
    ):
        result = run("standard", *numbers)
        assert result.exit_code == 2
        assert re.search(r"\(\d.*\) is no situation; allowed are downs from 1 to 4", result.stderr)
