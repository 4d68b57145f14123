"""What a process computes with, so that two machines can tell whether they would agree.

Sheets that are solved on several machines are put together bit by bit, so all of them have to run
the same source, compiled by the same compiler.
"""

from __future__ import annotations

import platform
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

Build = dict[str, str]
"""The version of everything on which what is computed may depend, by its name."""

ROOMS = ("model", "games", "exact")
"""The parts of this package on which it depends."""

PACKAGES = ("numpy", "scipy", "numba", "llvmlite")


@cache
def this_build() -> Build:
    """The build of this process."""
    return {
        "Python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "the source of solvent": _source_hash(Path(__file__).parents[2]),
    }


def difference(here: Build, there: Build) -> str | None:
    """In what two builds differ first, both versions named; None if in nothing."""
    for name, installed in here.items():
        if there.get(name) != installed:
            return f"{name} is {there.get(name)} there and {installed} here"
    return None


def _source_hash(package: Path) -> str:
    """A short hash of the source files, their places included."""
    digest = sha256()
    for room in ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            digest.update(f"{path.relative_to(package).as_posix()}\0".encode())
            digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
