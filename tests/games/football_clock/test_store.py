"""Football with a clock in a folder: solved, gone on with, opened and scored by the command."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layered_games import refusal, rewrite, solve_in
from timed_football import CHART, CLOCK, RULES, SMALL, TINY_FORMS, tiny
from typer.testing import CliRunner

from solvent.baselines.network import Network, NetworkPlayer, save_network
from solvent.cli.app import app
from solvent.exact import solve
from solvent.exact.layered.folder import LayerFolder
from solvent.games.football.chart import csv_text, load_chart
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solution import TimedSolution
from solvent.model import compile_game
from solvent.model.files import StoreError
from solvent.model.text import precise


@pytest.fixture(scope="module")
def game() -> TimedFootball:
    return tiny("half", SMALL, timeouts=1)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that stand for the same game."""
    chart = tmp_path_factory.mktemp("chart") / "small.csv"
    chart.write_text(csv_text(SMALL))
    return [
        *("solve", "football-strategy", "--form", "half", "--chart", str(chart)),
        *("--ruleset", json.dumps(RULES), "--clock", json.dumps({**CLOCK, "timeouts": 1})),
    ]


@pytest.fixture(scope="module")
def original(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its finished solution, not to be changed."""
    folder = tmp_path_factory.mktemp("solutions") / "original"
    assert run(*words, "--out", str(folder)).exit_code == 0
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(original, tmp_path / "solution"))


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), prog_name="solvent")


def line_of_refusal(*words: str) -> str:
    """The one line that a command says when it refuses."""
    result = run(*words)
    assert result.exit_code == 2, result.output
    [line] = result.stderr.splitlines()
    return str(line)


def test_a_solution_in_a_folder_is_the_games_in_every_position(tmp_path: Path) -> None:
    for form, parameters in TINY_FORMS[4:6]:
        game = tiny(form, **parameters)
        solve_in(tmp_path / form, FootballLayers.of(game))
        solution = TimedSolution.open(tmp_path / form, game, verify=True)
        table = compile_game(game)
        wanted = solve(table)
        found = [solution.value_of(position) for position in table.states]
        assert found == pytest.approx(list(wanted.values), abs=1e-12), form
        assert solution.lower <= wanted.value + 1e-15
        assert solution.upper >= wanted.value - 1e-15
        assert 0 < solution.error < 1e-11


def test_a_solution_is_opened_without_its_game_and_by_another_name_of_the_chart(
    original: Path, game: TimedFootball
) -> None:
    solution = TimedSolution.open(original)
    assert solution.start == game.initial()[0].state
    assert solution.game.loaded_chart.hash == game.loaded_chart.hash
    assert solution.layout.clock == game.loaded_clock
    renamed = dataclasses.replace(game, chart=dataclasses.replace(SMALL, name="renamed"))
    for same in (game, renamed):
        assert TimedSolution.open(original, same).value == solution.value


def test_the_solution_of_another_game_is_refused(
    original: Path, game: TimedFootball, tmp_path: Path
) -> None:
    layers = FootballLayers.of(game)
    solve_in(tmp_path / "half-done", layers, stop_before=len(layers.layers) - 3)
    for other, message in (
        (tiny("second-half", SMALL, timeouts=1), "form half, not second-half$"),
        (tiny("half", CHART, timeouts=1), r"chart \w{12}, not \w{12}"),
        (tiny("half", SMALL, {**RULES, "safety": 3}, timeouts=1), "safety as by default, not 3$"),
        (tiny("half", SMALL, timeouts=0), "timeouts 1, not 0"),
        (tiny("half", SMALL, timeouts=1, stops=[30]), r"stops \[15\], not \[30\]"),
        (
            tiny("half", SMALL, timeouts=1, half=60, untimed_down=False),
            "half 45, not 60; ticks 3, not 4; untimed_down True, not False$",
        ),
    ):
        for folder in (original, tmp_path / "half-done"):
            with pytest.raises(StoreError, match=f"is a solution with {message}"):
                LayerFolder.create(folder, FootballLayers.of(other))


ODD: tuple[Any, ...] = (None, True, -1, 1e308, float("nan"), "x\ny" * 999, [], {}, {"a": [1]})


def test_no_entry_of_a_manifest_is_believed(folder: Path) -> None:
    """Whatever stands in the place of an entry, the folder is refused in one line."""
    whole = (folder / "manifest.json").read_bytes()
    record = ["sheets", "half2/t003-1-1"]
    entries = [
        *([name] for name in ("form", "ticks", "rows", "columns", "dtype", "chart", "ruleset")),
        *(["chart", name] for name in ("hash", "csv")),
        *(["ruleset", name] for name in ("hash", "parameters")),
        *(["ruleset", "parameters", name] for name in ("field", "kickoff", "barred")),
        *(["clock", name] for name in ("tick", "half", "stops", "timeouts", "largest_margin")),
        *(["clock"], record),
        *([*record, name] for name in ("sha256", "largest_gap", "games", "constant")),
    ]
    # A clock without stops is a clock.
    changes = [(at, odd) for at in entries for odd in ODD if (at[-1], odd) != ("stops", [])]
    changes.append((["chart", "csv"], csv_text(load_chart("dice"))))
    for path, odd in changes:

        def put(description: dict[str, Any], path: list[str] = path, odd: Any = odd) -> None:
            *outer, last = path
            for name in outer:
                description = description[name]
            description[last] = odd

        (folder / "manifest.json").write_bytes(whole)
        rewrite(folder, put)
        message = refusal(lambda: LayerFolder.open(folder, FootballLayers))
        assert message.startswith(str(folder)), (path, odd)


# The command.


def test_the_command_says_the_value_and_its_bracket(
    words: list[str], original: Path, game: TimedFootball
) -> None:
    solution = TimedSolution.of(game)
    for solved_now, where in ((13, []), (0, ["--out", str(original)])):
        answer = json.loads(run(*words, *where, "--json").stdout)
        assert answer["value"] == solution.value
        assert (answer["lower"], answer["upper"]) == (solution.lower, solution.upper)
        assert answer["largest_gap"] == solution.store.largest_gap
        assert answer["states"] == solution.layout.n_states
        assert answer["matrix_games"] == solution.store.games
        assert (answer["layers_solved_now"], answer["layers"]) == (solved_now, 13)
    assert f"{solution.value:.9g}  (points" in run(*words, "--out", str(original)).stdout


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
        patch.setattr(FootballLayers, "label", interrupt)
        result = run(*words, "--out", str(out))
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == (
        f"solvent: interrupted; what is solved is kept in {out}; the same command goes on from "
        f"there"
    )
    answer = json.loads(run(*words, "--out", str(out), "--json").stdout)
    assert answer["layers_solved_now"] == 13 - 4


def test_known_players_are_scored_in_the_game_of_a_solution(
    words: list[str], original: Path, game: TimedFootball
) -> None:
    solution = TimedSolution.open(original, game)
    score = ("score", "--solution", str(original), "--json")
    optimal = json.loads(run(*score, "optimal").stdout)
    assert optimal["value"] == solution.value
    assert optimal["proved to within"] == solution.error
    assert optimal["against"]["best response"][:2] == pytest.approx(
        [solution.value, -solution.value], abs=1e-12
    )
    agent = json.loads(run(*score, "paper-agent").stdout)
    answered, against_optimal = (agent["against"][name][0] for name in ("best response", "optimal"))
    assert answered < against_optimal < solution.value - 1e-3
    assert agent["exploitability"] == pytest.approx(-agent["against"]["best response"][2])
    assert precise(against_optimal) in run(*score[:-1], "paper-agent").stdout
    # A game that is named has to be the one that is scored.
    assert json.loads(run(*score, "paper-agent", *words[1:]).stdout) == agent
    other = json.dumps({**CLOCK, "timeouts": 2})
    line = line_of_refusal(*score, "paper-agent", *words[1:-1], other)
    assert "is a solution with timeouts 1, not 2" in line


def test_a_network_is_scored_on_the_game_on_which_it_was_trained(tmp_path: Path) -> None:
    path = tmp_path / "network.npz"
    network = Network((np.eye(3, dtype=np.float32),), (np.zeros(3, np.float32),), "relu")
    request = {"environment": "solvent/FootballHalf-v0", "env_kwargs": {"timeouts": 0}}
    save_network(path, NetworkPlayer(network, "mode", True, "vector"), {"request": request})
    named = ("football", "--timeouts", "1")
    another = "network.npz is for another game: its clock is"
    assert another in line_of_refusal("score", str(path), *named)
    save_network(path, NetworkPlayer(network, "mode", True, "vector"))
    untold = line_of_refusal("score", str(path), *named)
    assert "does not say on which game it was trained" in untold


def test_the_command_plays_by_a_solution_or_makes_one(words: list[str], original: Path) -> None:
    def played(*words: str) -> Any:
        answers = "1\nA\nkickoff\ntake the play\nno time-out\n" * 60
        return CliRunner().invoke(app, ["play", *words, "--seed", "3"], input=answers)

    opened = played("football", "--solution", str(original))
    assert opened.exit_code == 0, opened.output
    assert "Optimum at the start" in opened.stdout
    assert played(*words[1:]).stdout == opened.stdout
    for more, message in (
        (["--timeouts", "3"], "timeouts is 3, but clock has 1"),
        (["--form", "drive"], "with a clock, not for form 'drive'"),
        (["--form", "full"], "is a solution with form half, not full"),
    ):
        refused = played("football", *more, "--solution", str(original))
        assert refused.exit_code == 2
        assert message in refused.output
