"""Every line of the page of optimal values computes the number beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import solvent
from solvent.cli.app import app

PAGE = (Path(__file__).parents[1] / "docs" / "optimal-values.md").read_text(encoding="utf-8")


def test_every_command_of_the_page_has_its_value() -> None:
    rows = re.findall(r"^\| .* \| (\S+)[^|]* \| `solvent (solve [^`]+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) == 20
    for stated, command in rows:
        found = CliRunner().invoke(app, [*command.split(), "--json"], prog_name="solvent")
        assert found.exit_code == 0, (command, found.output)
        value = json.loads(found.stdout)["value"]
        digits = len(stated.partition(".")[2])
        assert value == pytest.approx(float(stated), abs=0.5001 * 10.0**-digits), command


def test_the_limit_of_steps_costs_what_the_page_says() -> None:
    larger = solvent.compile_game(solvent.make_game("FrozenLake-v1", map_name="8x8"))
    small = solvent.compile_game(solvent.make_game("FrozenLake-v1"))
    for table, steps in ((small, 100), (larger, 200)):
        values = [0.0] * table.n_states
        for _ in range(steps):
            action_values = table.expectation(np.array(values))
            values = [
                max(action_values[slice(*table.row_start[s : s + 2])], default=0.0)
                for s in range(table.n_states)
            ]
        assert f"{table.at_start(np.array(values)):.6f}" in PAGE
