"""Layers in a folder: written as they are solved, so that an interrupted solve can be resumed.

====================  =============================================================================
``manifest.json``     the game (:mod:`~.manifest`) and, once all is solved, the record of every
                      layer with the SHA-256 of its file; if not all values are kept, also random
                      states of the layer with their successors' values
``sheets/NAME.npy``   the values of a layer, float64, as ``numpy.load`` reads them; the game gives
                      the name (:meth:`~.game.LayeredGame.name`)
``sheets/NAME.zlib``  the same values rounded by :func:`pack`, if layers are kept compact
``unfinished/``       while layers are missing: the records so far, one per line
====================  =============================================================================

A layer appears whole or not at all, and its record only after it, so a solve that is killed at any
moment loses at most the layer that it was solving. Layers are read through a memory map, so parts
that are not read take no memory.

A folder need not keep all values (:data:`~.store.KEEPS`). Then the file of a layer is removed once
all layers that read it are on disk, so that the folder always holds enough to resume the solve.
Rounded values are never read by a solve.

**Checks.** When a process first reads a layer, the SHA-256 of its file is compared with the record,
and its shape, its type and the range of its values with what the game allows. Every number of a
record is compared with its range as well. The manifest and each line of the records have their own
SHA-256. The errors of the values are not stored: they follow from the layers and their gaps
(:func:`~.solve.proved_errors`).

A finished manifest is evidence without the layers, and may be kept alone; compressed by ``gzip`` it
is read as ``manifest.json.gz``.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from solvent.exact.layered import manifest
from solvent.exact.layered.game import Layer, LayeredGame, LayerPlace
from solvent.exact.layered.manifest import (
    KeptSample,
    read_manifest,
    read_samples,
    sampled_places,
    take_samples,
)
from solvent.exact.layered.store import (
    KEEPS,
    SLACK,
    LayerRecord,
    LayerStore,
    pack,
    rounded_off,
    unpack,
)
from solvent.model.arrays import Floats
from solvent.model.files import (
    LOCK,
    TEMPORARY,
    StoreError,
    locked,
    named_folder,
    parse_json,
    read_file,
    remove_temporary,
    reporting,
    write_atomically,
)
from solvent.model.parameters import check_choice, is_number, shown

# Largest number of bytes, unpacked from compact files, that a folder keeps in memory.
_REMEMBERED_BYTES = 1 << 30

# The files that this process has checked, each by its state on disk and its expected content.
_checked: set[tuple[object, ...]] = set()


class LayerFolder(LayerStore, AbstractContextManager["LayerFolder"]):
    """The layers of a game in a folder; made by :meth:`create` and :meth:`open`.

    In a ``with`` statement, it releases the folder at the end.
    """

    def __init__(self, folder: Path, game: LayeredGame, keep: str = "all") -> None:
        super().__init__(game, keep)
        self.folder = folder
        self._manifest, self._unfinished = folder / "manifest.json", folder / "unfinished"
        self._journal = self._unfinished / "records.jsonl"
        self._held = ExitStack()
        self._entries: dict[Layer, dict[str, Any]] = {}
        largest = 8 * max(prod(game.shape(layer)) for layer in game.layers)
        self._rounded = lru_cache(max(1, _REMEMBERED_BYTES // largest))(self._unpack)

    @classmethod
    def create(cls, folder: str | Path, game: LayeredGame, keep: str | None = None) -> LayerFolder:
        """Begin a solve in a folder, or resume it.

        Args:
            folder: A new or empty folder, or one in which a solve of this game was begun.
            game: The game to solve.
            keep: The values to keep, one of :data:`~.store.KEEPS`. Default: those that the folder
                was begun with, or ``"all"`` in a new folder.

        Raises:
            ValueError: If `keep` is not one of these.
            StoreError: If the folder holds anything else, another process uses it, it cannot be
                written to, or a layer in it that is still needed is damaged.
        """
        store = cls(named_folder(folder), game, check_choice(keep or "all", "keep", KEEPS))
        with ExitStack() as held:
            held.enter_context(locked(store.folder))
            if store._manifest.exists():
                store._resume(keep)
            else:
                store._begin()
            remove_temporary(store.folder, below=True)
            store._held = held.pop_all()
        return store

    @classmethod
    def open(
        cls,
        folder: str | Path,
        game: LayeredGame | type[LayeredGame],
        *,
        manifest_only: bool = False,
    ) -> LayerFolder:
        """Open a finished solution for reading.

        Args:
            folder: The folder that holds it.
            game: The game that was solved, or its class, which reads the game from the manifest.
            manifest_only: Whether the files of layers may be missing. Their records and samples can
                be read all the same.

        Raises:
            StoreError: If there is no solution, or it is of another game, not finished, or damaged.
        """
        folder = Path(folder)
        description, game = read_manifest(folder, game)
        store = cls(folder, game, description.get("keep", "all"))
        if description["sheets"] is None:
            raise StoreError(
                f"{folder}: the solution is not finished; the command that began it resumes it"
            )
        store._accept_records(description["sheets"], manifest_only=manifest_only)
        if not store.finished:
            missing = next(store.missing)
            raise StoreError(f"{folder}: the solution is not complete: {missing} is not solved")
        return store

    def read(self, layer: Layer) -> Floats:
        self._check_read(layer)
        return self._exact(layer) if self.needs(layer) else self._rounded(layer)

    def rounded_off(self, layer: Layer) -> float:
        return 0.0 if self.needs(layer) else rounded_off(self.largest(layer))

    def value_at(self, place: LayerPlace) -> float:
        sample = self.samples.get(place)
        return super().value_at(place) if sample is None else sample.value

    def _unpack(self, layer: Layer) -> Floats:
        """Return a layer's values from its compact file, checked.

        Raises:
            StoreError: If there is no file, or it does not match its record.
        """
        path, largest = self._packed_path(layer), self.largest(layer)
        with reporting(path):
            content = read_file(path, manifest.MOST_BYTES + 8 * prod(self.game.shape(layer)))
        if hashlib.sha256(content).hexdigest() != self._entries[layer]["compact_sha256"]:
            raise self._damaged(layer, path, CHANGED)
        try:
            values = unpack(content, self.game.shape(layer), largest)
        except ValueError as error:
            raise self._damaged(layer, path, f"is damaged ({error})") from error
        if max(abs(float(values.min())), abs(float(values.max()))) != largest:
            raise self._damaged(layer, path, f"its largest value is not {largest:g}")
        values.flags.writeable = False
        return values

    def _exact(self, layer: Layer) -> Floats:
        """Return a layer's values through a memory map, checked.

        A file that this process has checked is not checked again unless it has changed.

        Raises:
            StoreError: If there is no file, it does not match its record, or a value is impossible.
        """
        path, checksum = self.path(layer), self._entries[layer]["sha256"]
        with reporting(path), path.open("rb") as file:
            state = os.fstat(file.fileno())
            seen = (state.st_dev, state.st_ino, state.st_mtime_ns, state.st_ctime_ns, checksum)
            new = seen not in _checked
            if new and hashlib.file_digest(file, "sha256").hexdigest() != checksum:
                raise self._damaged(layer, path, CHANGED)
        try:
            values: Floats = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise self._damaged(layer, path, f"is damaged ({error})") from error
        form = manifest.DTYPE, self.game.shape(layer)
        if (values.dtype.str, values.shape) != form:
            raise self._damaged(layer, path, f"holds {values.dtype.str} {values.shape}, not {form}")
        if new:
            # Whoever forges a layer can give it a checksum as well.
            try:
                self._check(layer, values)
            except ValueError as error:
                raise self._damaged(layer, path, f"is damaged ({error})") from error
            _checked.add(seen)
        return values

    def write(self, layer: Layer, values: Floats, record: LayerRecord) -> None:
        self._check(layer, values)
        entry: dict[str, Any] = record._asdict()
        try:
            if self.keep == "compact":
                packed = pack(values, self.largest(layer))
                entry["compact_sha256"] = _written(self._packed_path(layer), packed)
            if self.keep != "all":
                entry["largest"] = self.largest(layer)
                if places := self._to_sample.get(layer):
                    samples = take_samples(self.game, places, layer, values, self.read)
                    entry["samples"] = samples
            entry["sha256"] = _written(self.path(layer), _npy(values))
            self._entries[layer], self._records[layer] = entry, record
            self._append(layer)
        except StoreError as error:
            self._records.pop(layer, None)
            done, of = len(self._records), len(self.game.layers)
            raise StoreError(
                f"{error}; the {done} layers of {of} that are solved are kept in {self.folder}, "
                f"and the same command goes on from there"
            ) from error
        self._drop_unneeded((*self.game.reads(layer), layer))

    def drop(self, layer: Layer) -> None:
        # A file that is in use stays for now.
        with contextlib.suppress(OSError):
            self.path(layer).unlink()

    def finish(self) -> None:
        records = {self.game.name(layer): self._entries[layer] for layer in self.game.layers}
        self._write_manifest({**manifest.describe(self.game, self.keep), "sheets": records})
        super().finish()
        shutil.rmtree(self._unfinished, ignore_errors=True)

    @cached_property
    def _to_sample(self) -> dict[Layer, list[tuple[int, ...]]]:
        return sampled_places(self.game, starts=True)

    @cached_property
    def chosen(self) -> dict[Layer, list[tuple[int, ...]]]:
        """The places of the samples chosen at random, by layer."""
        return sampled_places(self.game, starts=False)

    @cached_property
    def samples(self) -> dict[LayerPlace, KeptSample]:
        """The samples by their places; none if all values are kept."""
        return {
            LayerPlace(layer, sample.at): sample
            for layer in self.game.layers
            for sample in self._entries.get(layer, {}).get("samples", ())
        }

    def verify(self, layer: Layer) -> None:
        """Check the files of a layer: size, SHA-256 and values.

        Raises:
            StoreError: If a file is missing, does not match its record, or has an impossible value.
        """
        if self.needs(layer):
            self._exact(layer)
        if self.keep == "compact":
            self._unpack(layer)

    def path(self, layer: Layer) -> Path:
        """Return the file of a layer's values."""
        return self.folder / "sheets" / f"{self.game.name(layer)}.npy"

    def _packed_path(self, layer: Layer) -> Path:
        return self.path(layer).with_suffix(".zlib")

    def _can_be_solved(self, layer: Layer) -> bool:
        """Return whether the values that a layer reads are there, or can be solved again."""
        reads = self.game.reads(layer)
        return self.keep == "all" or all(self.path(needed).exists() for needed in reads)

    def _damaged(self, layer: Layer, path: Path, why: str) -> StoreError:
        """Return an error about a file of a layer, with advice what to do."""
        advice = _SOLVE_AGAIN if self._can_be_solved(layer) else _CANNOT_SOLVE_AGAIN
        return StoreError(f"{path}: {why}. {advice}")

    def close(self) -> None:
        """Release the folder; solved layers stay in it."""
        self._held.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        """Write the manifest of a new folder."""
        names = [path.name for path in self.folder.iterdir()]
        # A process that is killed while it writes the manifest leaves a temporary file.
        others = [name for name in names if name != LOCK and not TEMPORARY.fullmatch(name)]
        if others:
            raise StoreError(
                f"{self.folder}: is not empty and holds no solution; there is {min(others)!r}"
            )
        self._write_manifest({**manifest.describe(self.game, self.keep), "sheets": None})

    def _resume(self, keep: str | None) -> None:
        """Accept the solved layers of a folder, if it was begun with the same `keep`."""
        description, _ = read_manifest(self.folder, self.game)
        self.keep = description.get("keep", "all")
        if keep not in (None, self.keep):
            raise StoreError(f"{self.folder}: was begun with --keep {self.keep}, not {keep}")
        self._accept_records({**(description["sheets"] or {}), **self._read_journal()})
        if self.finished and description["sheets"] is None:  # It was killed after its last layer.
            self.finish()
        elif self.finished:
            shutil.rmtree(self._unfinished, ignore_errors=True)
        self._drop_unneeded(self._records)
        for layer in {read for left in self.missing for read in self.game.reads(left)}:
            if self.has(layer):
                self.verify(layer)

    def _read_journal(self) -> dict[str, Any]:
        """Return the records of the layers solved so far, and remove an unfinished last line."""
        if not os.path.lexists(self._journal):
            return {}
        with reporting(self._journal):
            content = read_file(self._journal, manifest.MOST_BYTES)
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            write_atomically(self._journal, whole)
        records: dict[str, Any] = {}
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                *entry, checksum = parse_json(line)
                name, records[name], _ = entry
                if checksum != manifest.checksum_of(entry):
                    raise ValueError("its checksum does not match")
            except (ValueError, TypeError) as error:
                raise StoreError(
                    f"{self._journal}: line {number} is damaged ({error}). {_SOLVE_AGAIN}"
                ) from error
        return records

    def _append(self, layer: Layer) -> None:
        # The last was for what earlier versions kept beside the layers.
        entry = [self.game.name(layer), self._entries[layer], None]
        line = json.dumps([*entry, manifest.checksum_of(entry)]) + "\n"
        with reporting(self._journal, "written"):
            self._journal.parent.mkdir(exist_ok=True)
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(line)
                if self.keep != "all":  # The layers that it reads will be removed.
                    file.flush()
                    os.fsync(file.fileno())

    def _accept_records(self, records: Mapping[str, Any], *, manifest_only: bool = False) -> None:
        """Accept the records of layers whose files are there."""
        layers = {self.game.name(layer): layer for layer in self.game.layers}
        for name, entries in records.items():
            if name not in layers:
                raise StoreError(f"{self.folder}: there is a record of {shown(name)}, no layer")
            try:
                self._accept_record(layers[name], entries)
            except ValueError as error:
                raise StoreError(
                    f"{self.folder}: the record of {name} is damaged ({error})"
                ) from error
        # Backward, since a layer that has to be solved again needs the layers before it.
        for layer in () if manifest_only else reversed(self.game.layers):
            path = self.missing_file(layer) if self.has(layer) else None
            if path is not None:
                if not self._can_be_solved(layer):
                    raise self._damaged(layer, path, "is missing")
                del self._records[layer]

    def missing_file(self, layer: Layer) -> Path | None:
        """Return a file of a solved layer that should be there and is not, or is cut off."""
        exact = 8 * prod(self.game.shape(layer))
        paths = {self.path(layer): exact} if self.needs(layer) else {}
        if self.keep == "compact":
            paths[self._packed_path(layer)] = 1
        whole = (path.exists() and path.stat().st_size >= size for path, size in paths.items())
        return next((path for path, there in zip(paths, whole, strict=True) if not there), None)

    def _accept_record(self, layer: Layer, entries: Any) -> None:
        """Accept the record of how a layer was solved, with the SHA-256 of its files.

        Raises:
            ValueError: If an entry is missing, unknown or impossible.
        """
        if not isinstance(entries, Mapping):
            raise ValueError(f"it is {shown(entries)}")
        most, states = self.game.bound(layer), self.game.states(layer)
        # The upper limit of each number; the other entries are checksums.
        largest = {"largest_gap": most, "games": states}
        largest |= {} if self.keep == "all" else {"largest": most + SLACK}
        known = {*largest, "sha256", *(["compact_sha256"] if self.keep == "compact" else ())}
        # Folders of earlier versions may lack samples, and count the states without a matrix game.
        different = sorted((known ^ {*entries}) - {"samples", "constant"})
        if different:
            raise ValueError(f"entries missing or unknown: {', '.join(map(shown, different))}")
        for name in sorted(known):
            value = entries[name]
            if name in largest:
                fits = is_number(value) and 0 <= value <= largest[name]
            else:
                fits = isinstance(value, str) and _SHA256(value) is not None
            if not fits:
                raise ValueError(f"{name} is {shown(value)}, in a layer of {states} states")
        entry = dict(entries)
        if "samples" in entry:
            places = self.chosen.get(layer, [])
            entry["samples"] = read_samples(self.game, places, layer, entry["samples"])
        if "largest" in entry:
            self._largest[layer] = float(entry["largest"])
        self._records[layer] = LayerRecord(float(entries["largest_gap"]), int(entries["games"]))
        self._entries[layer] = entry

    def _write_manifest(self, content: Mapping[str, Any]) -> None:
        content = {**content, "sha256": manifest.checksum_of(content)}
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        write_atomically(self._manifest, f"{text}\n".encode())


_SOLVE_AGAIN = "Remove it, and the command that solved it will solve it again"
_CANNOT_SOLVE_AGAIN = "It cannot be solved again by itself; solve in another folder"

CHANGED = "the checksum does not match; the file was changed or damaged"

_SHA256 = re.compile(r"[0-9a-f]{64}").fullmatch


def _written(path: Path, content: bytes) -> str:
    """Write a file; return its SHA-256."""
    write_atomically(path, content)
    return hashlib.sha256(content).hexdigest()


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    """Return an array as a ``.npy`` file, little-endian on every machine."""
    buffer = io.BytesIO()
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    np.save(buffer, little, allow_pickle=False)
    return buffer.getvalue()
