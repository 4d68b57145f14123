"""Sheets in memory and in a folder: nothing that is solved is lost, and nothing else is opened."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from killed_solves import long_half
from timed_football import CHART, RULES, SMALL, TINY_FORMS, tiny

from solvent.exact.kernels.timed_football.layout import Layout, Sheet
from solvent.exact.kernels.timed_football.sheet_folder import SheetFolder
from solvent.exact.kernels.timed_football.solution import TimedSolution, layout_for, place_of
from solvent.exact.kernels.timed_football.solve import solve_layout
from solvent.exact.kernels.timed_football.store import SheetRecord, SheetStore
from solvent.exact.solve import solve
from solvent.exact.store import StoreError
from solvent.games.football.timed import TimedFootball
from solvent.model import compile_game

HELPERS = Path(__file__).parents[1] / "helpers"

RECORD = SheetRecord(largest_gap=1e-15, error=2e-14, games=30, constant=4)


@pytest.fixture(scope="module")
def game() -> TimedFootball:
    return tiny("half", SMALL, timeouts=1)


@pytest.fixture(scope="module")
def layout(game: TimedFootball) -> Layout:
    return layout_for(game)


@pytest.fixture(scope="module")
def original(layout: Layout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished solution, not to be changed."""
    folder = tmp_path_factory.mktemp("solutions") / "original"
    solve_in(folder, layout)
    return folder


@pytest.fixture
def solution(original: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(original, tmp_path / "solution"))


@pytest.fixture
def half_done(layout: Layout, tmp_path: Path) -> Path:
    """A solution whose last three sheets are missing."""
    folder = tmp_path / "half-done"
    solve_in(folder, layout, stop_before=len(layout.sheets) - 3)
    return folder


class StoppedError(Exception):
    """Ends a solve before a sheet is written."""


def solve_in(folder: Path, layout: Layout, stop_before: int | None = None) -> int:
    """Solve what a folder lacks, and return how many sheets were written."""
    written = 0

    class Counted(SheetFolder):
        def write(self, sheet: Sheet, *rest: object) -> None:
            nonlocal written
            if layout.sheets.index(sheet) == stop_before:
                raise StoppedError
            super().write(sheet, *rest)  # type: ignore[arg-type]
            written += 1

    with Counted.create(folder, layout) as store:
        try:
            solve_layout(layout, store)
        except StoppedError:
            assert stop_before is not None
    return written


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def any_values(layout: Layout, sheet: Sheet, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Values and supports of a sheet's shape."""
    rng = np.random.default_rng(seed)
    columns = layout.columns(sheet.half)
    shape = (layout.rules.ruleset.downs + 1, layout.lines, columns, 2)
    return rng.random((layout.rows, columns)), rng.integers(9, size=shape).astype(np.uint32)


def first_file(folder: Path, layout: Layout) -> Path:
    return SheetFolder.open(folder, layout).path(layout.sheets[0])


# What a store keeps


@pytest.mark.parametrize("in_folder", [False, True], ids=["memory", "folder"])
def test_a_sheet_is_read_as_it_was_written(layout: Layout, tmp_path: Path, in_folder: bool) -> None:
    store = SheetFolder.create(tmp_path / "x", layout) if in_folder else SheetStore(layout)
    for number, sheet in enumerate(layout.sheets):
        assert not store.has(sheet)
        values, supports = any_values(layout, sheet, number)
        store.write(sheet, values, supports, RECORD._replace(games=number))
        assert store.read(sheet).tobytes() == values.tobytes()
        assert store.record(sheet) == RECORD._replace(games=number)
        with pytest.raises(ValueError, match="read-only"):
            store.read(sheet)[0, 0] = 1
        kept = store.supports(sheet)
        assert kept is not None
        assert np.array_equal(kept, supports)
        assert store.supports(sheet._replace(ticks=sheet.ticks - 1)) is None
    store.finish()
    assert store.finished
    assert store.supports(layout.sheets[-1]) is None
    if isinstance(store, SheetFolder):
        store.close()


@pytest.mark.parametrize("in_folder", [False, True], ids=["memory", "folder"])
def test_what_is_no_sheet_is_not_kept(layout: Layout, tmp_path: Path, in_folder: bool) -> None:
    store = SheetFolder.create(tmp_path / "x", layout) if in_folder else SheetStore(layout)
    sheet = layout.sheets[0]
    values, supports = any_values(layout, sheet)
    for wrong in (values[:-1], values.astype(np.float32), np.full_like(values, np.nan)):
        with pytest.raises(ValueError, match="values"):
            store.write(sheet, wrong, supports, RECORD)
    with pytest.raises(ValueError, match="supports of Sheet"):
        store.write(sheet, values, supports[:-1], RECORD)
    with pytest.raises(ValueError, match=r"not complete: Sheet"):
        store.finish()
    assert not store.has(sheet)
    with pytest.raises(KeyError):
        store.read(sheet)
    if isinstance(store, SheetFolder):
        store.close()


@pytest.mark.parametrize(
    ("form", "parameters"), [("half", {"chart": SMALL, "timeouts": 1}), *TINY_FORMS[4:6]]
)
def test_a_solution_in_a_folder_is_the_games_in_every_position(
    form: str, parameters: dict[str, object], tmp_path: Path
) -> None:
    game = tiny(form, **parameters)  # type: ignore[arg-type]
    solve_in(tmp_path / "x", layout_for(game))
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


def test_values_are_read_from_the_disk_when_they_are_needed(original: Path) -> None:
    solution = TimedSolution.open(original)
    assert isinstance(solution.values(solution.layout.sheets[-1]), np.memmap)


def test_only_calls_and_kicks_have_a_place(layout: Layout, game: TimedFootball) -> None:
    position = game.initial()[0].state
    assert place_of(layout, position).row == layout.kickoff_row
    assert place_of(layout, position._replace(phase="free kick")).row == layout.kickoff_row + 1
    with pytest.raises(ValueError, match="'time-out'; sheets hold calls and kicks only"):
        place_of(layout, position._replace(phase="time-out"))


def test_a_solution_has_to_be_complete(layout: Layout, game: TimedFootball) -> None:
    with pytest.raises(ValueError, match=r"not complete: Sheet.half=2, ticks=0"):
        TimedSolution(SheetStore(layout), game)


# Two solves of a game write the same


def test_a_finished_folder_holds_the_manifest_and_the_sheets_only(
    original: Path, layout: Layout
) -> None:
    names = {
        f"sheets/half2/t{sheet.ticks:03}-{sheet.own}-{sheet.other}.npy" for sheet in layout.sheets
    }
    assert set(contents(original)) == {"manifest.json", *names}


def test_two_solves_write_the_same_bytes(original: Path, layout: Layout, tmp_path: Path) -> None:
    solve_in(tmp_path / "again", layout)
    assert contents(tmp_path / "again") == contents(original)


@pytest.mark.parametrize("stop", [0, 1, 2, 5, 8, 12])
def test_an_interrupted_solve_goes_on(
    stop: int, original: Path, layout: Layout, tmp_path: Path
) -> None:
    folder = tmp_path / "x"
    assert solve_in(folder, layout, stop_before=stop) == stop
    with pytest.raises(StoreError, match="not finished; the command that began it goes on"):
        SheetFolder.open(folder, layout)
    assert solve_in(folder, layout) == len(layout.sheets) - stop
    assert contents(folder) == contents(original)
    assert solve_in(folder, layout) == 0
    assert contents(folder) == contents(original)


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_killed_ten_times_it_loses_no_more_than_the_sheets_in_flight(tmp_path: Path) -> None:
    layout = long_half()
    solve_in(tmp_path / "undisturbed", layout)
    run = subprocess.run(
        [sys.executable, str(HELPERS / "killed_solves.py"), str(tmp_path / "killed"), "10", "7"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        timeout=300,
    )
    begun, killed = map(int, run.stdout.split())
    assert killed > 0
    assert len(layout.sheets) <= begun <= len(layout.sheets) + killed
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_what_a_killed_write_leaves_is_removed(
    half_done: Path, layout: Layout, original: Path
) -> None:
    for name in (
        ".manifest.json.0123456789abcdef",
        "sheets/half2/.t003-1-1.npy.0123456789abcdef",
        "unfinished/supports/half2/.t003-1-1.npy.0123456789abcdef",
    ):
        (half_done / name).write_bytes(b"half a")
    solve_in(half_done, layout)
    assert contents(half_done) == contents(original)


def test_a_record_that_was_being_written_is_passed_over(
    half_done: Path, layout: Layout, original: Path
) -> None:
    journal = half_done / "unfinished" / "records.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    assert solve_in(half_done, layout) == 4
    assert contents(half_done) == contents(original)


def test_a_sheet_without_a_record_is_solved_again(
    half_done: Path, layout: Layout, original: Path
) -> None:
    path = half_done / "sheets" / "half2" / "t003-0-1.npy"
    assert not path.exists()
    path.write_bytes(b"from a solver that was killed before it wrote the record")
    assert solve_in(half_done, layout) == 3
    assert contents(half_done) == contents(original)


def test_without_its_supports_a_solve_goes_on_and_is_as_right(
    half_done: Path, layout: Layout, game: TimedFootball, original: Path
) -> None:
    shutil.rmtree(half_done / "unfinished" / "supports")
    solve_in(half_done, layout)
    value = TimedSolution.open(original, game).value
    assert TimedSolution.open(half_done, game).value == pytest.approx(value, abs=1e-13)


# One at a time


def test_a_second_solver_is_refused(half_done: Path, layout: Layout) -> None:
    with SheetFolder.create(half_done, layout):
        with pytest.raises(StoreError, match=rf"process {os.getpid()} is at work on it"):
            SheetFolder.create(half_done, layout)
        assert not (half_done / "manifest.json.tmp").exists()
    SheetFolder.create(half_done, layout).close()


def test_the_lock_of_a_process_that_is_gone_does_not_hold(
    half_done: Path, layout: Layout, original: Path
) -> None:
    (half_done / ".lock").write_text("process 1", encoding="utf-8")
    solve_in(half_done, layout)
    assert contents(half_done) == contents(original)


# A disk that takes no more


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """The system refuses to let a file grow beyond a size."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("refused", ["supports", "values", "record"])
def test_when_the_disk_refuses_what_is_solved_is_kept(
    refused: str, half_done: Path, layout: Layout, original: Path
) -> None:
    sheet = layout.sheets[-3]
    values, supports = any_values(layout, sheet)
    journal = half_done / "unfinished" / "records.jsonl"
    with SheetFolder.create(half_done, layout) as store:
        size = {"supports": 300, "values": 300, "record": journal.stat().st_size + 20}[refused]
        with (
            files_up_to(size),
            pytest.raises(
                StoreError,
                match=r"cannot be written \(File too large\); the 10 sheets of 13 that are solved "
                r"are kept in .*half-done, and the same command goes on from there",
            ),
        ):
            store.write(sheet, values, supports if refused == "supports" else None, RECORD)
        assert not store.has(sheet)
    assert solve_in(half_done, layout) == 3
    assert contents(half_done) == contents(original)


# Another game's solution, or a damaged one


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
            SheetFolder.create(folder, layout_for(other))


def test_a_chart_by_another_name_is_the_same_game(solution: Path, game: TimedFootball) -> None:
    renamed = dataclasses.replace(game, chart=dataclasses.replace(SMALL, name="renamed"))
    assert TimedSolution.open(solution, renamed).value == TimedSolution.open(solution, game).value


def test_a_sheet_of_the_wrong_size_is_named(solution: Path, layout: Layout) -> None:
    path = first_file(solution, layout)
    path.write_bytes(path.read_bytes()[:-8])
    for attempt in (SheetFolder.open, SheetFolder.create):
        with pytest.raises(StoreError, match=r"t000-0-0.npy: has \d+ bytes, not \d+. Remove it"):
            attempt(solution, layout)
    path.unlink()
    with pytest.raises(StoreError, match=r"not complete: Sheet.half=2, ticks=0, own=0, other=0"):
        SheetFolder.open(solution, layout)
    assert solve_in(solution, layout) == 1
    SheetFolder.open(solution, layout, verify=True)


def test_an_altered_sheet_is_named_when_that_is_asked_for(solution: Path, layout: Layout) -> None:
    path = first_file(solution, layout)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    SheetFolder.open(solution, layout)
    with pytest.raises(StoreError, match=r"t000-0-0.npy: the checksum does not match"):
        SheetFolder.open(solution, layout, verify=True)


def test_an_altered_sheet_is_not_built_upon(half_done: Path, layout: Layout) -> None:
    path = half_done / "sheets" / "half2" / "t002-1-1.npy"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"t002-1-1.npy: the checksum does not match.*Remove it"):
        SheetFolder.create(half_done, layout)
    assert not (half_done / ".lock").exists()


def test_a_file_that_is_no_array_is_named(solution: Path, layout: Layout) -> None:
    path = first_file(solution, layout)
    path.write_bytes(b"x" * path.stat().st_size)
    store = SheetFolder.open(solution, layout)
    with pytest.raises(StoreError, match=r"t000-0-0.npy: is damaged. Remove it"):
        store.read(layout.sheets[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "manifest.json: is damaged"),
        ("[]", "manifest.json is not that of a solution"),
        ('{"kind": "policy"}', "manifest.json is not that of a solution"),
        ('{"kind": "solvent football with a clock", "format": 9}', "has format 9; this version"),
        ('{"kind": "solvent football with a clock", "format": 1}', "manifest.json is damaged"),
    ],
)
def test_a_damaged_manifest_is_named(solution: Path, text: str, message: str) -> None:
    (solution / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=message):
        SheetFolder.open(solution)


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ([1], r"manifest.json: is damaged \(sheets is \[1\]\)"),
        ({"half2/t009-9-9": {}}, "the record of half2/t009-9-9 is damaged"),
        ({"half2/t000-0-0": 5}, "the record of half2/t000-0-0 is damaged"),
        ({"half2/t000-0-0": {"error": "0"}}, "the record of half2/t000-0-0 is damaged"),
    ],
)
def test_damaged_records_are_named(
    solution: Path, layout: Layout, sheets: Any, message: str
) -> None:
    path = solution / "manifest.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(sheets, dict):
        records = description["sheets"]
        whole = records["half2/t000-0-0"]
        for name, changed in sheets.items():
            records[name] = {**whole, **changed} if isinstance(changed, dict) else changed
    else:
        description["sheets"] = sheets
    path.write_text(json.dumps(description), encoding="utf-8")
    for attempt in (SheetFolder.open, SheetFolder.create):
        with pytest.raises(StoreError, match=message):
            attempt(solution, layout)


def test_a_manifest_whose_parts_do_not_agree_is_refused(solution: Path) -> None:
    path = solution / "manifest.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    description["chart"]["table"]["rows"]["A"][0] = "99"
    path.write_text(json.dumps(description), encoding="utf-8")
    with pytest.raises(StoreError, match="is a solution with chart 'small'"):
        SheetFolder.open(solution)


def test_a_ruleset_of_the_same_parameters_on_other_defaults_is_refused(
    solution: Path, layout: Layout
) -> None:
    path = solution / "manifest.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    description["ruleset"]["hash"] = "0" * 64
    path.write_text(json.dumps(description), encoding="utf-8")
    with pytest.raises(StoreError, match="is a solution with ruleset 000000"):
        SheetFolder.open(solution, layout)


def test_a_folder_with_other_things_in_it_is_left_alone(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear", encoding="utf-8")
    with pytest.raises(StoreError, match=r"is not empty and holds no solution; .*'letter.txt'"):
        SheetFolder.create(tmp_path, layout)
    assert set(contents(tmp_path)) == {"letter.txt"}
    with pytest.raises(StoreError, match=r"holds no solution; there is no manifest.json"):
        SheetFolder.open(tmp_path, layout)


def test_a_folder_that_cannot_be_made_is_named(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match=r"file: cannot be made \(File exists\)"):
        SheetFolder.create(tmp_path / "file", layout)
