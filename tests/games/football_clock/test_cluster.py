"""Football with a clock, solved on a cluster: real processes, some of which are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from ray_machines import Machines

COMMAND = [
    *(sys.executable, "-m", "solvent", "solve", "football-strategy", "--form", "half"),
    *("--clock", '{"half": 300, "stops": [120]}', "--timeouts", "0", "--json"),
]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Ray clusters run on Linux")
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


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
