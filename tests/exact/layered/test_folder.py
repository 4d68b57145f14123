"""Layers in memory and in a folder: nothing that is solved is lost, and nothing else is opened."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interruptions import stopped
from layered_games import (
    Sale,
    any_values,
    contents,
    flip,
    refusal,
    rewrite,
    shop,
    solve_each,
    solve_in,
)
from refusals import assert_refused

from solvent.exact import write_atomically
from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.plan import disk_bytes, memory_bytes
from solvent.exact.layered.solve import LayeredSolution, solve_layers
from solvent.exact.layered.store import KEEPS, LayerRecord, LayerStore, pack, rounded_off, unpack
from solvent.model.files import LOCK, StoreError, locked, remove_temporary

TEMPORARY = ".solvent-0123456789abcdef"

RECORD = LayerRecord(largest_gap=1e-15, games=30)


@pytest.fixture(scope="module")
def layers() -> Sale:
    return shop()


@pytest.fixture(scope="module")
def originals(layers: Sale, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished solution of each kind, not to be changed."""
    return solve_each(tmp_path_factory.mktemp("solutions"), layers)


@pytest.fixture
def solution(originals: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of the one with all values."""
    return Path(shutil.copytree(originals["all"], tmp_path / "solution"))


@pytest.fixture
def half_done(layers: Sale, tmp_path: Path) -> Path:
    """A solution whose last three layers are missing."""
    folder = tmp_path / "half-done"
    solve_in(folder, layers, stop_before=len(layers.layers) - 3)
    return folder


@pytest.mark.parametrize("in_folder", [False, True], ids=["memory", "folder"])
def test_a_layer_is_read_as_it_was_written(layers: Sale, tmp_path: Path, in_folder: bool) -> None:
    store = LayerFolder.create(tmp_path / "x", layers) if in_folder else LayerStore(layers)
    for number, layer in enumerate(layers.layers):
        assert not store.has(layer)
        values = any_values(layers, layer, number)
        store.write(layer, values, RECORD._replace(games=number))
        assert store.read(layer).tobytes() == values.tobytes()
        assert store.record(layer) == RECORD._replace(games=number)
        with pytest.raises(ValueError, match="read-only"):
            store.read(layer)[0, 0] = 1
    store.finish()
    assert store.finished
    if isinstance(store, LayerFolder):
        store.close()


def cut_off(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:-length])


# What somebody who was killed may leave, and how many layers are then written.
LEFT: dict[str, tuple[Callable[[Path], object], int]] = {
    "half a record": (lambda folder: cut_off(folder / "unfinished" / "records.jsonl", 20), 4),
    "a layer without a record": (
        lambda folder: (folder / "sheets" / "11.npy").write_bytes(b"before the record"),
        3,
    ),
    "a lock": (lambda folder: (folder / LOCK).touch(), 3),
    "half a manifest": (lambda folder: (folder / TEMPORARY).write_bytes(b"half a"), 3),
    "half a layer": (lambda folder: (folder / "sheets" / TEMPORARY).write_bytes(b"half a"), 3),
}


@pytest.mark.parametrize("left", LEFT)
def test_what_a_killed_solver_leaves_does_no_harm(
    left: str, half_done: Path, layers: Sale, originals: dict[str, Path]
) -> None:
    leave, written = LEFT[left]
    assert not (half_done / "sheets" / "11.npy").exists()
    leave(half_done)
    assert solve_in(half_done, layers) == written
    assert contents(half_done) == contents(originals["all"])


def test_a_folder_whose_first_write_was_killed_is_begun_again(layers: Sale, tmp_path: Path) -> None:
    (tmp_path / TEMPORARY).write_bytes(b"half a manifest")
    LayerFolder.create(tmp_path, layers).close()
    assert set(contents(tmp_path)) == {"manifest.json"}


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


@pytest.mark.parametrize("refused", ["values", "record"])
def test_when_the_disk_refuses_what_is_solved_is_kept(
    refused: str, half_done: Path, layers: Sale, originals: dict[str, Path]
) -> None:
    layer = layers.layers[-3]
    values = any_values(layers, layer)
    journal = half_done / "unfinished" / "records.jsonl"
    with LayerFolder.create(half_done, layers) as store:
        size = {"values": 280, "record": journal.stat().st_size + 20}[refused]
        with (
            files_up_to(size),
            pytest.raises(
                StoreError,
                match=r"cannot be written \(File too large\); the 10 layers of 13 that are solved "
                r"are kept in .*half-done, and the same command goes on from there",
            ),
        ):
            store.write(layer, values, RECORD)
        assert not store.has(layer)
    assert solve_in(half_done, layers) == 3
    assert contents(half_done) == contents(originals["all"])


def record(
    change: dict[str, Any] | int | None, name: str = "1", version: int = 2
) -> Callable[[Path], None]:
    """Changes some entries of a layer's record, or puts something else in its place."""

    def changed(content: dict[str, Any]) -> None:
        records = content["sheets"]
        records[name] = records["1"] | change if isinstance(change, dict) else change

    return lambda folder: rewrite(folder, changed, version=version)


def manifest(**entries: Any) -> Callable[[Path], None]:
    """Changes some entries of a manifest."""
    return lambda folder: rewrite(folder, lambda content: content.update(entries))


def replaced(text: str, name: str = "manifest.json") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


def flip_in_journal(folder: Path) -> None:
    """Turn a bit around of a number in the fifth record."""
    journal = folder / "unfinished" / "records.jsonl"
    numbers = [name.end() + 3 for name in re.finditer(b"largest_gap", journal.read_bytes())]
    flip(journal, numbers[4])


CURE = "It cannot be solved again by itself; solve in another folder"
NO_MANIFEST = "manifest.json is not that of a solution"
# What happens to a solution of a kind, or to one that is half done, and what is then said.
DAMAGE: list[tuple[str, Callable[[Path], object], str]] = [
    (
        "half",
        lambda folder: flip(folder / "sheets" / "10.npy", -5),
        r"10.npy: the checksum does not match.*Remove it",
    ),
    ("half", flip_in_journal, r"records.jsonl: line 5 is damaged \(its checksum does not match\)"),
    (
        "half",
        replaced("[" * 100_000 + "\n", "unfinished/records.jsonl"),
        "records.jsonl: line 1 is damaged",
    ),
    (
        "compact",
        lambda folder: (folder / "sheets" / "3.zlib").unlink(),
        f"3.zlib: is missing. {CURE}",
    ),
    *(
        ("compact", record({"largest": largest}, version=3), r"record of 1 is damaged \(largest is")
        for largest in ("much", -1.0, 1e9)
    ),
    ("all", replaced("{"), "manifest.json: is damaged"),
    ("all", replaced("[" * 100_000), "manifest.json: is damaged"),
    ("all", replaced("[]"), NO_MANIFEST),
    ("all", replaced('{"kind": "policy"}'), NO_MANIFEST),
    (
        "all",
        replaced('{"kind": "sale", "format": 9}'),
        "has format 9; this version reads formats 2 to 3",
    ),
    ("all", replaced('{"kind": "sale", "format": true}'), "has format True; this"),
    (
        "all",
        replaced('{"kind": "sale", "format": 1}'),
        "has format 1; this version reads formats 2 to 3",
    ),
    ("all", manifest(ticks=np.nan), r"manifest.json: is damaged \(NaN is not allowed\)$"),
    ("all", manifest(ticks=np.inf), r"manifest.json: is damaged \(Infinity is not allowed\)$"),
    ("all", manifest(sheets=[1]), r"manifest.json is damaged \(sheets is \[1\]\)"),
    ("all", record({}, "99"), r"there is a record of '99', no layer"),
    ("all", record(5), r"the record of 1 is damaged \(it is 5\)"),
    (
        "all",
        record({"games": "0"}),
        r"record of 1 is damaged \(games is '0', in a layer of \d+ states\)",
    ),
    ("all", record({"width": 1}), r"1 is damaged \(entries missing or unknown: 'width'\)"),
    ("all", record({"largest_gap": -1}), r"1 is damaged \(largest_gap is -1, in"),
    ("all", record({"sha256": "../x"}), r"1 is damaged \(sha256 is '../x', in"),
]


def test_damage_is_named_before_anything_is_built_upon_it(
    originals: dict[str, Path], half_done: Path, layers: Sale, tmp_path: Path
) -> None:
    for number, (kind, damage, message) in enumerate(DAMAGE):
        whole = half_done if kind == "half" else originals[kind]
        folder = Path(shutil.copytree(whole, tmp_path / str(number)))
        damage(folder)
        for attempt in (LayerFolder.open, LayerFolder.create)[kind == "half" :]:
            said = refusal(lambda: attempt(folder, layers))  # noqa: B023
            assert re.search(message, said), (number, said)
        assert not (folder / LOCK).exists()


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: cut_off(path, 200)])
def test_a_layer_that_is_missing_or_cut_off_is_solved_again(
    damage: Callable[[Path], object], solution: Path, layers: Sale
) -> None:
    damage(solution / "sheets" / "1.npy")
    assert "not complete: 1 is not" in refusal(lambda: LayerFolder.open(solution, layers))
    assert solve_in(solution, layers) == 1
    LayerFolder.open(solution, layers).verify(1)


@pytest.mark.parametrize(
    ("keep", "file", "place"), [("all", "1.npy", -5), ("compact", "3.zlib", 20)]
)
def test_an_altered_layer_is_named_when_it_is_read(
    keep: str,
    file: str,
    place: int,
    originals: dict[str, Path],
    layers: Sale,
    tmp_path: Path,
) -> None:
    folder = Path(shutil.copytree(originals[keep], tmp_path / "x"))
    flip(folder / "sheets" / file, place)
    store = LayerFolder.open(folder, layers)
    for attempt in (store.read, store.read, store.verify):
        said = refusal(lambda: attempt(int(file[0])))  # noqa: B023
        assert f"{file}: the checksum does not match" in said
        assert (CURE in said) == (keep == "compact")


@pytest.mark.parametrize("value", [1e9, np.nan])
def test_a_forged_layer_whose_checksums_agree_has_no_impossible_value(
    value: float, solution: Path, layers: Sale
) -> None:
    path = solution / "sheets" / "1.npy"
    values = np.load(path)
    values.flat[-1] = value
    np.save(path, values)
    record({"sha256": hashlib.sha256(path.read_bytes()).hexdigest()})(solution)
    store = LayerFolder.open(solution, layers)
    for attempt in (store.read, store.read, store.verify):
        assert "1.npy: is damaged (1 has a value of" in refusal(lambda: attempt(1))  # noqa: B023


def test_a_bit_flipped_anywhere_in_the_manifest_is_told(
    solution: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = solution / "manifest.json"
    whole = path.read_bytes()
    for place in range(0, len(whole), 41):
        flip(path, place, bit=place % 8)
        assert "manifest.json" in refusal(lambda: LayerFolder.open(solution, Sale))
        path.write_bytes(whole)
    LayerFolder.open(solution, Sale)
    monkeypatch.setattr("solvent.exact.layered.manifest.MOST_BYTES", 1000)
    assert refusal(lambda: LayerFolder.open(solution, Sale)).endswith(
        "manifest.json: cannot be read (larger than 1,000 bytes)"
    )


def test_a_folder_with_other_things_in_it_is_left_alone(layers: Sale, tmp_path: Path) -> None:
    below = tmp_path / "below" / TEMPORARY
    below.parent.mkdir()
    below.write_text("half a", encoding="utf-8")
    (tmp_path / "letter.txt").write_text("Dear", encoding="utf-8")
    rows: tuple[tuple[Any, str], ...] = (
        (LayerFolder.create, "is not empty and holds no solution; there is 'below'"),
        (LayerFolder.open, "holds no solution; there is no manifest.json"),
    )
    assert_refused(rows, lambda call: call(tmp_path, layers), StoreError)
    assert set(contents(tmp_path)) == {"letter.txt", str(below.relative_to(tmp_path))}


# One process at a time writes into a folder, and what a killed one leaves does no harm

HOLD = """
import os, sys, time
from pathlib import Path
from solvent.exact import write_atomically
from solvent.model.files import locked

folder = Path(sys.argv[1])

def never_done(_):
    print("ready", flush=True)
    time.sleep(600)

with locked(folder):
    # As if the disk took its time: the new content is beside the file, which is as it was.
    os.fsync = never_done
    write_atomically(folder / "kept.txt", b"new")
"""


@contextmanager
def writer(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder's lock and is in the middle of writing a file."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_second_process_is_told_and_a_killed_one_is_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write_atomically(folder / "kept.txt", b"old")
    # Of these, two are named almost as our own unfinished files are, and one is a folder.
    others = {".hidden.file", f".cache.{'0a' * 8}", f".solvent-{'0b' * 8}"}
    for name in others:
        (folder / name).mkdir() if "0b" in name else (folder / name).touch()
    others.add("kept.txt")
    with writer(folder) as process:
        with pytest.raises(StoreError) as caught, locked(folder):
            pass
        told = f"{folder}: another process is at work on it; wait until it is done"
        assert str(caught.value) == told
        left = {path.name for path in folder.iterdir()} - {LOCK, *others}
        assert len(left) == 1
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left < {path.name for path in folder.iterdir()}
    with locked(folder):
        remove_temporary(folder)
        assert {path.name for path in folder.iterdir()} == {LOCK, *others}
    assert {path.name for path in folder.iterdir()} == others
    assert (folder / "kept.txt").read_bytes() == b"old"


# Folders that do not keep all values: rolling solves and compact archives


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=(30, 20)),
        np.random.default_rng(1).uniform(-0.5, 0.5, (4, 3, 5)),
        np.where(np.random.default_rng(2).random((50, 40)) < 0.5, 0.5, -0.5),
        np.array([-7.0, 7.0, 0.0, 1e-300]),
        np.zeros((2, 3)),
    ],
    ids=["normal", "three axes", "extremes", "one axis", "zeros"],
)
def test_what_is_packed_comes_back_but_for_half_a_step(values: np.ndarray) -> None:
    largest = float(np.abs(values).max())
    found = unpack(pack(values, largest), values.shape, largest)
    assert found.shape == values.shape
    assert np.abs(found - values).max() <= rounded_off(largest) <= largest / 65_533
    exact = (np.abs(values) == largest) | (values == 0)
    assert np.array_equal(found[exact], values[exact])


def test_in_memory_layers_are_let_go_of_when_they_are_read_no_more(layers: Sale) -> None:
    store = LayerStore(layers, "start")
    readable = []
    solve_layers(
        layers,
        store,
        on_layer=lambda *_: readable.append(
            [at for at in layers.layers if store.has(at) and store.needs(at)]
        ),
    )
    assert readable == [[layer] for layer in layers.layers]
    whole = LayerStore(layers)
    solve_layers(layers, whole)
    found, wanted = (LayeredSolution(at, layers.game) for at in (store, whole))
    assert (found.value, found.error) == (wanted.value, wanted.error)
    assert "only the value of the start is kept, not 3" in refusal(lambda: store.read(3))


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("stop", [0, 2, 12])
def test_an_interrupted_solve_goes_on(
    stop: int, keep: str, originals: dict[str, Path], layers: Sale, tmp_path: Path
) -> None:
    folder = tmp_path / "x"
    assert solve_in(folder, layers, stop, keep) == stop
    assert "not finished; the command that began it resumes it" in refusal(
        lambda: LayerFolder.open(folder, layers)
    )
    assert solve_in(folder, layers) == len(layers.layers) - stop
    assert contents(folder) == contents(originals[keep])
    assert solve_in(folder, layers, keep=keep) == 0
    assert contents(folder) == contents(originals[keep])


def test_one_that_was_killed_after_its_last_layer_is_finished_when_it_is_taken_up(
    originals: dict[str, Path],
    layers: Sale,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(LayerFolder, "finish", lambda store: None)
        solve_in(tmp_path, layers)
    assert "not finished" in refusal(lambda: LayerFolder.open(tmp_path, layers))
    LayerFolder.create(tmp_path, layers).close()
    assert contents(tmp_path) == contents(originals["all"])


SOLVE = """
from pathlib import Path
from layered_games import shop, solve_in

solve_in(Path({folder!r}), shop(horizon=240, capacity=400), keep={keep!r})
"""


@pytest.mark.slow
@pytest.mark.parametrize("keep", KEEPS)
def test_killed_again_and_again_it_loses_no_more_than_the_layer_in_flight(
    keep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    layers, folder = shop(horizon=240, capacity=400), tmp_path / "killed"
    solve_in(tmp_path / "undisturbed", layers, keep=keep)
    journal = folder / "unfinished" / "records.jsonl"

    def solved() -> int:
        return len(journal.read_bytes().splitlines()) if journal.exists() else 0

    for kept in range(20, 200, 40):
        stopped(SOLVE.format(folder=str(folder), keep=keep), lambda: solved() > kept)  # noqa: B023
    assert solve_in(folder, layers) <= len(layers.layers) - solved() + 1
    assert contents(folder) == contents(tmp_path / "undisturbed")


def test_compact_values_are_as_good_as_they_say(originals: dict[str, Path], layers: Sale) -> None:
    whole, compact = (LayerFolder.open(originals[at], layers) for at in ("all", "compact"))
    for layer in layers.layers:
        error = np.abs(compact.read(layer) - whole.read(layer)).max()
        assert error <= compact.rounded_off(layer) <= whole.largest(layer) / 65_533
        assert whole.rounded_off(layer) == 0
    assert compact.rounded_off(layers.layers[-1]) == 0  # In which the game begins.
    assert compact.rounded_off(1) > 0
    with pytest.raises(ValueError, match="read-only"):
        compact.read(3)[0] = 1
    assert compact.read(3) is compact.read(3)


def test_a_folder_goes_on_keeping_what_it_was_begun_with(layers: Sale, tmp_path: Path) -> None:
    solve_in(tmp_path, layers, 5, "compact")
    for other in ("all", "start"):
        said = refusal(lambda: LayerFolder.create(tmp_path, layers, other))  # noqa: B023
        assert f"was begun with --keep compact, not {other}" in said
    rewrite(tmp_path, lambda content: content.update(keep="nothing"), version=3)
    assert "keep is 'nothing'" in refusal(lambda: LayerFolder.create(tmp_path, layers))
    nothing = "keep is 'nothing'; allowed are all, compact, start"
    assert_refused([(tmp_path / "new", layers, "nothing", nothing)], LayerFolder.create)


@pytest.mark.parametrize("keep", KEEPS[1:])
def test_no_more_than_what_is_planned_for_and_one_layer_is_on_the_disk(
    keep: str, layers: Sale, tmp_path: Path
) -> None:
    planned = disk_bytes(layers, keep=keep)
    with LayerFolder.create(tmp_path / "x", layers, keep) as store:
        needs = [planned, disk_bytes(layers, store)]

        def look(*_: object) -> None:
            needs.append(disk_bytes(layers, store))
            # Besides records, which hold the samples of all layers.
            files = {
                n: len(held) for n, held in contents(tmp_path / "x").items() if ".json" not in n
            }
            assert sum(files.values()) <= planned
            assert sum(name.startswith("sheets/") and ".npy" in name for name in files) == 1

        solve_layers(layers, store, on_layer=look)
    assert needs[0] == needs[1]
    assert needs[-1] == 0
    assert needs == sorted(needs, reverse=True)
    kept = {"manifest.json", "sheets/13.npy"}
    if keep == "compact":
        kept |= {f"sheets/{layer}.zlib" for layer in layers.layers}
    assert set(contents(tmp_path / "x")) == kept


def test_what_keeps_less_is_planned_to_take_less(layers: Sale) -> None:
    for needs in (
        [disk_bytes(layers, keep=keep) for keep in ("start", "compact", "all")],
        [memory_bytes(layers, in_folder=False, keep=keep) for keep in ("start", "all")],
    ):
        assert needs == sorted({*needs})
