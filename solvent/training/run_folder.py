"""The folder of a training: what was asked for in it, and whether it is finished.

A folder belongs to one training. Its record says what was asked for, so that a call with other
arguments is refused instead of going on with somebody else's network.
"""

from __future__ import annotations

import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from solvent import __version__
from solvent.exact import StoreError, write_atomically

PACKAGES = ("gymnasium", "numpy", "stable-baselines3", "sb3-contrib", "torch")
"""Whose versions are kept."""


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
        """Make the folder this run's; whether the run is finished already.

        Raises:
            ValueError: If it holds another one.
            StoreError: If it cannot be written to or its record is damaged.
        """
        if resume and self.record.exists():
            held = self.read()
            for name, wanted in self.request.items():
                if held["request"].get(name) != wanted:
                    raise ValueError(
                        f"{self.folder} holds another training: its {name} is "
                        f"{held['request'].get(name)!r}, not {wanted!r}"
                    )
            return held["result"] is not None
        self.write(None)
        self.checkpoint.unlink(missing_ok=True)
        return False

    def read(self) -> dict[str, Any]:
        """The record.

        Raises:
            StoreError: If it is damaged.
        """
        try:
            held = json.loads(self.record.read_text(encoding="utf-8"))
            if not isinstance(held["request"], dict) or "result" not in held:
                raise TypeError
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self.record}: not the record of a training, or damaged") from error
        return dict(held)

    def write(self, result: dict[str, Any] | None) -> None:
        """Write the record, with the result if there is one."""
        versions = {name: metadata.version(name) for name in PACKAGES}
        record = {
            "request": self.request,
            "versions": {"solvent": __version__, "python": platform.python_version(), **versions},
            "result": result,
        }
        write_atomically(self.record, (json.dumps(record, indent=2) + "\n").encode())
