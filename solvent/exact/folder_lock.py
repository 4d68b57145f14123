"""Only one process writes into a folder at a time.

The lock is the operating system's: it is gone when its process is, however that ended. What only
reads a folder needs none.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from solvent.exact.store import StoreError, remove_temporary

NAME = ".lock"


class FolderLock:
    """A folder's lock, held from when it is made until it is released.

    It may be used in a ``with`` statement, which releases it at its end. What a writer that was
    killed has left of unfinished files in the folder is removed when the lock is taken.

    Args:
        folder: That is to be locked; it is made if needed.

    Raises:
        StoreError: If another process holds it, or the folder cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file: IO[str] | None = None
        while self._file is None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                file = self._path.open("a+", encoding="utf-8")
            except OSError as error:
                raise StoreError(
                    f"{folder}: cannot be written to ({error.strerror or error})"
                ) from error
            if not _locked(file):
                file.seek(0)
                holder = file.read().strip() or "another process"
                file.close()
                raise StoreError(f"{folder}: {holder} is at work on it; wait until it is done")
            if self._is_there_still(file):
                self._file = file
            else:  # The holder before removed it after it was opened here.
                file.close()
        try:
            self._file.truncate(0)
            self._file.write(f"process {os.getpid()}")
            self._file.flush()
            remove_temporary(folder)
        except OSError as error:
            self.release()
            raise StoreError(
                f"{folder}: cannot be written to ({error.strerror or error})"
            ) from error

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _is_there_still(self, file: IO[str]) -> bool:
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


def _locked(file: IO[str]) -> bool:
    """Lock a file if no one else has."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte that is the same for all, and beyond what is written, which others read.
            os.lseek(file.fileno(), 2**30, os.SEEK_SET)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
