"""What the two formats of chart files have in common: a table of rows, and its checks."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from solvent.games.football.chart import (
    MOST_DEFENCES,
    MOST_PLAYS,
    Cell,
    Chart,
    ChartError,
    checked_cell,
    headings,
)

LARGEST_FILE = 1_000_000
"""Bytes; a chart of 99 plays against 26 defences takes far less."""


@dataclass(frozen=True)
class Row:
    """A defence's row as it stands in a file."""

    place: str
    letter: str
    cells: Sequence[Any]


def decoded(content: bytes, file: str) -> str:
    """The text of a file.

    Raises:
        ChartError: If it is too large, not UTF-8, or blank.
    """
    if len(content) > LARGEST_FILE:
        raise ChartError(f"{file}: larger than {LARGEST_FILE} bytes; that is no chart")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ChartError(f"{file}, line {line}: not UTF-8 text; save it as such") from error
    if not text.strip():
        raise ChartError(f"{file}: the file is empty")
    return text


def checked_size(plays: Any, defences: Any, file: str) -> tuple[int, int]:
    """The size that a file states.

    Raises:
        ChartError: If a chart cannot have it.
    """
    for value, name, most in ((plays, "plays", MOST_PLAYS), (defences, "defences", MOST_DEFENCES)):
        if type(value) is not int or not 1 <= value <= most:
            raise ChartError(
                f"{file}: {name} is {reprlib.repr(value)}; allowed are whole numbers 1 to {most}"
            )
    return plays, defences


def check_headings(found: Sequence[Any], size: tuple[int, int], place: str) -> None:
    """Check the headings of the columns.

    Raises:
        ChartError: If they are not those of a chart of this size.
    """
    expected = headings(size[0])
    if len(found) != len(expected):
        raise ChartError(
            f"{place}: {len(found)} columns; expected are {len(expected)}: plays 1 to {size[0]}, "
            "Q and P (a chart of another size states it, as in '# size: 9 x 6')"
        )
    for number, (heading, wanted) in enumerate(zip(found, expected, strict=True), 1):
        if str(heading).upper() != wanted:
            raise ChartError(
                f"{place}: the heading of column {number} is {reprlib.repr(heading)}; "
                f"expected is {wanted!r}"
            )


def assemble(
    file: str,
    name: str,
    source: str,
    size: tuple[int, int],
    rows: Sequence[Row],
    parse: Callable[[Any], Cell],
) -> Chart:
    """The chart of a table.

    Args:
        file: Named in messages.
        name: Of the chart.
        source: Of the chart.
        size: Plays and defences.
        rows: In any order.
        parse: Reads a cell; may raise ValueError.

    Raises:
        ChartError: If a row or cell is missing, there twice, or not what it should be.
    """
    plays, defences = size
    letters = ascii_uppercase[:defences]
    expected = headings(plays)
    read: dict[str, list[Cell]] = {}
    for row in rows:
        if row.letter not in tuple(letters):
            raise ChartError(
                f"{file}, {row.place}: there is no defence {reprlib.repr(row.letter)}; "
                f"the {defences} defences are {letters}"
            )
        if row.letter in read:
            raise ChartError(f"{file}, {row.place}: there is a row {row.letter} already")
        if len(row.cells) != len(expected):
            missing = expected[len(row.cells) :]
            raise ChartError(
                f"{file}, {row.place}: {len(row.cells)} cells where {len(expected)} are expected"
                + "".join(f"; column {heading} is missing" for heading in missing[:1])
            )
        read[row.letter] = [
            _read_cell(cell, heading, f"{file}, {row.place}, column {heading}", parse)
            for cell, heading in zip(row.cells, expected, strict=True)
        ]
    for letter in letters:
        if letter not in read:
            raise ChartError(f"{file}: no row {letter}; {defences} defences are expected")
    *cells, quick_kick, punt = zip(*(read[letter] for letter in letters), strict=True)
    try:
        return Chart(name, tuple(cells), quick_kick, punt, source)
    except ChartError as error:
        raise ChartError(f"{file}: {error}") from error


def _read_cell(cell: Any, heading: str, place: str, parse: Callable[[Any], Cell]) -> Cell:
    try:
        return checked_cell(parse(cell), heading)
    except ValueError as error:
        raise ChartError(f"{place}: {error}") from error


def short(letter: str) -> str:
    """What stands where a letter should, for messages."""
    return letter if len(letter) < 10 else reprlib.repr(letter)
