"""Arrays that took long to compute are kept on disk, so that a later process reads them instead.

They lie in the user's folder for caches, or in the folder that the environment variable
``SOLVENT_CACHE`` names; ``off`` or ``0`` in its place keeps nothing. The folder may be deleted at
any time.

**What is found.** An entry is found by a hash of all that it was computed from (:func:`kept`):
besides what the caller says, the files of the packages whose code took part, those of all imported
modules that are not installed, and the versions of Python and of all packages that are. When any of
them changes, the entry is not found any more. So what is read is what would be computed now, to the
last bit, unless a process has replaced parts of modules that it has imported. While any of the
files is newer than the process, which may have imported it before, nothing is read or kept.

**What is believed.** Whoever may write to the folder is believed as whoever may write to the code.
An entry states its own hash, its size and a checksum of every array. What
does not agree is computed anew and replaced. An entry is written beside its place and moved there,
so that several processes may read and write at the same time. A disk that is full, or that may not
be written to, only means that nothing is kept.

**How it is read.** Arrays are mapped into memory, not read: processes share them, and what is
written to them stays in the process. So a file is replaced or removed, but never cut: whoever else
does that ends the processes that have mapped it. The file is a line, a header as JSON, and the
bytes of each array at a multiple of 64.

The folder holds at most :data:`MOST_BYTES`. What was not used for the longest time goes first.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import mmap
import os
import re
import secrets
import shutil
import sys
import sysconfig
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

VARIABLE = "SOLVENT_CACHE"
"""The environment variable that names the folder, or says ``off`` or ``0``."""

LONG = 0.2
"""CPU seconds; what is computed sooner is not kept."""

MOST_BYTES = 2**31
"""What the folder may hold; an entry of more than half of it is not kept."""

MOST_CODE = 2**26
"""Bytes of files that are hashed, at most; each counts for :data:`PER_FILE` more."""

PER_FILE = 2**12
"""Bytes that could be hashed while a file is found and opened."""

MAGIC = b"solvent cache 1\n"
"""The first line of a file; of another format the number is another."""

ALIGNMENT = 64
"""Arrays begin at multiples of this many bytes, as NumPy's own do."""

ENTRY = re.compile(r"[0-9a-f]{64}(\.npz)?")
"""The name of an entry, also of an earlier version; other files are nobody's here and stay."""

_BESIDE = re.compile(r"\.solvent-[0-9a-f]{16}")
"""The name of an entry until it is whole."""

_ABANDONED = 86_400
"""Seconds after which an entry that is not whole has no writer any more."""


def _begun() -> float:
    try:
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        since_boot = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
        return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot)
    except (OSError, ValueError, IndexError, AttributeError):
        return time.time()


BEGUN = _begun()
"""When this process began or, where the system does not tell, when it imported this module."""


class Packed(NamedTuple):
    """What an entry holds.

    Attributes:
        header: JSON-able.
        arrays: Of plain numbers, by name.
    """

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


T = TypeVar("T")


def kept(
    identity: Mapping[str, Any],
    packages: Iterable[str],
    make: Callable[[], T],
    pack: Callable[[T], Packed | None],
    unpack: Callable[[Packed], T | None],
) -> T:
    """What is kept under an identity; made now, and kept if that took long, if there is nothing.

    Args:
        identity: All that it is made from but code; JSON-able.
        packages: The names of the packages whose code makes it, besides this one.
        make: Makes it.
        pack: What is to be kept of it; None if it cannot be.
        unpack: The inverse; None if what was kept does not fit.
    """
    path = entry_path(identity, packages)
    if path is None:
        return make()
    packed, found = read_entry(path), None
    if packed is not None:
        with contextlib.suppress(KeyError, TypeError, ValueError):  # An entry that lacks something.
            found = unpack(packed)
    if found is not None:
        return found
    began = time.process_time()
    made = make()
    long = time.process_time() - began > LONG
    if long and path == entry_path(identity, packages) and (packed := pack(made)) is not None:
        write_entry(path, packed)
    return made


def cache_folder() -> Path | None:
    """Where entries are kept; None if they are not."""
    said = os.environ.get(VARIABLE, "")
    if said:
        return None if said.lower() in ("off", "0") else Path(os.path.expanduser(said))  # noqa: PTH111
    try:
        from platformdirs import user_cache_path
    except ImportError:  # It comes with the extra cli; who has not got it may name a folder.
        return None
    return user_cache_path("solvent", appauthor=False)


def entry_path(identity: Mapping[str, Any], packages: Iterable[str]) -> Path | None:
    """Where an entry lies, which has the name of a hash; None if nothing may be kept.

    Args:
        identity: As for :func:`kept`.
        packages: As for :func:`kept`.
    """
    folder = cache_folder()
    if folder is None:
        return None
    packages = {"solvent", *packages}
    try:
        loose = _loose_files() if packages > {"solvent"} else []
        if not _as_imported(packages, loose):
            return None
        code = {name: source_hash(name) for name in packages}
        code |= {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in loose}
    except (ImportError, OSError, ValueError):
        return None
    text = json.dumps([identity, code, _installed()], sort_keys=True)
    return folder / hashlib.sha256(text.encode()).hexdigest()


@cache
def source_hash(package: str) -> str:
    """A hash of all files of a package, read once by a process.

    Args:
        package: The name of a package on the top level, one that has a folder.

    Raises:
        ValueError: If it is no package with a folder: of a module alone nobody knows which files
            beside it are part of its code.
    """
    found = hashlib.sha256()
    for root, entry in _files(package):
        with open(entry.path, "rb") as file:  # noqa: PTH123  # Hundreds of them.
            content = file.read()
        found.update(f"{os.path.relpath(entry.path, root)}\0{len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()


def _files(package: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files of a package, always in the same order, each with the folder of the package."""
    spec = None if package == "__main__" else importlib.util.find_spec(package)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        raise ValueError(f"{package} is no package with a folder of its own")
    for root in spec.submodule_search_locations:
        left = [root]
        while left:
            with os.scandir(left.pop()) as entries:
                there = sorted(entries, key=lambda entry: entry.name)
            for entry in there:
                if not entry.is_dir():
                    yield root, entry
                elif entry.name != "__pycache__":
                    left.append(entry.path)


def _loose_files() -> list[str]:
    """The files of the imported modules that are neither Python's nor installed, nor the script."""
    known = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib"))
    files = (
        getattr(module, "__file__", None)
        for name, module in sys.modules.copy().items()
        if name.partition(".")[0] not in ("solvent", "__main__")
    )
    return sorted({file for file in files if file and not file.startswith(known)})


def _as_imported(packages: Iterable[str], loose: Iterable[str]) -> bool:
    """Whether the files of some packages, and some more, are older than this process, and few.

    Then what it has imported of them, and will yet, is what they hold.
    """
    own = (entry.stat() for package in packages for _, entry in _files(package))
    size = 0
    for stat in chain(own, map(os.stat, loose)):
        size += stat.st_size + PER_FILE
        if size > MOST_CODE or max(stat.st_mtime, stat.st_ctime) >= BEGUN:
            return False
    return True


@cache
def _installed() -> list[str]:
    """The versions of Python and of all packages that are installed."""
    names = {
        entry.name
        for folder in sys.path
        if os.path.isdir(folder)  # noqa: PTH112
        for entry in os.scandir(folder)
        if entry.name.endswith((".dist-info", ".egg-info"))
    }
    return [sys.version, *sorted(names)]


def read_entry(path: Path) -> Packed | None:
    """An entry; None if there is none, or what is there is damaged or of another format.

    Args:
        path: Where it lies; its name is part of it.
    """
    try:
        with path.open("rb") as file, contextlib.closing(_Mapped(file.fileno())) as mapped:
            packed = _checked(path, mapped)
            mapped.hold()
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ):
        return None
    mark_used(path)
    return packed


def mark_used(path: Path) -> None:
    """Note that an entry was used now, where this process may write to the folder.

    Args:
        path: Where the entry lies.
    """
    with contextlib.suppress(OSError):
        os.utime(path)


class _Mapped:
    """A file in memory, closed unless arrays hold on to it."""

    def __init__(self, descriptor: int) -> None:
        # What is written to the arrays is the process's own; read-only arrays are another type to
        # compiled loops, which would be compiled for them once more.
        self.memory = mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY)
        self._held = False

    def hold(self) -> None:
        self._held = True

    def close(self) -> None:
        if not self._held:
            with contextlib.suppress(BufferError):
                self.memory.close()


def _checked(path: Path, mapped: _Mapped) -> Packed:
    """What a file in memory holds.

    Raises:
        ValueError: If it is not an entry of that name, whole and undamaged.
        KeyError: If its header lacks something.
    """
    memory = mapped.memory
    begin = len(MAGIC) + 16
    if memory[: len(MAGIC)] != MAGIC:
        raise ValueError("another format")
    length, stated = np.frombuffer(memory, "<u8", 2, len(MAGIC)).tolist()
    text = memory[begin : begin + length]
    if zlib.crc32(text) != stated:
        raise ValueError("damaged")
    about = json.loads(text)
    if about["name"] != path.name or about["bytes"] != len(memory):
        raise ValueError("another entry, or cut")
    arrays = {}
    for name, (kind, shape, offset, checksum) in about["arrays"].items():
        if np.dtype(kind).kind not in "biuf":
            raise ValueError("not of plain numbers")
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(memory, kind, count, offset) if count else np.empty(0, kind)
        array = array.reshape(shape)
        if zlib.crc32(_bytes(array)) != checksum:
            raise ValueError("damaged")
        arrays[name] = array
    return Packed(about["header"], arrays)


def write_entry(path: Path, packed: Packed) -> None:
    """Keep an entry, if the disk allows it and it is not too large.

    Args:
        path: Where to.
        packed: What it holds.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in packed.arrays.items()}
    size = sum(array.nbytes + ALIGNMENT for array in arrays.values())
    if size > MOST_BYTES // 2:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        make_room(path.parent, size)
        beside = path.with_name(f".solvent-{secrets.token_hex(8)}")
        try:
            with beside.open("xb") as file:
                _write(file, path.name, packed.header, arrays)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def _write(
    file: Any, name: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    table: dict[str, list[Any]] = {
        label: [array.dtype.str, array.shape, 0, zlib.crc32(_bytes(array))]
        for label, array in arrays.items()
    }
    about = {"name": name, "header": header, "arrays": table, "bytes": 0}
    # The numbers that are not known yet have at most 20 digits each.
    at = len(MAGIC) + 16 + len(json.dumps(about)) + 20 * (len(arrays) + 1)
    for label, array in arrays.items():
        at += -at % ALIGNMENT
        table[label][2] = at
        at += array.nbytes
    about["bytes"] = at
    text = json.dumps(about).encode()
    file.write(MAGIC)
    file.write(np.array([len(text), zlib.crc32(text)], "<u8").tobytes())
    file.write(text)
    for label, array in arrays.items():
        file.seek(table[label][2])
        file.write(_bytes(array))
    file.truncate(at)


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def make_room(folder: Path, size: int = 0) -> None:
    """Remove what was not used for the longest time, until the rest is small enough.

    Args:
        folder: That holds entries, files or folders of files.
        size: Bytes of what is to come.

    Raises:
        OSError: If the folder cannot be read.
    """
    now, used = time.time(), []
    for path in folder.iterdir():
        # Another process may remove what this one looks at.
        with contextlib.suppress(OSError):
            when = path.stat().st_mtime
            if ENTRY.fullmatch(path.name):
                used.append((when, path, _size(path)))
            elif _BESIDE.fullmatch(path.name) and now - when > _ABANDONED:
                _remove(path)
    total = size
    for _, path, own in sorted(used, reverse=True):
        total += own
        if total > MOST_BYTES:
            _remove(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files)
