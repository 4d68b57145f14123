"""Maps over time and score: the time left from left to right, the lead from bottom to top."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from solvent.games.football_clock.clock import ClockRules
from solvent.games.football_clock.solution import NEGLIGIBLE
from solvent.model.arrays import Floats, Ints
from solvent.report.colours import CIVIDIS, shade
from solvent.report.panel import Axis, bar, keys, runs
from solvent.report.sections import script_json, templates

LARGEST_LEAD = 21
"""Larger leads are not drawn."""
LEVELS = 40
"""Steps of the colours of chances and gains."""
STEP = 1e-4
"""Numbers are given to the script in units of this."""
UNKNOWN = -32768

FRAME = {"left": 46, "top": 26, "wide": 396, "high": 216}
"""The rectangle of the cells."""
LEFT, TOP, WIDE, HIGH = FRAME.values()

Told = Mapping[str, Floats]
"""Chances [T, leads] by name, NaN where unknown, shown for the cell that is pointed at."""


class Clock(NamedTuple):
    """The cells of a map: [T, leads]; entry t has t + 1 ticks left, entry l the lead l - `lead`.

    Attributes:
        ticks: T, how many ticks are left at the left edge; there is a column for each, and none
            for no time left.
        rules: The numbers of the clock.
        lead: The largest that is drawn.
    """

    ticks: int
    rules: ClockRules
    lead: int

    @property
    def shape(self) -> tuple[int, int]:
        """[T, leads]."""
        return self.ticks, 2 * self.lead + 1


def filled(name: str, *arguments: Any, **named: Any) -> str:
    """Return a macro of `clock.html.j2` as text."""
    module = templates(__package__).get_template("clock.html.j2").module
    return str(getattr(module, name)(*arguments, **named))


def ways_map(
    title: str, clock: Clock, level: Ints, colours: Sequence[str], legend: str, told: Told
) -> str:
    """Return a map over time and lead as a part of a page.

    Args:
        title: Title of the map.
        clock: Cells of the map.
        level: [T, leads] the number of the colour of a cell, -1 for none.
        colours: Colours, by number.
        legend: Legend below the map.
        told: Values shown for the cell that is pointed at.
    """
    numbers = np.stack([*told.values()]) / STEP
    packed = np.nan_to_num(np.round(numbers), nan=UNKNOWN).astype("<i2").tobytes()
    data = {
        "shape": clock.shape,
        "lead": clock.lead,
        "tick": clock.rules.tick,
        "step": STEP,
        "unknown": UNKNOWN,
        "names": [*told],
        "frame": FRAME,
        "numbers": base64.b64encode(packed).decode(),
    }
    leads = range(-clock.lead, clock.lead + 1)
    signed = {lead + clock.lead: f"{lead:+d}" if lead else "0" for lead in leads if lead % 7 == 0}
    return filled(
        "map",
        title,
        **FRAME,
        strokes=[(colours[n], path) for n, path in sorted(runs(level[::-1]).items()) if n >= 0],
        across=WIDE / clock.ticks,
        up=HIGH / clock.shape[1],
        times={ticks: clock.rules.text(ticks) for ticks in _round_times(clock)},
        leads={row: lead.replace("-", "\u2212") for row, lead in signed.items()},
        legend=legend,
        data=script_json(data),
    )


def named_ways(names: Sequence[str], colours: Sequence[str]) -> str:
    """Return the legend of named colours."""
    return keys(names, colours, LEFT, TOP + HIGH + 50, WIDE)


def shaded_map(
    title: str,
    clock: Clock,
    numbers: Floats,
    scale: tuple[str, ...],
    ends: tuple[float, float],
    told: Told,
) -> str:
    """Return a map of numbers between two ends, NaN where there is none."""
    axis = Axis(*ends)
    share = np.clip((numbers - axis.low) / (axis.high - axis.low), 0, 1)
    level = np.minimum(np.nan_to_num(share * LEVELS, nan=-1).astype(np.int64), LEVELS - 1)
    level[np.isnan(numbers)] = -1
    colours = [shade(scale, n / (LEVELS - 1)) for n in range(LEVELS)]
    places = {n: axis.share(n) * WIDE for n in axis.ticks()}
    legend = bar(colours, places, LEFT, TOP + HIGH + 46, WIDE)
    return ways_map(title, clock, level, colours, legend, told)


def gain_map(
    title: str, clock: Clock, gain: Floats, told: Told, largest: float | None = None
) -> str:
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


def _round_times(clock: Clock) -> list[int]:
    """Ticks left at round times, some six of them."""
    rough = clock.ticks * clock.rules.tick / 6
    steps = (15, 30, 60, 120, 300, 600)
    step = max(min(steps, key=lambda step: abs(step - rough)), clock.rules.tick)
    return list(range(0, clock.ticks + 1, max(1, step // clock.rules.tick)))
