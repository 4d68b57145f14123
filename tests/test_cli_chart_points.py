"""``solvent chart points``."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.football.chart_files import load_chart
from solvent.games.football.expected_points import read_expected_points, shipped_expected_points
from solvent.games.football.ruleset import Ruleset


def test_expected_points_are_shown_and_written(tmp_path: Path) -> None:
    file = tmp_path / "dice.json"
    words = ["chart", "points", "dice", "--situations", "--out", str(file)]
    result = CliRunner().invoke(app, words, prog_name="solvent")
    assert result.exit_code == 0
    written = read_expected_points(file)
    chart, ruleset = load_chart("dice"), Ruleset()
    written.check_is_for(chart, ruleset)
    assert written.situations is not None
    shipped = shipped_expected_points(chart, ruleset)
    assert written.kickoff == pytest.approx(shipped.kickoff, abs=1e-9)
    assert f"{shipped.kickoff:.6f} to the receiver" in result.output
    assert f"{shipped.first_down[0]:.4f}" in result.output
