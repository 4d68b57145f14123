"""The page about the benchmark: its files work as they stand."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from solvent.benchmark.algorithms import find_algorithm
from solvent.benchmark.bench import bench
from solvent.benchmark.records import read_bench
from solvent.benchmark.suites import Suite, Task, find_suite
from solvent.cli import app as cli
from solvent.model.registry import declared_names

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "benchmark.md").read_text(encoding="utf-8")
ENTERING = (DOCS / "own-algorithm.md").read_text(encoding="utf-8")


def block(title: str) -> str:
    text = PAGE + ENTERING
    found = re.search(rf'```\w+ title="{re.escape(title)}"\n(.*?)```', text, re.DOTALL)
    assert found is not None
    return found[1]


def ours_of(group: str) -> set[str]:
    """The names of a group of entry points that this package declares."""
    return {n for n, at in declared_names(group).items() if at.value.startswith("solvent.")}


def test_the_page_names_every_suite_and_key(tmp_path: Path) -> None:
    ours = {
        name
        for name, at in declared_names("solvent.suites").items()
        if at.value.startswith("solvent.")
    }
    assert set(re.findall(r"^\| `([\w-]+)` \| [^|]*\|$", PAGE.split("## Alg")[0], re.M)) >= ours
    file = tmp_path / "mine.toml"
    file.write_text(block("mine.toml"))
    assert [task.name for task in find_suite(str(file)).tasks] == [
        "FFCombat-v0", "GreedSmall-v0-self-play",
    ]  # fmt: skip


def test_the_core_has_the_steps_and_took_the_time_of_the_page() -> None:
    for name in ("core", "core-mini"):
        [row] = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.M)
        assert {f"{task.timesteps:,}" for task in find_suite(name).tasks} == {
            *re.findall(r"(\d+,000) steps each", row)
        }
    seconds = {}
    for file in (DOCS.parent / "benchmarks" / "results" / "core-mini").glob("*/results.json"):
        runs = [run for task in json.loads(file.read_text())["tasks"] for run in task["agents"]]
        assert len(runs) == 120
        seconds[file.parent.name] = sum(run["cpu_seconds"] for run in runs)
    least, most = min(seconds, key=seconds.__getitem__), max(seconds, key=seconds.__getitem__)
    assert (least, most) == ("q_learning", "masked_dqn")
    assert (
        f"from {seconds[least]:.0f} seconds (Q-learning) to {seconds[most] / 60:.0f} minutes "
        "(masked DQN)"
    ) in row


def test_the_page_names_every_algorithm() -> None:
    ours = ours_of("solvent.algorithms")
    rows = PAGE.split("| told the model |")[1].split("\n\n")[0].splitlines()[2:]
    named = {
        name: "yes" in row.split("|")[-2] for row in rows for name in _names(row.split("|")[1])
    }
    assert set(named) >= ours
    for name in ours:
        assert find_algorithm(name).uses_model == named[name]


def _names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


@pytest.mark.slow
def test_the_algorithm_of_the_page_is_entered(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(block("mine.py"))
    task = Task(environment="solvent/FFCombat-v0", timesteps=3_000)
    found = bench(
        tmp_path / "out",
        Suite("one", "One", (task,)),
        [f"{tmp_path / 'mine.py'}:greedy_bandit"],
        progress=False,
    )
    [agent] = found.tasks[0].agents
    assert agent.hyperparameters == {"epsilon": 0.1}
    assert agent.timesteps == 3_000


ROOT = Path(__file__).parents[2]
OWN = f"{ROOT / 'examples' / 'own_ppo.py'}:own_ppo"


@pytest.mark.slow
def test_one_command_enters_a_file_of_ones_own(tmp_path: Path) -> None:
    words = ["bench", "--suite", "quick", "--timesteps", "4096", "--algorithm", OWN]
    ran = CliRunner().invoke(cli.app, [*words, "--out", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    found = read_bench(tmp_path)
    assert found.suite is not None
    assert found.suite.name == "quick@4096"
    agents = [agent for task in found.tasks for agent in task.agents]
    assert {agent.algorithm for agent in agents} == {"own_ppo"}
    # It learns one seat, and leaves self-play out.
    assert {bool(task.agents) for task in found.tasks if task.for_two} == {False}
    assert all(task.agents for task in found.tasks if not task.for_two)
    assert agents[0].hyperparameters["learning_rate"] == 2e-3
    assert "own_ppo" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_a_search_goes_on_and_its_winner_is_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import tune

    suite = tmp_path / "mine.toml"
    suite.write_text(
        'format = 1\nname = "mine"\ntitle = "One lake"\n\n'
        '[[tasks]]\nenvironment = "FrozenLake-v1"\ntimesteps = 2000\nseeds = { q_learning = 1 }\n'
    )
    asked = ["--suite", str(suite), "--algorithm", "q_learning", "--jobs", "1"]
    tune.main([*asked, "--out", str(tmp_path), "--trials", "2"])
    first = (tmp_path / "q_learning.jsonl").read_text().splitlines()
    winner = tune.main([*asked, "--out", str(tmp_path), "--trials", "4"])
    lines = [json.loads(line) for line in (tmp_path / "q_learning.jsonl").read_text().splitlines()]
    trials = [line for line in lines if line["kind"] == "trial"]
    assert len(trials) == 4
    assert [json.loads(line) for line in first] == lines[: len(first)]
    assert winner.settings in [line["settings"] for line in trials]
    assert "4 trials on mine" in (tmp_path / "q_learning.toml").read_text()
    sys.modules.pop("tune")
