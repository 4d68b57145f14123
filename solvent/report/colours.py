"""Colours that all readers can tell apart, on paper too.

Algorithms have the colours of M. Okabe and K. Ito, "Color Universal Design" (2008), and a shape
each. Quantities have viridis and cividis (S. van der Walt and N. Smith 2015; J. R. Nuñez,
C. R. Anderton and R. S. Renslow 2018), which are even in lightness; they are interpolated here
between nine of their colours.
"""

from __future__ import annotations

from itertools import pairwise

ALGORITHMS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

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
