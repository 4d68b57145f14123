"""Only one solver works on a folder at a time.

The lock is the operating system's: it is gone when its process is, however that ended.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from solvent.exact.store import StoreError

NAME = ".lock"


class FolderLock:
    """A folder's lock, held from when it is made until it is released.

    Args:
        folder: That is to be locked; it exists.

    Raises:
        StoreError: If another process holds it, or the folder cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file: IO[str] | None = None
        while self._file is None:
            try:
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
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()}")
        self._file.flush()

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

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
