"""The runs of a bench on the processes of a Ray cluster.

A run is done in a folder of its own on the machine that does it, and its files come to the bench's
folder when it is finished. The files of an unfinished run stay behind: after an
interruption the bench resumes with whole runs. An algorithm given as a file has to be at the same
place on every machine.

Addresses, and what happens when a machine dies, are those of :mod:`solvent.exact.layered.cluster`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from solvent.benchmark.progress import BenchProgress
from solvent.benchmark.records import FailureRecord
from solvent.benchmark.run import Outcome, Run, attempted, end_of
from solvent.exact.layered.cluster import Build, RayWorkers, check_build, this_build
from solvent.exact.store import write_atomically

Files = dict[str, bytes]
"""The content of the files of a run, by their paths within its folder."""

Asked = tuple[int, Build, Run, Files]
"""The number of a run, the driver's build, the run, and its existing files."""


@contextmanager
def on_cluster(
    address: str, out: Path, runs: Sequence[Run], told: BenchProgress
) -> Iterator[Iterator[tuple[str, Outcome]]]:
    """Do runs on a cluster; yield an iterator over their outcomes, with the names of the runs.

    Args:
        address: Address of the cluster.
        out: The folder of the bench.
        runs: The runs to do.
        told: The display to report to.

    Raises:
        ClusterError: If the cluster cannot be used, or was lost.
        ModuleNotFoundError: If Ray is not installed.
    """
    with RayWorkers(address) as workers:
        yield _outcomes(workers, out, runs, told)


def _outcomes(
    workers: RayWorkers, out: Path, runs: Sequence[Run], told: BenchProgress
) -> Iterator[tuple[str, Outcome]]:
    """Yield the outcome of each run, with its files written to its folder."""
    build = this_build()
    asked = [(n, build, run, files_in(out / run.folder)) for n, run in enumerate(runs)]
    for number, outcome, files in workers.run(_do, asked):
        run = runs[number]
        # The record comes last: with it a run is finished.
        for name in sorted(files, key=lambda name: name == "run.json"):
            path = out / run.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, files[name])
        if isinstance(outcome, FailureRecord):
            told.write(f"failed    {run.name}: {outcome.error}")
        told.finish(run.name, end_of(outcome))
        yield run.name, outcome


def _do(asked: Asked) -> tuple[int, Outcome, Files]:
    """Do a run in a process of the cluster."""
    number, build, run, files = asked
    check_build(build)
    with tempfile.TemporaryDirectory(prefix="solvent-bench-") as place:
        folder = Path(place) / run.folder
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        outcome = attempted(Path(place), run)
        finished = not isinstance(outcome, FailureRecord)
        return number, outcome, files_in(folder) if finished else {}


def files_in(folder: Path) -> Files:
    """Return the files in a folder and below it, except its lock."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }
