"""The layers of football with a clock in memory and in a folder."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest
from layered_games import refusal, rewrite, solve_in
from timed_football import CHART, RULES, SMALL, TINY_FORMS, tiny

from solvent.exact import solve
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.store import LayerRecord
from solvent.exact.store import StoreError
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solution import TimedSolution
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
