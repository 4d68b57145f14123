"""The notebooks run, show pictures, state what they compute, and leave their exercises unsolved."""

from __future__ import annotations

import ast
import json
import re
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exercise_solutions import SOLUTIONS, solution, toy_text
from notebook_claims import CLAIMS, POINTS

import solvent
from solvent.grading import Grade, find_exercise
from solvent.grading.grades import BESIDE, NUMBER
from solvent.model.registry import declared_names

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
QUICK = ("01-what-is-an-optimum", "02-value-and-policy-iteration", "10-write-your-own-game")
LARGE = ("beat-the-agent", "optimal-defence")
"""Exercises with tables of 161,426 states."""

EXECUTED = [
    pytest.param(file, id=file.stem, marks=() if file.stem in QUICK else pytest.mark.slow)
    for file in NOTEBOOKS
]


def cells(file: Path, kind: str) -> list[str]:
    """The sources of the cells of a kind."""
    found = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def exercises_of(file: Path) -> list[str]:
    """The names of the exercises of a notebook, in the order of their grades."""
    named = r"(?:grade|find_exercise)\(\"([\w-]+)\""
    return [name for code in cells(file, "code") for name in re.findall(named, code)]


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many pictures each `plt.show` had to show; they are drawn and thrown away."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    shown: list[int] = []

    def show() -> None:
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
        shown.append(len(plt.get_fignums()))
        plt.close("all")

    monkeypatch.setattr(plt, "show", show)
    yield shown
    plt.close("all")


@pytest.mark.parametrize("file", EXECUTED)
def test_a_notebook_runs_and_says_what_it_computes_but_no_solution(
    file: Path, pictures: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    grades: list[Grade] = []
    grade = solvent.grade

    def graded(exercise: Any, answer: Any) -> Grade:
        grades.append(grade(exercise, answer))
        return grades[-1]

    monkeypatch.setattr(solvent, "grade", graded, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, code in enumerate(cells(file, "code")):
        exec(compile(code, f"{file.name}, code cell {number}", "exec"), names)
    assert pictures
    assert all(pictures)
    assert [one.exercise for one in grades] == exercises_of(file)
    assert all(one.points < one.out_of for one in grades)
    assert all(one.exercise in one.text for one in grades)
    monkeypatch.setattr(solvent, "grade", grade)
    if file.stem in CLAIMS:
        CLAIMS[file.stem](names, " ".join(" ".join(cells(file, "markdown")).split()))


def test_the_points_that_a_notebook_states_are_those_of_the_exercise() -> None:
    for name, points in POINTS.items():
        exercise = find_exercise(name)
        assert {gap: exercise.points_for(gap) for gap in points} == points


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in NOTEBOOKS])
def test_a_notebook_is_stored_without_what_it_printed(file: Path) -> None:
    held = json.loads(file.read_text(encoding="utf-8"))
    assert (held["nbformat"], held["nbformat_minor"]) == (4, 5)
    assert set(held["metadata"]) == {"kernelspec", "language_info"}
    ids = [cell["id"] for cell in held["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in held["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            ast.parse("".join(cell["source"]))
    assert 2 <= len(exercises_of(file)) <= 3
    prose = "\n".join(cells(file, "markdown"))
    assert "To read with it" in prose
    assert prose.count("## Exercise ") == len(exercises_of(file))


def test_the_exercises_are_those_that_are_declared_and_each_has_a_notebook() -> None:
    folder = ROOT / "solvent" / "games" / "exercises"
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    group = declared["project"]["entry-points"]["solvent.exercises"]
    asked = [name for file in NOTEBOOKS for name in exercises_of(file)]
    assert len(set(asked)) == len(asked)
    assert {file.stem for file in folder.glob("*.toml")} == set(group) == set(asked)
    assert set(group) <= set(declared_names("solvent.exercises"))
    assert set(SOLUTIONS) == set(group)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n in LARGE else ()) for n in sorted(SOLUTIONS)],
)
def test_a_right_answer_gets_all_points(name: str) -> None:
    exercise = find_exercise(name)
    got = solvent.grade(exercise, solution(exercise))
    assert got.points == got.out_of, got.text


# The lecturer's page: its course is that in examples/, and its recipes grade


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
