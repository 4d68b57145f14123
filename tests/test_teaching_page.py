"""The lecturer's page: its course is that in examples/, and its recipes grade."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exercise_solutions import toy_text

import solvent
from solvent.grading import find_exercise
from solvent.grading.grades import BESIDE, NUMBER

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")


def block(title: str) -> str:
    """The block of the page with a title."""
    [found] = re.findall(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```', TEXT, re.M | re.S)
    return str(found)


@pytest.fixture(scope="module")
def answers() -> dict[str, np.ndarray]:
    best = toy_text("FrozenLake-v1").round(9).argmax(axis=1)
    near = best.copy()
    near[2] = (near[2] + 1) % 4
    return {"best": best, "near": near, "bad": np.zeros(16, int)}


def test_the_course_has_every_notebook_in_its_order() -> None:
    rows = re.findall(r"^\| (\d+) \| `([\w-]+)` \|", TEXT, re.MULTILINE)
    names = sorted(file.stem for file in (ROOT / "examples").glob("*.ipynb"))
    assert [name for _, name in rows] == names
    assert [int(week) for week, _ in rows] == list(range(1, len(names) + 1))


def test_an_exercise_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "my-lake.toml"
    file.write_text(block("my-lake.toml"))
    exercise = find_exercise(file)
    # Nobody slips: the goal is six steps away, and its reward counts 0.9 to the power of five.
    assert exercise.subject.solution.value == pytest.approx(0.9**5)
    assert solvent.grade(file, np.zeros(16)).points == 0


def test_the_cell_of_nbgrader_ends_in_points(answers: dict[str, np.ndarray]) -> None:
    *before, last = ast.parse(block("nbgrader")).body
    points = {}
    for name, actions in answers.items():
        names: dict[str, Any] = {"actions": actions}
        exec(compile(ast.Module(before, []), "nbgrader", "exec"), names)
        # nbgrader reads the number from the text that the notebook shows.
        points[name] = float(
            repr(eval(compile(ast.Expression(last.value), "nbgrader", "eval"), names))
        )
    assert points["best"] == 10
    assert points["bad"] == 0
    assert 0 < points["near"] < 10


def test_the_cell_with_an_assert(answers: dict[str, np.ndarray]) -> None:
    exec(block("assert"), {"actions": answers["best"]})
    with pytest.raises(AssertionError, match="lake-policy: 0 of 10 points"):
        exec(block("assert"), {"actions": answers["bad"]})


def test_the_page_states_the_limits_and_the_scale_that_hold() -> None:
    assert "than 32 bytes for each number of the answer and 64 kB besides" in " ".join(TEXT.split())
    assert (NUMBER, BESIDE) == (32, 64 * 1024)
    assert "[[1e-6, 10], [0.05, 6], [0.2, 3]]" in " ".join(TEXT.split())
    assert [*find_exercise("lake-policy").points] == [(1e-6, 10), (0.05, 6), (0.2, 3)]
