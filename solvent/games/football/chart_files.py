"""Chart files: the shipped charts by name, and charts of one's own as CSV or JSON.

Both formats are exact: a chart written and read again is equal to itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TypeVar

from solvent.games.football.chart import Chart, ChartError
from solvent.games.football.chart_csv import csv_text, read_csv
from solvent.games.football.chart_json import json_text, read_json
from solvent.games.football.chart_table import LARGEST_FILE
from solvent.model.files import open_file
from solvent.model.parameters import nearest, shown

Format = TypeVar("Format")

SHIPPED = ("standard", "cautious", "aerial", "dice")
"""The names of the charts that come with the package."""


def load_chart(chart: str | Path) -> Chart:
    """A shipped chart by name, or a chart from a file.

    Raises:
        ChartError: If the file is not a chart.
        OSError: If there is no such file, or it cannot be read.
    """
    if chart in SHIPPED:
        file = resources.files("solvent.games.football") / "charts" / f"{chart}.csv"
        return read_csv(file.read_bytes(), f"{chart}.csv")
    if isinstance(chart, str) and not Path(chart).suffix:
        near = nearest(chart, SHIPPED)
        raise ChartError(
            f"no chart {shown(chart)}; charts are {', '.join(SHIPPED)}, and files .csv or .json"
            + (f". Did you mean {near!r}?" if near else "")
        )
    return read_chart(chart)


def as_chart(chart: object, name: str = "chart") -> Chart:
    """A chart from what a game is given as one: the chart, the name of a shipped one, or a path.

    Args:
        chart: What is given.
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


def read_chart(path: str | Path) -> Chart:
    """Read a chart from a file, ``.csv`` or ``.json``.

    Raises:
        ChartError: If it is not a chart; the message names the file and the place in it.
        OSError: If the file cannot be read.
    """
    path = Path(path)
    read = _by_suffix(path, {".csv": read_csv, ".json": read_json})
    with open_file(path) as file:
        content = file.read(LARGEST_FILE + 1)
    return read(content, str(path))


def chart_bytes(chart: Chart, path: str | Path) -> bytes:
    """What a file of this name would hold, by its suffix ``.csv`` or ``.json``.

    Raises:
        ChartError: If the suffix is another.
    """
    return _by_suffix(Path(path), {".csv": csv_text, ".json": json_text})(chart).encode()


def _by_suffix(path: Path, formats: Mapping[str, Format]) -> Format:
    suffix = path.suffix.lower()
    if suffix not in formats:
        raise ChartError(f"{path}: charts are read and written as .csv or .json, not {suffix!r}")
    return formats[suffix]
