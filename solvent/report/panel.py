"""A chart of lines over two axes, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from solvent.report.axes import Axis
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
