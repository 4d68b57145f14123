"""Folders that do not keep all values: rolling solves and compact archives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from killed_solves import long_shop
from layered_games import (
    StartedLayers,
    contents,
    flip,
    refusal,
    rewrite,
    shop,
    solve_in,
)

from solvent.exact.layered.folder import LayerFolder
from solvent.exact.layered.plan import disk_bytes, memory_bytes
from solvent.exact.layered.solve import LayeredSolution, solve_layers
from solvent.exact.layered.store import KEEPS, LayerStore, pack, rounded_off, unpack

HELPERS = Path(__file__).parents[2] / "helpers"
PARTIAL = KEEPS[1:]


@pytest.fixture(scope="module")
def layers() -> StartedLayers:
    return shop()


@pytest.fixture(scope="module")
def originals(layers: StartedLayers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished solution of each kind, not to be changed."""
    folders = {keep: tmp_path_factory.mktemp("solutions") / keep for keep in KEEPS}
    for keep, folder in folders.items():
        solve_in(folder, layers, keep=keep)
    return folders


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


def test_in_memory_layers_are_let_go_of_when_they_are_read_no_more(layers: StartedLayers) -> None:
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


@pytest.mark.parametrize("keep", PARTIAL)
def test_no_more_than_the_window_is_on_the_disk(
    keep: str, layers: StartedLayers, tmp_path: Path
) -> None:
    with LayerFolder.create(tmp_path / "x", layers, keep) as store:
        most = []

        def look(*_: object) -> None:
            most.append(len(list((tmp_path / "x" / "sheets").glob("*.npy"))))

        solve_layers(layers, store, on_layer=look)
    assert max(most) == 1
    kept = {"manifest.json", "sheets/13.npy"}
    if keep == "compact":
        kept |= {f"sheets/{layer}.zlib" for layer in layers.layers}
    assert set(contents(tmp_path / "x")) == kept


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("stop", [0, 2, 12])
def test_an_interrupted_solve_goes_on(
    stop: int, keep: str, originals: dict[str, Path], layers: StartedLayers, tmp_path: Path
) -> None:
    folder = tmp_path / "x"
    assert solve_in(folder, layers, stop, keep) == stop
    message = refusal(lambda: LayerFolder.open(folder, layers))
    assert "not finished; the command that began it goes on" in message
    assert solve_in(folder, layers) == len(layers.layers) - stop
    assert contents(folder) == contents(originals[keep])
    assert solve_in(folder, layers, keep=keep) == 0
    assert contents(folder) == contents(originals[keep])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
@pytest.mark.parametrize("keep", KEEPS)
def test_killed_ten_times_it_loses_no_more_than_the_layers_in_flight(
    keep: str, tmp_path: Path
) -> None:
    layers = long_shop()
    solve_in(tmp_path / "undisturbed", layers, keep=keep)
    run = subprocess.run(
        [
            sys.executable,
            str(HELPERS / "killed_solves.py"),
            *(str(tmp_path / "killed"), "10", "7", keep),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=300,
    )
    begun, killed = map(int, run.stdout.split())
    assert killed > 0
    assert len(layers.layers) <= begun <= len(layers.layers) + killed
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_compact_values_are_as_good_as_they_say(
    originals: dict[str, Path], layers: StartedLayers
) -> None:
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


def test_a_folder_goes_on_keeping_what_it_was_begun_with(
    layers: StartedLayers, tmp_path: Path
) -> None:
    solve_in(tmp_path, layers, 5, "compact")
    for other in ("all", "start"):
        message = refusal(lambda: LayerFolder.create(tmp_path, layers, other))  # noqa: B023
        assert f"was begun with --keep compact, not {other}" in message
    rewrite(tmp_path, lambda content: content.update(keep="nothing"), version=3)
    assert "keep is 'nothing'" in refusal(lambda: LayerFolder.create(tmp_path, layers))


@pytest.mark.parametrize("place", [20])
def test_a_damaged_archive_is_named(
    place: int, originals: dict[str, Path], layers: StartedLayers, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(originals["compact"], tmp_path / "x"))
    path = folder / "sheets" / "3.zlib"
    flip(path, place)
    cure = "It cannot be solved again by itself; solve in another folder"
    message = refusal(lambda: LayerFolder.open(folder, layers).read(3))
    assert f"{path}: the checksum does not match" in message
    assert cure in message
    assert "3.zlib" in refusal(lambda: LayerFolder.open(folder, layers, verify=True))
    path.unlink()
    message = refusal(lambda: LayerFolder.open(folder, layers))
    assert f"{path}: is missing. {cure}" in message


def test_a_record_that_lies_about_the_largest_value_is_refused(
    originals: dict[str, Path], layers: StartedLayers, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(originals["compact"], tmp_path / "x"))

    def lie(largest: object) -> None:
        rewrite(folder, lambda content: content["sheets"]["3"].update(largest=largest), version=3)

    for largest in ("much", -1.0, 1e9):
        lie(largest)
        assert "record of 3 is damaged (largest is" in refusal(
            lambda: LayerFolder.open(folder, layers)
        )


def test_room_that_is_planned_for_is_what_is_taken(layers: StartedLayers, tmp_path: Path) -> None:
    disk = {keep: disk_bytes(layers, keep=keep) for keep in KEEPS}
    assert disk["start"] < disk["compact"] < disk["all"]
    memory = [memory_bytes(layers, in_folder=False, keep=keep) for keep in ("start", "all")]
    assert memory[0] < memory[1]
    with LayerFolder.create(tmp_path / "x", layers, "compact") as store:
        needs = [disk_bytes(layers, store)]
        assert needs == [disk["compact"]]
        taken = []

        def look(*_: object) -> None:
            needs.append(disk_bytes(layers, store))
            # Besides records, which hold the samples of all layers.
            files = contents(tmp_path / "x").items()
            taken.append(sum(len(held) for name, held in files if ".json" not in name))

        solve_layers(layers, store, on_layer=look)
    assert max(taken) <= disk["compact"]
    assert needs[-1] == 0
    assert needs == sorted(needs, reverse=True)
