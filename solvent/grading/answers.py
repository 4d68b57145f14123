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
from solvent.model.files import StoreError, read_file
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
    largest, kind = largest_file(shapes), path.suffix.lower()
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            raise StoreError(f"{path}: is a link or no regular file")
        if about.st_size > largest:
            raise StoreError(f"{path}: has {about.st_size:,} bytes; at most {largest:,} are read")
        if kind not in (".npz", ".csv"):
            raise StoreError(f"{path}: ends in {shown(path.suffix)}; allowed are .npz and .csv")
        if kind == ".npz":
            return read_array(path, shapes)
        return _read_csv(path, shapes, largest, actions)
    except StoreError:
        raise
    except (OSError, ValueError) as error:  # A path with a null character in it is none.
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"{path}: cannot be read ({why})") from error


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
    read: list[list[float]] = []
    for number, cells in _lines(path, text, widths[-1]):
        numbers = [_number(cell) for cell in cells]
        if not (names or read) and all(one is None for one in numbers):
            names = [cell.strip("# ") for cell in cells]
            continue
        if len(cells) not in widths:
            hint = ", without its number" if len(cells) - 1 in widths else ""
            raise StoreError(
                f"{path}: line {number} has {shown(cells)}; expected "
                f"{' or '.join(map(str, widths))} columns, a line for each state{hint}"
            )
        if None in numbers:
            raise StoreError(
                f"{path}: line {number} has {shown(cells[numbers.index(None)])}; expected are "
                f"numbers such as 0.25, with commas between columns"
            )
        if len(read) == rows:
            raise StoreError(f"{path}: has more than {rows} lines of numbers; expected {rows}")
        read.append([one for one in numbers if one is not None])
        # All lines are as wide as the first.
        widths = [len(cells)]
    if len(read) != rows:
        titled = f" below the names {shown(names)}" if names else ""
        raise StoreError(
            f"{path}: has {len(read)} lines of numbers{titled}; expected {rows}, one for each state"
        )
    found = np.array(read)
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


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
