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
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from string import ascii_uppercase

from solvent.games.football.chart import (
    Cell,
    Chart,
    ChartError,
    cell_text,
    headings,
    parse_cell,
)
from solvent.model.files import open_file
from solvent.model.parameters import brief, nearest, shown

SHIPPED = ("standard", "cautious", "aerial", "dice")
"""The names of the charts that come with the package."""

LARGEST_FILE = 1_000_000
"""Bytes; a chart of 99 plays against 26 defences takes far less."""

USUAL_SIZE = "20 x 10"
"""Plays and defences of a file that does not state its size."""

_SIZE = re.compile(r"([1-9]\d?)\s*[x×]\s*([1-9]|1\d|2[0-6])", re.ASCII)


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
        name: The parameter's name, for messages.

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
    remarks, table = _remarks_and_table(content, file)
    match = _SIZE.fullmatch(size := remarks.get("size", USUAL_SIZE))
    if match is None:
        raise ChartError(
            f"{file}: the size is {shown(size)}; write plays x defences, as in '# size: 9 x 6', "
            f"at most 99 x 26"
        )
    expected, letters = headings(int(match[1])), ascii_uppercase[: int(match[2])]
    number, found = next(table, (1, []))
    if [heading.upper() for heading in found] != ["DEFENCE", *expected]:
        raise ChartError(
            f"{file}, line {number}: a chart of {size} begins with 'defence,1,2,...,Q,P' (one of "
            f"another size than 20 x 10 states it); found {shown(','.join(found))}"
        )
    rows: dict[str, list[Cell]] = {}
    for number, (letter, *cells) in table:
        letter = letter.upper()
        place = f"{file}, row {brief(letter, 10)} (line {number})"
        if letter not in tuple(letters) or letter in rows:
            raise ChartError(f"{place}: the rows are {letters}, each once")
        if len(cells) != len(expected):
            raise ChartError(f"{place}: {len(cells)} cells where {len(expected)} are expected")
        rows[letter] = []
        for cell, heading in zip(cells, expected, strict=True):
            try:
                rows[letter].append(parse_cell(cell))
            except ValueError as error:
                raise ChartError(f"{place}, column {heading}: {error}") from error
    if missing := set(letters) - set(rows):
        raise ChartError(f"{file}: no row {min(missing)}; the rows are {letters}")
    *columns, quick_kick, punt = zip(*(rows[letter] for letter in letters), strict=True)
    name, source = remarks.get("name") or Path(file).stem, remarks.get("source", "")
    try:
        return Chart(name, tuple(columns), quick_kick, punt, source)
    except ChartError as error:
        raise ChartError(f"{file}: {error}") from error


def _remarks_and_table(
    content: bytes, file: str
) -> tuple[dict[str, str], Iterator[tuple[int, list[str]]]]:
    """The remarks at the top of a file by name, and the other lines with their numbers."""
    if len(content) > LARGEST_FILE:
        raise ChartError(f"{file}: larger than {LARGEST_FILE} bytes; that is no chart")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ChartError(f"{file}: not UTF-8 text; save it as such") from error
    remarks: dict[str, str] = {}
    table: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        # Line by line, so that a stray quote cannot swallow the lines after it.
        try:
            fields = next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            raise ChartError(f"{file}, line {number}: not CSV ({error})") from error
        if not table and fields and fields[0].startswith("#"):
            # A spreadsheet pads remarks to the width of the table.
            while not fields[-1]:
                fields.pop()
            key, _, value = ",".join(fields)[1:].partition(":")
            remarks[key.strip().lower()] = value.strip()
        elif any(field.strip() for field in fields):
            table.append((number, [field.strip() for field in fields]))
    return remarks, iter(table)
