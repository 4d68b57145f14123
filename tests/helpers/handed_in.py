"""What a class may hand in for FrozenLake's policy: right, wrong, broken and hostile files."""

import io
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import solvent

LAKE = """
format = 1
name = "lake"
title = "Across the frozen lake"
environment = "FrozenLake-v1"
asks = "policy"
points = [[1e-6, 10], [0.2, 6], [0.7, 3]]
"""

ROWS, WIDTH = 16, 4


class Trap:
    """Makes a file where it is unpickled."""

    def __init__(self, sprung: Path) -> None:
        self.sprung = sprung

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.sprung,)


def pickles(path: Path, mark: Path) -> Iterator[None]:
    """Make a file a pickle, and then archives of NumPy's that have one in them."""
    path.write_bytes(pickle.dumps(Trap(mark)))
    yield
    trap = np.array([Trap(mark)], object)
    for arrays in ({"header": trap}, {"probabilities": trap}, {"header": np.zeros(3), "x": trap}):
        with path.open("wb") as file:
            np.savez(file, **arrays)
        yield
    with path.open("wb") as file:
        np.save(file, trap)
    yield


def array_bytes(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version)
    return buffer.getvalue()


def stated(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """How an array of a shape begins."""
    buffer = io.BytesIO()
    entries = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, entries)
    return buffer.getvalue()


def saved(*arrays: Any, save: Callable[..., None] = np.savez, **named: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


def zipped(members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def patched(content: bytes, mark: bytes, offset: int, new: bytes) -> bytes:
    """A content that has something else at an offset from where a mark begins."""
    place = content.index(mark) + offset
    return content[:place] + new + content[place + len(new) :]


def lines(array: np.ndarray, separator: str = ",", end: str = "\n") -> str:
    rows = np.atleast_2d(array.T).T
    return "".join(separator.join(map(repr, row)) + end for row in rows.tolist())


def hand_in(folder: Path) -> None:
    for name, (content, _) in policy_files().items():
        if callable(content):
            content(folder / name)
        else:
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


@cache
def policy_files() -> dict[str, tuple[str | bytes | Callable[[Path], Any], float | str]]:
    """By the name of a file: its content or what makes it, and its points or what is said of it."""
    best, _ = solvent.solve("FrozenLake-v1").predict(np.arange(ROWS))
    sure = np.eye(WIDTH)[best]
    uniform = np.full((ROWS, WIDTH), 1 / WIDTH)
    # Half of the time at random on one square only.
    near = sure.copy()
    near[14] = 0.5 * sure[14] + 0.5 / WIDTH
    for_ever = np.zeros((ROWS, WIDTH), int)
    for_ever[:, 0] = 1
    own = solvent.TabularPolicy(sure, model_hash="0" * 64, player=0, name="mine")
    # In the directory at the end of an archive, 24 bytes behind its mark, is the size of a member.
    compressed, directory = saved(policy=sure, save=np.savez_compressed), b"PK\x01\x02"
    start, whole = stated((ROWS, WIDTH)), array_bytes(sure)
    stored = zipped({"policy.npy": array_bytes(best)}, zipfile.ZIP_STORED)

    def member(content: bytes, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
        return zipped({"policy.npy": content}, compression)

    def trap(path: Path) -> Trap:
        return Trap(path.with_name("sprung"))

    def size(number: int) -> bytes:
        return number.to_bytes(4, "little")

    spaces = b"\x93NUMPY\x02\x00" + size(50_000_000) + b" " * 50_000_000
    nan = sure.copy()
    nan[3] = np.nan
    names = "left,down,right,up\n"
    return {
        # Right ones, however they are written.
        "best.npz": (saved(policy=best), 10),
        "best-probabilities.npz": (saved(sure), 10),
        "best-compressed.npz": (compressed, 10),
        "best-float32.npz": (saved(sure.astype(np.float32)), 10),
        "best-big-endian.npz": (saved(best.astype(">i2")), 10),
        "best-fortran.npz": (saved(np.asfortranarray(sure)), 10),
        "best-whole-floats.npz": (saved(best.astype(float)), 10),
        "best-truth-values.npz": (saved(sure.astype(bool)), 10),
        "best-of-solvent.npz": (lambda path: solvent.save_policy(path, own), 10),
        "BEST.NPZ": (saved(best), 10),
        "best.csv": (lines(sure), 10),
        "best-actions.csv": (lines(best), 10),
        "best-names.csv": (names + lines(sure), 10),
        "best-title.csv": ("# policy\n" + lines(sure), 10),
        "best-words.csv": ("# left down right up\n" + lines(sure), 10),
        "best-windows.csv": (b"\xef\xbb\xbf" + lines(sure, end="\r\n").encode(), 10),
        "best-quoted.csv": (lines(best).replace("\n", '"\n"').join('""')[:-2], 10),
        "best-and-blank-lines.csv": ("\n" + lines(sure, end="\n\n"), 10),
        # Others that are policies.
        "near.npz": (saved(near), 6),
        "near.csv": (names + lines(near), 6),
        "uniform.npz": (saved(uniform), 0),
        "hundreds.csv": (lines(sure).replace("1.0", "0.9995"), 10),
        "for-ever.npz": (saved(for_ever), 0),
        # Names that are more than names.
        "=1+1.npz": (saved(best), 10),
        "+cmd|' -C calc'!A0.csv": (lines(best), 10),
        "@SUM(A1).npz": (saved(best), 10),
        "\x1b[2Jclear.npz": (saved(best), 10),
        "two\nlines,and \"more\".npz": (saved(best), 10),
        "bytes-\udcff.npz": (saved(best), 10),
        # What is no policy.
        "transposed.npz": (saved(sure.T), r"shape \(4, 16\); expected \(16,\) or \(16, 4\)"),
        "too-long.npz": (saved(np.zeros(17, int)), "shape"),
        "nothing-in-it.npz": (saved(np.zeros(0)), "shape"),
        "a-number.npz": (saved(3.0), "shape"),
        "deeper.npz": (saved(sure[..., None]), "shape"),
        "two.npz": (saved(best, sure), "holds the arrays .* expected is one"),
        "none.npz": (saved(), "holds the arrays"),
        "words.npz": (saved(np.array(["left"] * ROWS)), "plain numbers"),
        "complex.npz": (saved(sure + 0j), "plain numbers"),
        "fields.npz": (saved(np.zeros(ROWS, [("a", "f8")])), "plain numbers"),
        "dates.npz": (saved(np.zeros(ROWS, "M8[s]")), "plain numbers"),
        "nan.npz": (saved(nan), r"^state 3 \(row 0, column 3\) has \[nan, .* sum is nan; exp"),
        "negative.npz": (saved(-sure), "state 0 .* whose sum is -1; expected"),
        "infinite.npz": (saved(np.full((ROWS, WIDTH), np.inf)), "state 0 .* sum is inf"),
        "overflowing.npz": (saved(np.full((ROWS, WIDTH), 1e308)), "state 0 .* sum is inf"),
        "logits.npz": (saved(5 * sure), "whose sum is 5; expected .* 1 as their sum, within 0.001"),
        "no-such-action.npz": (saved(best + 4), "state 0 .* has 4; expected 0 left, 1 down"),
        "below.npz": (saved(best - 4), "state 0 .* has -4; expected 0 left"),
        "halves.npz": (saved(best + 0.5), "state 0 .* has 0.5; expected 0 left"),
        "halves.csv": (lines(best + 0.5), "state 0 .* has 0.5; expected 0 left"),
        "semicolons.csv": (lines(sure, ";"), "could not convert string '1.0;0"),
        "counted.csv": (lines(np.c_[np.arange(ROWS), sure]), "has 16 lines of 5 numbers"),
        "short.csv": (lines(sure[:15]), "has 15 lines of 4 numbers; expected"),
        "long.csv": (lines(sure) + "1,0,0,0\n", "has 17 lines of 4"),
        "ragged.csv": (lines(sure[:5]) + "1,0\n" + lines(sure), "columns changed"),
        "remark.csv": (lines(sure[:5]) + "done\n", "number of columns changed from 4 to 1"),
        "other-order.csv": (
            "up,down,left,right\n" + lines(sure),
            r"\['up', 'down', 'left', 'right'\]; expected left, down, right, up",
        ),
        "other-words.csv": (
            "# up down left right\n" + lines(sure), "expected left, down, right, up"
        ),
        "fractions.csv": ("1/2,1/2,0,0\n" * ROWS, "could not convert string"),
        "hundredths.csv": ("0.33,0.33,0.33,0\n" * ROWS, "state 0 .* whose sum is 0.99; exp"),
        "two-titles.csv": (names + names + lines(sure), "could not convert string 'left'"),
        "formulas.csv": ("=1+1,0,0,0\n" * ROWS, "could not convert string '=1\\+1'"),
        "infinite.csv": ("1e999,0,0,0\n" * ROWS, "state 0 .* sum is inf"),
        "nan.csv": ("0\n" + "nan\n" * 15, "state 1 .* has nan; expected 0 left"),
        "latin.csv": ("größe\n".encode("latin-1"), "cannot be read \\('utf-8' codec"),
        "nulls.csv": (bytes(100), "has 0 lines"),
        "empty.csv": ("", "has 0 lines"),
        "empty.npz": ("", "not a .npz of plain numbers, or damaged"),
        "policy.py": ("raise SystemExit", r"ends in '\.py'; allowed are \.npz and \.csv"),
        "no-ending": (saved(best), "ends in ''"),
        # What is damaged, or means harm.
        "objects.npz": (
            lambda path: path.write_bytes(saved(np.array([trap(path)] * ROWS, object))),
            "plain numbers",
        ),
        "pickle.npz": (lambda path: path.write_bytes(pickle.dumps(trap(path))), "plain numbers"),
        "cut.npz": (compressed[:200], "damaged"),
        "flipped.npz": (patched(saved(sure), b"\n", 100, b"\x55"), "damaged"),
        "encrypted.npz": (
            patched(patched(stored, b"PK\x03\x04", 6, b"\x01"), directory, 8, b"\x01"), "damaged"
        ),
        "other-archive.npz": (zipped({"xl/book.xml": b"<a/>"}), "plain numbers"),
        # Two members of one name.
        "twice.npz": (
            zipped(dict.fromkeys(("policy.npx", "policy.npy"), array_bytes(best)))
            .replace(b"policy.npx", b"policy.npy"),
            "plain numbers",
        ),
        "zeros.npz": (member(array_bytes(np.zeros(4_000_000))), "shape"),
        "huge.npz": (member(stated((2**40, 2**20))), "plain numbers"),
        "negative-shape.npz": (member(stated((-16, -4))), "plain numbers"),
        "overstated.npz": (
            patched(member(start + bytes(100)), directory, 24, size(len(start) + 512)), "damaged"
        ),
        # Zeros without end behind the array that the directory states.
        "understated.npz": (
            patched(member(whole + bytes(30_000_000)), directory, 24, size(len(whole))), "damaged"
        ),
        "long-header.npz": (member(spaces), "plain numbers"),
        "bzip.npz": (member(array_bytes(best), zipfile.ZIP_BZIP2), "plain numbers"),
        "lzma.npz": (member(array_bytes(best), zipfile.ZIP_LZMA), "plain numbers"),
        "many.npz": (
            zipped({f"{n}.npy": b"" for n in range(500)}), "plain numbers"
        ),
        "large.csv": ("0,0,0,1\n" * 100_000, "bytes; at most"),
        "large.npz": (saved(np.zeros((1000, 100))), "bytes; at most"),
        "long-line.csv": ("0," * 30_000, "could not convert"),
        "digits.csv": ("9" * 60_000, "has 1 lines of 1 numbers"),
        "link.npz": (lambda path: path.symlink_to("best.npz"), "is a link or no"),
        "endless.csv": (lambda path: path.symlink_to("/dev/zero"), "is a link or no"),
        "folder.npz": (Path.mkdir, "or no regular file"),
        "pipe.npz": (os.mkfifo, "or no regular file"),
        "missing.npz": (lambda path: None, "No such file"),
    }  # fmt: skip
