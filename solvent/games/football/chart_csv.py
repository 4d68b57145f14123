"""Chart files as CSV, the way one would copy a printed chart.

A row per defence, a column per play, then ``Q`` (quick kick) and ``P`` (punt); cells as
:func:`~solvent.games.football.chart.parse_cell` reads them. Lines that begin with ``#`` come
first; ``name``, ``source`` and ``size`` are read, others are remarks. A chart that is not 20 x 10
must state its size::

    # name: tiny
    # size: 2 x 2
    defence, 1, 2, Q, P
    A, -1, 4, punt33, punt41r5
    B, 3, inc * 3 | 20 * 1, punt36, punt40
"""

from __future__ import annotations

import csv
import io
import re
import reprlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from solvent.games.football.chart import Chart, ChartError, cell_text, headings, parse_cell
from solvent.games.football.chart_table import (
    Row,
    assemble,
    check_headings,
    checked_size,
    decoded,
    short,
)

USUAL_SIZE = (20, 10)
"""Plays and defences of a file that does not state its size."""

_SIZE = re.compile(r"(\d{1,3})\s*[x×]\s*(\d{1,3})", re.ASCII)


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
    lines = _lines(decoded(content, file), file)
    remarks: dict[str, str] = {}
    header: tuple[int, list[str]] | None = None
    rows = []
    for number, fields in lines:
        if header is None and fields[0].startswith("#"):
            # A spreadsheet pads remarks to the width of the table.
            while not fields[-1]:
                fields.pop()
            key, _, value = ",".join(fields)[1:].partition(":")
            remarks[key.strip().lower()] = value.strip()
        elif header is None:
            header = number, [field.strip() for field in fields]
        else:
            letter, *cells = (field.strip() for field in fields)
            letter = letter.upper()
            rows.append(Row(f"row {short(letter)} (line {number})", letter, cells))
    if header is None:
        raise ChartError(f"{file}: no table; its first line would be 'defence,1,2,...,Q,P'")
    size = _size(remarks, file)
    line, fields = header
    if fields[0].lower() != "defence":
        raise ChartError(
            f"{file}, line {line}: a chart begins with 'defence,1,2,...,Q,P'; "
            f"found {reprlib.repr(','.join(fields))}"
        )
    check_headings(fields[1:], size, f"{file}, line {line}")
    name = remarks.get("name") or Path(file).stem
    return assemble(file, name, remarks.get("source", ""), size, rows, parse_cell)


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
    if "size" not in remarks:
        return USUAL_SIZE
    match = _SIZE.fullmatch(remarks["size"])
    if match is None:
        raise ChartError(
            f"{file}: the size is {reprlib.repr(remarks['size'])}; write plays x defences, as in "
            "'# size: 9 x 6'"
        )
    return checked_size(int(match[1]), int(match[2]), file)
