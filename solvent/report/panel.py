"""Charts as SVG: an axis, a panel of lines over two axes, legends, and maps of cells.

The SVG is written directly. A panel of learning curves takes 3 kB of the page, while matplotlib's
SVG of the same curves takes 19 kB, or 30 kB if text is drawn as paths. The style sheet
of the page applies to the chart, hovering over a line shows the name of the series, and reports do
not depend on a package of 90 MB that takes a second to import.

**Colours** can be distinguished by all readers, on paper too. Series have the colours of
M. Okabe and K. Ito, "Color Universal Design" (2008), and a page five more of P. Tol, "Colour
Schemes" (2021). Each algorithm also has a shape. Quantities have viridis and cividis (S. van
der Walt and N. Smith 2015; J. R. Nuñez, C. R. Anderton and R. S. Renslow 2018), which are even in
lightness; they are interpolated here between nine of their colours.

**Maps** (:class:`CellMap`) are coloured cells with two named axes, and show the numbers of the cell
that is pointed at.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from solvent.exact import write_atomically
from solvent.model.arrays import Floats, Ints
from solvent.model.text import ROUNDING, tick
from solvent.report.sections import beside, script_json

ALGORITHMS: tuple[str, ...] = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
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


# Algorithms with a colour and a shape of their own, in the order of both.
_OWN_MARKS = (
    "ppo", "dqn", "maskable_ppo", "masked_dqn", "mirror_descent", "a2c", "trpo", "qr_dqn",
)  # fmt: skip

# The numbers of the colours that all other algorithms share.
_OTHER_COLOURS = range(len(_OWN_MARKS), len(ALGORITHMS) + len(FURTHER))


def algorithm_marks(names: Iterable[str]) -> dict[str, Mark]:
    """Return a colour and a shape for each algorithm, the same on every page.

    Algorithms without a mark of their own get a pair derived from their name, or the next
    free pair if two names give the same one.

    Args:
        names: The names of all algorithms of a page.
    """
    pairs = {name: (number, number) for number, name in enumerate(_OWN_MARKS)}
    others = list(product(_OTHER_COLOURS, range(len(SHAPES))))
    for name in sorted(set(names) - set(_OWN_MARKS)):
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


WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 42
LABEL = 12
"""Least vertical distance of two labels."""
LETTER = 7.2
"""Width of a letter, about; there is no font to measure. Names of levels are a little smaller."""
# Room between the end of a level and its label, for the line that joins them.
_LEADER = 16
# The share of an axis of gaps from 0 to the first decade; the break is in the middle of it.
_ZERO_LANE = 0.14
# The share of an axis that is a band for an infinite number, with a break in the middle of it.
_LANE = 0.1
# The largest number of decades for which every one has a label.
_MOST_DECADES = 8
KEYS = 24
"""Height of the legend below a chart."""
STYLE = (
    "text{fill:#5b6670}polyline{fill:none;stroke-width:1.8;stroke-linejoin:round}"
    ".grid{stroke:#dde2e6}.baseline{stroke:#9aa4ac;stroke-dasharray:5 4}"
)
LEVELS = (
    "line.optimum{stroke:#00664b;stroke-width:2}text.optimum{fill:#00664b;font-weight:600}"
    "text.baseline{stroke:none}.leader{fill:none;stroke:#9aa4ac}"
    ".break{fill:#f4f6f7}path.break{fill:none;stroke:#5b6670}"
)
"""The rules that :data:`STYLE` lacks for charts with levels or a band of 0."""
# Room that a colour and the gap before the next take, in letters.
_KEY_ROOM = 5


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`.

    Attributes:
        low: The number at its beginning, or after the band of 0 if it has one.
        high: The number at its end.
        logarithmic: Whether equal steps are equal ratios; then `low` must be positive.
        zero: The share of a logarithmic axis, at its beginning, that is a band for the number 0,
            which decades never reach. All that counts as 0, below
            :data:`~solvent.model.text.ROUNDING`, is at the very beginning; nothing else is.
        below: The share of the axis, at its beginning, that is a band for minus infinity.
        above: The share of the axis, at its end, that is a band for infinity.
    """

    low: float
    high: float
    logarithmic: bool = False
    zero: float = 0.0
    below: float = 0.0
    above: float = 0.0

    def share(self, number: float) -> float:
        """Return a number's position along the axis, in 0..1; outside it, the nearer end."""
        if math.isinf(number) and (self.above if number > 0 else self.below):
            return float(number > 0)
        # The position between the bands of infinite numbers.
        part = 0.0
        within = min(max(number, self.low), self.high)
        if not self.logarithmic:
            part = (within - self.low) / (self.high - self.low)
        elif not (self.zero and number < ROUNDING):
            decades = math.log(within / self.low) / math.log(self.high / self.low)
            part = self.zero + (1 - self.zero) * decades
        return self.below + (1 - self.below - self.above) * part

    def ticks(self, about: int = 5) -> list[float]:
        """Numbers along the axis: those with a band of their own, and round ones between them.

        These are powers of ten, or some `about` equal steps.
        """
        if self.logarithmic:
            first, last = math.log10(self.low) - 1e-9, math.log10(self.high) + 1e-9
            powers = range(math.ceil(first), math.floor(last) + 1)
            every = -(-len(powers) // _MOST_DECADES)
            finite = [0.0] * bool(self.zero) + [10.0**power for power in powers[::every]]
        else:
            rough = (self.high - self.low) / about
            power = 10.0 ** math.floor(math.log10(rough))
            step = min((m * power for m in (1, 2, 5, 10)), key=lambda step: abs(step - rough))
            first, last = self.low / step - 1e-9, self.high / step + 1e-9
            finite = [n * step for n in range(math.ceil(first), math.floor(last) + 1)]
        return [*[-math.inf] * bool(self.below), *finite, *[math.inf] * bool(self.above)]


def gap_axis(gaps: Sequence[float], *, unbounded: bool = False) -> Axis:
    """Return an axis for gaps: whole decades around the positive ones, and a band for 0.

    Args:
        gaps: The gaps to draw; those that are not finite have no place.
        unbounded: Whether infinite gaps have a band.
    """
    above = _LANE * (unbounded and math.inf in gaps)
    positive = [gap for gap in gaps if gap >= ROUNDING and math.isfinite(gap)] or [0.1]
    low = math.floor(math.log10(min(positive)) + 1e-9)
    high = math.ceil(math.log10(max(positive)) - 1e-9)
    high = max(high, low + 1)
    return Axis(10.0**low, 10.0**high, logarithmic=True, zero=_ZERO_LANE, above=above)


def value_axis(values: Iterable[float]) -> Axis:
    """Return an axis for finite and infinite values; infinite ones are drawn in a separate band.

    Args:
        values: The values to draw; NaN stands for none.
    """
    drawn = list(values)
    finite = [value for value in drawn if math.isfinite(value)]
    low, high = min(finite), max(finite)
    # Values that are all alike are in the middle of an axis that can be read.
    margin = 0.06 * (high - low if high - low > ROUNDING else 1.0)
    below, above = (_LANE * (end in drawn) for end in (-math.inf, math.inf))
    return Axis(low - margin, high + margin, below=below, above=above)


def spread(places: Sequence[float], low: float, high: float) -> list[float]:
    """Move places at least :data:`LABEL` apart, as near to where they were as order allows.

    Args:
        places: The places, in ascending order.
        low: The lower limit.
        high: The upper limit, if there is room for all.
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + LABEL if moved else low))
    limit = high
    for number in reversed(range(len(moved))):
        moved[number] = min(moved[number], limit)
        limit = moved[number] - LABEL
    return moved


class Panel:
    """One chart.

    Args:
        title: The title of the chart.
        quantity: The name of the vertical axis.
        x: The horizontal axis.
        y: The vertical axis.
        along: The name of the horizontal axis.
    """

    def __init__(self, title: str, quantity: str, x: Axis, y: Axis, along: str) -> None:
        self.title, self.quantity, self.x, self.y, self.along = title, quantity, x, y, along
        self.levels: list[tuple[float, str, str]] = []
        self.parts: list[Callable[[], str]] = []
        self.keys: list[tuple[str, str, str]] = []

    @property
    def right(self) -> float:
        """Room at the right, in which the names of levels are."""
        # The optimum is in bold.
        widths = [len(label) * (1.1 if kind == "optimum" else 1) for _, label, kind in self.levels]
        longest = max(widths, default=0)
        return RIGHT + _LEADER + 0.9 * LETTER * longest if longest else RIGHT

    def key(self, name: str, colour: str, shape: str) -> None:
        """An entry of the legend below the chart: a shape around the origin, and its name."""
        self.keys.append((name, colour, shape))

    def level(self, value: float, label: str, kind: str) -> None:
        """A horizontal line with its name beside it."""
        self.levels.append((value, label, kind))
        self.parts.append(lambda: self._across(value, kind))

    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str,
        text: str,
        *,
        dashed: bool,
        wide: bool = False,
        shape: str = "",
    ) -> None:
        """Draw a curve.

        Args:
            xs: Horizontal coordinates of its points.
            ys: Vertical coordinates of its points.
            colour: Colour of the line.
            text: Text that is shown when the pointer is on it.
            dashed: Whether it is drawn dashed.
            wide: Whether it is wider than other curves.
            shape: A path around the origin, drawn at the last point.
        """

        def drawn() -> str:
            width = ' style="stroke-width:3.2"' if wide else ""
            line = (
                f'<polyline class="{"sampled" if dashed else "mode"}" stroke="{colour}"{width} '
                f'points="{self._points(xs, ys)}">'
                f"<title>{escape(text)}</title></polyline>"
            )
            if not (shape and xs):
                return line
            end = f"translate({self._x(xs[-1]):.1f} {self._y(ys[-1]):.1f})"
            return f'{line}<path class="end" fill="{colour}" transform="{end}" d="{shape}"/>'

        self.parts.append(drawn)

    def band(
        self, xs: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str
    ) -> None:
        """Fill the area between two curves over the same points.

        Args:
            xs: Horizontal coordinates of the points.
            low: Vertical coordinates of the lower curve.
            high: Vertical coordinates of the upper curve.
            colour: Colour of the band, which is translucent.
        """
        around = [*xs, *xs[::-1]], [*high, *low[::-1]]
        self.parts.append(
            lambda: (
                f'<polygon fill="{colour}" fill-opacity=".18" points="{self._points(*around)}"/>'
            )
        )

    def dots(self, xs: Sequence[float], ys: Sequence[float], colour: str) -> None:
        """Points of one kind."""
        self.parts.append(
            lambda: (
                f'<path d="{self._points(xs, ys, "M{:.1f} {:.1f}h0", "")}" stroke="{colour}" '
                f'stroke-width="4" stroke-linecap="round"/>'
            )
        )

    def links(self, xs: Sequence[float], ys: Sequence[float], hrefs: Sequence[str]) -> None:
        """Make points of the chart lead to addresses.

        Args:
            xs: Horizontal coordinates of the points.
            ys: Vertical coordinates of the points.
            hrefs: The address of each.
        """
        self.parts.append(
            lambda: "".join(
                f'<a href="{escape(href)}" tabindex="-1"><circle cx="{self._x(x):.1f}" '
                f'cy="{self._y(y):.1f}" r="7" fill="transparent"/></a>'
                for x, y, href in zip(xs, ys, hrefs, strict=True)
            )
        )

    def drawn(self) -> str:
        """The whole chart, as a part of a page."""
        legend, height = legend_of(self.keys, LEFT, WIDTH, HEIGHT)
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img">'
            f"{self.inside()}{legend}</svg>"
        )

    def alone(self, style: str = STYLE) -> str:
        """Return the whole chart with its legend, as a self-contained SVG.

        Args:
            style: The style sheet of its classes.
        """
        legend, height = legend_of(self.keys, LEFT, WIDTH, HEIGHT)
        return alone(f"{self.inside()}{legend}", WIDTH, height, style)

    def inside(self) -> str:
        """Return the content of the chart, without the frame."""
        right = WIDTH - self.right
        grid = [
            f"{self._across(number, 'optimum' if self.y.zero and not number else 'grid')}"
            f'<text x="{LEFT - 6}" y="{self._y(number) + 4:.1f}" text-anchor="end">'
            f"{tick(number)}</text>"
            for number in self.y.ticks()
        ]
        lanes = (
            (self.y.zero, self.y.low, 0.0),
            (self.y.below, self.y.low, -math.inf),
            (self.y.above, self.y.high, math.inf),
        )
        grid += [
            break_mark(LEFT, (self._y(end) + self._y(beyond)) / 2, right - LEFT, upright=True)
            for band, end, beyond in lanes
            if band
        ]
        for number in self.x.ticks(4):
            # The last number stays within the chart.
            half = LETTER * len(tick(number)) / 2
            place = min(self._x(number), WIDTH - half)
            grid.append(
                f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 16}" '
                f'text-anchor="middle">{tick(number)}</text>'
            )
        middle = TOP + (HEIGHT - TOP - BOTTOM) / 2
        parts = "".join(part() for part in self.parts)
        return (
            f"<title>{escape(self.title)}</title>{''.join(grid)}{parts}{self._names()}"
            f'<text x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 6}" '
            f'text-anchor="middle">{escape(self.along)}</text>'
            f'<text transform="translate(12 {middle}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.quantity)}</text>'
        )

    def _names(self) -> str:
        """The names of the levels, apart from each other, each joined to its line."""
        named = sorted((self._y(value), label, kind) for value, label, kind in self.levels if label)
        heights = [height for height, _, _ in named]
        end, begin = WIDTH - self.right, WIDTH - self.right + _LEADER
        return "".join(
            f'<path class="leader" d="M{end + 2:g} {height:.1f}L{begin - 3:g} {place:.1f}"/>'
            f'<text class="{kind}" x="{begin:g}" y="{place + 4:.1f}">{escape(label)}</text>'
            for (height, label, kind), place in zip(
                named, spread(heights, TOP, HEIGHT - BOTTOM), strict=True
            )
        )

    def _across(self, value: float, kind: str) -> str:
        """A horizontal line at a value."""
        height = f"{self._y(value):.1f}"
        return (
            f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - self.right:g}" y1="{height}" '
            f'y2="{height}"/>'
        )

    def _points(
        self, xs: Sequence[float], ys: Sequence[float], form: str = "{:.1f},{:.1f}", by: str = " "
    ) -> str:
        """Places in the chart, each written in a form."""
        return by.join(form.format(self._x(x), self._y(y)) for x, y in zip(xs, ys, strict=True))

    def _x(self, value: float) -> float:
        return LEFT + self.x.share(value) * (WIDTH - LEFT - self.right)

    def _y(self, value: float) -> float:
        return HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)


def legend_of(
    keys: Sequence[tuple[str, str, str]], left: int, wide: int, top: int
) -> tuple[str, int]:
    """Draw a legend in as many lines as it needs, and return it with the height of its end.

    Args:
        keys: Name, colour and shape of each entry.
        left: Left end of the lines.
        wide: Right end of the lines.
        top: Height of the beginning.
    """
    drawn, x, y = [], float(left), top + KEYS // 2
    for name, colour, shape in keys:
        long = LETTER * (len(name) + 4)
        if x > left and x + long > wide:
            x, y = float(left), y + KEYS // 4 * 3
        drawn.append(
            f'<path fill="{colour}" transform="translate({x + 5:g} {y})" d="{shape}"/>'
            f'<text x="{x + 14:g}" y="{y + 4}">{escape(name)}</text>'
        )
        x += long
    return "".join(drawn), y + KEYS // 2 if drawn else top


def break_mark(x: float, y: float, long: float, *, upright: bool) -> str:
    """Draw the break of an axis: a strip across the chart, and two strokes on the axis.

    Args:
        x: Horizontal coordinate of the end of the strip that is on the axis.
        y: Vertical coordinate of the same end.
        long: Length of the strip, to the right from there, or upwards if not `upright`.
        upright: Whether the axis is upright.
    """
    if upright:
        strip = f'<rect class="break" x="{x}" y="{y - 4:.1f}" width="{long:g}" height="8"/>'
        strokes = "".join(f"M{x - 6} {y + at:.1f}l12-5" for at in (-1, 6))
    else:
        strip = (
            f'<rect class="break" x="{x - 4:.1f}" y="{y - long:g}" width="8" height="{long:g}"/>'
        )
        strokes = "".join(f"M{x + at:.1f} {y + 6:g}l5-12" for at in (-6, 1))
    return f'{strip}<path class="break" d="{strokes}"/>'


def alone(inside: str, width: float, height: float, style: str = STYLE, *, title: str = "") -> str:
    """Return a drawing as a self-contained SVG.

    Args:
        inside: The drawing.
        width: The width in pixels.
        height: The height in pixels.
        style: The style of its classes.
        title: The title, unless the drawing has one inside.
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-size="12" font-family="system-ui, sans-serif">'
        f"{title and f'<title>{escape(title)}</title>'}<style>{escape(style)}</style>"
        f'<rect width="100%" height="100%" fill="#fff"/>{inside}</svg>'
    )


def bar(
    colours: Sequence[str], places: Mapping[float, float], left: float, top: float, wide: float
) -> str:
    """Draw all colours side by side, and below them each number at its share in `places`."""
    height = 12
    each = wide / len(colours)
    rects = "".join(
        f'<rect x="{left + n * each:.2f}" y="{top}" width="{each + 0.3:.2f}" height="{height}" '
        f'fill="{colour}"/>'
        for n, colour in enumerate(colours)
    )
    labels = "".join(
        f'<text x="{left + along:.1f}" y="{top + height + 14}" text-anchor="middle">'
        f"{tick(float(f'{n:.3g}'))}</text>"
        for n, along in places.items()
    )
    return f'<g shape-rendering="crispEdges">{rects}</g>{labels}'


def keys(names: Sequence[str], colours: Sequence[str], left: float, top: float, wide: float) -> str:
    """Named colours; each has room in proportion to the length of its name."""
    lengths = [len(name) + _KEY_ROOM for name in names]
    places = left + wide * np.cumsum([0, *lengths[:-1]]) / sum(lengths)
    return "".join(
        f'<rect x="{x:.1f}" y="{top}" width="11" height="11" fill="{colour}"/>'
        f'<text x="{x + 15:.1f}" y="{top + 10}">{escape(name)}</text>'
        for x, name, colour in zip(places, names, colours, strict=True)
    )


def runs(level: Ints) -> dict[int, str]:
    """Return for each level the path along the middles of its cells; the first index is x."""
    paths: dict[int, list[str]] = {}
    for y, row in enumerate(level.T):
        ends = np.flatnonzero(np.append(row[1:] != row[:-1], True)) + 1
        begin = 0
        for end in ends.tolist():
            paths.setdefault(int(row[begin]), []).append(f"M{begin} {y}.5h{end - begin}")
            begin = end
    return {n: "".join(path) for n, path in paths.items()}


def write_pictures(folder: str | Path, pictures: Mapping[str, str]) -> list[Path]:
    """Write self-contained SVGs.

    Args:
        folder: The folder to write to.
        pictures: The text of each picture by the name of its file.

    Returns:
        The files.

    Raises:
        StoreError: If a file cannot be written.
    """
    for name, text in pictures.items():
        write_atomically(Path(folder) / name, (text + "\n").encode())
    return [Path(folder) / name for name in pictures]


# Steps of the colours of a scale.
_SHADES = 40
UNKNOWN = -32768

WIDE, HIGH = 396, 180
MAP_LEFT, MAP_TOP = 46, 26
MAP_WIDTH, MAP_HEIGHT = MAP_LEFT + WIDE + 18, MAP_TOP + HIGH + 84


@dataclass(frozen=True, eq=False)
class CellMap:
    """A map of X columns and Y rows of cells; row 0 is at the bottom.

    Attributes:
        title: Title of the map.
        level: [X, Y] the number of the colour of a cell, -1 for none.
        colours: Colours, by number.
        legend: Legend below the map, see :func:`keys`.
        axes: Names of the horizontal and the vertical axis.
        labels: Texts of each axis, by the number of the column or row.
        columns: [X] names of the columns for the script.
        rows: [Y] names of the rows for the script.
        told: [X, Y] numbers by name that the script shows; NaN where there is none.
        digits: Number of decimals that the script shows.
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
            f'<text x="{MAP_LEFT + (x + 0.5) * across:.1f}" y="{MAP_TOP + HIGH + 15}" '
            f'text-anchor="middle">{escape(text)}</text>'
            for x, text in bottom.items()
        ) + "".join(
            f'<text x="{MAP_LEFT - 5}" y="{MAP_TOP + HIGH - (y + 0.5) * up + 4:.1f}" '
            f'text-anchor="end">{escape(text)}</text>'
            for y, text in left.items()
        )
        return (
            f'<text x="{MAP_LEFT + WIDE / 2}" y="16" text-anchor="middle" font-weight="600">'
            f"{escape(self.title)}</text>"
            f'<rect x="{MAP_LEFT}" y="{MAP_TOP}" width="{WIDE}" height="{HIGH}" fill="none" '
            f'class="grid"/>'
            f'<g transform="translate({MAP_LEFT} {MAP_TOP + HIGH}) scale({across:.6g} {-up:.6g})" '
            f'shape-rendering="crispEdges" fill="none">{strokes}</g>{labels}'
            f'<text x="{MAP_LEFT + WIDE / 2}" y="{MAP_TOP + HIGH + 33}" text-anchor="middle">'
            f"{escape(self.axes[0])}</text><text "
            f'transform="translate(13 {MAP_TOP + HIGH / 2}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.axes[1])}</text>{self.legend}"
        )

    def figure(self) -> str:
        """The map as a part of a page, with the numbers that :func:`map_script` shows."""
        told = np.stack([*self.told.values()]) * 10**self.digits
        data = {
            "columns": self.columns,
            "rows": self.rows,
            "names": [*self.told],
            "digits": self.digits,
            "unknown": UNKNOWN,
            "frame": {"left": MAP_LEFT, "top": MAP_TOP, "wide": WIDE, "high": HIGH},
            "numbers": np.nan_to_num(np.round(told), nan=UNKNOWN).astype("<i2"),
        }
        return (
            f'<figure class="cell-map"><svg class="chart" viewBox="0 0 {MAP_WIDTH} {MAP_HEIGHT}" '
            f'role="img"><title>{escape(self.title)}</title>{self.svg()}</svg>'
            f'<figcaption class="pointed">Point at a cell for its numbers.</figcaption>'
            f'<script type="application/json">{script_json(data)}</script></figure>'
        )


def map_script() -> str:
    """The script of a page with :meth:`CellMap.figure`."""
    return beside(__file__, "cell_map.js")


def named_legend(names: Sequence[str], colours: Sequence[str]) -> str:
    """The legend of a map whose colours have names."""
    return keys(names, colours, MAP_LEFT, MAP_TOP + HIGH + 50, WIDE)


def shaded(numbers: Floats, scale: tuple[str, ...], most: float) -> tuple[Ints, list[str], str]:
    """The levels, colours and legend of a map of numbers.

    Args:
        numbers: [X, Y] from 0 to `most`; NaN has no colour.
        scale: A scale of this module, viridis or cividis.
        most: The number at the end of the scale.
    """
    share = np.nan_to_num(numbers / most, nan=-1.0)
    level = np.minimum((share * _SHADES + 1e-9).astype(np.int64), _SHADES - 1)
    level[share < 0] = -1
    colours = [shade(scale, n / (_SHADES - 1)) for n in range(_SHADES)]
    axis = Axis(0.0, most)
    places = {n: axis.share(n) * WIDE for n in axis.ticks()}
    return level, colours, bar(colours, places, MAP_LEFT, MAP_TOP + HIGH + 46, WIDE)


def numbered(most: int, zero: str) -> tuple[list[str], str]:
    """The colours and the legend of a map of whole numbers, of which 0 has a colour of its own.

    Args:
        most: The largest number.
        zero: The colour of 0.
    """
    colours = [zero, *(shade(VIRIDIS, n / max(most, 1)) for n in range(1, most + 1))]
    wide = WIDE / len(colours)
    ticks = Axis(0, max(most, 1)).ticks()
    places = {n: (n + 0.5) * wide for n in ticks if n == int(n) and n <= most}
    return colours, bar(colours, places, MAP_LEFT, MAP_TOP + HIGH + 46, WIDE)
