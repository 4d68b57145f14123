"""A map of numbers over two fields, drawn here and not by a script in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from types import MappingProxyType

import numpy as np

from solvent.model.arrays import Bools, Floats
from solvent.model.text import exact
from solvent.report.colours import VIRIDIS, shade
from solvent.report.panel import bar, hatching, keys
from solvent.report.state_map import ROW, StateMap, axes, field_text

WIDE, HIGH = 440, 360
"""Most room for the cells, in pixels of the picture."""

LARGEST, SIGNED = 44.0, 13.0
"""The largest cell, and the smallest in which a sign can be read."""

LETTER = 7
BELOW, LEGEND = 40, 40

END_COLOUR = "#d3d9de"
"""The colour of a state in which the episode ends, which has no value; no quantity has it."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The contents of a map.

    Attributes:
        across: The field along the columns.
        up: The field along the rows; empty if there is one row only.
        columns: The values of `across`.
        rows: The values of `up`, from the bottom, but rows of a board from the top.
        value: [R, C] the numbers, NaN where there is none.
        ends: [R, C] whether the episode ends there; the number is then the reward for it.
        signs: Short texts on the cells, by row and column.
    """

    across: str
    up: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    value: Floats
    ends: Bools
    signs: Mapping[tuple[int, int], str]

    @property
    def from_top(self) -> bool:
        """Return whether the first row is the top one, as on a board."""
        return self.up == ROW


def slice_cells(
    found: StateMap,
    value: Floats,
    across: int | None = None,
    up: int | None = None,
    fixed: Mapping[int, int] = MappingProxyType({}),
) -> tuple[Cells, dict[int, int]]:
    """A slice of a map: two fields vary, the others are fixed.

    Args:
        found: The map.
        value: [C] the number of each of its cells.
        across: The field along the columns; the map's first choice, if left out.
        up: The field along the rows; the map's first choice, if left out.
        fixed: The number of the value of some of the others; in the rest it is that of the slice
            with most cells.

    Returns:
        The slice, and the numbers of the values of all fields that are fixed.
    """
    begin = axes(found)
    across = begin[0] if across is None else across
    up = begin[-1] if up is None else up
    told = found.fields
    others = [n for n in range(len(told)) if n not in (across, up)]
    inside = np.ones(len(found.value), bool)
    chosen: dict[int, int] = {}
    for n in sorted(others, key=lambda n: n not in fixed):
        if n in fixed:
            chosen[n] = fixed[n]
        elif inside.any():
            # The value that most of the cells have, of those with a start if there are any.
            begins = inside & found.start
            places = told[n].place[begins if begins.any() else inside]
            chosen[n] = int(np.bincount(places).argmax())
        inside &= told[n].place == chosen.get(n, 0)
    one_row = across == up
    rows = ("",) if one_row else tuple(map(field_text, told[up].values))
    columns = tuple(map(field_text, told[across].values))
    grid = np.full((len(rows), len(columns)), np.nan)
    ends = np.zeros(grid.shape, bool)
    at = np.flatnonzero(inside)
    where = 0 if one_row else told[up].place[at], told[across].place[at]
    grid[where], ends[where] = value[at], at >= len(found.states)
    cells = Cells(
        told[across].name,
        "" if one_row else told[up].name,
        columns,
        rows,
        grid,
        ends,
        {},
    )
    return cells, chosen


def drawn(cells: Cells, title: str, low: float, high: float) -> str:
    """Return the map as SVG.

    Args:
        cells: The contents of the map; ends have a colour apart from the scale.
        title: The name of the numbers.
        low: The number with the darkest colour.
        high: The number with the brightest colour.
    """
    rows, columns = cells.value.shape
    longest = max(len(text[:16]) for text in cells.rows)
    left = 12 if not cells.up else 30 + LETTER * longest
    wide = min(LARGEST, (WIDE - left) / columns)
    tall = min(LARGEST, HIGH / rows, 4 * wide)
    wide = min(wide, 4 * tall)
    top, room, depth = 6, columns * wide, rows * tall
    width, height = left + room + 14, top + depth + BELOW + LEGEND
    width = max(width, left + 180)
    parts = [f'<g transform="translate({left} {top})">{hatching(0, 0, room, depth)}</g>']
    for row, column in np.argwhere(np.isfinite(cells.value) | cells.ends).tolist():
        line = row if cells.from_top else rows - 1 - row
        share = (cells.value[row, column] - low) / (high - low or 1.0)
        corner = left + column * wide, top + line * tall
        parts.append(_cell_drawn(cells, (row, column), share, corner, (wide, tall)))
    parts += _axis_texts(cells, left, top, wide, tall)
    middle = left + max(room, 120) / 2
    ends = {low: 0.0, high: 120.0} if high > low else {low: 0.0}
    parts.append(
        bar(
            [shade(VIRIDIS, n / 23) for n in range(24)], ends, middle - 60, top + depth + BELOW, 120
        )
    )
    if cells.ends.any():
        key = "the end, with its reward"
        parts.append(keys([key], [END_COLOUR], left, height, LETTER * len(key)))
        height += 18
    return (
        f'<svg class="chart map cells" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'style="max-width: {width:.0f}px"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _cell_drawn(
    cells: Cells,
    place: tuple[int, int],
    share: float,
    corner: tuple[float, float],
    size: tuple[float, float],
) -> str:
    """A cell with its sign: its colour is that of the share on the scale, unless it is an end."""
    (row, column), (x, y), (wide, tall) = place, corner, size
    number = float(cells.value[place])
    sign, colour = cells.signs.get(place, ""), shade(VIRIDIS, share)
    ink, told = "#000" if share > 0.55 else "#fff", exact(number)
    if cells.ends[place]:
        sign = f"{number:g}".replace("-", "−") if isfinite(number) else ""
        colour, ink, told = END_COLOUR, "#000", f"the end{sign and ', reward '}{sign}"
    where = f"{cells.across} {cells.columns[column]}"
    where += f", {cells.up} {cells.rows[row]}" if cells.up else ""
    rect = (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide + 0.2:.2f}" height="{tall + 0.2:.2f}" '
        f'fill="{colour}"><title>{escape(where)}: {told}</title></rect>'
    )
    if not sign or min(size) < SIGNED:
        return rect
    tall_as = min(min(size) * 0.6, 20, 1.5 * wide / len(sign))
    return rect + (
        f'<text x="{x + wide / 2:.1f}" y="{y + tall / 2 + tall_as * 0.35:.1f}" '
        f'text-anchor="middle" pointer-events="none" '
        f'style="fill: {ink}; font-size: {tall_as:.1f}px">{escape(sign)}</text>'
    )


def _axis_texts(cells: Cells, left: float, top: float, wide: float, tall: float) -> list[str]:
    """The names and some of the values of both fields."""
    rows, columns = cells.value.shape
    bottom = top + rows * tall
    every = _step(wide, LETTER * max(len(text[:16]) for text in cells.columns) + 8)
    texts = [
        f'<text x="{left + (n + 0.5) * wide:.1f}" y="{bottom + 14:.1f}" text-anchor="middle">'
        f"{escape(cells.columns[n][:16])}</text>"
        for n in range(0, columns, every)
    ]
    texts.append(
        f'<text x="{left + columns * wide / 2:.1f}" y="{bottom + 30:.1f}" text-anchor="middle">'
        f"{escape(cells.across)}</text>"
    )
    if cells.up:
        for n in range(0, rows, _step(tall, 15)):
            line = n if cells.from_top else rows - 1 - n
            texts.append(
                f'<text x="{left - 5}" y="{top + (line + 0.5) * tall + 4:.1f}" text-anchor="end">'
                f"{escape(cells.rows[n][:16])}</text>"
            )
        texts.append(
            f'<text transform="translate(12 {top + rows * tall / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escape(cells.up)}</text>'
        )
    return texts


def _step(size: float, room: float) -> int:
    """Every how many-th value of an axis is written, for each to have room."""
    return next((k for k in (1, 2, 5, 10, 20, 25, 50, 100) if k * size >= room), 200)


def span_of(values: Sequence[Floats]) -> tuple[float, float]:
    """Return the least and the largest finite number of several maps, for comparable colours.

    Args:
        values: The numbers of each map.
    """
    all_of = np.concatenate([np.ravel(one) for one in values])
    finite = all_of[np.isfinite(all_of)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
