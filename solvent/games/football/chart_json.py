"""Chart files as JSON, for programs.

The same table as in the CSV. A cell is a text as there, or an object of codes and their
probabilities, which must sum to 1::

    {
        "format": "solvent-chart",
        "version": 1,
        "name": "tiny",
        "source": "",
        "plays": 2,
        "defences": 2,
        "columns": ["1", "2", "Q", "P"],
        "rows": {
            "A": ["-1", "4", "punt33", "punt41r5"],
            "B": ["3", {"inc": "3/4", "20": "1/4"}, "punt36", "punt40"],
        },
    }
"""

from __future__ import annotations

import json
import re
import reprlib
from collections import Counter
from fractions import Fraction
from typing import Any

from solvent.games.football.chart import Cell, Chart, ChartError, cell_text, headings, parse_cell
from solvent.games.football.chart_table import (
    Row,
    assemble,
    check_headings,
    checked_size,
    decoded,
    short,
)
from solvent.games.football.results import parse_result
from solvent.model.parameters import shown

_PROBABILITY = re.compile(r"\d{1,9}|\d{1,9}/\d{1,9}|\d?\.\d{1,9}", re.ASCII)
_KEYS = {"format", "version", "name", "source", "plays", "defences", "columns", "rows"}


def json_text(chart: Chart) -> str:
    """The chart as JSON, a line per row."""
    columns = chart.columns.values()
    head = {
        "format": "solvent-chart",
        "version": 1,
        "name": chart.name,
        "source": chart.source,
        "plays": chart.plays,
        "defences": chart.defences,
        "columns": headings(chart.plays),
    }
    rows = (
        f'  "{letter}": {json.dumps([_cell_content(column[row]) for column in columns])}'
        for row, letter in enumerate(chart.letters)
    )
    lines = [f'"{key}": {json.dumps(value)}' for key, value in head.items()]
    return "{" + ",\n".join([*lines, '"rows": {\n' + ",\n".join(rows)]) + "\n}}\n"


def _cell_content(cell: Cell) -> str | dict[str, str]:
    if len(cell) == 1:
        return cell_text(cell)
    return {result.code: str(probability) for probability, result in cell}


def read_json(content: bytes, file: str) -> Chart:
    """Read a chart from the bytes of a JSON file; `file` names it in messages.

    Raises:
        ChartError: If it is not a chart.
    """
    text = decoded(content, file)
    try:
        # Decimals stay text, so that 0.1 is one tenth.
        table = json.loads(text, object_pairs_hook=_without_repeats, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise ChartError(f"{file}: not JSON ({error})") from error
    if not isinstance(table, dict) or table.get("format") != "solvent-chart":
        raise ChartError(f'{file}: not a chart; it would say "format": "solvent-chart"')
    if table.get("version") != 1:
        raise ChartError(
            f"{file}: version {shown(table.get('version'))}; this program reads version 1"
        )
    if set(table) != _KEYS:
        different = ", ".join(map(short, sorted(set(table) ^ _KEYS)))
        raise ChartError(f"{file}: keys missing or unknown: {different}")
    size = checked_size(table["plays"], table["defences"], file)
    columns, rows = table["columns"], table["rows"]
    if not isinstance(columns, list) or not isinstance(rows, dict):
        raise ChartError(f'{file}: "columns" is a list and "rows" an object of lists')
    for key in ("name", "source"):
        if not isinstance(table[key], str):
            raise ChartError(f"{file}: {key} is {reprlib.repr(table[key])}; it must be text")
    check_headings(columns, size, file)
    for letter, cells in rows.items():
        if not isinstance(cells, list):
            raise ChartError(f"{file}: row {short(letter)} is not a list")
    listed = [Row(f"row {short(letter)}", letter, cells) for letter, cells in rows.items()]
    return assemble(file, table["name"], table["source"], size, listed, _parse_cell)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        count = Counter(key for key, _ in pairs)
        repeated = next(key for key in count if count[key] > 1)
        raise ValueError(f"{shown(repeated)} stands there twice")
    return table


def _parse_cell(cell: Any) -> Cell:
    if isinstance(cell, str):
        return parse_cell(cell)
    if not isinstance(cell, dict):
        raise ValueError(f"a cell is a text or an object of codes, not {reprlib.repr(cell)}")
    return tuple((_probability(value), parse_result(code)) for code, value in cell.items())


def _probability(value: Any) -> Fraction:
    # Matched before it is read: Fraction("1e999999999") would try to be that number.
    if not isinstance(value, bool) and _PROBABILITY.fullmatch(str(value)):
        try:
            return Fraction(str(value))
        except ZeroDivisionError:
            pass
    raise ValueError(f"probability {reprlib.repr(value)}; write it as in '1/36'")
