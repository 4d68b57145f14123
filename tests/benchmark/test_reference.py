"""The reference results in the documentation are those of their policies."""

from __future__ import annotations

import json
import runpy
import shutil
import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from submitted import SUITE

import solvent
from solvent.benchmark.policy_arrays import read_policies
from solvent.benchmark.submissions import check_submission, read_submission
from solvent.benchmark.suites import Suite, Task, read_suite
from solvent.benchmark.task_game import TaskGame, task_game
from solvent.exact import GapLocation
from solvent.model import TabularPolicy

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCRIPT = runpy.run_path(str(DOCS / "scripts" / "leaderboard.py"))
SUBMISSIONS = SCRIPT["submissions"]()
LARGEST = 10**7
"""Bytes of a submission of ten seeds."""


def suite_of(folder: Path) -> Suite:
    """A suite of the package, or one beside the results."""
    files = (DOCS / "leaderboard", ROOT / "solvent" / "games" / "suites")
    name = f"{folder.parent.name}.toml"
    return read_suite(next(place / name for place in files if (place / name).exists()))


def named(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def test_there_are_results_to_compare() -> None:
    assert len(SUBMISSIONS) >= 2


@pytest.mark.parametrize("folder", SUBMISSIONS, ids=named)
def test_a_sample_of_the_policies_scores_what_is_claimed(folder: Path) -> None:
    """One run of one task of each; which one, its name decides."""
    stated = read_submission(folder)
    number = crc32(named(folder).encode())
    task = stated.tasks[number % len(stated.tasks)].name
    seed = stated.card.seeds[number % len(stated.card.seeds)]
    [found] = check_submission(folder, suite_of(folder), sample={task: [seed]}).tasks
    assert [agent.seed for agent in found.agents] == [seed]


@pytest.mark.slow
@pytest.mark.parametrize("folder", SUBMISSIONS, ids=named)
def test_every_policy_scores_what_is_claimed(folder: Path) -> None:
    checked = check_submission(folder, suite_of(folder))
    assert [len(task.agents) for task in checked.tasks] == [
        len(checked.card.seeds) for _ in checked.tasks
    ]


@pytest.mark.parametrize("folder", SUBMISSIONS, ids=named)
def test_the_results_are_of_ten_seeds_and_small(folder: Path) -> None:
    stated = read_submission(folder)
    assert (stated.card.suite, stated.card.algorithm) == (folder.parent.name, folder.name)
    assert len(stated.card.seeds) == 10
    assert sum(file.stat().st_size for file in folder.rglob("*.*")) < LARGEST


def test_the_page_has_the_tables_of_the_results() -> None:
    page = (DOCS / "leaderboard.md").read_text(encoding="utf-8")
    assert SCRIPT["filled"](page) == page
    assert page.count("<!-- leaderboard -->") == 1


def lost_in(algorithm: str, game: TaskGame) -> GapLocation:
    """Where the greedy policy of the first seed loses its gap."""
    folder = DOCS / "leaderboard" / "core" / algorithm
    path, name = folder / "policies" / f"{game.task.name}.npz", game.task.name
    [run] = read_policies(path, name, game.table, game.seats, range(10), [0]).values()
    return solvent.locate_gap(game.table, run.greedy[0], game.solution)


def test_what_the_page_says_of_core() -> None:
    """The claims, from the figures that the tests above score again."""
    gaps: dict[tuple[str, str], list[float]] = {}
    worst: dict[tuple[str, str], float] = {}
    seconds: dict[tuple[str, str], float] = {}
    for folder in (DOCS / "leaderboard" / "core").iterdir():
        for task in read_submission(folder).tasks:
            key = folder.name, task.name
            gaps[key] = [agent.mode_gap for agent in task.agents]
            worst[key] = max(agent.mode_worst_start_gap for agent in task.agents)
            seconds[key] = sum(agent.cpu_seconds for agent in task.agents)
    algorithms = {algorithm for algorithm, _ in gaps}
    drive = task_game(Task(environment="solvent/FootballDrive-v0"))
    punt = np.full(drive.table.n_states, drive.table.info.actions[0].index("punt"))
    mask = drive.table.mask[0]
    actions = np.where(mask[np.arange(len(punt)), punt], punt, mask.argmax(axis=1))
    score = solvent.score(drive.table, TabularPolicy.deterministic(drive.table, actions))
    assert f"{score.optimality_gap:.4f}" == "0.4789"
    for algorithm in ("a2c", "ppo", "maskable_ppo", "qr_dqn", "trpo"):
        assert gaps[algorithm, "FootballDrive-v0"] == pytest.approx([score.optimality_gap] * 10)
    assert 0.285 < np.mean(gaps["dqn", "FootballDrive-v0"]) < 0.295
    assert (lost_in("dqn", drive).contribution > 1e-9).sum() > 1000
    assert {f"{gap:.4f}" for gap in gaps["qr_dqn", "Gamebook-v0"]} == {"0.1077"}
    book = lost_in("qr_dqn", task_game(Task(environment="solvent/Gamebook-v0")))
    [first] = np.flatnonzero(book.contribution > 1e-9)
    assert book.visits[first] == pytest.approx(1.0)
    assert [f"{gap:.4f}" for gap in gaps["trpo", "Gamebook-v0"]].count("0.1077") > 5
    assert all(max(gaps[one, "Pig-v0"]) < 1e-9 for one in algorithms)
    random = "FFCombatRandom-v0"
    assert f"{np.mean(gaps['q_learning', random]):.3f}" == "0.044"
    assert f"{np.mean(gaps['dqn', random]):.3f}" == "0.005"
    assert min(worst[one, random] for one in algorithms) > 0.26
    assert seconds["q_learning", "FFCombat-v0"] < seconds["ppo", "FFCombat-v0"] / 15
    total = {one: sum(s for (name, _), s in seconds.items() if name == one) for one in algorithms}
    assert all(3 < total[one] / total["ppo"] < 5 for one in ("dqn", "masked_dqn"))


def test_what_the_page_says_of_two_player() -> None:
    scores: dict[tuple[str, str], float] = {}
    for folder in (DOCS / "leaderboard" / "two-player").iterdir():
        for task in read_submission(folder).tasks:
            key = folder.name, task.name.partition("-")[0]
            scores[key] = float(np.mean([agent.normalized for agent in task.agents]))
            if key[1] == "Pig" and folder.name in ("a2c", "ppo", "maskable_ppo", "trpo"):
                assert max(agent.mode_gap for agent in task.agents) < 1e-9
            if key == ("ppo", "Pig"):
                assert f"{np.mean([agent.gap for agent in task.agents]):.2f}" == "0.06"
            if folder.name == "regret_matching":
                assert min(agent.normalized for agent in task.agents) > 1 - 0.011
                assert len({agent.gap for agent in task.agents}) == 1
                seconds = np.mean([agent.cpu_seconds for agent in task.agents])
                assert round(float(seconds)) in ((15,) if key[1] == "Pig" else (1, 2))
    goofspiel = {name: score for (name, game), score in scores.items() if game == "Goofspiel"}
    assert all(goofspiel[name] < 0 for name in ("dqn", "masked_dqn", "qr_dqn"))
    from_samples = set(goofspiel) - {"regret_matching", "fictitious_play", "tabular_mirror_descent"}
    assert max(from_samples, key=lambda name: goofspiel[name]) == "maskable_ppo"
    assert f"{goofspiel['maskable_ppo']:.2f}" == "0.55"
    assert 0.1 < scores["maskable_ppo", "Soccer"] < 0.15
    assert all(0.64 < scores[name, "Soccer"] < 0.7 for name in ("dqn", "minimax_q"))


def test_the_target_packs_every_algorithm_that_did_the_whole_suite(
    bench_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`make reference`, with a bench that is done already."""
    work = Path(shutil.copytree(bench_folder, tmp_path / "work" / "small"))
    path = work / "results.json"
    content = json.loads(path.read_text())
    first = content["tasks"][0]
    first["agents"] = [one for one in first["agents"] if one["algorithm"] == "steady"]
    path.write_text(json.dumps(content))
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "leaderboard.py").write_text("")
    script = runpy.run_path(str(ROOT / "benchmarks" / "reference.py"))
    names = script["main"].__globals__
    monkeypatch.setitem(names, "DOCS", tmp_path)
    monkeypatch.setitem(names, "find_suite", lambda name: SUITE)
    monkeypatch.setitem(names, "command", lambda *given: [sys.executable, "-c", ""])
    monkeypatch.setattr(sys, "argv", ["reference.py", "small", "--work", str(tmp_path / "work")])
    for _ in range(2):  # What was packed before is replaced.
        script["main"]()
    told = capsys.readouterr().out
    assert f"left out  wild_one: no run in {SUITE.tasks[0].name}" in told
    found = tmp_path / "leaderboard" / "small"
    assert [one.name for one in found.iterdir()] == ["steady"]
    assert check_submission(found / "steady", SUITE).card.authors == "The Solvent authors"
