"""A lock on a folder, so that only one process at a time writes into it.

The lock is the operating system's (:mod:`filelock`): it is gone when its process is, however that
ended. Reading a folder needs none.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from solvent.exact.store import StoreError

NAME = ".solvent-lock"
"""The name of the lock's file."""


class FolderLock:
    """A folder's lock, held from when it is made until it is released.

    It may be used in a ``with`` statement, which releases it at its end.

    Args:
        folder: The folder to lock; created if needed.

    Raises:
        StoreError: If another process holds the lock, or the folder cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._lock = FileLock(self._path, timeout=0)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            raise StoreError(
                f"{folder}: another process is at work on it; wait until it is done"
            ) from error
        except OSError as error:
            raise StoreError(
                f"{folder}: cannot be written to ({error.strerror or error})"
            ) from error

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let others work on the folder. It may be called twice."""
        if self._lock.is_locked:
            # Unlinked first: whoever has opened it meanwhile sees that it is gone, and tries again.
            with suppress(OSError):  # Windows removes no open file.
                if self._path.stat().st_size == 0:
                    self._path.unlink()
            self._lock.release()
