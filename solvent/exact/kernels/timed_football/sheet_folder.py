"""Sheets in a folder: written as they are solved, gone on with after any interruption.

==========================  =======================================================================
``manifest.json``           what game it is (:mod:`~.manifest`), and, when all is solved, the record
                            of every sheet with the SHA-256 of its file
``sheets/half2/            the values of a sheet, [S + 2, C] float64, as ``numpy.load`` reads them:
t045-3-2.npy``              in the second half with 45 ticks left, when the side that has the ball
                            has three time-outs and the other two
``unfinished/``             while there is work to do: the records so far, a line each, and the
                            supports of the newest moments
==========================  =======================================================================

A sheet appears whole or not at all, and its record only after it, so that a solve that is killed at
any moment has lost no more than the sheet it was at. The disk is made to have a sheet while the
next is being solved; if the machine fails before that, the damaged file is found and named when the
solve goes on. The supports are kept as well, since from others the next games might come out
different in the last bit. Sheets are read through a memory map, so that what is not looked at takes
no memory.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact.kernels.timed_football import manifest
from solvent.exact.kernels.timed_football.folder_lock import NAME as LOCK
from solvent.exact.kernels.timed_football.folder_lock import FolderLock
from solvent.exact.kernels.timed_football.layout import Layout, Sheet
from solvent.exact.kernels.timed_football.store import (
    SheetRecord,
    SheetStore,
    Supports,
    tick_before,
)
from solvent.exact.store import StoreError, write_atomically
from solvent.model.arrays import Floats

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}")
"""What a write that was killed may leave behind."""

_HEADER = 128
"""Bytes before the numbers of an array in a ``.npy`` file."""


class SheetFolder(SheetStore):
    """The sheets of a layout in a folder; made by :meth:`create` and :meth:`open`.

    It may be used in a ``with`` statement, which lets go of the folder at its end.
    """

    def __init__(self, folder: Path, layout: Layout, lock: FolderLock | None) -> None:
        super().__init__(layout)
        self.folder = folder
        self._lock = lock
        self._checksums: dict[Sheet, str] = {}
        self._flusher = ThreadPoolExecutor(1)
        self._flushing: Future[None] | None = None

    @classmethod
    def create(cls, folder: str | Path, layout: Layout) -> SheetFolder:
        """Begin a folder, or go on with what is in it.

        Args:
            folder: A new or empty folder, or one in which this layout's solution was begun.
            layout: What is to be solved.

        Raises:
            StoreError: If the folder holds anything else, another process is at work on it, it
                cannot be written to, or a sheet in it that is still needed is damaged.
        """
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder}: cannot be made ({error.strerror or error})") from error
        lock = FolderLock(folder)
        try:
            store = cls(folder, layout, lock)
            store._remove_temporary()
            if store._manifest.exists():
                store._go_on()
            else:
                store._begin()
        except BaseException:
            lock.release()
            raise
        return store

    @classmethod
    def open(
        cls, folder: str | Path, layout: Layout | None = None, *, verify: bool = False
    ) -> SheetFolder:
        """Open a finished solution to read.

        Args:
            folder: That holds it.
            layout: What it has to be a solution of; whatever it is unless given.
            verify: Whether to read all sheets and compare their SHA-256 with the manifest's.

        Raises:
            StoreError: If there is none, it is of another game, not finished, or damaged.
        """
        folder = Path(folder)
        description = _read_manifest(folder)
        if layout is None:
            layout = manifest.layout_of(description, folder)
        else:
            manifest.check_same(description, layout, folder)
        store = cls(folder, layout, None)
        if description.get("sheets") is None:
            raise StoreError(
                f"{folder}: the solution is not finished; the command that began it goes on with it"
            )
        store._take_records(description["sheets"])
        try:
            store._check_complete()
        except ValueError as error:
            raise StoreError(f"{folder}: {error}") from error
        if verify:
            for sheet in layout.sheets:
                store.verify(sheet)
        return store

    def read(self, sheet: Sheet) -> Floats:
        if not self.has(sheet):
            raise KeyError(sheet)
        path = self.path(sheet)
        try:
            values: Floats = np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
        except (ValueError, EOFError) as error:
            raise StoreError(f"{path}: is damaged. {_CURE}") from error
        shape = (self.layout.rows, self.layout.columns(sheet.half))
        if values.shape != shape or values.dtype.str != manifest.DTYPE:
            raise StoreError(
                f"{path}: holds {values.dtype.str} {values.shape}, not {manifest.DTYPE} {shape}. "
                f"{_CURE}"
            )
        return values

    def supports(self, sheet: Sheet) -> Supports | None:
        try:
            supports: Supports = np.load(
                self._supports_path(sheet), mmap_mode="r", allow_pickle=False
            )
        except (OSError, ValueError, EOFError):
            return None  # None were kept, or the machine failed: then games are started afresh.
        return supports

    def write(
        self, sheet: Sheet, values: Floats, supports: Supports | None, record: SheetRecord
    ) -> None:
        self._check(sheet, values, supports)
        try:
            self._wait_for_disk()
            paths = []
            if supports is not None:
                paths.append(self._supports_path(sheet))
                write_atomically(paths[-1], _npy(supports), flush=False)
            content = _npy(values)
            paths.append(self.path(sheet))
            write_atomically(paths[-1], content, flush=False)
            self._checksums[sheet] = hashlib.sha256(content).hexdigest()
            self._records[sheet] = record
            self._append(sheet)
            self._flushing = self._flusher.submit(_flush, paths)
        except StoreError as error:
            self._records.pop(sheet, None)
            done, of = len(self._records), len(self.layout.sheets)
            raise StoreError(
                f"{error}; the {done} sheets of {of} that are solved are kept in {self.folder}, "
                f"and the same command goes on from there"
            ) from error
        self._supports_path(tick_before(sheet)).unlink(missing_ok=True)

    def finish(self) -> None:
        self._check_complete()
        self._wait_for_disk()
        records = {_name(sheet): self._record_json(sheet) for sheet in self.layout.sheets}
        self._write_manifest({**manifest.describe(self.layout), "sheets": records})
        shutil.rmtree(self._unfinished, ignore_errors=True)

    def verify(self, sheet: Sheet) -> None:
        """Compare the SHA-256 of a sheet's file with its record.

        Raises:
            StoreError: If it is another, or there is no such file.
        """
        path = self.path(sheet)
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
        if found != self._checksums[sheet]:
            raise StoreError(
                f"{path}: the checksum does not match; the file was changed or damaged. {_CURE}"
            )

    def path(self, sheet: Sheet) -> Path:
        """The file of a sheet's values."""
        return self.folder / "sheets" / f"{_name(sheet)}.npy"

    def close(self) -> None:
        """Let go of the folder; what is solved stays."""
        self._flusher.shutdown()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> SheetFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _manifest(self) -> Path:
        return self.folder / "manifest.json"

    @property
    def _unfinished(self) -> Path:
        return self.folder / "unfinished"

    @property
    def _journal(self) -> Path:
        return self._unfinished / "records.jsonl"

    def _supports_path(self, sheet: Sheet) -> Path:
        return self._unfinished / "supports" / f"{_name(sheet)}.npy"

    def _begin(self) -> None:
        """Write the manifest of a new folder."""
        others = [path.name for path in self.folder.iterdir() if path.name != LOCK]
        if others:
            raise StoreError(
                f"{self.folder}: is not empty and holds no solution; there is {min(others)!r}"
            )
        self._write_manifest({**manifest.describe(self.layout), "sheets": None})

    def _go_on(self) -> None:
        """Take what is solved from a folder that was begun."""
        description = _read_manifest(self.folder)
        manifest.check_same(description, self.layout, self.folder)
        if description.get("sheets") is not None:
            self._take_records(description["sheets"])
            if self.finished:
                shutil.rmtree(self._unfinished, ignore_errors=True)
                return
        self._take_records(self._read_journal())
        for sheet in {read for left in self.missing for read in self.layout.reads(left)}:
            if self.has(sheet):
                self.verify(sheet)

    def _read_journal(self) -> dict[str, Any]:
        """The records of the sheets solved so far; a line that was being written is removed."""
        try:
            content = self._journal.read_bytes()
        except FileNotFoundError:
            return {}
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            write_atomically(self._journal, whole)
        try:
            return dict(json.loads(line) for line in whole.splitlines())
        except ValueError as error:
            raise StoreError(f"{self._journal}: is damaged ({error})") from error

    def _wait_for_disk(self) -> None:
        """Wait until the disk has the sheet that was written last."""
        flushing, self._flushing = self._flushing, None
        if flushing is not None:
            flushing.result()

    def _append(self, sheet: Sheet) -> None:
        line = json.dumps([_name(sheet), self._record_json(sheet)]) + "\n"
        try:
            self._journal.parent.mkdir(exist_ok=True)
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise StoreError(
                f"{self._journal}: cannot be written ({error.strerror or error})"
            ) from error

    def _record_json(self, sheet: Sheet) -> dict[str, Any]:
        return {**self._records[sheet]._asdict(), "sha256": self._checksums[sheet]}

    def _take_records(self, records: Any) -> None:
        """Take the records of the sheets of which there is a file, and check its size."""
        if not isinstance(records, Mapping):
            raise StoreError(f"{self._manifest}: is damaged (sheets is {records!r})")
        sheets = {_name(sheet): sheet for sheet in self.layout.sheets}
        for name, entries in records.items():
            try:
                sheet = sheets[name]
                checksum, record = _read_record(entries)
            except (KeyError, TypeError, ValueError) as error:
                raise StoreError(f"{self.folder}: the record of {name} is damaged") from error
            path = self.path(sheet)
            if not path.exists():
                continue
            size = _HEADER + 8 * self.layout.rows * self.layout.columns(sheet.half)
            if path.stat().st_size != size:
                raise StoreError(f"{path}: has {path.stat().st_size} bytes, not {size}. {_CURE}")
            self._records[sheet], self._checksums[sheet] = record, checksum

    def _write_manifest(self, content: Mapping[str, Any]) -> None:
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        write_atomically(self._manifest, f"{text}\n".encode())

    def _remove_temporary(self) -> None:
        for path in self.folder.rglob(".*"):
            if _TEMPORARY.fullmatch(path.name):
                path.unlink(missing_ok=True)


_CURE = "Remove it, and the command that solved it will solve it again"


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    path = folder / "manifest.json"
    try:
        description = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise StoreError(f"{folder}: holds no solution; there is no manifest.json") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise StoreError(f"{path}: is damaged ({error})") from error
    manifest.check_kind(description, folder)
    return description  # type: ignore[no-any-return]


def _read_record(entries: Any) -> tuple[str, SheetRecord]:
    """The SHA-256 of a sheet's file, and how it was solved.

    Raises:
        TypeError: If an entry is missing, unknown or of another type; and so with ValueError.
    """
    facts = dict(entries)
    checksum = facts.pop("sha256", None)
    record = SheetRecord(**facts)
    bounds, counts = record[:2], record[2:]
    if not (
        isinstance(checksum, str)
        and all(isinstance(bound, int | float) for bound in bounds)
        and all(isinstance(count, int) for count in counts)
    ):
        raise TypeError("an entry is of another type")
    return checksum, record


def _name(sheet: Sheet) -> str:
    """A sheet's name in the folder."""
    return f"half{sheet.half}/t{sheet.ticks:03}-{sheet.own}-{sheet.other}"


def _flush(paths: Sequence[Path]) -> None:
    """Make the disk have files."""
    for path in paths:
        try:
            with path.open("r+b") as file:
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"{path}: cannot be written ({error.strerror or error})") from error


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    """An array as a ``.npy`` file, little-endian whatever the machine."""
    buffer = io.BytesIO()
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    np.save(buffer, little, allow_pickle=False)
    return buffer.getvalue()
