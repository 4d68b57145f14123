"""Maps over time and score: the time left from left to right, the lead from bottom to top."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from solvent.games.football_clock.solution import NEGLIGIBLE
from solvent.model.arrays import Floats, Ints
from solvent.report.colours import CIVIDIS, shade
from solvent.report.panel import Axis, bar, keys, runs
from solvent.report.sections import beside, script_json

LARGEST_LEAD = 21
"""Larger leads are not drawn."""
LEVELS = 40
"""Steps of the colours of chances and gains."""
STEP = 1e-4
"""Numbers are given to the script in units of this."""
UNKNOWN = -32768

WIDE, HIGH = 396, 216
LEFT, TOP = 46, 26
WIDTH, HEIGHT = LEFT + WIDE + 18, TOP + HIGH + 84

Named = tuple[str, Floats]
"""A name, and chances [T, leads], NaN where unknown, shown for the cell that is pointed at."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The cells of a map.

    Attributes:
        ticks: T, how many ticks are left at the left edge; there is a column for each, and none
            for no time left.
        tick: Seconds to a tick.
        lead: The largest that is drawn.
    """

    ticks: int
    tick: int
    lead: int

    @property
    def shape(self) -> tuple[int, int]:
        """[T, leads]; entry t has t + 1 ticks left, entry l the lead l - `lead`."""
        return self.ticks, 2 * self.lead + 1

    def time(self, ticks: float) -> str:
        """Minutes and seconds."""
        minutes, seconds = divmod(round(ticks * self.tick), 60)
        return f"{minutes}:{seconds:02}"


@dataclass(frozen=True, eq=False)
class ClockMap:
    """A map over time and lead.

    Attributes:
        title: Title of the map.
        clock: Cells of the map.
        level: [T, leads] the number of the colour of a cell, -1 for none.
        colours: Colours, by number.
        legend: Legend below the map.
        told: Values shown for the cell that is pointed at.
    """

    title: str
    clock: Clock
    level: Ints
    colours: Sequence[str]
    legend: str
    told: Sequence[Named]

    def svg(self) -> str:
        """Return the drawing, with the axes, without the frame."""
        clock = self.clock
        across, up = WIDE / clock.ticks, HIGH / clock.shape[1]
        strokes = "".join(
            f'<path stroke="{self.colours[n]}" d="{path}"/>'
            for n, path in sorted(runs(self.level[::-1]).items())
            if n >= 0
        )
        times = "".join(
            f'<text x="{LEFT + WIDE - ticks * across:.1f}" y="{TOP + HIGH + 15}" '
            f'text-anchor="middle">{clock.time(ticks)}</text>'
            for ticks in _round_times(clock)
        )
        leads = "".join(
            f'<text x="{LEFT - 5}" y="{TOP + HIGH - (lead + clock.lead + 0.5) * up + 4:.1f}" '
            f'text-anchor="end">{_signed(lead)}</text>'
            for lead in range(-clock.lead, clock.lead + 1)
            if lead % 7 == 0
        )
        return (
            f'<text x="{LEFT + WIDE / 2}" y="16" text-anchor="middle" font-weight="600">'
            f"{escape(self.title)}</text>"
            f'<rect x="{LEFT}" y="{TOP}" width="{WIDE}" height="{HIGH}" fill="none" '
            f'class="grid" stroke="#dde2e6"/><g transform="translate({LEFT} {TOP + HIGH}) '
            f'scale({across:.6g} {-up:.6g})" shape-rendering="crispEdges" fill="none">{strokes}</g>'
            f'{times}{leads}<text x="{LEFT + WIDE / 2}" y="{TOP + HIGH + 33}" '
            f'text-anchor="middle">time left</text><text '
            f'transform="translate(13 {TOP + HIGH / 2}) rotate(-90)" text-anchor="middle">'
            f"lead</text>{self.legend}"
        )

    def figure(self) -> str:
        """The map as a part of a page, with what its script tells."""
        numbers = np.stack([numbers for _, numbers in self.told]) / STEP
        packed = np.nan_to_num(np.round(numbers), nan=UNKNOWN).astype("<i2").tobytes()
        data = {
            "shape": self.clock.shape,
            "lead": self.clock.lead,
            "tick": self.clock.tick,
            "step": STEP,
            "unknown": UNKNOWN,
            "names": [name for name, _ in self.told],
            "frame": {"left": LEFT, "top": TOP, "wide": WIDE, "high": HIGH},
            "numbers": base64.b64encode(packed).decode(),
        }
        return (
            f'<figure class="clock-map"><svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'role="img"><title>{escape(self.title)}</title>{self.svg()}</svg>'
            f'<figcaption class="pointed">Point at a cell for its numbers.</figcaption>'
            f'<script type="application/json">{script_json(data)}</script></figure>'
        )


def ways_map(
    title: str,
    clock: Clock,
    way: Ints,
    ways: Sequence[str],
    colours: Sequence[str],
    told: Sequence[Named],
) -> ClockMap:
    """Return a map of the best way, -1 where there is none."""
    legend = keys(ways, colours, LEFT, TOP + HIGH + 50, WIDE)
    return ClockMap(title, clock, way, colours, legend, told)


def shaded_map(
    title: str,
    clock: Clock,
    numbers: Floats,
    scale: tuple[str, ...],
    ends: tuple[float, float],
    told: Sequence[Named],
) -> ClockMap:
    """A map of numbers between two ends, NaN where there is none."""
    low, high = ends
    share = np.clip((numbers - low) / (high - low), 0, 1)
    level = np.minimum(np.nan_to_num(share * LEVELS, nan=-1).astype(np.int64), LEVELS - 1)
    level[np.isnan(numbers)] = -1
    colours = [shade(scale, n / (LEVELS - 1)) for n in range(LEVELS)]
    axis = Axis(low, high)
    places = {n: axis.share(n) * WIDE for n in axis.ticks()}
    legend = bar(colours, places, LEFT, TOP + HIGH + 46, WIDE)
    return ClockMap(title, clock, level, colours, legend, told)


def gain_map(
    title: str, clock: Clock, gain: Floats, told: Sequence[Named], largest: float | None = None
) -> ClockMap:
    """Return a map of gains, white where nothing is gained or nothing is known.

    Args:
        title: Title of the map.
        clock: Cells of the map.
        gain: [T, leads] what is drawn.
        told: Values shown for the cell that is pointed at.
        largest: The gain at the end of the colours; the largest in the map if None.
    """
    shown = np.where(gain > NEGLIGIBLE, gain, np.nan)
    end = float(np.nanmax(shown, initial=0.0)) if largest is None else largest
    return shaded_map(title, clock, shown, CIVIDIS, (0.0, max(end, 1e-6)), told)


def maps_html(maps: Iterable[ClockMap]) -> str:
    """Maps side by side."""
    return f'<div class="panels">{"".join(drawn.figure() for drawn in maps)}</div>'


def script() -> str:
    """Return the script that tells the numbers of the cell that is pointed at."""
    return beside(__file__, "clock_map.js")


def _round_times(clock: Clock) -> list[int]:
    """Ticks left at round times, some six of them."""
    rough = clock.ticks * clock.tick / 6
    steps = (15, 30, 60, 120, 300, 600)
    step = max(min(steps, key=lambda step: abs(step - rough)), clock.tick)
    return list(range(0, clock.ticks + 1, max(1, step // clock.tick)))


def _signed(lead: int) -> str:
    return f"{lead:+d}".replace("-", "\u2212") if lead else "0"
