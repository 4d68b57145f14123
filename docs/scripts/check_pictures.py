"""Pictures of checks in context: the curves of modified probabilities, and an abacus to read them.

The documentation of OSDL has both ("Resolving Actions"): curves of the modified probability
against the base probability, one for every tenth of a modifier, those of -50%, 0% and 50% wider;
and an abacus that finds the modifier of a circumstance from what 50% becomes in it.

The abacus is extended by a nomogram. Since c m = logit f(p, m) - logit p, three parallel scales do.
The base stands on the left at the height -logit p, upside down, and the probability in context on
the right at the height logit f(p, m). A straight line from one to the other crosses the middle at
half the sum of their heights, which is c m / 2; there the scale has the modifier.
"""

import sys
from pathlib import Path

import numpy as np
from rows_of_two import side_by_side

from solvent.model.arrays import Floats
from solvent.model.context import modified, modifier_between
from solvent.model.text import signed
from solvent.report import panel
from solvent.report.panel import ALGORITHMS, VIRIDIS, Axis, Panel, keys, shade

BASES = (10, 25, 50, 75, 90)
"""Base probabilities, in percent, of the curves against the modifier."""
MODIFIERS = range(-50, 51, 10)
"""Modifiers, in percent, of the curves against the base probability."""
WIDE = (-50, 0, 50)
"""Those whose curves are wider."""

PERCENT = Axis(0.0, 100.0)
MARKS = (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99)
"""Probabilities in percent that the scales of the nomogram have."""
EXAMPLE = (80, -30)
"""The ninja's base probability and modifier, in percent."""
GREY = "#9aa4ac"


def curves_picture() -> str:
    """The modified probability against the modifier, and against the base probability."""
    sizes, bases = np.linspace(-100, 100, 41), np.linspace(0, 100, 51)
    against_modifier = Panel(
        "new probability by modifier",
        "probability in context, %",
        Axis(-100.0, 100.0),
        PERCENT,
        "modifier, %",
    )
    for colour, base in zip(ALGORITHMS, BASES, strict=False):
        against_modifier.line(
            sizes.tolist(), _new(base, sizes), colour, f"base {base}%", dashed=False
        )
    against_base = Panel(
        "new probability by base",
        "probability in context, %",
        PERCENT,
        PERCENT,
        "base probability, %",
    )
    colours = [shade(VIRIDIS, n / len(MODIFIERS)) for n in range(len(MODIFIERS))]
    for colour, size in zip(colours, MODIFIERS, strict=True):
        against_base.line(
            bases.tolist(),
            _new(bases, size),
            colour,
            f"modifier {size:+d}%",
            dashed=False,
            wide=size in WIDE,
        )
    wide = [colours[MODIFIERS.index(size)] for size in WIDE]
    room = panel.WIDTH - panel.LEFT - panel.RIGHT
    top = panel.HEIGHT + 6
    return side_by_side(
        "Probability of success in context",
        [
            against_modifier.inside()
            + keys([f"{b}%" for b in BASES], ALGORITHMS[: len(BASES)], panel.LEFT, top, room),
            against_base.inside()
            + keys([f"modifier {m:+d}%" if m else "0%" for m in WIDE], wide, panel.LEFT, top, room),
        ],
        panel.WIDTH,
        panel.HEIGHT + panel.KEYS,
    )


def abacus_picture() -> str:
    """The modifier that 50% becoming p stands for, and the nomogram of any base and modifier."""
    becomes = np.linspace(2, 98, 97)
    read = Panel(
        "modifier from what 50% becomes",
        "modifier, %",
        PERCENT,
        Axis(-100.0, 100.0),
        "what 50% becomes, %",
    )
    read.line([0, 100], [-50, 50], GREY, "what 50% becomes, less 50%", dashed=False)
    read.line(
        becomes.tolist(),
        (100 * modifier_between(0.5, becomes / 100)).tolist(),
        ALGORITHMS[0],
        "the modifier",
        dashed=False,
        wide=True,
    )
    names = ["the modifier", "what 50% becomes, less 50%"]
    room = panel.WIDTH - panel.LEFT - panel.RIGHT
    legend = keys(names, [ALGORITHMS[0], GREY], panel.LEFT, panel.HEIGHT + 6, room)
    return side_by_side(
        "The abacus of modifiers",
        [read.inside() + legend, nomogram()],
        panel.WIDTH,
        panel.HEIGHT + panel.KEYS,
    )


def nomogram() -> str:
    """Three scales: base probability, modifier, probability in context."""
    left, middle, right = panel.LEFT + 60.0, panel.LEFT + 210.0, panel.LEFT + 360.0
    base, size = EXAMPLE
    new = 100 * modified(base / 100, size / 100)
    scales = [
        _scale(left, "base", [(height(-from_even(n)), f"{n}%") for n in MARKS], "end"),
        _scale(
            middle,
            "modifier",
            [(height(n / 2), signed(f"{n:+d}%") if n else "0%") for n in range(-100, 101, 20)],
            "start",
        ),
        _scale(right, "in context", [(height(from_even(n)), f"{n}%") for n in MARKS], "start"),
    ]
    return (
        f"<title>Nomogram: a straight line from the base through the modifier leads to the "
        f"probability in context</title>{''.join(scales)}"
        f'<path d="M{left} {height(-from_even(base)):.1f}L{right} {height(from_even(new)):.1f}" '
        f'stroke="{ALGORITHMS[1]}" stroke-width="1.8"/>'
        f'<circle cx="{middle}" cy="{height(size / 2):.1f}" r="4" fill="{ALGORITHMS[1]}"/>'
        f'<text x="{middle}" y="{panel.HEIGHT + 16}" text-anchor="middle">'
        f"{base}% with a modifier of {size:+d}%: {new:.0f}%</text>"
    )


def from_even(percent: float) -> float:
    """The modifier, in percent, that leads from 50% to a probability: its place on a scale."""
    return float(100 * modifier_between(0.5, percent / 100))


def height(percent: float) -> float:
    """The height of a modifier on a scale of the nomogram, in pixels from above."""
    share = 0.5 + percent / (2 * from_even(MARKS[-1]))
    return panel.HEIGHT - panel.BOTTOM - share * (panel.HEIGHT - panel.TOP - panel.BOTTOM)


def write_pictures(folder: str | Path) -> list[Path]:
    """Write ``check-curves.svg`` and ``check-abacus.svg``.

    Args:
        folder: Where to.

    Returns:
        The files.

    Raises:
        StoreError: If a file cannot be written.
    """
    pictures = {"check-curves.svg": curves_picture(), "check-abacus.svg": abacus_picture()}
    return panel.write_pictures(folder, pictures)


def _new(base: Floats | float, size: Floats | float) -> list[float]:
    """Probabilities in context, in percent, of bases and modifiers in percent."""
    return [float(p) for p in 100 * modified(np.asarray(base) / 100, np.asarray(size) / 100)]


def _scale(x: float, name: str, marks: list[tuple[float, str]], anchor: str) -> str:
    """A vertical scale with its marks and its name below."""
    toward = -1 if anchor == "end" else 1
    top, bottom = min(y for y, _ in marks), max(y for y, _ in marks)
    written = "".join(
        f'<path d="M{x} {y:.1f}h{4 * toward}" stroke="{GREY}"/>'
        f'<text x="{x + 7 * toward}" y="{y + 3.5:.1f}" font-size="9" text-anchor="{anchor}">'
        f"{text}</text>"
        for y, text in marks
    )
    return (
        f'<path d="M{x} {top:.1f}V{bottom:.1f}" stroke="{GREY}"/>{written}'
        f'<text x="{x}" y="{panel.HEIGHT - 12}" text-anchor="middle">{name}</text>'
    )


if __name__ == "__main__":
    write_pictures(sys.argv[1])
