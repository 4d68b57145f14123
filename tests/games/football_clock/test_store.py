"""Sheets in memory and in a folder: nothing that is solved is lost, and nothing else is opened."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_files import no_files
from killed_solves import long_half
from timed_football import CHART, RULES, SMALL, TINY_FORMS, tiny

from solvent.exact import solve
from solvent.exact.layered.folder import SheetFolder
from solvent.exact.layered.lock import NAME
from solvent.exact.layered.solve import solve_layout
from solvent.exact.layered.store import SheetRecord, SheetStore
from solvent.exact.store import StoreError
from solvent.games.football_clock.baselines.players import optimal_player
from solvent.games.football_clock.rules import TimedFootball
from solvent.games.football_clock.solver.evaluation import evaluate
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.games.football_clock.solver.optimal import OptimalSheets
from solvent.games.football_clock.solver.solution import TimedSolution, layout_for, place_of
from solvent.model import compile_game

HELPERS = Path(__file__).parents[2] / "helpers"

RECORD = SheetRecord(largest_gap=1e-15, games=30, constant=4)


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


def flip(path: Path, place: int, bit: int = 0) -> None:
    """Turn one bit of a file around."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None], *, version: int = 2) -> None:
    """Change what a manifest says, its own checksum included."""
    path = folder / "manifest.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    description.pop("sha256", None)
    description["format"] = version
    change(description)
    if version > 1:
        text = json.dumps(description, sort_keys=True)
        description["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(description), encoding="utf-8")


def refusal(attempt: Callable[[], object]) -> str:
    """The one line with which a folder is refused."""
    with pytest.raises(StoreError) as caught:
        attempt()
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 600
    return message


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
        with pytest.raises(ValueError, match=r"the values of Sheet|has a value of nan"):
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
        ".solvent-0123456789abcdef",
        "sheets/half2/.solvent-0123456789abcdef",
        "unfinished/supports/half2/.solvent-0123456789abcdef",
    ):
        (half_done / name).write_bytes(b"half a")
    solve_in(half_done, layout)
    assert contents(half_done) == contents(original)


def test_a_folder_whose_first_write_was_killed_is_begun_again(
    layout: Layout, tmp_path: Path
) -> None:
    (tmp_path / ".solvent-0123456789abcdef").write_bytes(b"half a manifest")
    SheetFolder.create(tmp_path, layout).close()
    assert set(contents(tmp_path)) == {"manifest.json"}


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
    (half_done / NAME).write_text("process 1", encoding="utf-8")
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


def test_an_altered_sheet_is_named_when_it_is_read(solution: Path, layout: Layout) -> None:
    flip(first_file(solution, layout), -5)
    store = SheetFolder.open(solution, layout)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"t000-0-0.npy: the checksum does not match"):
            store.read(layout.sheets[0])
    with pytest.raises(StoreError, match=r"t000-0-0.npy: the checksum does not match"):
        SheetFolder.open(solution, layout, verify=True)


def test_an_altered_sheet_is_not_built_upon(half_done: Path, layout: Layout) -> None:
    path = half_done / "sheets" / "half2" / "t002-1-1.npy"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"t002-1-1.npy: the checksum does not match.*Remove it"):
        SheetFolder.create(half_done, layout)
    assert not (half_done / NAME).exists()


def test_a_file_is_checked_once_and_again_when_it_has_changed(
    solution: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []
    digest = hashlib.file_digest
    monkeypatch.setattr(
        hashlib, "file_digest", lambda file, name: hashed.append(file.name) or digest(file, name)
    )
    for _ in range(2):
        store = SheetFolder.open(solution, layout)
        store.read(layout.sheets[0])
        store.read(layout.sheets[0])
    path = store.path(layout.sheets[0])
    assert hashed == [str(path)]
    flip(path, 200)
    with pytest.raises(StoreError, match="the checksum does not match"):
        store.read(layout.sheets[0])


READERS: dict[str, Callable[[Path, TimedFootball], object]] = {
    "the value": lambda folder, game: TimedSolution.open(folder, game).value,
    "the bound": lambda folder, game: TimedSolution.open(folder, game).error,
    "any position": lambda folder, game: [
        TimedSolution.open(folder, game).value_of(position)
        for position in (game.initial()[0].state, game.initial()[0].state._replace(phase="call"))
    ],
    "an optimal opponent": lambda folder, game: optimal_player(game, folder),
    "optimal sheets": lambda folder, game: evaluate(
        layout_for(game),
        game.initial()[0].state,
        OptimalSheets(layout_for(game), TimedSolution.open(folder, game).values),
        None,
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_whoever_reads_is_told_of_a_flipped_bit(
    solution: Path, layout: Layout, game: TimedFootball, reader: str
) -> None:
    store = SheetFolder.open(solution, layout)
    for sheet in layout.sheets:
        flip(store.path(sheet), -1, bit=6)
    message = refusal(lambda: READERS[reader](solution, game))
    assert re.match(rf"{solution}/sheets/half2/t00\d-\d-\d.npy: the checksum does not", message)


def test_a_bit_flipped_anywhere_in_the_manifest_is_told(solution: Path) -> None:
    path = solution / "manifest.json"
    whole = path.read_bytes()
    for place in range(0, len(whole), 41):
        flip(path, place, bit=place % 8)
        assert "manifest.json" in refusal(lambda: SheetFolder.open(solution))
        path.write_bytes(whole)
    SheetFolder.open(solution)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("form", ["half", "second-half"])
def test_a_bound_is_computed_not_read(form: str, version: int, tmp_path: Path) -> None:
    game = tiny(form, SMALL, timeouts=1)
    layout = layout_for(game)
    solve_in(tmp_path / "x", layout)
    error = TimedSolution.open(tmp_path / "x", game).error
    last = f"half2/t{layout.most_ticks:03}-1-1"

    def claim(description: dict[str, Any]) -> None:
        for record in description["sheets"].values():
            record["error"] = 0.0

    rewrite(tmp_path / "x", claim, version=version)
    assert TimedSolution.open(tmp_path / "x", game).error == error

    def worse(description: dict[str, Any]) -> None:
        description["sheets"][last]["largest_gap"] = 0.25

    rewrite(tmp_path / "x", worse, version=version)
    assert TimedSolution.open(tmp_path / "x", game).error > 0.25


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.9e306, -0.6])
def test_what_is_no_chance_is_refused_whatever_its_checksum(value: float, tmp_path: Path) -> None:
    game = tiny("second-half", SMALL, half=30)
    layout = layout_for(game)
    solve_in(tmp_path / "x", layout)
    path = SheetFolder.open(tmp_path / "x").path(layout.sheets[-1])
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
    solution: Path, layout: Layout, game: TimedFootball
) -> None:
    store = SheetStore(layout)
    solve_layout(layout, store)
    for sheet in layout.sheets:
        most = layout.most(sheet)
        assert most == 7 * (sheet.ticks + sheet.own + sheet.other + 1)
        assert store.largest(sheet) <= most
        values, supports = any_values(layout, sheet)
        store.write(sheet, np.full_like(values, most), supports, RECORD)
        with pytest.raises(ValueError, match=f"a value of -{most + 1:.3g}; possible are -{most:g}"):
            store.write(sheet, np.full_like(values, -most - 1), supports, RECORD)


def test_a_file_that_is_no_array_is_named(solution: Path, layout: Layout) -> None:
    path = first_file(solution, layout)
    path.write_bytes(b"x" * path.stat().st_size)

    def rehash(description: dict[str, Any]) -> None:
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
        description["sheets"]["half2/t000-0-0"]["sha256"] = checksum

    rewrite(solution, rehash)
    store = SheetFolder.open(solution, layout)
    with pytest.raises(StoreError, match=r"t000-0-0.npy: is damaged. Remove it"):
        store.read(layout.sheets[0])


def test_a_file_that_grew_since_it_was_opened_is_not_read(solution: Path, layout: Layout) -> None:
    store = SheetFolder.open(solution, layout)
    path = first_file(solution, layout)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(StoreError, match=r"t000-0-0.npy: has \d+ bytes, not \d+. Remove it"):
        store.read(layout.sheets[0])


def test_supports_that_were_changed_are_not_started_from(
    half_done: Path, layout: Layout, game: TimedFootball, original: Path
) -> None:
    """A bit beyond the calls that are legal would let a side play one that is not."""
    kept = sorted((half_done / "unfinished" / "supports").rglob("*.npy"))
    assert kept
    for path in kept:
        sheet = Sheet(2, *map(int, path.stem[1:].split("-")))
        flip(path, -1, bit=7)
        with SheetFolder.create(half_done, layout) as store:
            assert store.supports(sheet) is None
        flip(path, -1, bit=7)
        with SheetFolder.create(half_done, layout) as store:
            assert store.supports(sheet) is not None
        flip(path, -1, bit=7)
    solve_in(half_done, layout)
    value = TimedSolution.open(original, game).value
    assert TimedSolution.open(half_done, game).value == pytest.approx(value, abs=1e-13)


def test_a_record_that_was_changed_is_not_gone_on_from(half_done: Path, layout: Layout) -> None:
    journal = half_done / "unfinished" / "records.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    gap = lines[4].index(b"largest_gap") + 14
    flip(journal, sum(map(len, lines[:4])) + gap)
    message = refusal(lambda: SheetFolder.create(half_done, layout))
    assert "records.jsonl: the checksum of line 5 does not match" in message
    journal.write_bytes(b"[" * 100_000 + b"\n")
    message = refusal(lambda: SheetFolder.create(half_done, layout))
    assert "records.jsonl: line 1 is damaged" in message


def test_a_solve_begun_before_lines_had_checksums_goes_on(
    half_done: Path, layout: Layout, game: TimedFootball, original: Path
) -> None:
    journal = half_done / "unfinished" / "records.jsonl"
    lines = [json.loads(line)[:2] for line in journal.read_bytes().splitlines()]
    old = [[name, {**record, "error": 1e-12}] for name, record in lines]
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in old), encoding="utf-8")
    rewrite(half_done, lambda description: None, version=1)
    assert solve_in(half_done, layout) == 3
    value = TimedSolution.open(original, game).value
    assert TimedSolution.open(half_done, game).value == pytest.approx(value, abs=1e-13)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "manifest.json: is damaged"),
        ("[" * 100_000, "manifest.json: is damaged"),
        ("[]", "manifest.json is not that of a solution"),
        ('{"kind": "policy"}', "manifest.json is not that of a solution"),
        (
            '{"kind": "solvent football with a clock", "format": 9}',
            "has format 9; this version reads formats 1 and 2",
        ),
        ('{"kind": "solvent football with a clock", "format": true}', "has format True; this"),
        (
            '{"kind": "solvent football with a clock", "format": 1}',
            "manifest.json is damaged .keys missing or unknown: 'chart', 'clock'",
        ),
    ],
)
def test_a_damaged_manifest_is_named(solution: Path, text: str, message: str) -> None:
    (solution / "manifest.json").write_text(text, encoding="utf-8")
    assert re.search(message, refusal(lambda: SheetFolder.open(solution)))


def test_a_manifest_of_any_size_is_not_read(
    solution: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solvent.exact.layered.manifest.MOST_BYTES", 1000)
    message = refusal(lambda: SheetFolder.open(solution))
    assert message.endswith("manifest.json: cannot be read (larger than 1,000 bytes)")


def test_a_manifest_that_is_no_file_is_not_waited_for(solution: Path, tmp_path: Path) -> None:
    for path in no_files(tmp_path, ""):
        if os.path.exists(path):  # noqa: PTH110  # The other one raises for a name too long.
            (solution / "manifest.json").unlink()
            (solution / "manifest.json").symlink_to(path)
            assert "manifest.json: cannot be read (" in refusal(lambda: SheetFolder.open(solution))


def test_records_and_supports_that_are_no_files_are_not_waited_for(
    half_done: Path, layout: Layout, tmp_path: Path
) -> None:
    journal = half_done / "unfinished" / "records.jsonl"
    supports = half_done / "unfinished" / "supports" / "half2" / "t003-0-0.npy"
    for path in no_files(tmp_path, ""):
        if os.path.exists(path):  # noqa: PTH110  # The other one raises for a name too long.
            supports.unlink()
            supports.symlink_to(path)
            with SheetFolder.create(half_done, layout) as store:
                assert store.supports(Sheet(2, 3, 0, 0)) is None
    journal.unlink()
    for path in no_files(tmp_path, ".jsonl"):
        if os.path.exists(path):  # noqa: PTH110  # The other one raises for a name too long.
            journal.symlink_to(path)
            message = refusal(lambda: SheetFolder.create(half_done, layout))
            assert message.startswith(f"{journal}: cannot be read (")
            journal.unlink()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_none_in_json_are_refused(number: float, solution: Path) -> None:
    rewrite(solution, lambda description: description.update(ticks=number))
    message = refusal(lambda: SheetFolder.open(solution))
    assert re.search(r"manifest.json: is damaged \((NaN|Infinity) is not allowed\)$", message)


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
            message = refusal(lambda: SheetFolder.open(solution))
            assert message.startswith(str(solution)), (path, odd)


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ([1], r"manifest.json: is damaged \(sheets is \[1\]\)"),
        ({"half2/t009-9-9": {}}, r"manifest.json: is damaged \(14 sheets, not 13\)"),
        ({"half2/t000-0-0": 5}, r"the record of half2/t000-0-0 is damaged \(it is 5\)"),
        (
            {"half2/t000-0-0": {"games": "0"}},
            r"the record of half2/t000-0-0 is damaged \(games is '0' and constant 0; there are",
        ),
        (
            {"half2/t000-0-0": {"width": 1}},
            r"half2/t000-0-0 is damaged \(entries missing or unknown: 'width'\)",
        ),
        (
            {"half2/t000-0-0": {"largest_gap": -1}},
            r"half2/t000-0-0 is damaged \(largest_gap is -1; allowed is 0 to 7\)",
        ),
        (
            {"half2/t000-0-0": {"sha256": "../x"}},
            r"half2/t000-0-0 is damaged \(sha256 is '../x'\)",
        ),
    ],
)
def test_damaged_records_are_named(
    solution: Path, layout: Layout, sheets: Any, message: str
) -> None:
    def change(description: dict[str, Any]) -> None:
        if not isinstance(sheets, dict):
            description["sheets"] = sheets
            return
        records = description["sheets"]
        whole = records["half2/t000-0-0"]
        for name, changed in sheets.items():
            records[name] = {**whole, **changed} if isinstance(changed, dict) else changed

    rewrite(solution, change)
    for attempt in (SheetFolder.open, SheetFolder.create):
        with pytest.raises(StoreError, match=message):
            attempt(solution, layout)


def test_a_record_of_another_sheet_is_named(solution: Path) -> None:
    def rename(description: dict[str, Any]) -> None:
        records = description["sheets"]
        records["half2/t009-9-9"] = records.pop("half2/t000-0-0")

    rewrite(solution, rename)
    with pytest.raises(StoreError, match="there is a record of 'half2/t009-9-9', no sheet"):
        SheetFolder.open(solution)


def test_a_manifest_whose_parts_do_not_agree_is_refused(solution: Path) -> None:
    def change(description: dict[str, Any]) -> None:
        description["chart"]["table"]["rows"]["A"][0] = "99"

    rewrite(solution, change)
    with pytest.raises(StoreError, match="is a solution with chart 'small'"):
        SheetFolder.open(solution)


def test_a_ruleset_of_the_same_parameters_on_other_defaults_is_refused(
    solution: Path, layout: Layout
) -> None:
    rewrite(solution, lambda description: description["ruleset"].update(hash="0" * 64))
    with pytest.raises(StoreError, match="is a solution with ruleset 000000"):
        SheetFolder.open(solution, layout)


def test_a_folder_with_other_things_in_it_is_left_alone(layout: Layout, tmp_path: Path) -> None:
    below = tmp_path / "below" / ".solvent-0123456789abcdef"
    below.parent.mkdir()
    below.write_text("half a", encoding="utf-8")
    (tmp_path / "letter.txt").write_text("Dear", encoding="utf-8")
    with pytest.raises(StoreError, match=r"is not empty and holds no solution; there is 'below'"):
        SheetFolder.create(tmp_path, layout)
    assert set(contents(tmp_path)) == {"letter.txt", str(below.relative_to(tmp_path))}
    with pytest.raises(StoreError, match=r"holds no solution; there is no manifest.json"):
        SheetFolder.open(tmp_path, layout)


def test_a_folder_that_cannot_be_made_is_named(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match=r"file: cannot be made \(File exists\)"):
        SheetFolder.create(tmp_path / "file", layout)
