"""The public names have their types, although they are imported when they are first used."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

SNIPPET = """
from typing import assert_type

import solvent

game = solvent.make_game("some-game", size=3)
assert_type(game, solvent.Game)
assert_type(solvent.solve(game), solvent.SolvedGame)
table = solvent.compile_game(game)
assert_type(table, solvent.TabularGame)
solution = solvent.solve(table)
assert_type(solution.value, float)
assert_type(solution.policies, tuple[solvent.TabularPolicy, solvent.TabularPolicy])
assert_type(solvent.exploitability(table, solution.policies[0]), float)
solvent.slove(table)
solvent.exploitability("some-game", solution.policies[0])
"""


@pytest.mark.slow
def test_a_type_checker_knows_the_front_door(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_text(SNIPPET, encoding="utf-8")
    cache = ["--cache-dir", str(tmp_path / "cache")]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *cache, str(file)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    errors = [line for line in run.stdout.splitlines() if "user.py" in line and "error" in line]
    assert len(errors) == 2, run.stdout
    assert "slove" in errors[0]
    assert "[arg-type]" in errors[1]


PACKAGES = [
    "solvent",
    "solvent.envs",
    "solvent.exact",
    "solvent.games",
    "solvent.model",
    "solvent.tabular",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert len(module.__all__) == len(set(module.__all__)) > 0
    for name in module.__all__:
        assert getattr(module, name) is not None
