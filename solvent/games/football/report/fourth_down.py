"""The fourth-down map: go, punt or kick, for every place and distance.

On the last down the offence has three ways, each with an exact value: a normal call (the chart's
plays and the quick kick, mixed), declaring punt formation (from which some plays are called as
fakes), and a field goal. The map shows the best, how often a declared punt is a fake, and what the
second best would lose.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from solvent.games.football.situation import Situation, ordinal
from solvent.games.football.solver.solved import SolvedFootball
from solvent.model.arrays import Floats, Ints
from solvent.report.colours import CIVIDIS, VIRIDIS, shade
from solvent.report.panel import Axis, bar, keys, runs
from solvent.report.sections import Section, beside, script_json

WAYS = ("go for it", "quick kick", "punt formation", "field goal")
WAY_COLOURS = ("#0072b2", "#56b4e9", "#e69f00", "#009e73")
GO, QUICK_KICK, PUNT, KICK = range(len(WAYS))

MOST_TO_GO = 30
"""Longer distances are not drawn."""
LEVELS = 40
"""Steps of the colours of chances and losses."""
STEP = 1e-3
"""Points and chances are given to the script in units of this."""
UNKNOWN = -32768

WIDE, HIGH = 396, 180
LEFT, TOP = 46, 26
WIDTH, HEIGHT = LEFT + WIDE + 18, TOP + HIGH + 84


@dataclass(frozen=True, eq=False)
class FourthDowns:
    """The last down everywhere, by yards from the own goal line and yards to go, each from 1.

    Attributes:
        way: [X, Y] the best of :data:`WAYS`, -1 where the goal is nearer than the line to gain;
            a normal call counts as a quick kick where that is at least half of its mixed strategy.
        values: [3, X, Y] of a normal call, punt formation and a field goal; NaN where one is not
            allowed.
        quick_kick: [X, Y] its chance where a normal call is best, else NaN.
        fake: [X, Y] the chance of a fake in punt formation, NaN where that is not best.
        margin: [X, Y] what the second best of the three loses; NaN where there is one way only.
    """

    way: Ints
    values: Floats
    quick_kick: Floats
    fake: Floats
    margin: Floats


def fourth_downs(solved: SolvedFootball) -> FourthDowns:
    """The map of a solved game."""
    rules = solved.rules
    ruleset, plays = rules.ruleset, rules.chart.plays
    shape = ruleset.field - 1, min(MOST_TO_GO, ruleset.field - 1)
    places = [(x, y) for x in range(shape[0]) for y in range(min(shape[1], shape[0] - x))]
    normal, punting = (
        solved.numbers(
            [Situation(ruleset.downs, y + 1, ruleset.field - 1 - x, declared) for x, y in places]
        )
        for declared in (False, True)
    )
    value = solved.calls[0][normal]
    call = np.nanmax(value[:, : plays + 1], axis=1)
    three = np.stack((call, value[:, plays + 2], value[:, plays + 1]))
    ranked = np.sort(np.nan_to_num(three, nan=-np.inf), axis=0)
    best = np.argmax(np.nan_to_num(three, nan=-np.inf), axis=0)
    strategy = solved.offence_strategy
    quick = np.where(best == 0, strategy[normal, plays], np.nan)
    fake = np.where(best == 1, strategy[punting, :plays].sum(axis=1), np.nan)
    way = np.select([best == 1, best == 2, quick >= 0.5], [PUNT, KICK, QUICK_KICK], GO)
    margin = ranked[2] - ranked[1]
    margin[~np.isfinite(margin)] = np.nan

    def spread(numbers: Floats) -> Floats:
        filled = np.full(shape, np.nan)
        filled[tuple(np.array(places).T)] = numbers
        return filled

    return FourthDowns(
        way=np.nan_to_num(spread(way.astype(float)), nan=-1).astype(np.int64),
        values=np.stack([spread(numbers) for numbers in three]),
        quick_kick=spread(quick),
        fake=spread(fake),
        margin=spread(margin),
    )


def fourth_down_section(solved: SolvedFootball) -> Section:
    """The three maps, with the numbers of the cell that is pointed at."""
    found = fourth_downs(solved)
    last = ordinal(solved.rules.ruleset.downs)
    figures = "".join(
        f'<figure><svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>'
        f"{escape(title)}</title>{panel}</svg></figure>"
        for title, panel in panels(found).items()
    )
    kept = found.values, found.quick_kick[None], found.fake[None]
    numbers = np.round(np.concatenate(kept) / STEP)
    packed = np.nan_to_num(numbers, nan=UNKNOWN).astype("<i2").tobytes()
    data = {
        "down": last,
        "field": solved.rules.ruleset.field,
        "shape": found.way.shape,
        "step": STEP,
        "unknown": UNKNOWN,
        "frame": {"left": LEFT, "top": TOP, "wide": WIDE, "high": HIGH},
        "numbers": base64.b64encode(packed).decode(),
    }
    html = (
        f"<p>On {last} down the offence has three ways, each with an exact value: a normal call, "
        "mixed from the chart's plays and the quick kick; declaring punt formation, from which "
        "some plays are called as fakes; a field goal. The first map shows the best (a normal "
        "call counts as a quick kick where that is at least half of it), the second how often "
        "punt formation is a fake, the third what the second best would lose. Cells without a "
        "colour: the goal is nearer than the line to gain, or, in the second map, punt formation "
        "is not best.</p>"
        f'<div class="own football-map"><div class="panels">{figures}</div><p class="pointed">'
        "Point at a cell for its numbers.</p>"
        f'<script type="application/json">{script_json(data)}</script></div>'
    )
    script = beside(__file__, "football_fourth_down.js")
    return Section(f"The {last}-down map", html, script)


def panels(found: FourthDowns) -> dict[str, str]:
    """The maps by title; those that would be of one colour are left out."""
    drawn = {
        "best way": _frame(
            "best way", found.way, WAY_COLOURS, keys(WAYS, WAY_COLOURS, LEFT, TOP + HIGH + 50, WIDE)
        )
    }
    for name, numbers, scale in (
        ("chance of a fake where punt formation is best", found.fake, VIRIDIS),
        ("points lost by the second best way", found.margin, CIVIDIS),
    ):
        most = float(np.nanmax(numbers, initial=0.0))
        if most > 0:
            drawn[name] = _shaded(name, numbers, scale, most)
    return drawn


def _shaded(name: str, numbers: Floats, scale: tuple[str, ...], most: float) -> str:
    share = np.nan_to_num(numbers / most, nan=-1.0)
    level = np.minimum((share * LEVELS + 1e-9).astype(np.int64), LEVELS - 1)
    level[share < 0] = -1
    colours = [shade(scale, n / (LEVELS - 1)) for n in range(LEVELS)]
    axis = Axis(0.0, most)
    places = {n: axis.share(n) * WIDE for n in axis.ticks()}
    return _frame(name, level, colours, bar(colours, places, LEFT, TOP + HIGH + 46, WIDE))


def _frame(name: str, level: Ints, colours: Sequence[str], legend: str) -> str:
    """A map with its axes; the colour of a cell has the number that `level` says."""
    across, up = WIDE / level.shape[0], HIGH / level.shape[1]
    strokes = "".join(
        f'<path stroke="{colours[n]}" d="{path}"/>'
        for n, path in sorted(runs(level).items())
        if n >= 0
    )
    labels = "".join(
        f'<text x="{LEFT + (x - 0.5) * across:.1f}" y="{TOP + HIGH + 15}" text-anchor="middle">'
        f"{x:g}</text>"
        for x in Axis(1, level.shape[0]).ticks()
        if x == int(x)
    ) + "".join(
        f'<text x="{LEFT - 5}" y="{TOP + HIGH - (y - 0.5) * up + 4:.1f}" text-anchor="end">'
        f"{y:g}</text>"
        for y in Axis(1, level.shape[1]).ticks()
        if y == int(y)
    )
    return (
        f'<text x="{LEFT + WIDE / 2}" y="16" text-anchor="middle" font-weight="600">'
        f"{escape(name)}</text>"
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDE}" height="{HIGH}" fill="none" class="grid"/>'
        f'<g transform="translate({LEFT} {TOP + HIGH}) scale({across:.6g} {-up:.6g})" '
        f'shape-rendering="crispEdges" fill="none">{strokes}</g>{labels}'
        f'<text x="{LEFT + WIDE / 2}" y="{TOP + HIGH + 33}" text-anchor="middle">'
        f'yards from the own goal line</text><text transform="translate(13 {TOP + HIGH / 2}) '
        f'rotate(-90)" text-anchor="middle">yards to go</text>{legend}'
    )
