"""States of football with a clock, solved again from the rules; and the evidence of whole games."""

from __future__ import annotations

import gzip
import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from layered_games import rewrite, solve_in
from timed_football import CLOCK, RULES, SMALL, TINY_FORMS, tiny
from typer.testing import CliRunner
from whole_games import FOLDERS, opened

from solvent.cli.app import app
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.game import Place
from solvent.exact.layered.samples import random_places
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.spot_check import solved_again, spot_check
from solvent.exact.layered.store import LayerStore
from solvent.games.football.chart_files import csv_text
from solvent.games.football_clock.layers import FootballLayers

SEED = "spot check of the tests"


def largest_miss(layers: FootballLayers, store: LayerStore, count: int) -> float:
    """By how much random states are farther from the rules than they may be, at most."""

    def stored(place: Place) -> float:
        return store.value_at(place)

    misses = []
    for place in random_places(layers, count, SEED):
        state = layers.state_at(place)
        lower, upper = solved_again(layers, state, stored)
        assert upper - lower < 1e-12
        value = layers.value(state, stored(place))
        gap = store.record(place.layer).largest_gap
        allowed = gap + 2 * layers.rounding(place.layer, store.largest)
        misses.append(max(lower - value, value - upper) - allowed)
    return max(misses)


@pytest.mark.parametrize(("form", "parameters"), TINY_FORMS)
def test_every_place_has_its_state_and_random_ones_agree_with_the_rules(
    form: str, parameters: dict[str, Any]
) -> None:
    layers = FootballLayers.of(tiny(form, **parameters))
    for layer in layers.layers:
        for at in product(*map(range, layers.shape(layer))):
            place = Place(layer, at)
            state = layers.state_at(place)
            if layer.ticks == 0 and at[0] >= layers.layout.kickoff_row:
                assert state is None  # There are no kicks when no time is left.
            else:
                assert state is not None
                assert layers.place(state) == place
    store = LayerStore(layers)
    solve_layers(layers, store)
    assert largest_miss(layers, store, 60) <= 0


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that solves a small half into a folder, kept compact, which is done."""
    folder = tmp_path_factory.mktemp("small")
    chart = folder / "small.csv"
    chart.write_text(csv_text(SMALL), encoding="utf-8")
    words = [
        *("solve", "football-strategy", "--form", "half", "--chart", str(chart)),
        *("--ruleset", json.dumps(RULES), "--clock", json.dumps({**CLOCK, "timeouts": 1})),
        *("--out", str(folder / "half")),
    ]
    assert CliRunner().invoke(app, [*words, "--keep", "compact"]).exit_code == 0
    return words


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), prog_name="solvent", env={"COLUMNS": "200"})


def test_the_command_finds_a_planted_error(words: list[str], tmp_path: Path) -> None:
    shutil.copy(Path(words[-1]) / "manifest.json", tmp_path)
    alone = [*words[:-1], str(tmp_path), "--spot-check", "300"]
    assert "agree" in run(*alone).stdout

    def change(content: dict[str, Any]) -> None:
        content["sheets"]["half2/t003-1-0"]["samples"][0][1] += 1e-6

    rewrite(tmp_path, change, version=3)
    result = run(*alone)
    assert result.exit_code == 1
    assert "1 DISAGREE" in result.stdout
    assert "half2/t003-1-0" in result.stdout
    assert "0:45 left" in result.stdout
    assert json.loads(run(*alone, "--json").stdout)["wrong"] == 1


def test_the_value_of_two_given_players_has_no_samples(tmp_path: Path) -> None:
    """Their states stand at places of another kind; asking for them ended every such score."""
    from solvent.games.football_clock.agent import AgentLayers
    from solvent.games.football_clock.evaluation import PairLayers

    game = tiny("second-half", SMALL, half=30)
    layout = FootballLayers.of(game).layout
    [outcome] = game.initial()
    pairs = PairLayers(layout, outcome.state, {"agent": (AgentLayers(layout), None)})
    solve_in(tmp_path, pairs, keep="start")
    assert LayerFolder.open(tmp_path, pairs).samples == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_the_kept_samples_agree_with_the_rules(folder: Path, count: int) -> None:
    states = spot_check(opened(folder).store, count, SEED)
    assert len(states) == count + 1
    assert [state for state in states if not state.agrees] == []
    assert max(state.allowed for state in states) < 1e-10


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_evidence_is_small(folder: Path) -> None:
    [path] = folder.iterdir()
    assert path.name == "manifest.json.gz"
    assert path.stat().st_size < 1_200_000
    assert len(gzip.decompress(path.read_bytes())) < 10_000_000
