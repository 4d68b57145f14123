"""Colours that all readers can tell apart, on paper too.

Series have the colours of M. Okabe and K. Ito, "Color Universal Design" (2008), and a page five
more of P. Tol, "Colour Schemes" (2021). Algorithms have a shape each besides. Quantities have
viridis and cividis (S. van der Walt and N. Smith 2015; J. R. Nuñez, C. R. Anderton and
R. S. Renslow 2018), which are even in lightness; they are interpolated here between nine of their
colours.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise, product
from typing import NamedTuple
from zlib import crc32

ALGORITHMS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""The colours of self-contained pictures. A page has ``--series-0`` and so on, with a dark mode."""

FURTHER = ("#332288", "#882255", "#999933", "#aa4499", "#666633")
"""Further colours of self-contained pictures, ``--series-6`` and so on."""

SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.8L4.6 3.4H-4.6z",
    "M0 4.8L4.6-3.4H-4.6z",
    "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M0-5.4L1.6-1.6L5.4 0L1.6 1.6L0 5.4L-1.6 1.6L-5.4 0L-1.6-1.6z",
    "M4.8 0L-3.4 4.6V-4.6z",
    "M-4.8 0L3.4 4.6V-4.6z",
    "M-4.2-2.1L-2.1-4.2 0-2.1 2.1-4.2 4.2-2.1 2.1 0 4.2 2.1 2.1 4.2 0 2.1-2.1 4.2-4.2 2.1-2.1 0z",
)
"""Paths around the origin, a little over 8 wide: circle, square, two triangles, cross, star,
two more triangles, diagonal cross."""

BASELINE_SHAPE = "M0-4.4L4.4 0L0 4.4L-4.4 0z"
"""A diamond, which no algorithm has."""


class Mark(NamedTuple):
    """The colour and shape of an algorithm in charts.

    Attributes:
        colour: Colour of its lines and marks, for CSS and SVG.
        shape: Shape of its marks, one of :data:`SHAPES`.
    """

    colour: str
    shape: str


OWN_MARKS = (
    "ppo", "dqn", "maskable_ppo", "masked_dqn", "mirror_descent", "a2c", "trpo", "qr_dqn",
)  # fmt: skip
"""Algorithms with a colour and a shape of their own, in the order of both."""

OTHER_COLOURS = range(len(OWN_MARKS), len(ALGORITHMS) + len(FURTHER))
"""The numbers of the colours that all other algorithms share."""


def algorithm_marks(names: Iterable[str]) -> dict[str, Mark]:
    """Return a colour and a shape for each algorithm, the same on every page.

    Algorithms that are not in :data:`OWN_MARKS` get a pair derived from their name, or the next
    free pair if two names give the same one.

    Args:
        names: The names of all algorithms of a page.
    """
    pairs = {name: (number, number) for number, name in enumerate(OWN_MARKS)}
    others = list(product(OTHER_COLOURS, range(len(SHAPES))))
    for name in sorted(set(names) - set(OWN_MARKS)):
        first = crc32(name.encode()) % len(others)
        order = others[first:] + others[:first]
        pairs[name] = next((p for p in order if p not in pairs.values()), order[0])
    return {
        name: Mark(f"var(--series-{colour})", SHAPES[shape])
        for name, (colour, shape) in pairs.items()
    }


VIRIDIS = (
    "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30",
    "#fde725",
)  # fmt: skip

CIVIDIS = (
    "#00224e", "#1a386f", "#434e6c", "#61646f", "#7d7c78", "#9b9476", "#bcae6c", "#dec958",
    "#fee838",
)  # fmt: skip


def shade(scale: tuple[str, ...], share: float) -> str:
    """The colour of a share within 0..1 on a scale."""
    place = min(max(share, 0.0), 1.0) * (len(scale) - 1)
    below = min(int(place), len(scale) - 2)
    low, high = list(pairwise(scale))[below]
    mixed = (
        round(a + (b - a) * (place - below))
        for a, b in zip(bytes.fromhex(low[1:]), bytes.fromhex(high[1:]), strict=True)
    )
    return "#" + bytes(mixed).hex()
