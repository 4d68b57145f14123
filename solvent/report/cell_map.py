"""Maps of coloured cells with two named axes, and the numbers of the cell that is pointed at."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from solvent.model.arrays import Floats, Ints
from solvent.report.colours import shade
from solvent.report.panel import Axis, bar, keys, runs
from solvent.report.sections import beside, script_json

LEVELS = 40
"""Steps of the colours of a scale."""
UNKNOWN = -32768

WIDE, HIGH = 396, 180
LEFT, TOP = 46, 26
WIDTH, HEIGHT = LEFT + WIDE + 18, TOP + HIGH + 84


@dataclass(frozen=True, eq=False)
class CellMap:
    """A map of X columns and Y rows of cells; row 0 is at the bottom.

    Attributes:
        title: Title of the map.
        level: [X, Y] the number of the colour of a cell, -1 for none.
        colours: Colours, by number.
        legend: Legend below the map, see :func:`solvent.report.panel.keys`.
        axes: Names of the horizontal and the vertical axis.
        labels: Texts of each axis, by the number of the column or row.
        columns: [X] what the script calls each column.
        rows: [Y] what the script calls each row.
        told: [X, Y] numbers by name that the script shows; NaN where there is none.
        digits: Digits that it shows after the point.
    """

    title: str
    level: Ints
    colours: Sequence[str]
    legend: str
    axes: tuple[str, str]
    labels: tuple[Mapping[int, str], Mapping[int, str]]
    columns: Sequence[str] = ()
    rows: Sequence[str] = ()
    told: Mapping[str, Floats] = field(default_factory=dict)
    digits: int = 3

    def svg(self) -> str:
        """Return the drawing without its frame."""
        across, up = WIDE / self.level.shape[0], HIGH / self.level.shape[1]
        strokes = "".join(
            f'<path stroke="{self.colours[n]}" d="{path}"/>'
            for n, path in sorted(runs(self.level).items())
            if n >= 0
        )
        bottom, left = self.labels
        labels = "".join(
            f'<text x="{LEFT + (x + 0.5) * across:.1f}" y="{TOP + HIGH + 15}" '
            f'text-anchor="middle">{escape(text)}</text>'
            for x, text in bottom.items()
        ) + "".join(
            f'<text x="{LEFT - 5}" y="{TOP + HIGH - (y + 0.5) * up + 4:.1f}" text-anchor="end">'
            f"{escape(text)}</text>"
            for y, text in left.items()
        )
        return (
            f'<text x="{LEFT + WIDE / 2}" y="16" text-anchor="middle" font-weight="600">'
            f"{escape(self.title)}</text>"
            f'<rect x="{LEFT}" y="{TOP}" width="{WIDE}" height="{HIGH}" fill="none" class="grid"/>'
            f'<g transform="translate({LEFT} {TOP + HIGH}) scale({across:.6g} {-up:.6g})" '
            f'shape-rendering="crispEdges" fill="none">{strokes}</g>{labels}'
            f'<text x="{LEFT + WIDE / 2}" y="{TOP + HIGH + 33}" text-anchor="middle">'
            f"{escape(self.axes[0])}</text><text "
            f'transform="translate(13 {TOP + HIGH / 2}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.axes[1])}</text>{self.legend}"
        )

    def figure(self) -> str:
        """The map as a part of a page, with the numbers that :func:`map_script` shows."""
        told = np.stack([*self.told.values()]) * 10**self.digits
        packed = np.nan_to_num(np.round(told), nan=UNKNOWN).astype("<i2").tobytes()
        data = {
            "columns": self.columns,
            "rows": self.rows,
            "names": [*self.told],
            "digits": self.digits,
            "unknown": UNKNOWN,
            "frame": {"left": LEFT, "top": TOP, "wide": WIDE, "high": HIGH},
            "numbers": base64.b64encode(packed).decode(),
        }
        return (
            f'<figure class="cell-map"><svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'role="img"><title>{escape(self.title)}</title>{self.svg()}</svg>'
            f'<figcaption class="pointed">Point at a cell for its numbers.</figcaption>'
            f'<script type="application/json">{script_json(data)}</script></figure>'
        )


def map_script() -> str:
    """The script of a page with :meth:`CellMap.figure`."""
    return beside(__file__, "cell_map.js")


def named_legend(names: Sequence[str], colours: Sequence[str]) -> str:
    """The legend of a map whose colours have names."""
    return keys(names, colours, LEFT, TOP + HIGH + 50, WIDE)


def shaded(numbers: Floats, scale: tuple[str, ...], most: float) -> tuple[Ints, list[str], str]:
    """The levels, colours and legend of a map of numbers.

    Args:
        numbers: [X, Y] from 0 to `most`; NaN has no colour.
        scale: A scale of :mod:`solvent.report.colours`.
        most: The number at the end of the scale.
    """
    share = np.nan_to_num(numbers / most, nan=-1.0)
    level = np.minimum((share * LEVELS + 1e-9).astype(np.int64), LEVELS - 1)
    level[share < 0] = -1
    colours = [shade(scale, n / (LEVELS - 1)) for n in range(LEVELS)]
    axis = Axis(0.0, most)
    places = {n: axis.share(n) * WIDE for n in axis.ticks()}
    return level, colours, bar(colours, places, LEFT, TOP + HIGH + 46, WIDE)
