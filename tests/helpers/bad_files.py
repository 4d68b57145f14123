"""Files that are not what they should be, for whatever reads files."""

import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from handed_in import stated

from solvent.exact import write_archive

# What files of no format of the project hold, by name.
CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "binary": bytes(range(256)) * 4,
    "zeros": bytes(1000),
    "text": b"hello\nworld\n",
    "deep": b"[" * 100_000,
    "deep-and-closed": b"[" * 100_000 + b"]" * 100_000,
    "deep-objects": b'{"format":' * 50_000,
    "long-field": b"defence," + b"x" * 200_000 + b"\n",
    "huge-integer": b'{"format": ' + b"9" * 5000 + b"}",
    "huge-number": b'{"format": 1e999}',
    "no-number": b"NaN",
    "null": b"null",
    "list": b"[]",
    "object": b"{}",
    "long-key": b'{"' + b"k" * 100_000 + b'": 1}',
    "utf-16": "hello".encode("utf-16"),
}


def bad_files(folder: Path, suffix: str) -> Iterator[Path]:
    """Bad files with an ending, in a folder of their own, and what is no file at all."""
    place = folder / "bad"
    place.mkdir()
    for name, content in CONTENTS.items():
        file = place / f"{name}{suffix}"
        file.write_bytes(content)
        yield file
    yield from no_files(place, suffix)


def no_files(folder: Path, suffix: str) -> Iterator[Path]:
    """What is no regular file, with an ending: some of it has no end, some never begins."""
    (folder / f"folder{suffix}").mkdir()
    yield folder / f"folder{suffix}"
    yield folder / f"missing{suffix}"
    yield folder / f"{'long' * 100}{suffix}"
    loop = folder / f"loop{suffix}"
    loop.symlink_to(loop.name)
    yield loop
    if Path("/dev/zero").exists():
        endless = folder / f"endless{suffix}"
        endless.symlink_to("/dev/zero")
        yield endless
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / f"pipe{suffix}")
        yield folder / f"pipe{suffix}"


def read_raw(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of an archive as they stand there, and nothing checked."""
    with np.load(path) as archive:
        arrays = dict(archive)
    return json.loads(arrays.pop("header").tobytes()), arrays


def rewrite_json(path: Path, change: Callable[[Any], object]) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def forge(path: Path, header: Mapping[str, Any] = {}, **arrays: Any) -> Path:
    """Write an archive anew with other content, and a checksum that matches it.

    Args:
        path: The archive.
        header: Entries of the header to put in place of its own; None removes one.
        arrays: Arrays to put in place of its own; None removes one.
    """
    before, held = read_raw(path)
    entries = {k: v for k, v in (before | dict(header)).items() if v is not None}
    for own in ("sha256", "format"):
        entries.pop(own, None)
    write_archive(path, entries, {k: v for k, v in (held | arrays).items() if v is not None})
    return path


def overstate(path: Path, name: str, shape: tuple[int, ...], *, alone: bool = False) -> Path:
    """Have an archive state another shape for an array, of which it holds next to nothing.

    An archive of so many zeros, which does hold them, takes a thousandth of their size.

    Args:
        path: The archive.
        name: Of the array.
        shape: To state.
        alone: Whether the archive's directory states the size that is really there.
    """
    with np.load(path) as archive:
        kept = {n: archive[n] for n in archive.files if n != name}
        dtype = archive[name].dtype
    start = stated(shape, dtype.str)
    np.savez_compressed(path, **kept)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", start + bytes(4096))
        if alone:
            return path
        # The directory, which is written at the end, is what readers go by.
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        archive.getinfo(f"{name}.npy").file_size = len(start) + size
    return path
