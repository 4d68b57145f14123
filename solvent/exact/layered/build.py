"""The build of a process, so that two machines can tell whether they would agree.

Layers that are solved on several machines are put together bit by bit, so all of them have to run
the same source, compiled by the same compiler.
"""

from __future__ import annotations

import platform
import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

Build = dict[str, str]
"""The version of everything on which what is computed may depend, by its name."""

PACKAGES = ("numpy", "scipy", "numba", "llvmlite")


@cache
def this_build(module: str = __name__) -> Build:
    """The build of this process.

    Args:
        module: The module of a game, which stands for its package; this package is always in it.
    """
    sources = {name.partition(".")[0] for name in (__name__, module)}
    return {
        "Python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        # A script is sent with the game.
        **{
            f"the source of {name}": "none" if name == "__main__" else source_hash(name)
            for name in sorted(sources)
        },
    }


def difference(here: Build, there: Build) -> str | None:
    """Return the first difference of two builds, both versions named; None if there is none."""
    for name, installed in here.items():
        if there.get(name) != installed:
            return f"{name} is {there.get(name)} there and {installed} here"
    return None


@cache
def source_hash(module: str) -> str:
    """Return a short hash of the source of a module, or of the whole package that it is part of.

    Args:
        module: The name of a module that is imported.
    """
    file = getattr(sys.modules[module.partition(".")[0]], "__file__", None)
    path = Path(file or str(sys.modules[module].__file__))
    is_package = path.name == "__init__.py"
    digest = sha256()
    for source in sorted(path.parent.rglob("*.py")) if is_package else [path]:
        digest.update(f"{source.relative_to(path.parent).as_posix()}\0".encode())
        digest.update(source.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
