"""``solvent solve football-strategy`` in the forms with a clock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from timed_football import CLOCK, RULES, SMALL, tiny
from typer.testing import CliRunner

from solvent import make_game
from solvent.baselines.network import Network, NetworkPlayer, save_network
from solvent.cli.app import app
from solvent.games.football.chart_files import csv_text
from solvent.games.football_clock.players import (
    network_layers,
)
from solvent.games.football_clock.solution import TimedSolution
from solvent.model.text import precise


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that stand for the small half."""
    chart = tmp_path_factory.mktemp("chart") / "small.csv"
    chart.write_text(csv_text(SMALL))
    clock = json.dumps({**CLOCK, "timeouts": 1})
    return [
        *("solve", "football-strategy", "--form", "half", "--chart", str(chart)),
        *("--ruleset", json.dumps(RULES), "--clock", clock),
    ]


@pytest.fixture(scope="module")
def solution() -> TimedSolution:
    game = tiny("half", SMALL, timeouts=1)
    return TimedSolution.of(game)


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), prog_name="solvent")


def refusal(*words: str) -> str:
    """The one line that a command says when it refuses."""
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    return line.removeprefix("solvent: ")


def test_the_command_says_the_value_and_its_bracket(
    words: list[str], solution: TimedSolution, tmp_path: Path
) -> None:
    for attempt, where in enumerate(([], ["--out", str(tmp_path / "x")])):
        answer = json.loads(run(*words, *where, "--json").stdout)
        assert answer["value"] == solution.value
        assert (answer["lower"], answer["upper"]) == (solution.lower, solution.upper)
        assert answer["largest_gap"] == solution.largest_gap
        assert answer["states"] == solution.layout.states
        assert answer["matrix_games"] == solution.store.games
        assert answer["layers_solved_now"] == answer["layers"] == 13
        assert (answer["folder"] is None) == (attempt == 0)
        shown = run(*words, *where).stdout
        assert f"{solution.value:.9g}  (points" in shown


def test_interrupted_it_says_what_is_kept_and_goes_on(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def interrupt(layout: object, layer: object) -> str:
        seen.append(layer)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return "x"

    out = tmp_path / "x"
    with monkeypatch.context() as patch:
        patch.setattr("solvent.games.football_clock.layers.FootballLayers.label", interrupt)
        result = run(*words, "--out", str(out))
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == (
        f"solvent: interrupted; what is solved is kept in {out}; the same command goes on from "
        f"there"
    )
    answer = json.loads(run(*words, "--out", str(out), "--json").stdout)
    assert answer["layers_solved_now"] == 13 - 4


def test_known_players_are_scored_in_the_game_of_a_solution(
    words: list[str], solution: TimedSolution, tmp_path: Path
) -> None:
    run(*words, "--out", str(tmp_path / "x"))
    score = ("score", "--solution", str(tmp_path / "x"), "--json")
    optimal = json.loads(run(*score, "optimal").stdout)
    assert optimal["value"] == solution.value
    assert optimal["proved to within"] == solution.error
    first, second, _ = optimal["against"]["best answer"]
    assert first == pytest.approx(solution.value, abs=1e-12)
    assert second == pytest.approx(-solution.value, abs=1e-12)
    agent = json.loads(run(*score, "paper-agent").stdout)
    answered, against_optimal = (agent["against"][name][0] for name in ("best answer", "optimal"))
    assert answered < against_optimal < solution.value - 1e-3
    assert agent["exploitability"] == pytest.approx(-agent["against"]["best answer"][2])
    shown = run(*score[:-1], "paper-agent").stdout
    assert precise(against_optimal) in shown
    # A game that is named has to be the one that is scored.
    assert json.loads(run(*score, "paper-agent", *words[1:]).stdout) == agent
    other = json.dumps({**CLOCK, "timeouts": 2})
    line = refusal(*score, "paper-agent", *words[1:-1], other)
    assert "is a solution with timeouts 1, not 2" in line


def test_a_network_is_scored_on_the_game_on_which_it_was_trained(tmp_path: Path) -> None:
    path = tmp_path / "network.npz"
    network = Network((np.eye(3, dtype=np.float32),), (np.zeros(3, np.float32),), "relu")
    request = {"environment": "solvent/FootballHalf-v0", "env_kwargs": {"timeouts": 0}}
    save_network(path, NetworkPlayer(network, "mode", True, "vector"), {"request": request})
    named = ("football", "--timeouts", "1")
    line = refusal("score", str(path), *named)
    assert "network.npz is for another game: its clock is" in line
    rules = make_game("football-strategy", form="half", timeouts=1)
    with pytest.raises(ValueError, match=r"network\.npz is for another game: its clock is"):
        network_layers(rules, path)
    save_network(path, NetworkPlayer(network, "mode", True, "vector"))
    assert "does not say on which game it was trained" in refusal("score", str(path), *named)
