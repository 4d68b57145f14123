"""Football with a clock, solved on a cluster: real processes, some of which are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ray_machines import Machines
from timed_football import tiny

from solvent.exact.layered.cluster import RayWorkers
from solvent.exact.layered.solve import Workers, solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games.football_clock import layers as football
from solvent.games.football_clock.layers import FootballLayers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="Ray clusters run on Linux"),
]


@pytest.fixture(scope="module")
def running() -> Iterator[Machines]:
    """A head without processors."""
    machines = Machines()
    yield machines
    machines.close()


@pytest.fixture
def machines(running: Machines) -> Iterator[Machines]:
    """The same, without what a test has added."""
    yield running
    for machine in list(running.added):
        running.kill(machine)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that a tiny layer too is cut into several."""
    monkeypatch.setattr(football, "LINES_IN_BLOCK", 4)


def solved(layers: FootballLayers, workers: Workers | None = None) -> LayerStore:
    store = LayerStore(layers)
    solve_layers(layers, store, workers=workers)
    return store


def assert_same(store: LayerStore, other: LayerStore) -> None:
    """Bit by bit."""
    assert store.finished
    for layer in store.game.layers:
        assert store.read(layer).tobytes() == other.read(layer).tobytes(), layer
        assert store.record(layer) == other.record(layer)


def test_two_machines_compute_what_threads_do(machines: Machines) -> None:
    layers = FootballLayers.of(tiny("full", timeouts=1))
    machines.add()
    machines.add()
    with RayWorkers(machines.address) as workers:
        assert workers.processors == 2
        store = solved(layers, workers)
    assert_same(store, solved(layers))


COMMAND = [
    *(sys.executable, "-m", "solvent", "solve", "football-strategy", "--form", "half"),
    *("--clock", '{"half": 300, "stops": [120]}', "--timeouts", "0", "--json"),
]


def test_the_head_is_killed_then_the_driver_and_the_folder_is_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "cluster"

    def started(machines: Machines) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*COMMAND, "--out", str(folder), "--on", machines.address])

    machines = Machines(head_processors=1)
    try:
        machines.add()
        driver = started(machines)
        wait_for_sheets(folder, 4, driver)
        machines.kill_head()
        assert driver.wait(120) != 0
    finally:
        machines.close()
    machines = Machines(head_processors=1)
    try:
        machines.add()
        driver = started(machines)
        wait_for_sheets(folder, 10, driver)
        driver.kill()
        driver.wait()
        before = {path: path.stat().st_mtime_ns for path in (folder / "sheets").rglob("*.npy")}
        assert started(machines).wait(300) == 0
    finally:
        machines.close()
    # What was solved before is not solved again.
    assert all(path.stat().st_mtime_ns == written for path, written in before.items())
    subprocess.run([*COMMAND, "--out", str(tmp_path / "here")], check=True)
    assert contents(folder) == contents(tmp_path / "here")


def wait_for_sheets(folder: Path, number: int, driver: subprocess.Popen[bytes]) -> None:
    while len(list((folder / "sheets").rglob("t*.npy"))) < number:
        assert driver.poll() is None, "the driver has ended too early"
        time.sleep(0.01)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
