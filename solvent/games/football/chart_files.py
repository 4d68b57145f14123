"""Chart files: the shipped charts by name, and charts of one's own as CSV.

The file looks as one would copy a printed chart: a row per defence, a column per play, then ``Q``
(quick kick) and ``P`` (punt); cells as :func:`~solvent.games.football.chart.parse_cell` reads them.
Lines that begin with ``#`` come first; ``name``, ``source`` and ``size`` are read, others are
remarks. A chart that is not 20 x 10 must state its size::

    # name: tiny
    # size: 2 x 2
    defence, 1, 2, Q, P
    A, -1, 4, punt33, punt41r5
    B, 3, inc * 3 | 20 * 1, punt36, punt40

The format is exact: a chart written and read again is equal to itself.
"""

from __future__ import annotations

import csv
import io
import re
import reprlib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from string import ascii_uppercase

from solvent.games.football.chart import (
    MOST_DEFENCES,
    MOST_PLAYS,
    Cell,
    Chart,
    ChartError,
    cell_text,
    checked_cell,
    headings,
    parse_cell,
)
from solvent.model.files import open_file
from solvent.model.parameters import nearest, shown

SHIPPED = ("standard", "cautious", "aerial", "dice")
"""The names of the charts that come with the package."""

LARGEST_FILE = 1_000_000
"""Bytes; a chart of 99 plays against 26 defences takes far less."""

USUAL_SIZE = (20, 10)
"""Plays and defences of a file that does not state its size."""

_SIZE = re.compile(r"(\d{1,3})\s*[x×]\s*(\d{1,3})", re.ASCII)


def load_chart(chart: str | Path) -> Chart:
    """A shipped chart by name, or a chart from a CSV file.

    Raises:
        ChartError: If the file is not a chart; the message names the file and the place in it.
        OSError: If there is no such file, or it cannot be read.
    """
    if chart in SHIPPED:
        file = resources.files("solvent.games.football") / "charts" / f"{chart}.csv"
        return read_csv(file.read_bytes(), f"{chart}.csv")
    if isinstance(chart, str) and not Path(chart).suffix:
        near = nearest(chart, SHIPPED)
        raise ChartError(
            f"no chart {shown(chart)}; charts are {', '.join(SHIPPED)}, and .csv files"
            + (f". Did you mean {near!r}?" if near else "")
        )
    check_suffix(chart)
    with open_file(Path(chart)) as opened:
        content = opened.read(LARGEST_FILE + 1)
    return read_csv(content, str(chart))


def as_chart(chart: object, name: str = "chart") -> Chart:
    """Return the chart of an argument: a chart, the name of a shipped one, or a path.

    Args:
        chart: The argument.
        name: The parameter's, for messages.

    Raises:
        ValueError: If it is none of these, or the file is not a chart.
        OSError: If there is no such file, or it cannot be read.
    """
    if isinstance(chart, Chart):
        return chart
    if not isinstance(chart, (str, Path)):
        raise ValueError(
            f"{name} is {shown(chart)}; allowed are names of shipped charts, paths of files, and "
            f"charts"
        )
    return load_chart(chart)


def check_suffix(path: str | Path) -> None:
    """Raise unless a file's name ends in ``.csv``.

    Raises:
        ChartError: If it ends in anything else.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        return
    convert = (
        "; release 0.2 converts JSON with `solvent chart check FILE.json --out FILE.csv`"
        if suffix == ".json"
        else ""
    )
    raise ChartError(f"{path}: charts are read and written as .csv, not {suffix!r}{convert}")


def csv_text(chart: Chart) -> str:
    """The chart as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([f"# name: {chart.name}"])
    if chart.source:
        writer.writerow([f"# source: {chart.source}"])
    writer.writerow([f"# size: {chart.plays} x {chart.defences}"])
    writer.writerow(["defence", *headings(chart.plays)])
    columns = chart.columns.values()
    for row, letter in enumerate(chart.letters):
        writer.writerow([letter, *(cell_text(column[row]) for column in columns)])
    return text.getvalue()


def read_csv(content: bytes, file: str) -> Chart:
    """Read a chart from the bytes of a CSV file; `file` names it in messages.

    Raises:
        ChartError: If it is not a chart.
    """
    remarks: dict[str, str] = {}
    expected: tuple[str, ...] = ()
    rows: dict[str, list[Cell]] = {}
    letters = ""
    for number, fields in _lines(_decoded(content, file), file):
        line = f"{file}, line {number}"
        if not expected and fields[0].startswith("#"):
            # A spreadsheet pads remarks to the width of the table.
            while not fields[-1]:
                fields.pop()
            key, _, value = ",".join(fields)[1:].partition(":")
            remarks[key.strip().lower()] = value.strip()
        elif not expected:
            plays, defences = _size(remarks, file)
            expected, letters = headings(plays), ascii_uppercase[:defences]
            _check_headings(fields, expected, line)
        else:
            letter, *cells = (field.strip() for field in fields)
            letter = letter.upper()
            place = f"{file}, row {letter if len(letter) < 10 else reprlib.repr(letter)} "
            place += f"(line {number})"
            if letter not in tuple(letters):
                raise ChartError(
                    f"{place}: there is no defence {reprlib.repr(letter)}; "
                    f"the {len(letters)} defences are {letters}"
                )
            if letter in rows:
                raise ChartError(f"{place}: there is a row {letter} already")
            rows[letter] = _row(cells, expected, place)
    if not expected:
        raise ChartError(f"{file}: no table; its first line would be 'defence,1,2,...,Q,P'")
    for letter in letters:
        if letter not in rows:
            raise ChartError(f"{file}: no row {letter}; {len(letters)} defences are expected")
    *columns, quick_kick, punt = zip(*(rows[letter] for letter in letters), strict=True)
    name, source = remarks.get("name") or Path(file).stem, remarks.get("source", "")
    try:
        return Chart(name, tuple(columns), quick_kick, punt, source)
    except ChartError as error:
        raise ChartError(f"{file}: {error}") from error


def _decoded(content: bytes, file: str) -> str:
    """The text of a file."""
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


def _lines(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        # Line by line, so that a stray quote cannot swallow the lines after it.
        try:
            fields = next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            raise ChartError(f"{file}, line {number}: not CSV ({error})") from error
        if any(field.strip() for field in fields):
            yield number, fields


def _size(remarks: Mapping[str, str], file: str) -> tuple[int, int]:
    """The plays and defences that a file states."""
    if "size" not in remarks:
        return USUAL_SIZE
    match = _SIZE.fullmatch(remarks["size"])
    plays, defences = map(int, match.groups()) if match else (0, 0)
    if not (1 <= plays <= MOST_PLAYS and 1 <= defences <= MOST_DEFENCES):
        raise ChartError(
            f"{file}: the size is {reprlib.repr(remarks['size'])}; write plays x defences, as in "
            f"'# size: 9 x 6', at most {MOST_PLAYS} x {MOST_DEFENCES}"
        )
    return plays, defences


def _check_headings(fields: list[str], expected: tuple[str, ...], line: str) -> None:
    """Check the line of headings."""
    first, *found = (field.strip() for field in fields)
    if first.lower() != "defence":
        raise ChartError(
            f"{line}: a chart begins with 'defence,1,2,...,Q,P'; "
            f"found {reprlib.repr(','.join([first, *found]))}"
        )
    if len(found) != len(expected):
        raise ChartError(
            f"{line}: {len(found)} columns; expected are {len(expected)}: plays 1 to "
            f"{len(expected) - 2}, Q and P (a chart of another size states it, as in "
            f"'# size: 9 x 6')"
        )
    for number, (heading, wanted) in enumerate(zip(found, expected, strict=True), 1):
        if heading.upper() != wanted:
            raise ChartError(
                f"{line}: the heading of column {number} is {reprlib.repr(heading)}; "
                f"expected is {wanted!r}"
            )


def _row(cells: list[str], expected: tuple[str, ...], place: str) -> list[Cell]:
    """The cells of a defence."""
    if len(cells) != len(expected):
        missing = expected[len(cells) :]
        raise ChartError(
            f"{place}: {len(cells)} cells where {len(expected)} are expected"
            + "".join(f"; column {heading} is missing" for heading in missing[:1])
        )
    read = []
    for cell, heading in zip(cells, expected, strict=True):
        try:
            read.append(checked_cell(parse_cell(cell), heading))
        except ValueError as error:
            raise ChartError(f"{place}, column {heading}: {error}") from error
    return read
