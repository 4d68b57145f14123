"""Grades are exact, and no file of a class stops, fools or exhausts who grades it."""

import csv
import re
import tracemalloc
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from commands import refusal, run, said
from handed_in import LAKE, policy_files

import solvent
from solvent.grading import Exercise, find_exercise, grade_files, read_answer, write_grades
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
    for name, (make, _) in policy_files().items():
        make(folder / name)
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
            try:
                read_answer(handed_in / name, SHAPES)
            except StoreError:
                continue
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


def test_columns_named_in_another_order_are_refused_whatever_their_names(tmp_path: Path) -> None:
    path = tmp_path / "answer.csv"
    for title in ("test luck,fight", '"test luck", "fight"', "# test luck, fight"):
        path.write_text(f"{title}\n0,1\n1,0\n", encoding="utf-8")
        assert read_answer(path, ((2, 2),), ("test luck", "fight")).tolist() == [[0, 1], [1, 0]]
        with pytest.raises(StoreError, match="names the columns"):
            read_answer(path, ((2, 2),), ("fight", "test luck"))


def test_one_file_is_explained_and_an_exercise_is_shown(lake: Path, handed_in: Path) -> None:
    told = " ".join(said("grade", lake, handed_in / "uniform.npz").split())
    assert "lake: 0 of 10 points, for a gap of 0.8096 (10 for at most 1e-06, 6 for" in told
    assert "state 1 (row 0, column 1): left 25%, down 25%, right 25%, up 25%, where up" in told
    assert (
        "An episode never ends from state 36 (row 3, column 0)."
        in solvent.grade("cliff-policy", np.zeros(48, int)).text
    )
    shown = said("grade", lake)
    assert "0 left, 1 down, 2 right, 3 up" in " ".join(shown.split())
    assert "(16,) or (16, 4)" in shown
    assert "name the files to grade" in refusal("grade", lake, "--csv", lake.parent / "grades.csv")
    drive = solvent.make_game("football-drive")
    assert state_text(drive, drive.initial()[0].state) == "first and 10, 80 yards to the goal"


def test_no_name_of_a_file_is_taken_for_markup(lake: Path, handed_in: Path) -> None:
    best = (handed_in / "best.npz").read_bytes()
    names = ["[red]a[x].npz", "b[bold].npz"]
    for name in names:
        (lake.parent / name).write_bytes(best)
    with chdir(lake.parent):
        shown = said("grade", lake.name, *names)
    assert [line.split()[:2] for line in shown.splitlines()[1:]] == [[name, "10"] for name in names]


def test_the_explanation_is_that_of_locate_gap() -> None:
    table = gym.make("solvent/FFCombat-v0").unwrapped.game
    uniform = solvent.TabularPolicy.uniform(table)
    where = solvent.locate_gap(table, uniform)
    exercise = Exercise(
        name="fight", title="A fight", environment="solvent/FFCombat-v0", asks="policy",
        points=[(1e-6, 4), (0.2, 1)],
    )  # fmt: skip
    got = solvent.grade(exercise, uniform)
    assert got.gap == pytest.approx(where.gap, abs=1e-12)
    assert (got.points, got.out_of) == (1, 4)
    told = [line for line in got.text.splitlines() if line.startswith("- state ")]
    assert [int(line.split()[2]) for line in told] == where.ranked(3)
    for line, state in zip(told, where.ranked(3), strict=True):
        assert f"{where.contribution[state]:.4g} in an episode" in line
    assert solvent.grade(exercise, solvent.solve(table).policies[0]).points == 4


def test_values_are_graded_by_their_largest_error() -> None:
    exercise = Exercise(
        name="v", title="Values", environment="FrozenLake-v1", asks="values",
        points=[(1e-6, 10), (0.1, 5)],
    )  # fmt: skip
    subject = exercise.subject
    right = np.zeros(16)
    live = ~subject.table.terminal
    right[subject.row[live]] = subject.solution.values[live]
    assert solvent.grade(exercise, right).points == 10
    wrong = right.copy()
    wrong[[3, 6]] += [0.05, -0.03]
    got = solvent.grade(exercise, wrong)
    assert got.gap == pytest.approx(0.05)
    assert got.points == 5
    third, sixth = (line for line in got.text.splitlines() if line.startswith("- "))
    assert third.startswith("- state 3 (row 0, column 3): ")
    assert sixth.startswith("- state 6 (row 1, column 2): ")
    wrong[3] = np.nan
    assert solvent.grade(exercise, wrong).gap == np.inf
    # Whatever stands in a hole, where nothing is to come.
    right[5] = -7
    assert solvent.grade(exercise, right).points == 10


def test_values_of_the_uniform_policy_and_action_values() -> None:
    base = Exercise(
        name="v", title="Values", environment="FrozenLake-v1", asks="values", of="uniform",
        points=[(1e-6, 1)],
    )  # fmt: skip
    table, row = base.subject.table, base.subject.row
    values = solvent.policy_value(table, solvent.TabularPolicy.uniform(table))
    answer = np.zeros(16)
    answer[row[~table.terminal]] = values[~table.terminal]
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
    plain = Exercise(
        name="v", title="Values", environment="FrozenLake-v1", asks="values", discount=0.99,
        points=[(1e-6, 1)],
    )  # fmt: skip
    # Value iteration, as the book has it, on the environment's own table.
    P = gym.make("FrozenLake-v1").unwrapped.P
    values = np.zeros(16)
    for _ in range(5000):
        values = np.array([
            max(sum(p * (r + 0.99 * values[t] * (not over)) for p, t, r, over in P[s][a])
                for a in P[s])
            for s in P
        ])  # fmt: skip
    assert values[0] == pytest.approx(0.542026, abs=1e-6)
    assert solvent.grade(plain, values).points == 1
    # A discount of the environment asks for the same rows.
    of_env = replace(plain, discount=1.0, env_kwargs={"discount": 0.99})
    assert solvent.grade(of_env, values).points == 1
    policy, uniform = replace(plain, asks="policy"), np.full((16, 4), 0.25)
    of_game = solvent.TabularPolicy.uniform(policy.subject.played)
    first, second = solvent.grade(policy, uniform), solvent.grade(policy, of_game)
    assert first == second
    assert first.gap != pytest.approx(solvent.score("FrozenLake-v1", uniform).optimality_gap)


def test_a_game_for_two_is_graded_against_a_best_response() -> None:
    small = {"limit": 10, "sides": 4}
    exercise = Exercise(
        name="g", title="Greed", game="greed", parameters=small, player=1, asks="policy",
        points=[(1e-6, 1)],
    )  # fmt: skip
    table = exercise.subject.table
    uniform = solvent.TabularPolicy.uniform(table, player=1)
    assert solvent.grade(exercise, uniform).gap == pytest.approx(
        solvent.exploitability(table, uniform)
    )
    assert solvent.grade(exercise, solvent.solve(table).policies[1]).points == 1
    with pytest.raises(ValueError, match="player 1's is asked for"):
        solvent.grade(exercise, solvent.TabularPolicy.uniform(table, player=0))
    values = replace(exercise, asks="values")
    assert solvent.grade(values, -solvent.solve(table).values).points == 1
    with pytest.raises(ValueError, match=r"exercise g: .* only optimal values are defined"):
        solvent.grade(replace(exercise, asks="action_values"), np.zeros(1))


def test_the_rule_of_points(lake: Path) -> None:
    gaps = [0, 1e-6, 1.1e-6, 0.2, 0.5, 0.8, np.inf, np.nan]
    exercise = find_exercise(lake)
    assert [exercise.points_for(gap) for gap in gaps] == [10, 10, 6, 6, 3, 0, 0, 0]


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


def test_what_is_no_exercise_is_refused(lake: Path, tmp_path: Path) -> None:
    for old, new, message in NO_EXERCISES:
        assert old in LAKE
        lake.write_text(LAKE.replace(old, new, 1))
        with pytest.raises(ValueError, match=rf"lake\.toml: .*{re.escape(message)}"):
            find_exercise(str(lake))
    named: list[tuple[Any, str]] = [
        ("lake-polcy", "exercise is 'lake-polcy'"),
        (tmp_path / "missing.toml", "cannot be read"),
        (3, "exercise is 3; allowed are"),
    ]
    for name, message in named:
        with pytest.raises(ValueError, match=message):
            find_exercise(name)
    lake.write_text(LAKE.replace("FrozenLake-v1", "FrozenLake-v7"))
    assert "exercise lake: task FrozenLake-v7: no game or environment" in refusal("grade", lake)


def test_answers_of_another_shape_name_what_is_expected(lake: Path) -> None:
    values = replace(find_exercise(lake), asks="values")
    answers: list[tuple[Any, Any, str]] = [
        (lake, np.ones((4, 16)) / 16, r"shape \(4, 16\); expected .* \(16, 4\), a row for each"),
        (lake, "left", "the answer is 'left'"),
        (values, [1, 2, 3], r"shape \(3,\); expected are numbers of shape \(16,\)"),
    ]
    for exercise, answer, message in answers:
        with pytest.raises(ValueError, match=message):
            solvent.grade(exercise, answer)


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
    with (tmp_path / "grades.csv").open(encoding="utf-8", newline="") as file:
        cells = [row[0] for row in csv.reader(file)][1:]
    assert cells == ["'=1+1", "'+1", "'-1", "'@A1", "' =1", "\\t=1", "'\uff1d1", "plain", "a=1"]
    assert content.count('"') == 2 * 6 * (len(names) + 1)
