"""The sample algorithm of the documentation, entered by one command, and the exact search."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from solvent.benchmark.records import read_bench
from solvent.cli import app as cli

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
def test_a_search_against_the_exact_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import tune

    study = tune.main(["--trials", "2", "--timesteps", "2048", "--n-envs", "2"])
    assert len(study.trials) == 2
    assert 0 <= study.best_value < 1
    assert study.best_trial.user_attrs["hyperparameters"]["n_timesteps"] == 2048
    sys.modules.pop("tune")
