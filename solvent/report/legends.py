"""Legends of maps and charts: a bar of colours with numbers, or named colours in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

KEY_ROOM = 5
"""Room that a colour and the gap before the next take, in letters."""


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
