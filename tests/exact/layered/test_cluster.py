"""Layers solved on a cluster of real processes, and clusters that are refused."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from layered_games import contents, shop
from ray_machines import LOST_PACKAGE, Machines, free_port, other_source
from refusals import assert_refused

from solvent.exact.layered import cluster
from solvent.exact.layered.cluster import ClusterError, RayWorkers, this_build
from solvent.exact.layered.solve import solve_layers
from solvent.exact.layered.store import LayerStore
from solvent.games.inventory.layers import InventoryLayers
from solvent.games.inventory.rules import Inventory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Ray clusters run on Linux")

# What a machine runs first that has the packages of the tests, too.
PATHS = f"import sys\nsys.path[:0] = {sys.path!r}\n"


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


def test_a_cluster_starts_where_ray_never_ran(running: Machines, never_used: Path) -> None:
    assert running.address
    assert not never_used.exists()


def test_a_cluster_without_processors_is_refused(machines: Machines) -> None:
    with pytest.raises(ClusterError, match="has no processors"):
        RayWorkers(machines.address)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs_first", "message"),
    [
        (other_source, r"another build: the source of solvent is \w+ there"),
        (lambda _: LOST_PACKAGE, r"cannot run the solver \(ModuleNotFoundError"),
    ],
    ids=["another source", "no package"],
)
def test_a_machine_that_has_not_the_same_package_is_refused(
    runs_first: Callable[[Path], str], message: str, machines: Machines, tmp_path: Path
) -> None:
    machines.add(runs_first=runs_first(tmp_path))
    layers = InventoryLayers(Inventory(horizon=3))
    with RayWorkers(machines.address) as workers, pytest.raises(ClusterError, match=message):
        solve_layers(layers, LayerStore(layers), workers=workers)


def test_a_process_of_another_build_refuses() -> None:
    build = this_build()
    cluster.check_build(build)
    message = r"runs another build: the source of solvent is \w+ there and changed here; install"
    changed = {**build, "the source of solvent": "changed"}
    assert_refused([(changed, message)], cluster.check_build, ClusterError)


def test_an_address_that_is_none_or_where_nobody_answers_is_named() -> None:
    malformed = ("", "cluster", "http://127.0.0.1:80", "127.0.0.1", "127.0.0.1:port")
    answerless = [f"{scheme}127.0.0.1:{free_port()}" for scheme in ("", "ray://")]
    rows = (
        *((address, "allowed are HOST:PORT, ray://HOST:PORT and auto") for address in malformed),
        *((address, f"nothing answers at {address}") for address in answerless),
    )
    assert_refused(rows, RayWorkers, ClusterError)


def test_the_extra_is_named_where_ray_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'solvent\[cluster\]'"):
        RayWorkers("auto")


def test_a_machine_computes_what_threads_do(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a game from outside of this package, in blocks and with warm starts."""
    monkeypatch.setattr("solvent.games.inventory.layers.LEVELS_IN_BLOCK", 7)
    layers = shop()
    machines.add(runs_first=PATHS)
    here, there = LayerStore(layers), LayerStore(layers)
    solve_layers(layers, here)
    with RayWorkers(machines.address) as workers:
        assert workers.processors == 1
        solve_layers(layers, there, workers=workers)
    assert there.finished
    for layer in layers.layers:
        assert here.read(layer).tobytes() == there.read(layer).tobytes()
        assert here.record(layer) == there.record(layer)


@pytest.mark.slow
def test_a_machine_without_the_game_is_refused(machines: Machines) -> None:
    machines.add(runs_first="import sys\nsys.modules['layered_games'] = None\n")
    layers = shop()
    with (
        RayWorkers(machines.address) as workers,
        pytest.raises(ClusterError, match=r"cannot run the solver \(ModuleNotFoundError"),
    ):
        solve_layers(layers, LayerStore(layers), workers=workers)


# Football with a clock, some of whose processes are killed


COMMAND = [
    *(sys.executable, "-m", "solvent", "solve", "football-strategy", "--form", "half"),
    *("--clock", '{"half": 300, "stops": [120]}', "--timeouts", "0", "--json"),
]


@pytest.mark.slow
def test_the_head_is_killed_then_the_driver_and_the_folder_is_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    before: dict[Path, int] = {}
    for killed, layers in (("head", 4), ("driver", 10)):
        machines = Machines(head_processors=1)
        try:
            machines.add()
            command = [*COMMAND, "--out", str(folder), "--on", machines.address]
            driver = subprocess.Popen(command)
            while len(list(folder.rglob("t*.npy"))) < layers:
                assert driver.poll() is None, "the driver has ended too early"
                time.sleep(0.01)
            if killed == "head":
                machines.kill_head()
                assert driver.wait(120) != 0
            else:
                driver.kill()
                driver.wait()
                # The files of an unfinished folder's supports come and go.
                kept = [path for path in folder.rglob("t*.npy") if "supports" not in path.parts]
                before = {path: path.stat().st_mtime_ns for path in kept}
                assert subprocess.run(command, check=False, timeout=300).returncode == 0
        finally:
            machines.close()
    # What was solved before is not solved again.
    assert all(path.stat().st_mtime_ns == written for path, written in before.items())
    subprocess.run([*COMMAND, "--out", str(tmp_path / "here")], check=True)
    assert contents(folder) == contents(tmp_path / "here")
