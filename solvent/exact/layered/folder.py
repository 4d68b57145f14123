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

Nothing is believed that can be checked. When a process first reads a sheet, the size of its file is
compared with the layout, its SHA-256 with the record, and its values with what is possible; so is
every number of a record. The manifest and each line of the records so far hold a SHA-256 of their
own. How far off the values may be is in no file: it follows from the sheets and their gaps
(:func:`~.solve.proved_errors`).
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

from solvent.exact.layered import manifest
from solvent.exact.layered.lock import NAME as LOCK
from solvent.exact.layered.lock import FolderLock
from solvent.exact.layered.store import (
    SheetRecord,
    SheetStore,
    Supports,
    tick_before,
)
from solvent.exact.store import TEMPORARY, StoreError, remove_temporary, write_atomically
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.model.arrays import Floats
from solvent.model.files import parse_json, read_file
from solvent.model.parameters import shown

_SHA = re.compile(r"[0-9a-f]{64}")

_HEADER = 128
"""Bytes before the numbers of an array in a ``.npy`` file."""

_checked: set[tuple[object, ...]] = set()
"""The files that this process has found sound, each as it is on the disk and as it should be."""


class SheetFolder(SheetStore):
    """The sheets of a layout in a folder; made by :meth:`create` and :meth:`open`.

    It may be used in a ``with`` statement, which lets go of the folder at its end.
    """

    def __init__(self, folder: Path, layout: Layout, lock: FolderLock | None) -> None:
        super().__init__(layout)
        self.folder = folder
        self._lock = lock
        self._checksums: dict[Sheet, str] = {}
        self._supports_checksums: dict[Sheet, str] = {}
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
            if store._manifest.exists():
                store._go_on()
            else:
                store._begin()
            remove_temporary(folder, below=True)
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
            verify: Whether to check all sheets now, not each when it is first read.

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
        if description["sheets"] is None:
            raise StoreError(
                f"{folder}: the solution is not finished; the command that began it goes on with it"
            )
        store._take_manifest(description)
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
        self.verify(sheet)
        return self._map(sheet)

    def _map(self, sheet: Sheet) -> Floats:
        """A sheet's values through a memory map."""
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
        # None were kept, or they are not those that were: then games are started afresh.
        if sheet not in self._supports_checksums:
            return None
        cells = (self.layout.rules.ruleset.downs + 1) * self.layout.lines
        size = _HEADER + 8 * cells * self.layout.columns(sheet.half)  # Two numbers of 4 bytes each.
        try:
            content = read_file(self._supports_path(sheet), size)
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest() != self._supports_checksums[sheet]:
            return None
        supports: Supports = np.load(io.BytesIO(content), allow_pickle=False)
        return supports

    def write(
        self, sheet: Sheet, values: Floats, supports: Supports | None, record: SheetRecord
    ) -> None:
        self._check(sheet, values, supports)
        try:
            self._wait_for_disk()
            paths = []
            self._supports_checksums.pop(sheet, None)
            if supports is not None:
                paths.append(self._supports_path(sheet))
                content = _npy(supports)
                write_atomically(paths[-1], content, flush=False)
                self._supports_checksums[sheet] = hashlib.sha256(content).hexdigest()
            content = _npy(values)
            paths.append(self.path(sheet))
            write_atomically(paths[-1], content, flush=False)
            self._checksums[sheet] = hashlib.sha256(content).hexdigest()
            self._records[sheet] = record
            self._largest.pop(sheet, None)
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
        """Check a sheet's file, unless this process has and it is as it was: size, SHA-256, values.

        Raises:
            StoreError: If there is none, it is not the one of its record, or a value in it is none
                that is possible.
        """
        path = self.path(sheet)
        try:
            with path.open("rb") as file:
                state = os.fstat(file.fileno())
                self._check_size(sheet, state.st_size)
                on_disk = state.st_dev, state.st_ino, state.st_mtime_ns, state.st_ctime_ns
                seen = (*on_disk, self._checksums[sheet], self.layout.most(sheet))
                if seen in _checked:
                    return
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
        if found != self._checksums[sheet]:
            raise StoreError(
                f"{path}: the checksum does not match; the file was changed or damaged. {_CURE}"
            )
        impossible = self._impossible(sheet, self._map(sheet))
        if impossible is not None:
            raise StoreError(f"{path}: holds {impossible}. {_CURE}")
        _checked.add(seen)

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
        names = [path.name for path in self.folder.iterdir()]
        # One that was killed while it wrote the manifest has left an unfinished one.
        others = [name for name in names if name != LOCK and not TEMPORARY.fullmatch(name)]
        if others:
            raise StoreError(
                f"{self.folder}: is not empty and holds no solution; there is {min(others)!r}"
            )
        self._write_manifest({**manifest.describe(self.layout), "sheets": None})

    def _go_on(self) -> None:
        """Take what is solved from a folder that was begun."""
        description = _read_manifest(self.folder)
        manifest.check_same(description, self.layout, self.folder)
        if description["sheets"] is not None:
            self._take_manifest(description)
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
            content = read_file(self._journal, manifest.MOST_BYTES)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(
                f"{self._journal}: cannot be read ({error.strerror or error})"
            ) from error
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            write_atomically(self._journal, whole)
        records = {}
        sheets = {_name(sheet): sheet for sheet in self.layout.sheets}
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = parse_json(line)
                name, record, *rest = entry
                records[name] = record
            except (ValueError, TypeError) as error:
                raise StoreError(f"{self._journal}: line {number} is damaged. {_CURE}") from error
            if not rest:  # As before format 2.
                continue
            if len(rest) != 2 or rest[1] != manifest.checksum_of(entry[:-1]):
                raise StoreError(
                    f"{self._journal}: the checksum of line {number} does not match. {_CURE}"
                )
            if name in sheets and rest[0] is not None:
                self._supports_checksums[sheets[name]] = rest[0]
        return records

    def _wait_for_disk(self) -> None:
        """Wait until the disk has the sheet that was written last."""
        flushing, self._flushing = self._flushing, None
        if flushing is not None:
            flushing.result()

    def _append(self, sheet: Sheet) -> None:
        entry = [_name(sheet), self._record_json(sheet), self._supports_checksums.get(sheet)]
        line = json.dumps([*entry, manifest.checksum_of(entry)]) + "\n"
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

    def _take_manifest(self, description: Mapping[str, Any]) -> None:
        """Take the records of a finished solution."""
        records = description["sheets"]
        if not isinstance(records, Mapping):
            raise StoreError(f"{self._manifest}: is damaged (sheets is {shown(records)})")
        # Counted before they are listed: a damaged clock may ask for more than there is memory.
        if len(records) != self.layout.count:
            raise StoreError(
                f"{self._manifest}: is damaged ({len(records)} sheets, not {self.layout.count})"
            )
        self._take_records(records)

    def _take_records(self, records: Mapping[str, Any]) -> None:
        """Take the records of the sheets of which there is a file, and check its size."""
        sheets = {_name(sheet): sheet for sheet in self.layout.sheets}
        for name, entries in records.items():
            if name not in sheets:
                raise StoreError(f"{self.folder}: there is a record of {shown(name)}, no sheet")
            sheet = sheets[name]
            try:
                checksum, record = self._read_record(sheet, entries)
            except ValueError as error:
                raise StoreError(
                    f"{self.folder}: the record of {name} is damaged ({error})"
                ) from error
            path = self.path(sheet)
            if not path.exists():
                continue
            self._check_size(sheet, path.stat().st_size)
            self._records[sheet], self._checksums[sheet] = record, checksum

    def _check_size(self, sheet: Sheet, found: int) -> None:
        """Raise unless a sheet's file has so many bytes as it should."""
        size = _HEADER + 8 * self.layout.rows * self.layout.columns(sheet.half)
        if found != size:
            raise StoreError(f"{self.path(sheet)}: has {found} bytes, not {size}. {_CURE}")

    def _read_record(self, sheet: Sheet, entries: Any) -> tuple[str, SheetRecord]:
        """The SHA-256 of a sheet's file, and how it was solved.

        Raises:
            ValueError: If an entry is missing, unknown or not possible.
        """
        if not isinstance(entries, Mapping):
            raise ValueError(f"it is {shown(entries)}")
        # Before format 2 it held the bound of the error too.
        names = {*SheetRecord._fields, "sha256"}
        different = sorted((names ^ {*entries}) - {"error"})
        if different:
            raise ValueError(f"entries missing or unknown: {', '.join(map(shown, different))}")
        checksum, gap = entries["sha256"], entries["largest_gap"]
        if not (isinstance(checksum, str) and _SHA.fullmatch(checksum)):
            raise ValueError(f"sha256 is {shown(checksum)}")
        most = self.layout.most(sheet)
        if type(gap) not in (int, float) or not 0 <= gap <= most:
            raise ValueError(f"largest_gap is {shown(gap)}; allowed is 0 to {most:g}")
        games, constant = entries["games"], entries["constant"]
        states = self.layout.kickoff_row * self.layout.columns(sheet.half)
        counts = type(games) is int and type(constant) is int and min(games, constant) >= 0
        if not counts or games + constant != states:
            raise ValueError(
                f"games is {shown(games)} and constant {shown(constant)}; there are {states} states"
            )
        return checksum, SheetRecord(float(gap), games, constant)

    def _write_manifest(self, content: Mapping[str, Any]) -> None:
        content = {**content, "sha256": manifest.checksum_of(content)}
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        write_atomically(self._manifest, f"{text}\n".encode())


_CURE = "Remove it, and the command that solved it will solve it again"


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    path = folder / "manifest.json"
    try:
        description = parse_json(read_file(path, manifest.MOST_BYTES))
    except FileNotFoundError as error:
        raise StoreError(f"{folder}: holds no solution; there is no manifest.json") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise StoreError(f"{path}: is damaged ({error})") from error
    manifest.check_kind(description, folder)
    return description  # type: ignore[no-any-return]


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
