"""Answers: files of plain numbers that anybody may have written.

An answer is one array, with a row for each state by its number:

=================  =====================  ====================================================
asked for          shape                  numbers
=================  =====================  ====================================================
``policy``         [S] or [S, A]          the action of each state, or a probability for each
``values``         [S]                    the value of each state
``action_values``  [S, A]                 the value of each action in each state
=================  =====================  ====================================================

It comes as ``.npz`` with one array under any name (``numpy.savez("answer.npz", policy)``), or as
``.csv``: a line for each state with numbers between commas, in the order of the states, and
before them one line if that is wanted: a title of one cell, or a name for each column. Where these
are the actions, they are in the actions' order.

Nothing in a file is believed, and nothing in it runs. What is no regular file is not opened, and
neither is a link, which might lead to somebody else's answer. How large a file may be follows from
the size of the answer (:func:`largest_file`). Shapes are compared before anything is unpacked, and
a line of text is no longer than its numbers can be. So the memory that reading takes is bounded by
the exercise, whatever the file states.
"""

from __future__ import annotations

import csv
import io
import math
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.exact.archive import read_array
from solvent.exact.store import StoreError
from solvent.model.files import read_file
from solvent.model.parameters import shown

NUMBER = 32
"""Bytes of a file for each number of an answer: more than a float takes in any notation."""

BESIDE = 2**16
"""Bytes of a file for all else: the headers of an archive, the names of columns."""

LONGEST_NAME = 256
"""Bytes in a line of text for each column: the name of an action is longer than a number."""


def shapes_of(asks: str, rows: int, width: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes that an answer may have.

    Args:
        asks: The kind of answer that is asked for.
        rows: The number of states that the answer numbers.
        width: The number of actions.
    """
    of_states, of_actions = (rows,), (rows, width)
    return {
        "policy": (of_states, of_actions),
        "values": (of_states,),
        "action_values": (of_actions,),
    }[asks]


def largest_file(shapes: tuple[tuple[int, ...], ...]) -> int:
    """Bytes that the file of an answer of these shapes may have."""
    return NUMBER * max(map(math.prod, shapes)) + BESIDE


def read_answer(
    path: str | Path, shapes: tuple[tuple[int, ...], ...], actions: Sequence[str] = ()
) -> NDArray[Any]:
    """Read an answer.

    Args:
        path: A file ``.npz`` or ``.csv``.
        shapes: The shapes that the array may have, as :func:`shapes_of` gives them.
        actions: The names of actions, by which another order of columns is recognized.

    Returns:
        Plain numbers of one of these shapes; they may be infinite or NaN.

    Raises:
        StoreError: If the file is missing, damaged, no regular file, too large, or holds something
            else.
    """
    path = Path(path)
    largest = largest_file(shapes)
    try:
        about = path.lstat()
        if stat.S_ISLNK(about.st_mode):
            raise StoreError(f"{path}: is a link; expected a file")
        if not stat.S_ISREG(about.st_mode):
            raise StoreError(f"{path}: is no regular file")
        if about.st_size > largest:
            raise StoreError(f"{path}: has {about.st_size:,} bytes; at most {largest:,} are read")
        kind = path.suffix.lower()
        if kind == ".npz":
            return read_array(path, shapes)
        if kind == ".csv":
            return _read_csv(path, shapes, largest, actions)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        if isinstance(error, StoreError):
            raise
        # A path with a null character in it is none.
        raise StoreError(f"{path}: cannot be read ({error})") from error
    raise StoreError(f"{path}: ends in {shown(path.suffix)}; allowed are .npz and .csv")


def _read_csv(
    path: Path, shapes: tuple[tuple[int, ...], ...], largest: int, actions: Sequence[str]
) -> NDArray[Any]:
    try:
        # A spreadsheet may put a mark of the order of bytes before the text.
        text = read_file(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StoreError(f"{path}: is no text in UTF-8") from error
    rows = max(shape[0] for shape in shapes)
    widths = sorted({1 if len(shape) == 1 else shape[1] for shape in shapes})
    names: list[str] = []
    read, found = 0, np.empty((0, 0))
    for number, cells in _lines(path, text, widths[-1]):
        if not (names or read) and not any(map(_is_number, cells)):
            names = [cell.strip("# ") for cell in cells]
            continue
        if len(cells) not in widths:
            hint = ", without its number" if len(cells) - 1 in widths else ""
            raise StoreError(
                f"{path}: line {number} has {shown(cells)}; expected "
                f"{' or '.join(map(str, widths))} columns, a line for each state{hint}"
            )
        for cell in cells:
            if not _is_number(cell):
                raise StoreError(
                    f"{path}: line {number} has {shown(cell)}; expected are numbers such as 0.25, "
                    f"with commas between columns"
                )
        if read == rows:
            raise StoreError(f"{path}: has more than {rows} lines of numbers; expected {rows}")
        if read == 0:
            # All lines are as wide as the first.
            widths, found = [len(cells)], np.empty((rows, len(cells)))
        found[read] = [float(cell) for cell in cells]
        read += 1
    titled = f" below the names {shown(names)}" if names else ""
    if read != rows:
        raise StoreError(
            f"{path}: has {read} lines of numbers{titled}; expected {rows}, one for each state"
        )
    # NumPy's header is one cell, a title or the names with spaces between them.
    listed = names[0].split() if len(names) == 1 else names
    mixed = sorted(listed) == sorted(actions) and listed != list(actions)
    if mixed or len(names) not in (0, 1, found.shape[1]):
        columns = "1 name" if found.shape[1] == 1 else f"{found.shape[1]} names"
        expected = ", ".join(actions) if mixed else columns
        raise StoreError(f"{path}: names the columns {shown(names)}; expected {expected}")
    return found[:, 0] if found.shape[1] == 1 and (rows,) in shapes else found


def _lines(path: Path, text: str, width: int) -> Iterator[tuple[int, list[str]]]:
    """The lines with something in them, each with its number and its cells."""
    longest = LONGEST_NAME * (width + 1)
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        if len(line) > longest:
            raise StoreError(
                f"{path}: line {number} has {len(line):,} characters; at most {longest:,} are read"
            )
        try:
            [cells] = csv.reader([line]) if line.strip() else [[]]
        except (csv.Error, ValueError) as error:
            raise StoreError(f"{path}: line {number} is no line of CSV ({error})") from error
        if cells:
            yield number, cells


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
