"""``solvent solve football-strategy`` in the forms with a clock."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
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
from solvent.games.football_clock.scores import network_layers
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
        assert f"{solution.value:.9g}  (points, to player 0)" in shown


@pytest.mark.parametrize(
    "command",
    [
        ["play", "football", "--solution"],
        ["report", "--out", "page.html", "--solution"],
        ["score", "optimal", "--solution"],
        ["score", "paper-agent", "--solution"],
    ],
    ids=["play", "report", "score optimal", "score paper-agent"],
)
def test_no_command_reads_a_sheet_with_a_flipped_bit(
    command: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*words, "--out", "x").exit_code == 0
    for layer in tmp_path.rglob("*.npy"):
        content = bytearray(layer.read_bytes())
        content[-1] ^= 64
        layer.write_bytes(content)
    for refused in ([*command, "x"], [*words, "--out", "x"]):
        assert re.fullmatch(
            r"x/sheets/half2/t00\d-\d-\d.npy: the checksum does not match; the file was changed or "
            r"damaged. Remove it, and the command that solved it will solve it again",
            run(*refused).stderr.splitlines()[-1].removeprefix("solvent: "),
        )
    assert not (tmp_path / "page.html").exists()


def test_the_start_is_a_parameter_and_the_folder_the_same(tmp_path: Path) -> None:
    chart = tmp_path / "small.csv"
    chart.write_text(csv_text(SMALL))
    words = [
        *("solve", "football-strategy", "--form", "second-half", "--chart", str(chart)),
        *("--ruleset", json.dumps(RULES), "--clock", json.dumps({**CLOCK, "half": 30})),
        *("--out", str(tmp_path / "x"), "--json"),
    ]
    answers = [json.loads(run(*words, "--margin", str(lead)).stdout) for lead in (-3, 0, 3)]
    values = [answer["value"] for answer in answers]
    assert values == sorted(set(values))
    assert [answer["layers_solved_now"] for answer in answers] == [3, 0, 0]


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


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--save", "x.npz"], "--save is for games that fit in a table; use --out DIR"),
        (["--margin", "3"], "margin is 3; form 'half' begins at 0"),
        (["--timeouts", "12"], "timeouts is 12"),
        (["--kickoff-value", "1"], "kickoff_value"),
    ],
)
def test_what_does_not_belong_to_it_is_refused(
    more: list[str], message: str, words: list[str]
) -> None:
    assert message in refusal(*words, *more)


@pytest.mark.parametrize(
    "option", ["--out=x", "--threads=2", "--on=auto", "--keep=start", "--plan", "--verify"]
)
def test_other_games_have_none_of_its_options(option: str) -> None:
    name = option.partition("=")[0]
    wanted = f"{name} is for games that are solved layer by layer"
    assert refusal("solve", "pig", option) == wanted
    assert refusal("solve", "football-strategy", option) == wanted


@pytest.mark.slow
def test_a_whole_half_killed_ten_times_is_the_same_to_the_last_byte(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "solvent", "solve", "football-strategy", "--form", "half"),
        *("--timeouts", "1", "--out"),
    ]
    began = time.perf_counter()
    subprocess.run([*command, str(tmp_path / "undisturbed")], check=True, capture_output=True)
    duration = time.perf_counter() - began
    draw = random.Random(3)
    folder = tmp_path / "killed"
    layers: list[int] = []
    killed = 0
    for _ in range(10):
        process = subprocess.Popen([*command, str(folder)], stdout=subprocess.DEVNULL)
        try:
            process.wait(draw.uniform(0.1, 0.4) * duration)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
        layers.append(len(list(folder.rglob("sheets/*/*.npy"))))
    assert killed > 0
    assert layers == sorted(layers)
    subprocess.run([*command, str(folder)], check=True, capture_output=True)

    def contents(folder: Path) -> dict[str, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    assert contents(folder) == contents(tmp_path / "undisturbed")


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


def test_known_players_need_a_solution(tmp_path: Path) -> None:
    assert "--solution DIR" in refusal("score", "optimal")
    assert "Did you mean 'optimal'?" in refusal("score", "optmal")
    assert "holds no solution" in refusal("score", "optimal", "--solution", str(tmp_path))
