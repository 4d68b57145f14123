"""Charts as SVG: an axis, a panel of lines over two axes, legends, and maps of cells.

They are drawn by hand. A panel of learning curves is 3 kB of the page, where the SVG that
matplotlib writes of the same curves is 19 kB, or 30 kB with its letters as outlines. Its parts have
classes for the page's style sheet, each line says its name when it is pointed at, and a report
needs no packages of 90 MB, which take a second to import.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from solvent.exact import write_atomically
from solvent.model.arrays import Ints
from solvent.report.numbers import tick

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 42
LABEL = 12
"""Least vertical distance of two labels."""
KEYS = 24
"""Height of the legend below a chart."""
STYLE = (
    "text{fill:#5b6670}polyline{fill:none;stroke-width:1.8;stroke-linejoin:round}"
    ".grid{stroke:#dde2e6}.baseline{stroke:#9aa4ac;stroke-dasharray:5 4}"
)
UNREACHABLE = '<span><i class="swatch absent"></i>cannot be reached</span>'
"""For the legend of a map whose cells that no episode reaches have the class ``absent``."""
KEY_ROOM = 5
"""Room that a colour and the gap before the next take, in letters."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`.

    Attributes:
        low: The number at its beginning.
        high: The number at its end.
        logarithmic: Whether equal steps are equal ratios; then `low` must be positive.
    """

    low: float
    high: float
    logarithmic: bool = False

    def share(self, number: float) -> float:
        """How far along the axis a number stands, within 0..1; outside it, at the nearer end."""
        if self.logarithmic:
            number = max(number, self.low)
            part = math.log(number / self.low) / math.log(self.high / self.low)
        else:
            part = (number - self.low) / (self.high - self.low)
        return min(max(part, 0.0), 1.0)

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers along the axis: powers of ten, or some `about` equal steps."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.log10(self.high) + 1e-9
            return [10.0**power for power in range(first, math.floor(last) + 1)]
        rough = (self.high - self.low) / about
        power = 10.0 ** math.floor(math.log10(rough))
        step = min((m * power for m in (1, 2, 5, 10)), key=lambda step: abs(step - rough))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def decades(numbers: list[float], *, least: float) -> Axis:
    """A logarithmic axis of whole decades around the numbers, none below `least`."""
    positive = [max(number, least) for number in numbers if number > 0] or [least]
    low = math.floor(math.log10(min(positive)) + 1e-9)
    high = math.ceil(math.log10(max(positive)) - 1e-9)
    return Axis(10.0**low, 10.0 ** max(high, low + 1), logarithmic=True)


class Panel:
    """One chart.

    Args:
        title: What it shows.
        quantity: The name of the vertical axis.
        x: The horizontal axis.
        y: The vertical axis.
        along: The name of the horizontal axis.
    """

    def __init__(self, title: str, quantity: str, x: Axis, y: Axis, along: str) -> None:
        self.title, self.quantity, self.x, self.y, self.along = title, quantity, x, y, along
        self.parts: list[str] = []
        self.lowest_label = 0.0

    def level(self, value: float, label: str, kind: str) -> None:
        """A horizontal line with its name; levels are added from the highest to the lowest."""
        height = self._y(value)
        place = max(height - 3, self.lowest_label + LABEL)
        self.lowest_label = place
        self.parts.append(
            f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
            f'y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text class="{kind}" x="{WIDTH - RIGHT - 2}" y="{place:.1f}" '
            f'text-anchor="end">{escape(label)}</text>'
        )

    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str,
        text: str,
        *,
        dashed: bool,
        wide: bool = False,
    ) -> None:
        """A curve; the text shows when it is pointed at."""
        points = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in zip(xs, ys, strict=True))
        kind = "sampled" if dashed else "mode"
        width = ' style="stroke-width:3.2"' if wide else ""
        self.parts.append(
            f'<polyline class="{kind}" stroke="{colour}"{width} points="{points}">'
            f"<title>{escape(text)}</title></polyline>"
        )

    def dots(self, xs: Sequence[float], ys: Sequence[float], colour: str) -> None:
        """Points of one kind."""
        places = "".join(
            f"M{self._x(x):.1f} {self._y(y):.1f}h0" for x, y in zip(xs, ys, strict=True)
        )
        self.parts.append(
            f'<path d="{places}" stroke="{colour}" stroke-width="4" stroke-linecap="round"/>'
        )

    def drawn(self) -> str:
        """The whole chart, as a part of a page."""
        return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{self.inside()}</svg>'

    def inside(self) -> str:
        """What is drawn, without the frame."""
        grid = []
        for number in self.y.ticks():
            height = self._y(number)
            grid.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
                f'y1="{height:.1f}" y2="{height:.1f}"/>'
                f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{tick(number)}</text>'
            )
        for number in self.x.ticks(4):
            place = self._x(number)
            grid.append(
                f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 16}" '
                f'text-anchor="middle">{tick(number)}</text>'
            )
        middle = TOP + (HEIGHT - TOP - BOTTOM) / 2
        return (
            f"<title>{escape(self.title)}</title>{''.join(grid)}{''.join(self.parts)}"
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
            f'text-anchor="middle">{escape(self.along)}</text>'
            f'<text transform="translate(12 {middle}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.quantity)}</text>'
        )

    def _x(self, value: float) -> float:
        return LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)


def side_by_side(title: str, parts: Sequence[str], width: int, height: int) -> str:
    """Parts in rows of two, as an SVG that needs nothing else."""
    rows = -(-len(parts) // 2)
    groups = "".join(
        f'<g transform="translate({n % 2 * width} {n // 2 * height})">{part}</g>'
        for n, part in enumerate(parts)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width} {rows * height}" '
        f'width="{2 * width}" height="{rows * height}" role="img" font-size="12" '
        f'font-family="system-ui, sans-serif"><title>{escape(title)}</title>'
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>{groups}</svg>'
    )


def bar(
    colours: Sequence[str], places: Mapping[float, float], left: float, top: float, wide: float
) -> str:
    """All colours side by side; `places` says how far along a number is written below them."""
    height = 12
    each = wide / len(colours)
    rects = "".join(
        f'<rect x="{left + n * each:.2f}" y="{top}" width="{each + 0.3:.2f}" height="{height}" '
        f'fill="{colour}"/>'
        for n, colour in enumerate(colours)
    )
    labels = "".join(
        f'<text x="{left + along:.1f}" y="{top + height + 14}" text-anchor="middle">{n:.3g}</text>'
        for n, along in places.items()
    )
    return f'<g shape-rendering="crispEdges">{rects}</g>{labels}'


def keys(names: Sequence[str], colours: Sequence[str], left: float, top: float, wide: float) -> str:
    """Named colours; each has room in proportion to the length of its name."""
    lengths = [len(name) + KEY_ROOM for name in names]
    places = left + wide * np.cumsum([0, *lengths[:-1]]) / sum(lengths)
    return "".join(
        f'<rect x="{x:.1f}" y="{top}" width="11" height="11" fill="{colour}"/>'
        f'<text x="{x + 15:.1f}" y="{top + 10}">{escape(name)}</text>'
        for x, name, colour in zip(places, names, colours, strict=True)
    )


def runs(level: Ints) -> dict[int, str]:
    """For each level the path along the middles of its cells; the first index goes along x."""
    paths: dict[int, list[str]] = {}
    for y, row in enumerate(level.T):
        ends = np.flatnonzero(np.append(row[1:] != row[:-1], True)) + 1
        begin = 0
        for end in ends.tolist():
            paths.setdefault(int(row[begin]), []).append(f"M{begin} {y}.5h{end - begin}")
            begin = end
    return {n: "".join(path) for n, path in paths.items()}


def write_pictures(folder: str | Path, pictures: Mapping[str, str]) -> list[Path]:
    """Write SVGs that need nothing else.

    Args:
        folder: Where to.
        pictures: The text of each by the name of its file.

    Returns:
        The files.

    Raises:
        StoreError: If a file cannot be written.
    """
    for name, text in pictures.items():
        write_atomically(Path(folder) / name, (text + "\n").encode())
    return [Path(folder) / name for name in pictures]
