"""Football with a clock, solved on a cluster: real processes, some of which are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from ray_machines import Machines

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="Ray clusters run on Linux"),
]


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
