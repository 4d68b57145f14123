"""Football with a clock, solved on a cluster: real processes, some of which are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from ray_machines import LOST_PACKAGE, Machines, free_port, other_source
from timed_football import tiny

from solvent.exact.layered import cluster, solve
from solvent.exact.layered.build import difference, this_build
from solvent.exact.layered.cluster import ClusterError, RayWorkers
from solvent.exact.layered.solve import Workers, solve_layout
from solvent.exact.layered.store import SheetStore
from solvent.games.football.chart_files import load_chart
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.solver.layer_kernel import Block, BlockResult
from solvent.games.football_clock.solver.layout import Layout
from solvent.games.football_clock.solver.problem import SheetProblem
from solvent.games.football_clock.solver.solution import layout_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Ray clusters run on Linux")


@pytest.fixture(scope="module")
def never_used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Ray's own folder on a machine on which it never ran."""
    folder = tmp_path_factory.mktemp("ray") / "never"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def running(never_used: Path) -> Iterator[Machines]:
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
    """So small that a tiny sheet too is cut into several."""
    monkeypatch.setattr(solve, "LINES_IN_BLOCK", 4)


class Disturbed(RayWorkers):
    """Workers to which something happens while they are at work on a sheet."""

    def __init__(self, address: str, at_sheet: int, happens: Callable[[], object]) -> None:
        super().__init__(address)
        self.left = at_sheet
        self.happens = happens

    def solve(
        self, problem: SheetProblem, blocks: Sequence[Block]
    ) -> Iterator[tuple[Block, BlockResult]]:
        self.left -= 1
        for done in super().solve(problem, blocks):
            yield done
            if self.left == 0:
                self.left -= 1
                self.happens()


def solved(layout: Layout, workers: Workers | None = None) -> SheetStore:
    store = SheetStore(layout)
    solve_layout(layout, store, workers=workers)
    return store


def assert_same(store: SheetStore, other: SheetStore) -> None:
    """Bit by bit."""
    assert store.finished
    for sheet in store.layout.sheets:
        assert store.read(sheet).tobytes() == other.read(sheet).tobytes(), sheet
        assert store.record(sheet) == other.record(sheet)


@cache
def standard_half(ticks: int) -> SheetStore:
    """The end of a half by the standard chart, whose sheets take a while, solved by threads."""
    rules = pack_rules(load_chart("standard"), Ruleset())
    return solved(Layout(rules, ClockRules(timeouts=0), "half", ticks))


def test_a_cluster_starts_where_ray_never_ran(running: Machines, never_used: Path) -> None:
    assert running.address
    assert not never_used.exists()


def test_two_machines_compute_what_threads_do(machines: Machines) -> None:
    layout = layout_for(tiny("full", timeouts=1))
    machines.add()
    machines.add()
    with RayWorkers(machines.address) as workers:
        assert workers.processors == 2
        store = solved(layout, workers)
    assert_same(store, solved(layout))


@pytest.mark.parametrize(("busy", "asked"), [(2, 3), (3, 3)])
def test_a_busy_head_is_asked_again(monkeypatch: pytest.MonkeyPatch, busy: int, asked: int) -> None:
    import ray

    calls = []

    def init(**_: object) -> None:
        calls.append(1)
        if len(calls) <= busy:
            raise ConnectionAbortedError(f"RuntimeError: {cluster.BUSY}. See the log.")

    monkeypatch.setattr(ray, "init", init)
    if busy < asked:
        assert cluster._connected("auto") is ray
    else:
        with pytest.raises(ClusterError, match="cannot connect to a cluster at auto"):
            cluster._connected("auto")
    assert len(calls) == asked


@pytest.mark.slow
def test_the_client_computes_the_same(machines: Machines) -> None:
    layout = layout_for(tiny("half"))
    machines.add()
    with RayWorkers(machines.client_address) as workers:
        store = solved(layout, workers)
    assert_same(store, solved(layout))


@pytest.mark.slow
def test_a_machine_that_dies_in_the_middle_changes_nothing(machines: Machines) -> None:
    here = standard_half(ticks=2)
    machines.add()
    dying = machines.add()
    with Disturbed(machines.address, 2, lambda: machines.kill(dying)) as workers:
        store = solved(here.layout, workers)
    assert len(machines.added) == 1
    assert_same(store, here)


@pytest.mark.slow
def test_work_goes_on_when_another_machine_comes(machines: Machines) -> None:
    here = standard_half(ticks=2)
    only = machines.add()

    def replaced() -> None:
        machines.kill(only)
        machines.add()

    with Disturbed(machines.address, 2, replaced) as workers:
        store = solved(here.layout, workers)
    assert_same(store, here)


@pytest.mark.slow
def test_a_cluster_that_stays_without_processors_is_given_up(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    here = standard_half(ticks=2)
    store = SheetStore(here.layout)
    only = machines.add()
    with (
        Disturbed(machines.address, 2, lambda: machines.kill(only)) as workers,
        pytest.raises(ClusterError, match=r"no processor for 1 seconds.* are kept"),
    ):
        solve_layout(here.layout, store, workers=workers)
    done, *left = here.layout.sheets
    assert store.read(done).tobytes() == here.read(done).tobytes()
    assert not any(store.has(sheet) for sheet in left)


COMMAND = [
    *(sys.executable, "-m", "solvent", "solve", "football-strategy", "--form", "half"),
    *("--clock", '{"half": 300, "stops": [120]}', "--timeouts", "0", "--json"),
]


@pytest.mark.slow
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


def test_a_cluster_without_processors_is_refused(machines: Machines) -> None:
    with pytest.raises(ClusterError, match="has no processors"):
        RayWorkers(machines.address)


def test_a_machine_with_another_source_is_refused(machines: Machines, tmp_path: Path) -> None:
    machines.add(runs_first=other_source(tmp_path))
    with pytest.raises(ClusterError, match=r"another build: the source of solvent is \w+ there"):
        RayWorkers(machines.address)


@pytest.mark.slow
def test_a_machine_without_the_package_is_refused(machines: Machines) -> None:
    machines.add(runs_first=LOST_PACKAGE)
    with pytest.raises(ClusterError, match=r"cannot run the solver \(ModuleNotFoundError"):
        RayWorkers(machines.address)


def test_builds_differ_by_what_is_installed() -> None:
    build = this_build()
    assert difference(build, dict(build)) is None
    assert difference(build, {**build, "numba": "0.1"}) == (
        f"numba is 0.1 there and {build['numba']} here"
    )


@pytest.mark.parametrize(
    "address", ["", "cluster", "http://127.0.0.1:80", "127.0.0.1", "127.0.0.1:port"]
)
def test_a_malformed_address_is_refused(address: str) -> None:
    with pytest.raises(ClusterError, match="allowed are HOST:PORT, ray://HOST:PORT and auto"):
        RayWorkers(address)


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_address_where_nobody_answers_is_named(scheme: str) -> None:
    address = f"{scheme}127.0.0.1:{free_port()}"
    with pytest.raises(ClusterError, match=f"nothing answers at {address}"):
        RayWorkers(address)


def test_the_extra_is_named_where_ray_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'solvent\[cluster\]'"):
        RayWorkers("auto")
