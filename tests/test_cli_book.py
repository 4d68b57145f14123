"""``solvent book check``, ``solvent book solve`` and ``solvent book import``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gamebooks import MILL, changed, line_of
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.gamebook.loader import load_book


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(app, ["book", *map(str, words)], prog_name="solvent")


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "faulty.yaml"
    path.write_text(
        changed(("leave: 2", "leave: 20"), ("toll: 3\n", "toll: 3\n  fare: 2\n")), encoding="utf-8"
    )
    return path


def test_a_book_without_fault() -> None:
    result = run("check", MILL)
    assert result.exit_code == 0
    assert result.stdout == f"{MILL}: no faults\n"


def test_every_fault_is_a_line(faulty: Path) -> None:
    result = run("check", faulty)
    assert result.exit_code == 2
    warning, *errors = result.stdout.splitlines()
    assert warning == f"{faulty}:8: warning: nothing depends on the constant 'fare'; remove it"
    assert [line.split(": ")[1] for line in errors] == ["error"]
    line = line_of(faulty.read_text("utf-8"), "leave: 20")
    assert errors[0].startswith(f"{faulty}:{line}, section 1: error: there is no section 20")
    assert result.stderr == f"solvent: {faulty} has 1 error and 1 warning\n"


def test_warnings_alone_are_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "book.yaml"
    path.write_text(changed(("toll: 3\n", "toll: 3\n  fare: 2\n")), encoding="utf-8")
    result = run("check", path)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"{path}: no errors, 1 warning"


FERRY = """\
format: solvent-gamebook
version: 1
title: The Ferry
endings: {over: {score: 1}, drowned: {score: 0}}
sections:
  1:
    choices:
      - {label: Row., chances: [{probability: 1/6, ending: drowned},
          {probability: 1/6, text: A rock., ending: drowned}, {probability: 2/3, goto: 2}]}
      - {label: Swim., chances: [{probability: 1/2, ending: drowned}, {probability: 1/2, goto: 2}]}
  2: {ending: over}
"""


@pytest.fixture
def ferry(tmp_path: Path) -> Path:
    path = tmp_path / "ferry.yaml"
    path.write_text(FERRY, encoding="utf-8")
    return path


def test_a_book_is_solved(ferry: Path) -> None:
    result = run("solve", ferry, "--exact")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "The Ferry: 6 states",
        "Winning probability: 0.6666666666666666 [2 / 3]",
        "0.6667  over (score 1)",
        "    0.6667  section 2",
        "0.3333  drowned (score 0)",
        "    0.3333  section 1",
        "Decisions with the largest stakes (visits x loss by the second best choice):",
        "0.1667  section 1, visited 1.0000 times: Row. 100%",
    ]


def test_a_book_is_solved_in_floats_for_programs(ferry: Path) -> None:
    found = json.loads(run("solve", ferry, "--json").stdout)
    assert found["value"] == pytest.approx(2 / 3)
    assert "value_exact" not in found
    assert found["ends"][0] == {"ending": "over", "section": 2, "probability": found["value"]}
    [decision] = found["decisions"]
    assert (decision["section"], decision["choices"]) == (1, {"Row.": 1.0})
    assert decision["stake"] == pytest.approx(1 / 6)
    exact = json.loads(run("solve", ferry, "--json", "--exact", "--decisions", "0").stdout)
    assert (exact["value_exact"], exact["decisions"]) == ("2 / 3", [])


def test_a_faulty_book_is_not_solved(faulty: Path) -> None:
    result = run("solve", faulty)
    assert result.exit_code == 2
    assert "there is no section 20" in result.stderr


def test_faults_for_programs(faulty: Path) -> None:
    first, second = json.loads(run("check", faulty, "--json").stdout)
    assert (first["severity"], first["line"], first["section"]) == ("warning", 8, None)
    assert (second["severity"], second["line"], second["section"]) == ("error", 75, 1)
    assert set(second) == {"file", "line", "section", "message", "cure", "severity"}


def test_a_missing_file(tmp_path: Path) -> None:
    result = run("check", tmp_path / "none.yaml")
    assert result.exit_code == 2
    assert "none.yaml" in result.stderr
    assert result.stderr.count("\n") == 1


def test_import_makes_a_book(tmp_path: Path) -> None:
    story, out = tmp_path / "s.twee", tmp_path / "new" / "s.yaml"
    story.write_text(":: Start\n(set: $x to 1)Here. [[On]]\n:: On\nDone.\n", encoding="utf-8")
    result = run("import", story, "--out", out)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{out}: 2 sections",
        "there seems to be code in the text of: Start",
    ]
    assert load_book(out).targets(1) == (2,)


def test_import_overwrites_nothing(tmp_path: Path) -> None:
    story, out = tmp_path / "s.twee", tmp_path / "s.yaml"
    story.write_text(":: Start\nDone.\n", encoding="utf-8")
    out.write_text("mine", encoding="utf-8")
    result = run("import", story, "--out", out)
    assert result.exit_code == 2
    assert out.read_text(encoding="utf-8") == "mine"


def test_import_names_what_is_left_to_do(tmp_path: Path) -> None:
    story, out = tmp_path / "s.twee", tmp_path / "s.yaml"
    story.write_text(":: Start\n[[Round->Start]] [[On]]\n", encoding="utf-8")
    result = run("import", story, "--out", out)
    assert result.exit_code == 0
    assert "lead in a circle: 1 → 1" in result.stdout
