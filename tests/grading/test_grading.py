"""Grades are exact, and no file of a class stops, fools or exhausts who grades it."""

import csv
import io
import re
import shutil
import tracemalloc
from contextlib import chdir, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from commands import refusal, run, said
from handed_in import LAKE, hand_in, policy_files
from refusals import assert_refused

import solvent
from solvent.exact.scoring import without_value
from solvent.grading import Exercise, find_exercise, grade_files, grades, read_answer, write_grades
from solvent.grading.grades import Graded, largest_file
from solvent.model.files import StoreError
from solvent.model.text import state_text

SHAPES = ((16,), (16, 4))


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    file = tmp_path / "lake.toml"
    file.write_text(LAKE)
    return file


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    hand_in(folder)
    return folder


def test_a_class_is_graded(lake: Path, handed_in: Path, tmp_path: Path) -> None:
    expected = policy_files()
    assert len(expected) > 50
    grades = tmp_path / "grades.csv"
    result = run("grade", lake, *(str(handed_in / name) for name in expected), "--csv", grades)
    assert result.exit_code == 1, result.exception
    with grades.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["file"] for row in rows][:2] == [str(handed_in / n) for n in list(expected)[:2]]
    for (name, (_, wanted)), row in zip(expected.items(), rows, strict=True):
        if isinstance(wanted, str):
            assert re.search(wanted, row["problem"]), (name, row["problem"])
            assert (row["points"], row["gap"], row["explanation"]) == ("0", "", "")
        else:
            assert (float(row["points"]), row["problem"]) == (wanted, ""), name
            assert row["explanation"].startswith("lake: ")
    assert not (handed_in / "sprung").exists()
    assert "\x1b" not in result.output
    assert "\x1b" not in grades.read_text(encoding="utf-8")


def test_reading_takes_no_more_memory_than_the_exercise_asks(handed_in: Path) -> None:
    # Unpacked, some of the files would take gigabytes; all of them are as small as allowed.
    assert largest_file(SHAPES) < 70_000
    names = list(policy_files())
    tracemalloc.start()
    try:
        for name in names:
            with suppress(StoreError):
                read_answer(handed_in / name, SHAPES)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_columns_named_in_another_order_are_refused_whatever_their_names(tmp_path: Path) -> None:
    path = tmp_path / "answer.csv"
    for title in ("test luck,fight", '"test luck", "fight"', "# test luck, fight"):
        path.write_text(f"{title}\n0,1\n1,0\n", encoding="utf-8")
        assert read_answer(path, ((2, 2),), ("test luck", "fight")).tolist() == [[0, 1], [1, 0]]
        with pytest.raises(StoreError, match="names the columns"):
            read_answer(path, ((2, 2),), ("fight", "test luck"))


def test_one_file_is_explained_and_an_exercise_is_shown(lake: Path, handed_in: Path) -> None:
    drive = solvent.make_game("football-drive")
    for text, shown in (
        (said("grade", lake, handed_in / "uniform.npz"),
         "lake: 0 of 10 points, for a gap of 0.8096 (10 for at most 1e-06, 6 for"),
        (said("grade", lake, handed_in / "uniform.npz"),
         "state 1 (row 0, column 1): left 25%, down 25%, right 25%, up 25%, where up"),
        (solvent.grade("cliff-policy", np.zeros(48, int)).text,
         "An episode never ends from state 36 (row 3, column 0)."),
        (said("grade", lake), "0 left, 1 down, 2 right, 3 up"),
        (said("grade", lake), "(16,) or (16, 4)"),
        (refusal("grade", lake, "--csv", lake.parent / "grades.csv"), "name the files to grade"),
        (refusal("grade", lake, handed_in / "none.npz", "--csv", lake.parent),
         "cannot be written (it is not a regular file)"),
        (state_text(drive, drive.initial()[0].state), "first and 10, 80 yards to the goal"),
    ):  # fmt: skip
        assert shown in " ".join(text.split())


def test_no_name_of_a_file_is_taken_for_markup(lake: Path, handed_in: Path) -> None:
    names = ["[red]a[x].npz", "b[bold].npz"]
    for name in names:
        shutil.copy(handed_in / "best.npz", lake.parent / name)
    with chdir(lake.parent):
        shown = said("grade", lake.name, *names)
    assert [line.split()[:2] for line in shown.splitlines()[1:]] == [[name, "10"] for name in names]


def exercise(asks: str, *points: tuple[float, float], **given: Any) -> Exercise:
    """An exercise on FrozenLake, if no other game is given; one point for what is exact."""
    given = {"environment": "FrozenLake-v1"} | given
    return Exercise(name="v", title="V", asks=asks, points=list(points or [(1e-6, 1)]), **given)  # type: ignore[arg-type]


def test_the_explanation_is_that_of_locate_gap() -> None:
    combat = "solvent/FFCombat-v0"
    table = gym.make(combat).unwrapped.game
    uniform = solvent.TabularPolicy.uniform(table)
    where = solvent.locate_gap(table, uniform)
    fight = exercise("policy", (1e-6, 4), (0.2, 1), environment=combat)
    got = solvent.grade(fight, uniform)
    assert got.gap == pytest.approx(where.gap, abs=1e-12)
    assert (got.points, got.out_of) == (1, 4)
    told = [line for line in got.text.splitlines() if line.startswith("- state ")]
    assert [int(line.split()[2]) for line in told] == where.ranked(3)
    for line, state in zip(told, where.ranked(3), strict=True):
        assert f"{where.contribution[state]:.4g} in an episode" in line
    assert solvent.grade(fight, solvent.solve(table).policies[0]).points == 4


def test_values_are_graded_by_their_largest_error() -> None:
    optimal = exercise("values", (1e-6, 10), (0.1, 5))
    subject = optimal.subject
    right, live = np.zeros(16), ~subject.table.terminal
    right[subject.row[live]] = subject.solution.values[live]
    assert solvent.grade(optimal, right).points == 10
    wrong = right.copy()
    wrong[[3, 6]] += [0.05, -0.03]
    got = solvent.grade(optimal, wrong)
    assert (got.gap, got.points) == (pytest.approx(0.05), 5)
    lines = [line for line in got.text.splitlines() if line.startswith("- ")]
    assert [line.partition(": ")[0] for line in lines] == [
        "- state 3 (row 0, column 3)", "- state 6 (row 1, column 2)",
    ]  # fmt: skip
    wrong[3] = np.nan
    assert solvent.grade(optimal, wrong).gap == np.inf
    # Whatever stands in a hole, where nothing is to come.
    right[5] = -7
    assert solvent.grade(optimal, right).points == 10


def test_values_of_the_uniform_policy_and_action_values() -> None:
    base = exercise("values", of="uniform")
    table, row = base.subject.table, base.subject.row
    values, live = (
        solvent.policy_value(table, solvent.TabularPolicy.uniform(table)),
        ~table.terminal,
    )
    answer = np.zeros(16)
    answer[row[live]] = values[live]
    assert solvent.grade(base, answer).points == 1
    q = replace(base, asks="action_values")
    answer = np.zeros((16, 4))
    answer[row[table.row_state], table.row_action[0]] = table.expectation(values)
    assert solvent.grade(q, answer).points == 1
    answer[14, 2] += 0.25
    got = solvent.grade(q, answer)
    assert got.gap == pytest.approx(0.25)
    assert "state 14 (row 3, column 2), right: " in got.text


def test_later_rewards_may_count_less() -> None:
    plain = exercise("values", discount=0.99)
    subject, values = plain.subject, np.zeros(16)
    live = ~subject.table.terminal
    values[subject.row[live]] = subject.solution.values[live]
    assert values[0] == pytest.approx(0.542026, abs=1e-6)
    # A discount of the environment asks for the same rows.
    for asked in (plain, replace(plain, discount=1.0, env_kwargs={"discount": 0.99})):
        assert solvent.grade(asked, values).points == 1
    policy, uniform = replace(plain, asks="policy"), np.full((16, 4), 0.25)
    of_game = solvent.TabularPolicy.uniform(policy.subject.played)
    first, second = (solvent.grade(policy, answer) for answer in (uniform, of_game))
    assert first == second
    assert first.gap != pytest.approx(solvent.score("FrozenLake-v1", uniform).optimality_gap)


def test_a_game_for_two_is_graded_against_a_best_response() -> None:
    greed = {"environment": None, "game": "greed", "parameters": {"limit": 10, "sides": 4}}
    asked = exercise("policy", player=1, **greed)
    table = asked.subject.table
    first, uniform = (solvent.TabularPolicy.uniform(table, player=player) for player in (0, 1))
    gap = solvent.grade(asked, uniform).gap
    assert gap == pytest.approx(solvent.exploitability(table, uniform))
    assert solvent.grade(asked, solvent.solve(table).policies[1]).points == 1
    values = replace(asked, asks="values")
    assert solvent.grade(values, -solvent.solve(table).values).points == 1
    assert_refused((
        (asked, first, "player 1's is asked for"),
        (replace(asked, asks="action_values"), np.zeros(1),
         "exercise v: .* only optimal values are defined"),
    ), solvent.grade)  # fmt: skip


def test_the_rule_of_points(lake: Path) -> None:
    gaps = [0, 1e-6, 1.1e-6, 0.2, 0.5, 0.8, np.inf, np.nan]
    assert [*map(find_exercise(lake).points_for, gaps)] == [10, 10, 6, 6, 3, 0, 0, 0]


def test_a_gap_that_is_not_proved_is_told_in_words(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grades, "comparable_score", without_value)
    grade = solvent.grade(find_exercise(lake), np.full((16, 4), 0.25))
    assert (grade.points, "a gap that is not proved" in grade.text) == (0, True)
    assert "nan" not in grade.text


SCALE = "[[1e-6, 10], [0.2, 6], [0.7, 3]]"


NO_EXERCISES = [
    ("format = 1", "format = 2", "format is 2; this reads 1"),
    ("format = 1", "format = [", "not TOML"),
    ('asks = "policy"', 'asks = "polcy"', "asks is 'polcy'"),
    ('asks = "policy"', "", "lacks asks"),
    ('title = "Across the frozen lake"', "title = 3", "title is 3; input should be a valid string"),
    ('environment = "FrozenLake-v1"', "", "expected is one of the two"),
    ('asks = "policy"', 'asks = "policy"\nof = "uniform"', "of is 'uniform'"),
    ('asks = "policy"', 'asks = "policy"\nplayer = 1', "player is 1"),
    ('asks = "policy"', 'asks = "policy"\ndiscount = 0', "discount is 0"),
    ('asks = "policy"', 'asks = "policy"\nhint = "left"', "hint is 'left'; unexpected"),
    (SCALE, "[[0, 10]]", "points is [(0.0, 10.0)]"),
    (SCALE, "[[0.1, 5], [0.2, 6]]", "points is "),
    (SCALE, "[[0.1, 5], [0.05, 4]]", "points is "),
    (SCALE, "[]", "points is []"),
    (SCALE, "[[nan, 1]]", "points is "),
]


def test_what_is_no_exercise_and_no_answer_is_refused(lake: Path, tmp_path: Path) -> None:
    values, asked = replace(find_exercise(lake), asks="values"), find_exercise(lake)
    assert_refused((
        (lambda: find_exercise("lake-polcy"), "exercise is 'lake-polcy'"),
        (lambda: find_exercise(tmp_path / "missing.toml"), "cannot be read"),
        (lambda: find_exercise(3), "exercise is 3; allowed are"),  # type: ignore[arg-type]
        (lambda: solvent.grade(asked, np.ones((4, 16)) / 16),
         r"shape \(4, 16\); expected .* \(16, 4\), a row for each"),
        (lambda: solvent.grade(asked, "left"), "the answer is 'left'"),
        (lambda: solvent.grade(values, [1, 2, 3]),
         r"shape \(3,\); expected are numbers of shape \(16,\)"),
    ))  # fmt: skip
    for old, new, message in NO_EXERCISES:
        assert old in LAKE
        lake.write_text(LAKE.replace(old, new, 1))
        with pytest.raises(ValueError, match=rf"lake\.toml: .*{re.escape(message)}"):
            find_exercise(str(lake))
    lake.write_text(LAKE.replace("FrozenLake-v1", "FrozenLake-v7"))
    assert "exercise lake: task FrozenLake-v7: no game or environment" in refusal("grade", lake)


def test_a_file_that_exhausts_memory_does_not_stop_the_rest(
    lake: Path, handed_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: str | Path, *about: Any) -> np.ndarray:
        if Path(path).name == "near.npz":
            raise MemoryError
        return read_answer(path, *about)

    monkeypatch.setattr("solvent.grading.grades.read_answer", read)
    first, second = grade_files(lake, [handed_in / "near.npz", handed_in / "best.npz"])
    assert (first.grade, first.problem) == (None, "MemoryError")
    assert second.grade.points == 10


def test_the_table_holds_no_formulas(tmp_path: Path) -> None:
    names = ["=1+1", "+1", "-1", "@A1", " =1", "\t=1", "\uff1d1", "plain", "a=1"]
    write_grades(tmp_path / "grades.csv", [Graded(name, None, name) for name in names])
    content = (tmp_path / "grades.csv").read_text(encoding="utf-8")
    cells = [row[0] for row in csv.reader(io.StringIO(content, newline=""))][1:]
    assert cells == ["'=1+1", "'+1", "'-1", "'@A1", "' =1", "\\t=1", "'\uff1d1", "plain", "a=1"]
    assert content.count('"') == 2 * 6 * (len(names) + 1)
