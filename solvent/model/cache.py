"""The cache of long computations.

Entries are in the user's cache folder, or in the folder named by the environment variable
``SOLVENT_CACHE``; ``off`` or ``0`` switches the cache off. The folder may be deleted at any time.

The name of an entry is a hash of its identity (for a solution, the hash of the model and the
tolerance) and of the names, sizes and times of the package's files, so editing the rules of a game
makes its entries unreachable. Entries are verified by checksums and read without pickles; a damaged
one is computed again. An entry is written to a temporary file and moved into place, so processes
can share the folder. If the disk is full or read-only, nothing is kept. When the folder exceeds
:data:`MOST_BYTES`, the entries that were unused for longest are removed.
"""

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from solvent.model.files import TEMPORARY, StoreError, write_atomically

VARIABLE = "SOLVENT_CACHE"
"""The environment variable that names the folder, or is ``off`` or ``0``."""

LONG = 0.2
"""CPU seconds; results of shorter computations are not kept."""

MOST_BYTES = 2**31
"""Size limit of the folder; entries larger than half of it are not kept."""

_ENTRY = re.compile(r"[0-9a-f]{64}")

# Extensions of the files that results may depend on.
_CODE = (".py", ".js", ".html", ".j2")

# Seconds after which the writer of an unfinished entry is taken to be gone.
_ABANDONED = 86_400


class Packed(NamedTuple):
    """The content of an entry.

    Attributes:
        header: JSON-able data.
        arrays: Arrays of plain numbers, by name.
    """

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


T = TypeVar("T")


def kept(
    identity: Mapping[str, Any],
    make: Callable[[], T],
    pack: Callable[[T], Packed | None],
    unpack: Callable[[Packed], T],
) -> T:
    """Return a cached result, or compute it now and keep it if that took long.

    Args:
        identity: Everything that determines the result besides this package's code; JSON-able.
        make: Computes the result.
        pack: Turns the result into arrays; returns None if that is impossible.
        unpack: The inverse of `pack`; raises a ValueError if the entry does not fit.
    """
    path = entry_path(identity)
    if path is None:
        return make()
    with contextlib.suppress(KeyError, TypeError, ValueError):  # An entry may lack something.
        packed = read_entry(path)
        if packed is not None:
            return unpack(packed)
    began = time.process_time()
    made = make()
    if time.process_time() - began > LONG and (packed := pack(made)) is not None:
        write_entry(path, packed)
    return made


def cache_folder() -> Path | None:
    """Return the folder of the cache, or None if the cache is off."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return None if named.lower() in ("off", "0") else Path(named).expanduser()
    try:
        from platformdirs import user_cache_path
    except ImportError:  # It comes with the extra cli; without it a folder can be named.
        return None
    return user_cache_path("solvent", appauthor=False)


def entry_path(identity: Mapping[str, Any]) -> Path | None:
    """Return the path of an entry, or None if the cache is off.

    Args:
        identity: JSON-able identity of the result, as in :func:`kept`.
    """
    folder = cache_folder()
    if folder is None:
        return None
    text = json.dumps([identity, code_version()], sort_keys=True)
    return folder / hashlib.sha256(text.encode()).hexdigest()


@cache
def code_version() -> list[tuple[str, int, int]]:
    """Return the name, size and time of each of the package's files, read once per process."""
    root = Path(__file__).parents[1]
    paths = sorted(path for path in root.rglob("*") if path.suffix in _CODE)
    stats = ((path, path.stat()) for path in paths)
    return [(str(path.relative_to(root)), stat.st_size, stat.st_mtime_ns) for path, stat in stats]


def read_entry(path: Path) -> Packed | None:
    """Read an entry; None if there is none, or it is damaged.

    Args:
        path: The entry's file, whose name the content repeats.
    """
    try:
        # Reading an array to its end makes the archive compare its checksum.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = dict(archive)
        header = json.loads(arrays.pop("header").tobytes())
        if header.pop("entry") != path.name:
            return None
    except Exception:  # For damaged archives NumPy and zipfile raise errors of many kinds.
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return Packed(header, arrays)


def write_entry(path: Path, packed: Packed) -> None:
    """Write an entry, if the disk allows it and it is not too large.

    Args:
        path: The entry's file.
        packed: The entry's content.
    """
    size = sum(array.nbytes for array in packed.arrays.values())
    if size > MOST_BYTES // 2:
        return
    header = json.dumps({"entry": path.name, **packed.header}).encode()
    members = {"header": np.frombuffer(header, np.uint8), **packed.arrays}
    with contextlib.suppress(OSError, StoreError):
        path.parent.mkdir(parents=True, exist_ok=True)
        make_room(path.parent, size)
        write_atomically(path, lambda file: np.savez(file, allow_pickle=False, **members))


def make_room(folder: Path, size: int) -> None:
    """Remove the longest unused entries until a new one fits; other files stay.

    Args:
        folder: The folder of the cache.
        size: Bytes of the new entry.

    Raises:
        OSError: If the folder cannot be read.
    """
    now, used = time.time(), []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # Another process may remove it meanwhile.
            stat = path.stat()
            if _ENTRY.fullmatch(path.name):
                used.append((stat.st_mtime, stat.st_size, path))
            elif TEMPORARY.fullmatch(path.name) and now - stat.st_mtime > _ABANDONED:
                path.unlink()
    total = size
    for _, own, path in sorted(used, reverse=True):
        total += own
        if total > MOST_BYTES:
            with contextlib.suppress(OSError):
                path.unlink()
