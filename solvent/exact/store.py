"""Files that are written whole or not at all, in folders that one process at a time writes to.

A file is written beside its place and moved there. A link stays a link: its target is written. A
file that is replaced keeps its permissions, and its owner where that is allowed. What is no regular
file, such as ``/dev/full`` or a pipe, is never replaced.

A folder is locked (:func:`locked`) while a process writes into it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


class StoreError(ValueError):
    """A file is not what it should be; the message is one line and names the file."""


@contextlib.contextmanager
def reporting(path: Path, done: str = "read") -> Iterator[None]:
    """Turn an OSError into a StoreError of one line that names the file.

    Args:
        path: The file.
        done: The participle of what is tried, such as ``"read"`` or ``"written"``.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path}: cannot be {done} ({error.strerror or error})") from error


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file so that the disk has it whole or not at all, making its folder if needed.

    Args:
        path: The file, or a link to it. One that is there is replaced and keeps its permissions; a
            new one gets those that the umask leaves.
        content: All of it.

    Raises:
        StoreError: If the folder cannot be made or written to, or there is something at the path
            that is not a regular file.
    """
    try:
        target = Path(os.path.realpath(path))
        try:
            before = target.stat()
        except FileNotFoundError:
            before = None
        if before is not None and not stat.S_ISREG(before.st_mode):
            raise StoreError(f"{path}: cannot be written (it is not a regular file)")
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".solvent-{secrets.token_hex(8)}")
        # Not for others to read before it has the permissions of what it replaces.
        mode = 0o666 if before is None else 0o600
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:  # noqa: PTH123
                file.write(content)
                file.flush()
                if before is not None:
                    _take_over(beside, before)
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror or error})") from error


def _take_over(path: Path, before: os.stat_result) -> None:
    """Give a file the owner, if that is allowed, and the permissions of another."""
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(path, before.st_uid, before.st_gid)
    path.chmod(stat.S_IMODE(before.st_mode))


TEMPORARY = re.compile(r"\.solvent-[0-9a-f]{16}")
"""The name of a file of :func:`write_atomically` until it is whole."""


def remove_temporary(folder: Path, *, below: bool = False) -> None:
    """Remove what writers that were killed have left in a folder.

    Args:
        folder: One of ours, in which nobody is writing.
        below: Whether to look into the folders in it, too.

    Raises:
        StoreError: If the folder cannot be read or written to.
    """
    try:
        for path in folder.rglob("*") if below else folder.iterdir():
            if TEMPORARY.fullmatch(path.name) and stat.S_ISREG(path.lstat().st_mode):
                path.unlink()
    except OSError as error:
        raise StoreError(f"{folder}: cannot be cleared ({error.strerror or error})") from error


LOCK = ".solvent-lock"
"""The name of the file by which a folder is locked."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, so that only one process at a time writes into it.

    The lock is the operating system's: it is gone when its process is, however that ended. Reading
    a folder needs none.

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
        # Unlinked first: whoever has opened it meanwhile sees that it is gone, and tries again.
        with contextlib.suppress(OSError):  # Windows removes no open file.
            if file.stat().st_size == 0:
                file.unlink()
        lock.release()
