"""The folder of a training: what was asked for in it, and whether it is finished.

A folder belongs to one training. Its record says what was asked for, so that a call with other
arguments is refused instead of going on with somebody else's network. While a process trains in a
folder it holds the folder's lock (:mod:`solvent.exact.layered.lock`); a finished training is read
back without.
"""

from __future__ import annotations

import json
import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from solvent import __version__
from solvent.benchmark.json_files import read_json
from solvent.benchmark.privilege import seen_of_solution
from solvent.exact import StoreError, write_atomically
from solvent.exact.policy_files import checked_request
from solvent.exact.store import remove_temporary
from solvent.model.parameters import is_number, shown

LARGEST_RECORD = 2**24
"""Bytes."""


class RunFolder:
    """The folder of a training.

    Args:
        folder: Where it is; it need not exist.
        request: What was asked for, JSON-able.

    Raises:
        ValueError: If it is not.
    """

    def __init__(self, folder: Path, request: dict[str, Any]) -> None:
        self.folder = folder
        # As JSON reads it back, so that it can be compared.
        try:
            self.request: dict[str, Any] = json.loads(json.dumps(request, sort_keys=True))
        except TypeError as error:
            raise ValueError(f"a training's arguments have to be JSON-able: {error}") from None

    @property
    def record(self) -> Path:
        """What was asked for, with which versions, and the result."""
        return self.folder / "run.json"

    @property
    def checkpoint(self) -> Path:
        """Where an unfinished training goes on from."""
        return self.folder / "checkpoint.npz"

    @property
    def identity(self) -> str:
        """The request as one text, which a checkpoint has to repeat."""
        return json.dumps(self.request, sort_keys=True)

    def open(self, resume: bool) -> bool:
        """Make the folder this run's, and clear it; whether the run is finished already.

        Raises:
            ValueError: If it holds another one.
            StoreError: If it cannot be written to or its record is damaged.
        """
        if resume and self.record.exists():
            finished = self._is_finished()
            if finished:  # It was killed before it had removed the checkpoint.
                self.checkpoint.unlink(missing_ok=True)
        else:
            self.write(None)
            finished = False
        remove_temporary(self.folder)
        return finished

    def can_be_read_back(self) -> bool:
        """Whether the run is finished and nothing has to be written, so that no lock is needed.

        Raises:
            ValueError: If the folder holds another one.
            StoreError: If its record is damaged.
        """
        try:
            return self.record.exists() and self._is_finished() and not self.checkpoint.exists()
        except OSError:  # Nor can it be written to: whoever locks it says why.
            return False

    def _is_finished(self) -> bool:
        """Whether the run that the folder holds, which has to be this one, has a result."""
        held = self.read()
        for name in sorted({*held["request"], *self.request}):
            had, wanted = held["request"].get(name), self.request.get(name)
            if had != wanted:
                what = _difference(name, had, wanted)
                raise ValueError(f"{self.folder} holds another training: its {what}")
        return held["result"] is not None

    def read(self) -> dict[str, Any]:
        """The record; a result has its steps and its time, the rest of it is as it was read.

        Raises:
            StoreError: If it cannot be read or is damaged.
        """
        what = "the record of a training"
        # A score that could not be proved is NaN; that of a policy that never ends an episode may
        # be infinite.
        held = read_json(self.record, LARGEST_RECORD, what, nan=True, infinite=True)
        result = held.get("result", {}) if isinstance(held, dict) else {}
        finished = (
            isinstance(result, dict)
            and type(result.get("timesteps")) is int
            and is_number(result.get("cpu_seconds"))
        )
        if not (finished or result is None) or not isinstance(held.get("request"), dict):
            raise StoreError(f"{self.record}: not {what}, or damaged")
        return dict(held)

    def write(self, result: dict[str, Any] | None) -> None:
        """Write the record, with the result if there is one, and remove the checkpoint.

        ``saw`` is there for people who read it. Whoever computes with it reads what was asked for.
        """
        settings = {**self.request, **(result or {}).get("hyperparameters", {})}
        record = {
            "request": self.request,
            "saw": seen_of_solution(settings),
            "versions": versions(),
            "hardware": hardware(),
            "result": result,
        }
        write_atomically(self.record, (json.dumps(record, indent=2) + "\n").encode())
        self.checkpoint.unlink(missing_ok=True)


def _difference(name: str, held: Any, wanted: Any) -> str:
    """What is not the same, of mappings the first entry."""
    if isinstance(held, dict) and isinstance(wanted, dict):
        for key in sorted({*held, *wanted}):
            if held.get(key) != wanted.get(key):
                return _difference(f"{name}[{key!r}]", held.get(key), wanted.get(key))
    return f"{name} is {shown(held)}, not {shown(wanted)}"


def request_beside(path: Path) -> dict[str, Any] | None:
    """What was asked for in the training that a file belongs to; None if there is no record of it.

    Args:
        path: A file in the folder of a training.

    Raises:
        StoreError: If the record is damaged.
    """
    run = RunFolder(path.parent, {})
    return checked_request(run.read()["request"], run.record) if run.record.exists() else None


PACKAGES = (
    "gymnasium",
    "numpy",
    "pettingzoo",
    "sb3-contrib",
    "scipy",
    "stable-baselines3",
    "torch",
)
"""Whose versions are kept, if they are installed."""


def versions() -> dict[str, str]:
    """The versions of this package, of Python, and of what results depend on."""
    found = {"solvent": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def hardware() -> dict[str, Any]:
    """The machine: its system, its processor, how many of these, and its memory in bytes."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "processors": os.cpu_count() or 1,
        "memory_bytes": _memory(),
    }


def _processor() -> str:
    """The name of the processor; Linux tells it in a file only."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def _memory() -> int | None:
    """All memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
