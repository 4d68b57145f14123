"""Files: read with care, written whole, in folders that one process at a time writes to.

**Reading.** Somebody else may have written a file. A device or a pipe may have no end, so only
regular files are opened, and none is read beyond a limit. JSON is taken for what the standard
allows: no infinities, and no nesting that would exhaust the interpreter's stack.

**Data files** (:func:`find_data`, :func:`read_data`) are TOML that packages declare and anybody can
write, such as suites and exercises. A package lists the files among its entry points, each with the
package in whose folder ``<name>.toml`` is. Every file states the ``format`` that it is written in.

**Writing.** A file is there as a whole or not at all: it is written beside its place and moved
there. A link stays a link: its target is written. A file that is replaced keeps its permissions,
and its owner where that is allowed. What is no regular file, such as ``/dev/full`` or a pipe, is
never replaced.

A folder is locked (:func:`locked`) while a process writes into it.
"""

import contextlib
import errno
import json
import math
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint
from importlib.resources import files
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from solvent.model.parameters import check_choice, shown


class StoreError(ValueError):
    """A file is not what it should be; the message is one line and names the file."""


@contextlib.contextmanager
def reporting(path: str | Path, done: str = "read") -> Iterator[None]:
    """Turn an OSError into a StoreError of one line that names the file.

    Args:
        path: The file.
        done: The participle of what is tried, such as ``"read"`` or ``"written"``.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path}: cannot be {done} ({error.strerror or error})") from error


def named_folder(path: str | Path) -> Path:
    """Return the folder that a text names, into which something will be written.

    Raises:
        ValueError: If the text is empty, which a path would take for the current folder.
    """
    if path == "":
        raise ValueError("the folder to write to is ''; expected a path, or . for the current one")
    return Path(path)


def open_file(path: str | Path) -> BufferedReader:
    """Open a regular file to read its bytes.

    Raises:
        OSError: If there is no such file, it cannot be read, or it is a directory, a device or a
            pipe.
    """
    # As a number, a path would be an open file of this process, which closing it would take away.
    file = open(os.fspath(path), "rb", opener=_at_once)  # noqa: SIM115
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting: a pipe would wait until somebody writes into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_file(path: str | Path, largest: int) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file.
        largest: Largest size allowed, in bytes.

    Raises:
        OSError: If there is no such file, it cannot be read, or it is larger.
    """
    with open_file(path) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"larger than {largest:,} bytes", str(path))
    return content


def parse_json(text: str | bytes, *, nan: bool = False, infinite: bool = False) -> Any:
    """Read JSON.

    Args:
        text: The JSON; bytes are UTF-8.
        nan: Whether ``NaN`` may stand for a number that is not known.
        infinite: Whether ``Infinity`` and ``-Infinity`` may stand for numbers without bound.

    Raises:
        ValueError: If the text is not JSON, is nested too deeply, or has a number that is not
            allowed.
    """

    def constant(name: str) -> float:
        if nan if name == "NaN" else infinite:
            return float(name)
        raise ValueError(f"{name} is not allowed")

    try:
        return json.loads(text, parse_float=_finite, parse_constant=constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def strict_json(content: Any) -> str:
    """Return JSON as the standard defines it; numbers that are not finite become null.

    Args:
        content: Mappings, lists and tuples of values that JSON has.
    """
    finite = json.loads(json.dumps(content), parse_constant=lambda name: None)
    return json.dumps(finite, indent=2, allow_nan=False)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large")
    return number


FORMAT = 1
"""The format number of data files."""

LARGEST = 2**20
"""The largest size of a data file, in bytes."""


def find_data(name: str, points: Mapping[str, EntryPoint], what: str) -> tuple[dict[str, Any], str]:
    """Return the content of a data file that a package declares.

    Args:
        name: Name of the file, without its ending.
        points: Entry points under which packages declare such files
            (:func:`solvent.model.registry.declared_names`).
        what: Kind of the file, for messages, such as ``"suite"``.

    Returns:
        The content of the TOML file, and its place, for messages.

    Raises:
        ValueError: If there is no such file, it cannot be read, or it states another name.
    """
    point = points[check_choice(name, what, points)]
    where = f"{point.value}/{name}.toml"
    try:
        content = (files(point.value) / f"{name}.toml").read_bytes()
    except (ImportError, OSError) as error:
        raise ValueError(f"the {what} {name} of {point.value} cannot be read: {error}") from error
    held = _parsed(content, where)
    if held.get("name") != name:
        raise ValueError(f"{where}: name is {shown(held.get('name'))}; expected {name}")
    return held, where


def read_data(path: Path) -> dict[str, Any]:
    """Return the content of a data file.

    Args:
        path: Path of the file.

    Raises:
        ValueError: If the file cannot be read or is not a data file; the message names it.
    """
    with reporting(path):
        content = read_file(path, LARGEST)
    return _parsed(content, str(path))


def _parsed(content: bytes, where: str) -> dict[str, Any]:
    try:
        held = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{where}: not TOML ({error})") from error
    if held.get("format") != FORMAT:
        raise ValueError(f"{where}: format is {shown(held.get('format'))}; this reads {FORMAT}")
    return held


TEMPORARY = re.compile(r"\.solvent-[0-9a-f]{16}")
"""The names of our files until they are whole."""


def check_writable(path: str | Path) -> Path:
    """Return the place of a file that is to be written; ask for it before work that takes long.

    Args:
        path: The file, or a link to it.

    Raises:
        StoreError: If there is something at the path that is not a regular file, or its folder
            cannot be made or written to.
    """
    with reporting(path, "written"):
        target = Path(os.path.realpath(path))
        if os.path.lexists(target) and not target.is_file():
            raise StoreError(f"{path}: cannot be written (it is not a regular file)")
        folder = next(place for place in target.parents if place.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise StoreError(f"{path}: cannot be written (nothing can be put into {folder})")
    return target


def write_atomically(path: str | Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Write a file so that the disk has it whole or not at all, making its folder if needed.

    Args:
        path: The file, or a link to it. An existing file is replaced and keeps its permissions; a
            new one gets those that the umask leaves.
        content: The whole content, or a function that writes it to the file.

    Raises:
        StoreError: If the folder cannot be made or written to, or there is something at the path
            that is not a regular file.
    """
    with reporting(path, "written"):
        target = check_writable(path)
        before = target.stat() if target.exists() else None
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".solvent-{secrets.token_hex(8)}")
        # Others may not read it before it has the permissions of the file that it replaces.
        mode = 0o666 if before is None else 0o600
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:  # noqa: PTH123
                file.write(content) if isinstance(content, bytes) else content(file)
                file.flush()
                if before is not None:
                    with contextlib.suppress(PermissionError, AttributeError):  # None on Windows.
                        os.chown(beside, before.st_uid, before.st_gid)
                    beside.chmod(stat.S_IMODE(before.st_mode))
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def remove_temporary(folder: Path, *, below: bool = False) -> None:
    """Remove the temporary files that killed writers have left in a folder.

    Args:
        folder: A folder of this project, to which no process is writing.
        below: Whether to clear the folders in it as well.

    Raises:
        StoreError: If the folder cannot be read or written to.
    """
    with reporting(folder, "cleared"):
        for path in folder.rglob("*") if below else folder.iterdir():
            if TEMPORARY.fullmatch(path.name) and stat.S_ISREG(path.lstat().st_mode):
                path.unlink()


LOCK = ".solvent-lock"
"""The name of the file by which a folder is locked."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, so that only one process at a time writes into it.

    The operating system releases the lock when the process ends, however that happens. Reading
    needs no lock.

    Args:
        folder: The folder to lock; created if needed.

    Raises:
        StoreError: If another process holds the lock, or the folder cannot be written to.
    """
    from filelock import FileLock, Timeout

    file = folder / LOCK
    lock = FileLock(file, timeout=0)
    with reporting(folder, "written to"):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreError(
                f"{folder}: another process is at work on it; wait until it is done"
            ) from error
    try:
        yield
    finally:
        # Unlinked first: a process that has opened it meanwhile sees that, and tries again.
        with contextlib.suppress(OSError):  # Windows removes no open file.
            if file.stat().st_size == 0:
                file.unlink()
        lock.release()
