"""What a class may hand in for FrozenLake's policy: right, wrong, broken and hostile files."""

import io
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator, Mapping
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


def optimal_actions() -> np.ndarray:
    """An action for each square; 0 where nothing is asked."""
    game = solvent.compile_game("FrozenLake-v1")
    chosen = solvent.solve(game).policies[0].probabilities.argmax(axis=1)
    actions = np.zeros(ROWS, np.int64)
    for state, action in zip(game.states, chosen, strict=True):
        if not state.over:
            actions[state.number] = action
    return actions


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
    """An array as NumPy writes it."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version)
    return buffer.getvalue()


def stated(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """How an array of a shape begins."""
    buffer = io.BytesIO()
    entries = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, entries)
    return buffer.getvalue()


def zipped(
    path: Path, members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED
) -> None:
    """Write an archive."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def lines(array: np.ndarray, separator: str = ",", end: str = "\n") -> str:
    """Rows of numbers as text."""
    rows = np.atleast_2d(array.T).T
    return "".join(separator.join(map(repr, row)) + end for row in rows.tolist())


def policy_files() -> dict[str, tuple[Callable[[Path], Any], float | str]]:
    """By the name of a file: what makes it, and its points, or what is said of it."""
    best = optimal_actions()
    sure = np.eye(WIDTH)[best]
    uniform = np.full((ROWS, WIDTH), 1 / WIDTH)
    # Half of the time at random on one square only.
    near = sure.copy()
    near[14] = 0.5 * sure[14] + 0.5 / WIDTH
    for_ever = np.zeros((ROWS, WIDTH), int)
    for_ever[:, 0] = 1

    def saved(*arrays: Any, **named: Any) -> Callable[[Path], None]:
        def make(path: Path) -> None:
            with path.open("wb") as file:
                np.savez(file, *arrays, **named)

        return make

    def compressed(path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(file, policy=sure)

    def text(content: str | bytes) -> Callable[[Path], Any]:
        content = content.encode() if isinstance(content, str) else content
        return lambda path: path.write_bytes(content)

    def members(compression: int = zipfile.ZIP_DEFLATED, **named: bytes) -> Callable[[Path], None]:
        named = {f"{name}.npy": content for name, content in named.items()}
        return lambda path: zipped(path, named, compression)

    def of_solvent(path: Path) -> None:
        solvent.save_policy(
            path, solvent.TabularPolicy(sure, model_hash="0" * 64, player=0, name="mine")
        )

    def objects(path: Path) -> None:
        saved(np.array([Trap(path.with_name("sprung"))] * ROWS, object))(path)

    def cut(path: Path) -> None:
        compressed(path)
        path.write_bytes(path.read_bytes()[:200])

    def flipped(path: Path) -> None:
        saved(sure)(path)
        content = bytearray(path.read_bytes())
        content[content.index(b"\n") + 100] ^= 255
        path.write_bytes(content)

    def encrypted(path: Path) -> None:
        members(zipfile.ZIP_STORED, policy=array_bytes(best))(path)
        content = bytearray(path.read_bytes())
        for start, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            content[content.index(start) + place] |= 1
        path.write_bytes(content)

    def sized(content: bytes, size: int) -> Callable[[Path], None]:
        """An archive of a content for which its directory states another size."""

        def make(path: Path) -> None:
            members(policy=content)(path)
            archive = bytearray(path.read_bytes())
            place = archive.index(b"PK\x01\x02") + 24
            archive[place : place + 4] = size.to_bytes(4, "little")
            path.write_bytes(archive)

        return make

    spaces = b"\x93NUMPY\x02\x00" + (50_000_000).to_bytes(4, "little") + b" " * 50_000_000
    nan = sure.copy()
    nan[3] = np.nan
    names, start, whole = "left,down,right,up\n", stated((ROWS, WIDTH)), array_bytes(sure)
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
        "best-of-solvent.npz": (of_solvent, 10),
        "BEST.NPZ": (saved(best), 10),
        "best.csv": (text(lines(sure)), 10),
        "best-actions.csv": (text(lines(best)), 10),
        "best-names.csv": (text(names + lines(sure)), 10),
        "best-title.csv": (text("# policy\n" + lines(sure)), 10),
        "best-words.csv": (text("# left down right up\n" + lines(sure)), 10),
        "best-windows.csv": (text(b"\xef\xbb\xbf" + lines(sure, end="\r\n").encode()), 10),
        "best-quoted.csv": (text(lines(best).replace("\n", '"\n"').join('""')[:-2]), 10),
        "best-and-blank-lines.csv": (text("\n" + lines(sure, end="\n\n")), 10),
        # Others that are policies.
        "near.npz": (saved(near), 6),
        "near.csv": (text(names + lines(near)), 6),
        "uniform.npz": (saved(uniform), 0),
        "hundreds.csv": (text(lines(sure).replace("1.0", "0.9995")), 10),
        "for-ever.npz": (saved(for_ever), 0),
        # Names that are more than names.
        "=1+1.npz": (saved(best), 10),
        "+cmd|' -C calc'!A0.csv": (text(lines(best)), 10),
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
        "halves.csv": (text(lines(best + 0.5)), "state 0 .* has 0.5; expected 0 left"),
        "semicolons.csv": (text(lines(sure, ";")), "has semicolons; expected are commas"),
        "counted.csv": (text(lines(np.c_[np.arange(ROWS), sure])), "has 16 lines of 5 numbers"),
        "short.csv": (text(lines(sure[:15])), "has 15 lines of 4 numbers; expected"),
        "long.csv": (text(lines(sure) + "1,0,0,0\n"), "has 17 lines of 4"),
        "ragged.csv": (text(lines(sure[:5]) + "1,0\n" + lines(sure)), "columns changed"),
        "remark.csv": (text(lines(sure[:5]) + "done\n"), "number of columns changed from 4 to 1"),
        "other-order.csv": (
            text("up,down,left,right\n" + lines(sure)),
            r"\['up', 'down', 'left', 'right'\]; expected left, down, right, up",
        ),
        "other-words.csv": (
            text("# up down left right\n" + lines(sure)), "expected left, down, right, up"
        ),
        "fractions.csv": (text("1/2,1/2,0,0\n" * ROWS), "could not convert string"),
        "hundredths.csv": (text("0.33,0.33,0.33,0\n" * ROWS), "state 0 .* whose sum is 0.99; exp"),
        "two-titles.csv": (text(names + names + lines(sure)), "could not convert string 'left'"),
        "formulas.csv": (text("=1+1,0,0,0\n" * ROWS), "could not convert string '=1\\+1'"),
        "infinite.csv": (text("1e999,0,0,0\n" * ROWS), "state 0 .* sum is inf"),
        "nan.csv": (text("0\n" + "nan\n" * 15), "state 1 .* has nan; expected 0 left"),
        "latin.csv": (text("größe\n".encode("latin-1")), "no text in UTF-8"),
        "nulls.csv": (text(bytes(100)), "has 0 lines"),
        "empty.csv": (text(""), "has 0 lines"),
        "empty.npz": (text(""), "not a .npz of plain numbers, or damaged"),
        "policy.py": (text("raise SystemExit"), r"ends in '\.py'; allowed are \.npz and \.csv"),
        "no-ending": (saved(best), "ends in ''"),
        # What is damaged, or means harm.
        "objects.npz": (objects, "plain numbers"),
        "pickle.npz": (
            lambda path: path.write_bytes(pickle.dumps(Trap(path.with_name("sprung")))),
            "plain numbers",
        ),
        "cut.npz": (cut, "damaged"),
        "flipped.npz": (flipped, "damaged"),
        "encrypted.npz": (encrypted, "damaged"),
        "other-archive.npz": (lambda path: zipped(path, {"xl/book.xml": b"<a/>"}), "plain numbers"),
        "twice.npz": (lambda path: twice(path, array_bytes(best)), "plain numbers"),
        "zeros.npz": (members(policy=array_bytes(np.zeros(4_000_000))), "shape"),
        "huge.npz": (members(policy=stated((2**40, 2**20))), "plain numbers"),
        "negative-shape.npz": (members(policy=stated((-16, -4))), "plain numbers"),
        "overstated.npz": (sized(start + bytes(100), len(start) + 512), "damaged"),
        # Zeros without end behind the array that the directory states.
        "understated.npz": (sized(whole + bytes(30_000_000), len(whole)), "damaged"),
        "long-header.npz": (members(policy=spaces), "plain numbers"),
        "bzip.npz": (members(zipfile.ZIP_BZIP2, policy=array_bytes(best)), "plain numbers"),
        "lzma.npz": (members(zipfile.ZIP_LZMA, policy=array_bytes(best)), "plain numbers"),
        "many.npz": (
            lambda path: zipped(path, {f"{n}.npy": b"" for n in range(500)}), "plain numbers"
        ),
        "large.csv": (text("0,0,0,1\n" * 100_000), "bytes; at most"),
        "large.npz": (saved(np.zeros((1000, 100))), "bytes; at most"),
        "long-line.csv": (text("0," * 30_000), "could not convert"),
        "digits.csv": (text("9" * 60_000), "has 1 lines of 1 numbers"),
        "link.npz": (lambda path: path.symlink_to("best.npz"), "is a link or no"),
        "endless.csv": (lambda path: path.symlink_to("/dev/zero"), "is a link or no"),
        "folder.npz": (Path.mkdir, "or no regular file"),
        "pipe.npz": (os.mkfifo, "or no regular file"),
        "missing.npz": (lambda path: None, "No such file"),
    }  # fmt: skip


def twice(path: Path, content: bytes) -> None:
    """An archive with two members of one name."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("policy.npy", content)
        archive._name_to_info = {}  # type: ignore[attr-defined]  # So that there is no warning.
        archive.NameToInfo = {}
        archive.writestr("policy.npy", content)
