"""Layers in a folder: written as they are solved, gone on with after any interruption.

====================  =============================================================================
``manifest.json``     what game it is (:mod:`~.manifest`), and, when all is solved, the record of
                      every layer with the SHA-256 of its file
``sheets/NAME.npy``   the values of a layer, float64, as ``numpy.load`` reads them; the game gives
                      the name (:meth:`~.game.LayeredGame.name`)
``unfinished/``       while there is work to do: the records so far, a line each, and, as
                      ``supports``, what the next layers are started from
====================  =============================================================================

A layer appears whole or not at all, and its record only after it, so that a solve that is killed at
any moment has lost no more than the layer it was at. The disk is made to have a layer while the
next is being solved; if the machine fails before that, the damaged file is found and named when the
solve goes on. What the next layers are started from is kept as well, since from something else they
might come out different in the last bit. Layers are read through a memory map, so that what is not
looked at takes no memory.

Nothing is believed that can be checked. When a process first reads a layer, the size of its file is
compared with the game's shape, its SHA-256 with the record, and its values with what is possible;
so is every number of a record. The manifest and each line of the records so far hold a SHA-256 of
their own. How far off the values may be is in no file: it follows from the layers and their gaps
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
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact.layered import manifest
from solvent.exact.layered.game import Layer, LayeredGame, WarmStart
from solvent.exact.layered.lock import NAME as LOCK
from solvent.exact.layered.lock import FolderLock
from solvent.exact.layered.store import LayerRecord, LayerStore
from solvent.exact.store import TEMPORARY, StoreError, remove_temporary, write_atomically
from solvent.model.arrays import Floats
from solvent.model.files import parse_json, read_file
from solvent.model.parameters import shown

_SHA = re.compile(r"[0-9a-f]{64}")

_checked: set[tuple[object, ...]] = set()
"""The files that this process has found sound, each as it is on the disk and as it should be."""


class LayerFolder(LayerStore):
    """The layers of a game in a folder; made by :meth:`create` and :meth:`open`.

    It may be used in a ``with`` statement, which lets go of the folder at its end.
    """

    def __init__(self, folder: Path, game: LayeredGame, lock: FolderLock | None) -> None:
        super().__init__(game)
        self.folder = folder
        self._lock = lock
        self._checksums: dict[Layer, str] = {}
        self._start_checksums: dict[Layer, str] = {}
        self._flusher = ThreadPoolExecutor(1)
        self._flushing: Future[None] | None = None

    @classmethod
    def create(cls, folder: str | Path, game: LayeredGame) -> LayerFolder:
        """Begin a folder, or go on with what is in it.

        Args:
            folder: A new or empty folder, or one in which this game's solution was begun.
            game: What is to be solved.

        Raises:
            StoreError: If the folder holds anything else, another process is at work on it, it
                cannot be written to, or a layer in it that is still needed is damaged.
        """
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder}: cannot be made ({error.strerror or error})") from error
        lock = FolderLock(folder)
        try:
            store = cls(folder, game, lock)
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
        cls, folder: str | Path, game: LayeredGame | type[LayeredGame], *, verify: bool = False
    ) -> LayerFolder:
        """Open a finished solution to read.

        Args:
            folder: That holds it.
            game: What it has to be a solution of; or its class, which reads the manifest.
            verify: Whether to check all layers now, not each when it is first read.

        Raises:
            StoreError: If there is none, it is of another game, not finished, or damaged.
        """
        folder = Path(folder)
        description = _read_manifest(folder, game)
        if isinstance(game, type):
            game = manifest.game_of(description, game, folder)
        else:
            manifest.check_same(description, game, folder)
        store = cls(folder, game, None)
        if description["sheets"] is None:
            raise StoreError(
                f"{folder}: the solution is not finished; the command that began it goes on with it"
            )
        store._take_manifest(description)
        try:
            store.check_complete()
        except ValueError as error:
            raise StoreError(f"{folder}: {error}") from error
        if verify:
            for layer in game.layers:
                store.verify(layer)
        return store

    def read(self, layer: Layer) -> Floats:
        if not self.has(layer):
            raise KeyError(layer)
        self.verify(layer)
        return self._map(layer)

    def _map(self, layer: Layer) -> Floats:
        """A layer's values through a memory map."""
        path = self.path(layer)
        try:
            values: Floats = np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
        except (ValueError, EOFError) as error:
            raise StoreError(f"{path}: is damaged. {_CURE}") from error
        shape = self.game.shape(layer)
        if values.shape != shape or values.dtype.str != manifest.DTYPE:
            raise StoreError(
                f"{path}: holds {values.dtype.str} {values.shape}, not {manifest.DTYPE} {shape}. "
                f"{_CURE}"
            )
        return values

    def start(self, layer: Layer) -> WarmStart | None:
        # None was kept, or it is not the one that was: then layers are started afresh.
        shape = self.game.start_shape(layer) if layer in self._start_checksums else None
        if shape is None:
            return None
        size = _file_size(shape, "<u4")
        try:
            content = read_file(self._start_path(layer), size)
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest() != self._start_checksums[layer]:
            return None
        start: WarmStart = np.load(io.BytesIO(content), allow_pickle=False)
        return start

    def write(
        self, layer: Layer, values: Floats, start: WarmStart | None, record: LayerRecord
    ) -> None:
        self._check(layer, values, start)
        try:
            self._wait_for_disk()
            paths = []
            self._start_checksums.pop(layer, None)
            if start is not None:
                paths.append(self._start_path(layer))
                content = _npy(start)
                write_atomically(paths[-1], content, flush=False)
                self._start_checksums[layer] = hashlib.sha256(content).hexdigest()
            content = _npy(values)
            paths.append(self.path(layer))
            write_atomically(paths[-1], content, flush=False)
            self._checksums[layer] = hashlib.sha256(content).hexdigest()
            self._records[layer] = record
            self._largest.pop(layer, None)
            self._append(layer)
            self._flushing = self._flusher.submit(_flush, paths)
        except StoreError as error:
            self._records.pop(layer, None)
            done, of = len(self._records), len(self.game.layers)
            raise StoreError(
                f"{error}; the {done} layers of {of} that are solved are kept in {self.folder}, "
                f"and the same command goes on from there"
            ) from error
        before = self.game.starts_from(layer)
        if before is not None:
            self._start_path(before).unlink(missing_ok=True)

    def finish(self) -> None:
        self.check_complete()
        self._wait_for_disk()
        records = {self.game.name(layer): self._record_json(layer) for layer in self.game.layers}
        self._write_manifest({**manifest.describe(self.game), "sheets": records})
        shutil.rmtree(self._unfinished, ignore_errors=True)

    def verify(self, layer: Layer) -> None:
        """Check a layer's file, unless this process has and it is as it was: size, SHA-256, values.

        Raises:
            StoreError: If there is none, it is not the one of its record, or a value in it is none
                that is possible.
        """
        path = self.path(layer)
        try:
            with path.open("rb") as file:
                state = os.fstat(file.fileno())
                self._check_size(layer, state.st_size)
                on_disk = state.st_dev, state.st_ino, state.st_mtime_ns, state.st_ctime_ns
                seen = (*on_disk, self._checksums[layer], self.game.bound(layer))
                if seen in _checked:
                    return
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
        if found != self._checksums[layer]:
            raise StoreError(
                f"{path}: the checksum does not match; the file was changed or damaged. {_CURE}"
            )
        impossible = self._impossible(layer, self._map(layer))
        if impossible is not None:
            raise StoreError(f"{path}: holds {impossible}. {_CURE}")
        _checked.add(seen)

    def path(self, layer: Layer) -> Path:
        """The file of a layer's values."""
        return self.folder / "sheets" / f"{self.game.name(layer)}.npy"

    def close(self) -> None:
        """Let go of the folder; what is solved stays."""
        self._flusher.shutdown()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> LayerFolder:
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

    def _start_path(self, layer: Layer) -> Path:
        return self._unfinished / "supports" / f"{self.game.name(layer)}.npy"

    def _begin(self) -> None:
        """Write the manifest of a new folder."""
        names = [path.name for path in self.folder.iterdir()]
        # One that was killed while it wrote the manifest has left an unfinished one.
        others = [name for name in names if name != LOCK and not TEMPORARY.fullmatch(name)]
        if others:
            raise StoreError(
                f"{self.folder}: is not empty and holds no solution; there is {min(others)!r}"
            )
        self._write_manifest({**manifest.describe(self.game), "sheets": None})

    def _go_on(self) -> None:
        """Take what is solved from a folder that was begun."""
        description = _read_manifest(self.folder, self.game)
        manifest.check_same(description, self.game, self.folder)
        if description["sheets"] is not None:
            self._take_manifest(description)
            if self.finished:
                shutil.rmtree(self._unfinished, ignore_errors=True)
                return
        self._take_records(self._read_journal())
        for layer in {read for left in self.missing for read in self.game.reads(left)}:
            if self.has(layer):
                self.verify(layer)

    def _read_journal(self) -> dict[str, Any]:
        """The records of the layers solved so far; a line that was being written is removed."""
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
        layers = {self.game.name(layer): layer for layer in self.game.layers}
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
            if name in layers and rest[0] is not None:
                self._start_checksums[layers[name]] = rest[0]
        return records

    def _wait_for_disk(self) -> None:
        """Wait until the disk has the layer that was written last."""
        flushing, self._flushing = self._flushing, None
        if flushing is not None:
            flushing.result()

    def _append(self, layer: Layer) -> None:
        entry = [self.game.name(layer), self._record_json(layer), self._start_checksums.get(layer)]
        line = json.dumps([*entry, manifest.checksum_of(entry)]) + "\n"
        try:
            self._journal.parent.mkdir(exist_ok=True)
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise StoreError(
                f"{self._journal}: cannot be written ({error.strerror or error})"
            ) from error

    def _record_json(self, layer: Layer) -> dict[str, Any]:
        return {**self._records[layer]._asdict(), "sha256": self._checksums[layer]}

    def _take_manifest(self, description: Mapping[str, Any]) -> None:
        """Take the records of a finished solution."""
        records = description["sheets"]
        if not isinstance(records, Mapping):
            raise StoreError(f"{self._manifest}: is damaged (sheets is {shown(records)})")
        if len(records) != len(self.game.layers):
            raise StoreError(
                f"{self._manifest}: is damaged ({len(records)} layers, not {len(self.game.layers)})"
            )
        self._take_records(records)

    def _take_records(self, records: Mapping[str, Any]) -> None:
        """Take the records of the layers of which there is a file, and check its size."""
        layers = {self.game.name(layer): layer for layer in self.game.layers}
        for name, entries in records.items():
            if name not in layers:
                raise StoreError(f"{self.folder}: there is a record of {shown(name)}, no layer")
            layer = layers[name]
            try:
                checksum, record = self._read_record(layer, entries)
            except ValueError as error:
                raise StoreError(
                    f"{self.folder}: the record of {name} is damaged ({error})"
                ) from error
            path = self.path(layer)
            if not path.exists():
                continue
            self._check_size(layer, path.stat().st_size)
            self._records[layer], self._checksums[layer] = record, checksum

    def _check_size(self, layer: Layer, found: int) -> None:
        """Raise unless a layer's file has so many bytes as it should."""
        size = _file_size(self.game.shape(layer), manifest.DTYPE)
        if found != size:
            raise StoreError(f"{self.path(layer)}: has {found} bytes, not {size}. {_CURE}")

    def _read_record(self, layer: Layer, entries: Any) -> tuple[str, LayerRecord]:
        """The SHA-256 of a layer's file, and how it was solved.

        Raises:
            ValueError: If an entry is missing, unknown or not possible.
        """
        if not isinstance(entries, Mapping):
            raise ValueError(f"it is {shown(entries)}")
        # Before format 2 it held the bound of the error too.
        names = {*LayerRecord._fields, "sha256"}
        different = sorted((names ^ {*entries}) - {"error"})
        if different:
            raise ValueError(f"entries missing or unknown: {', '.join(map(shown, different))}")
        checksum, gap = entries["sha256"], entries["largest_gap"]
        if not (isinstance(checksum, str) and _SHA.fullmatch(checksum)):
            raise ValueError(f"sha256 is {shown(checksum)}")
        most = self.game.bound(layer)
        if type(gap) not in (int, float) or not 0 <= gap <= most:
            raise ValueError(f"largest_gap is {shown(gap)}; allowed is 0 to {most:g}")
        games, constant = entries["games"], entries["constant"]
        states = self.game.states(layer)
        counts = type(games) is int and type(constant) is int and min(games, constant) >= 0
        if not counts or games + constant != states:
            raise ValueError(
                f"games is {shown(games)} and constant {shown(constant)}; there are {states} states"
            )
        return checksum, LayerRecord(float(gap), games, constant)

    def _write_manifest(self, content: Mapping[str, Any]) -> None:
        content = {**content, "sha256": manifest.checksum_of(content)}
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        write_atomically(self._manifest, f"{text}\n".encode())


_CURE = "Remove it, and the command that solved it will solve it again"


def _read_manifest(folder: Path, game: LayeredGame | type[LayeredGame]) -> Mapping[str, Any]:
    path = folder / "manifest.json"
    try:
        description = parse_json(read_file(path, manifest.MOST_BYTES))
    except FileNotFoundError as error:
        raise StoreError(f"{folder}: holds no solution; there is no manifest.json") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise StoreError(f"{path}: is damaged ({error})") from error
    manifest.check_kind(description, game, folder)
    return description  # type: ignore[no-any-return]


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


def _file_size(shape: tuple[int, ...], dtype: str) -> int:
    """The bytes of an array as a ``.npy`` file."""
    header = io.BytesIO()
    description = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, description)
    return header.tell() + np.dtype(dtype).itemsize * prod(shape)
