"""Only one process writes into a folder at a time.

The lock is the operating system's: it is gone when its process is, however that ended. What only
reads a folder needs none. Its file holds the number of the process; what is something else is left
as it is, and so is what a link of its name leads to.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from io import FileIO
from pathlib import Path

from solvent.exact.store import StoreError

NAME = ".solvent-lock"

_HOLDER = re.compile(rb"process \d{1,20}")


class FolderLock:
    """A folder's lock, held from when it is made until it is released.

    It may be used in a ``with`` statement, which releases it at its end.

    Args:
        folder: That is to be locked; it is made if needed.

    Raises:
        StoreError: If another process holds it, the folder cannot be written to, or there is
            something else in the place of the lock's file.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file: FileIO | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            while self._file is None:
                self._file = self._take()
            self._file.truncate(0)
            self._file.seek(0)
            self._file.write(f"process {os.getpid()}".encode())
        except OSError as error:
            self.release()
            raise StoreError(
                f"{folder}: cannot be written to ({error.strerror or error})"
            ) from error

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _take(self) -> FileIO | None:
        """The file, locked; None if the holder before removed it after it was opened here.

        Raises:
            OSError: If it cannot be opened.
            StoreError: If it cannot be locked, or is not one of ours.
        """
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(self._path.lstat().st_mode):
                raise StoreError(f"{self._path}: is not the file of a lock; move it elsewhere")
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        file = FileIO(os.open(self._path, flags, 0o666), "r+")
        try:
            try:
                locked = _locked(file)
            except OSError as error:
                raise StoreError(
                    f"{self._path}: cannot be locked ({error.strerror or error})"
                ) from error
            file.seek(0)
            content = file.read(100)
            ours = _HOLDER.fullmatch(content)
            if not locked:
                holder = content.decode() if ours else "another process"
                folder = self._path.parent
                raise StoreError(f"{folder}: {holder} is at work on it; wait until it is done")
            if content and not ours:
                raise StoreError(f"{self._path}: is not the file of a lock; move it elsewhere")
            if self._is_there_still(file):
                return file
        except BaseException:
            file.close()
            raise
        file.close()
        return None

    def _is_there_still(self, file: FileIO) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others work on the folder. It may be called twice."""
        if self._file is None:
            return
        if sys.platform != "win32":  # There a file that is open cannot be removed.
            self._path.unlink(missing_ok=True)
        self._file.close()
        if sys.platform == "win32":
            self._path.unlink(missing_ok=True)
        self._file = None


def _locked(file: FileIO) -> bool:
    """Lock a file if no one else has.

    Raises:
        OSError: If it cannot be locked, whoever else has it or not.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte that is the same for all, and beyond what is written, which others read.
            os.lseek(file.fileno(), 2**30, os.SEEK_SET)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
