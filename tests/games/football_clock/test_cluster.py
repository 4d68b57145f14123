"""Football with a clock, solved on a cluster: real processes, some of which are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from ray_machines import Machines
from timed_football import tiny

from solvent.exact.layered import cluster
from solvent.exact.layered.cluster import ClusterError, RayWorkers
from solvent.exact.layered.game import Block, BlockResult
from solvent.exact.layered.solve import LayerTask, Workers, solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games.football.chart_files import load_chart
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football_clock import layers as football
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.layers import FootballLayers
from solvent.games.football_clock.layout import FormLayout

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


class Disturbed(RayWorkers):
    """Workers to which something happens while they are at work on a layer."""

    def __init__(self, address: str, at_sheet: int, happens: Callable[[], object]) -> None:
        super().__init__(address)
        self.left = at_sheet
        self.happens = happens

    def solve(self, task: LayerTask) -> Iterator[tuple[Block, BlockResult]]:
        self.left -= 1
        for done in super().solve(task):
            yield done
            if self.left == 0:
                self.left -= 1
                self.happens()


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


@cache
def standard_half(ticks: int) -> LayerStore:
    """The end of a half by the standard chart, whose layers take a while, solved by threads."""
    rules = pack_rules(load_chart("standard"), Ruleset())
    return solved(FootballLayers(FormLayout(rules, ClockRules(timeouts=0), "half", ticks)))


def test_two_machines_compute_what_threads_do(machines: Machines) -> None:
    layers = FootballLayers.of(tiny("full", timeouts=1))
    machines.add()
    machines.add()
    with RayWorkers(machines.address) as workers:
        assert workers.processors == 2
        store = solved(layers, workers)
    assert_same(store, solved(layers))


def test_a_machine_that_dies_in_the_middle_changes_nothing(machines: Machines) -> None:
    here = standard_half(ticks=2)
    machines.add()
    dying = machines.add()
    with Disturbed(machines.address, 2, lambda: machines.kill(dying)) as workers:
        store = solved(here.game, workers)
    assert len(machines.added) == 1
    assert_same(store, here)


def test_work_goes_on_when_another_machine_comes(machines: Machines) -> None:
    here = standard_half(ticks=2)
    only = machines.add()

    def replaced() -> None:
        machines.kill(only)
        machines.add()

    with Disturbed(machines.address, 2, replaced) as workers:
        store = solved(here.game, workers)
    assert_same(store, here)


def test_a_cluster_that_stays_without_processors_is_given_up(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    here = standard_half(ticks=2)
    store = LayerStore(here.game)
    only = machines.add()
    with (
        Disturbed(machines.address, 2, lambda: machines.kill(only)) as workers,
        pytest.raises(ClusterError, match=r"no processor for 1 seconds.* are kept"),
    ):
        solve_layers(here.game, store, workers=workers)
    done, *left = here.game.layers
    assert store.read(done).tobytes() == here.read(done).tobytes()
    assert not any(store.has(layer) for layer in left)


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
