"""The layers of football with a clock in memory and in a folder."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layered_games import any_values, flip, refusal, rewrite, solve_in
from timed_football import CHART, RULES, SMALL, TINY_FORMS, tiny

from solvent.exact import solve
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.store import LayerRecord, LayerStore
from solvent.exact.store import StoreError
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import Layer, place_of
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solution import TimedSolution
from solvent.games.football_clock.transcript import transcript
from solvent.model import compile_game

HELPERS = Path(__file__).parents[2] / "helpers"


RECORD = LayerRecord(largest_gap=1e-15, games=30, constant=4)


@pytest.fixture(scope="module")
def game() -> TimedFootball:
    return tiny("half", SMALL, timeouts=1)


@pytest.fixture(scope="module")
def layers(game: TimedFootball) -> FootballLayers:
    return FootballLayers.of(game)


@pytest.fixture(scope="module")
def original(layers: FootballLayers, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished solution, not to be changed."""
    folder = tmp_path_factory.mktemp("solutions") / "original"
    solve_in(folder, layers)
    return folder


@pytest.fixture
def solution(original: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(original, tmp_path / "solution"))


@pytest.fixture
def half_done(layers: FootballLayers, tmp_path: Path) -> Path:
    """A solution whose last three layers are missing."""
    folder = tmp_path / "half-done"
    solve_in(folder, layers, stop_before=len(layers.layers) - 3)
    return folder


@pytest.mark.parametrize(
    ("form", "parameters"), [("half", {"chart": SMALL, "timeouts": 1}), *TINY_FORMS[4:6]]
)
def test_a_solution_in_a_folder_is_the_games_in_every_position(
    form: str, parameters: dict[str, object], tmp_path: Path
) -> None:
    game = tiny(form, **parameters)  # type: ignore[arg-type]
    solve_in(tmp_path / "x", FootballLayers.of(game))
    solution = TimedSolution.open(tmp_path / "x", game, verify=True)
    table = compile_game(game)
    wanted = solve(table)
    found = [solution.value_of(position) for position in table.states]
    assert found == pytest.approx(list(wanted.values), abs=1e-12)
    assert solution.lower <= wanted.value + 1e-15
    assert solution.upper >= wanted.value - 1e-15
    assert 0 < solution.error < 1e-11


def test_a_solution_can_be_opened_without_its_game(original: Path, game: TimedFootball) -> None:
    solution = TimedSolution.open(original)
    assert solution.start == game.initial()[0].state
    assert solution.value == TimedSolution.open(original, game).value
    assert solution.game.loaded_chart.hash == game.loaded_chart.hash
    assert solution.layout.clock == game.loaded_clock


def test_only_calls_and_kicks_have_a_place(layers: FootballLayers, game: TimedFootball) -> None:
    position = game.initial()[0].state
    assert place_of(layers.layout, position).row == layers.layout.kickoff_row
    assert (
        place_of(layers.layout, position._replace(phase="free kick")).row
        == layers.layout.kickoff_row + 1
    )
    with pytest.raises(ValueError, match="'time-out'; layers hold calls and kicks only"):
        place_of(layers.layout, position._replace(phase="time-out"))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (tiny("second-half", SMALL, timeouts=1), "form half, not second-half$"),
        (tiny("half", CHART, timeouts=1), r"chart 'small' \(\w{12}\), not 'tiny' \(\w{12}\)"),
        (
            tiny("half", SMALL, {**RULES, "safety": 3}, timeouts=1),
            "safety as by default, not 3$",
        ),
        (tiny("half", SMALL, timeouts=0), "timeouts 1, not 0"),
        (tiny("half", SMALL, timeouts=1, stops=[30]), r"stops \[15\], not \[30\]"),
        (
            tiny("half", SMALL, timeouts=1, half=60, untimed_down=False),
            "ticks 3, not 4; half 45, not 60; untimed_down True, not False$",
        ),
    ],
)
def test_the_solution_of_another_game_is_refused(
    solution: Path, half_done: Path, other: TimedFootball, message: str
) -> None:
    with pytest.raises(StoreError, match=f"is a solution with {message}"):
        TimedSolution.open(solution, other)
    for folder in (solution, half_done):
        with pytest.raises(StoreError, match=f"is a solution with {message}"):
            LayerFolder.create(folder, FootballLayers.of(other))


def test_a_chart_by_another_name_is_the_same_game(solution: Path, game: TimedFootball) -> None:
    renamed = dataclasses.replace(game, chart=dataclasses.replace(SMALL, name="renamed"))
    assert TimedSolution.open(solution, renamed).value == TimedSolution.open(solution, game).value


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.9e306, -0.6])
def test_what_is_no_chance_is_refused_whatever_its_checksum(value: float, tmp_path: Path) -> None:
    game = tiny("second-half", SMALL, half=30)
    layers = FootballLayers.of(game)
    solve_in(tmp_path / "x", layers)
    path = LayerFolder.open(tmp_path / "x", FootballLayers).path(layers.layers[-1])
    values = np.load(path)
    values[3, 4] = value
    np.save(path, values)

    def rehash(description: dict[str, Any]) -> None:
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
        description["sheets"]["half2/t002-0-0"]["sha256"] = checksum

    rewrite(tmp_path / "x", rehash)
    message = refusal(lambda: TimedSolution.open(tmp_path / "x", game).value)
    assert f"t002-0-0.npy: holds a value of {value:.3g}; possible are -0.5 to 0.5." in message


def test_more_points_than_there_is_time_for_are_refused(
    solution: Path, layers: FootballLayers, game: TimedFootball
) -> None:
    store = LayerStore(layers)
    solve_layers(layers, store)
    for layer in layers.layers:
        most = layers.bound(layer)
        assert most == 7 * (layer.ticks + layer.own + layer.other + 1)
        assert store.largest(layer) <= most
        values, supports = any_values(layers, layer)
        store.write(layer, np.full_like(values, most), supports, RECORD)
        with pytest.raises(ValueError, match=f"a value of -{most + 1:.3g}; possible are -{most:g}"):
            store.write(layer, np.full_like(values, -most - 1), supports, RECORD)


def test_supports_that_were_changed_are_not_started_from(
    half_done: Path, layers: FootballLayers, game: TimedFootball, original: Path
) -> None:
    """A bit beyond the calls that are legal would let a side play one that is not."""
    kept = sorted((half_done / "unfinished" / "supports").rglob("*.npy"))
    assert kept
    for path in kept:
        layer = Layer(2, *map(int, path.stem[1:].split("-")))
        flip(path, -1, bit=7)
        with LayerFolder.create(half_done, layers) as store:
            assert store.start(layer) is None
        flip(path, -1, bit=7)
        with LayerFolder.create(half_done, layers) as store:
            assert store.start(layer) is not None
        flip(path, -1, bit=7)
    solve_in(half_done, layers)
    value = TimedSolution.open(original, game).value
    assert TimedSolution.open(half_done, game).value == pytest.approx(value, abs=1e-13)


ODD: tuple[Any, ...] = (None, True, -1, 1e308, float("nan"), "x\ny" * 999, [], {}, {"a": [1]})


def test_no_entry_of_a_manifest_is_believed(solution: Path) -> None:
    """Whatever stands in the place of an entry, the folder is refused in one line."""
    whole = (solution / "manifest.json").read_bytes()
    record = ["sheets", "half2/t003-1-1"]
    entries = [
        *([name] for name in ("form", "ticks", "rows", "columns", "dtype", "chart", "ruleset")),
        *(["chart", name] for name in ("hash", "table")),
        *(["chart", "table", name] for name in ("plays", "rows", "columns", "format")),
        *(["ruleset", name] for name in ("hash", "parameters")),
        *(["ruleset", "parameters", name] for name in ("field", "kickoff", "barred")),
        *(["clock", name] for name in ("tick", "half", "stops", "timeouts", "largest_margin")),
        ["clock"],
        record,
        *([*record, name] for name in ("sha256", "largest_gap", "games", "constant")),
    ]
    for path in entries:
        for odd in ODD:
            if path[-1] == "stops" and odd == []:  # A clock without stops is a clock.
                continue

            def put(description: dict[str, Any], path: list[str] = path, odd: Any = odd) -> None:
                *outer, last = path
                for name in outer:
                    description = description[name]
                description[last] = odd

            (solution / "manifest.json").write_bytes(whole)
            rewrite(solution, put)
            message = refusal(lambda: LayerFolder.open(solution, FootballLayers))
            assert message.startswith(str(solution)), (path, odd)


def test_a_manifest_whose_parts_do_not_agree_is_refused(solution: Path) -> None:
    def change(description: dict[str, Any]) -> None:
        description["chart"]["table"]["rows"]["A"][0] = "99"

    rewrite(solution, change)
    with pytest.raises(StoreError, match="is a solution with chart 'small'"):
        LayerFolder.open(solution, FootballLayers)


def test_a_ruleset_of_the_same_parameters_on_other_defaults_is_refused(
    solution: Path, layers: FootballLayers
) -> None:
    rewrite(solution, lambda description: description["ruleset"].update(hash="0" * 64))
    with pytest.raises(StoreError, match="is a solution with ruleset 000000"):
        LayerFolder.open(solution, layers)


def test_a_transcript_of_a_compact_solution_and_of_the_start_alone(tmp_path: Path) -> None:
    game = tiny("second-half", timeouts=1)
    layers = FootballLayers.of(game)
    solve_in(tmp_path / "compact", layers, keep="compact")
    solution = TimedSolution.open(tmp_path / "compact", game)
    optimal = solution.policy
    lines = transcript(solution, (optimal, optimal), seed=3)
    assert len(lines) > 1
    assert all(-1e-5 < line.value < 1 + 1e-5 for line in lines)
    solve_in(tmp_path / "start", layers, keep="start")
    start = TimedSolution.open(tmp_path / "start", game)
    assert start.value == solution.value
    assert "only the value of the start is kept" in refusal(
        lambda: start.action_values(start.start, 0)
    )
