"""On what something was computed: versions of packages, and the machine."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from solvent import __version__

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
