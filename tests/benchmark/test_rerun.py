"""A run belongs to the code that made it, and some runs of a submission can be trained again."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from solvent.benchmark.bench import bench
from solvent.benchmark.records import read_bench, write_results
from solvent.benchmark.submissions import check_submission, pack_submission, train_again
from solvent.benchmark.suites import Setting, find_suite, suite_seeds
from solvent.benchmark.task_game import task_game
from solvent.cli.app import app
from solvent.exact import StoreError, save_policy

TOML = """
format = 1
name = "small"
title = "One short combat"
[[tasks]]
environment = "solvent/FFCombat-v0"
timesteps = 500
env_kwargs = { stamina = 4, opponent_stamina = [3, 5], luck = [0, 3] }
"""

MINE = """
import numpy as np


def mine(make, seed, budget, callback):
    '''Learns nothing, and prefers one action by chance.'''
    share = np.random.default_rng(seed).random()
    return lambda seen: np.tile([share, 1 - share], (len(seen), 1))
"""

CHANGED = MINE.replace("share = ", "share = 0.5 * ")


@pytest.fixture(scope="module")
def suite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("suite") / "small.toml"
    file.write_text(TOML)
    return file


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("code") / "mine.py"
    file.write_text(MINE)
    return f"{file}:mine"


@pytest.fixture(scope="module")
def submission(suite_file: Path, place: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest")
    suite = find_suite(str(suite_file))
    bench(folder / "bench", suite, [place], seeds=3, progress=False)
    pack_submission(folder / "bench", "mine", folder / "mine", suite, authors="A. Author")
    return folder / "mine"


def test_runs_of_changed_code_are_not_gone_on_with_nor_packed(
    suite_file: Path, tmp_path: Path
) -> None:
    suite, file, out = find_suite(str(suite_file)), tmp_path / "mine.py", tmp_path / "bench"
    file.write_text(MINE)
    before = bench(out, suite, [f"{file}:mine"], seeds=1, progress=False)
    file.write_text(CHANGED)
    after = bench(out, suite, [f"{file}:mine"], seeds=2, progress=False)
    [failure], [new], [old] = after.failures, after.tasks[0].agents, before.tasks[0].agents
    assert failure.seed == old.seed != new.seed
    assert "holds another training: its source is" in failure.error
    # A table with both, as an earlier bench made it.
    task = replace(after.tasks[0], agents=(old, new))
    write_results(out, replace(after, tasks=(task,), failures=()))
    with pytest.raises(StoreError, match=f"{old.folder} and {new.folder} were made by different"):
        pack_submission(out, "mine", tmp_path / "mine", suite, authors="A. Author")
    assert not (tmp_path / "mine").exists()


def test_the_runs_of_a_submission_end_as_they_did(
    submission: Path, suite_file: Path, place: str
) -> None:
    suite = find_suite(str(suite_file))
    checked = check_submission(submission, suite)
    assert checked.doubts == ()
    assert checked.card.seeds == tuple(sorted(suite_seeds(checked.card.suite_hash, 3)))
    again = list(train_again(checked, 5, place, suite))
    assert sorted(again) == [("FFCombat-v0", seed) for seed in checked.card.seeds]


def test_an_installed_algorithm_is_found_by_the_name_on_the_card(
    suite_file: Path, tmp_path: Path
) -> None:
    suite = find_suite(str(suite_file))
    bench(tmp_path / "bench", suite, ["q_learning"], seeds=1, progress=False)
    pack_submission(tmp_path / "bench", "q_learning", tmp_path / "q", suite, authors="A. Author")
    checked = check_submission(tmp_path / "q", suite)
    assert list(train_again(checked, 1, suite=suite)) == [("FFCombat-v0", *checked.card.seeds)]


def test_another_budget_and_settings_are_packed_and_run_again(
    suite_file: Path, tmp_path: Path
) -> None:
    suite, settings = find_suite(str(suite_file)), {"q_learning": Setting({"epsilon": 0.9}, "hand")}
    tier = suite.with_timesteps(200)
    out = tmp_path / "bench"
    record = bench(out, tier, ["q_learning"], seeds=1, settings=settings, progress=False)
    [agent] = record.tasks[0].agents
    assert agent.setting == settings["q_learning"]
    assert agent.hyperparameters["epsilon"] == 0.9
    pack_submission(out, "q_learning", tmp_path / "q", suite, authors="A. Author")
    checked = check_submission(tmp_path / "q", suite)
    assert checked.card.suite == "small@200"
    assert list(train_again(checked, 1, suite=suite)) == [("FFCombat-v0", agent.seed)]
    wrong = {"q_learning": Setting({"epsilons": 0.9})}
    with pytest.raises(ValueError, match="hyperparameter is 'epsilons'; allowed are"):
        bench(tmp_path / "no", tier, ["q_learning"], settings=wrong, progress=False)


def test_only_a_person_says_where_code_is(
    submission: Path, suite_file: Path, place: str, tmp_path: Path
) -> None:
    suite = find_suite(str(suite_file))
    checked = check_submission(submission, suite)
    with pytest.raises(ValueError, match=r"algorithm is 'mine'; allowed are a2c, "):
        next(train_again(checked, 1, suite=suite))
    named = replace(checked, card=replace(checked.card, algorithm=Path(place[:-5]).name))
    with pytest.raises(ValueError, match=r"algorithm is 'mine.py'; allowed are a2c, "):
        next(train_again(named, 1, suite=suite))
    (tmp_path / "mine.py").write_text(CHANGED)
    with pytest.raises(StoreError, match=r"was made by code of the source \w+; .*mine.py:mine has"):
        next(train_again(checked, 1, f"{tmp_path / 'mine.py'}:mine", suite))


def test_the_optimum_packed_as_if_learned_is_proved_doubted_and_found_out(
    submission: Path, suite_file: Path, place: str, tmp_path: Path
) -> None:
    suite = find_suite(str(suite_file))
    shutil.copytree(submission.parent / "bench", tmp_path / "bench")
    game = task_game(suite.tasks[0])
    [task] = read_bench(tmp_path / "bench").tasks
    for agent in task.agents:
        for name in ("policy.npz", "policy_mode.npz"):
            save_policy(tmp_path / "bench" / agent.folder / name, game.solution.policies[0])
    pack_submission(tmp_path / "bench", "mine", tmp_path / "super", suite, authors="A. Author")
    checked = check_submission(tmp_path / "super", suite)
    assert [agent.mode_gap for agent in checked.tasks[0].agents] == pytest.approx([0] * 3, abs=1e-9)
    assert checked.doubts == (
        f"FFCombat-v0: the policies of the seeds {list(checked.card.seeds)} are equal",
        "FFCombat-v0: 3 of 3 policies are optimal",
    )
    with pytest.raises(StoreError, match="trained again, it ends with other policies or steps"):
        next(train_again(checked, 1, place, suite))


def test_the_command(submission: Path, suite_file: Path, place: str) -> None:
    words = ["submit", "check", str(submission), "--suite", str(suite_file)]
    words += ["--rerun", "2", "--algorithm", place]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.output
    assert told.stdout.count("trained again: FFCombat-v0, seed ") == 2
