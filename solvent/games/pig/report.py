"""The hold surface of Neller and Presser for Pig, as a map.

Their figure 3 shows, over both scores, the boundary between rolling and holding; figure 4 cuts it
at one score of the opponent. Here the surface is a map of the smallest turn total at which holding
is optimal, and the reader chooses where to cut it. Holding is not always optimal from one total on.
With a large total that is nearly enough to win it is better to roll for the rest. And at some
scores it pays to roll once more with a larger total: at 41 to 49, to 100, one holds from 22 on, but
not at 27 (E. Farmer, "Pig puzzle solution", possiblywrong.wordpress.com, 2014).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import cast

import numpy as np

from solvent.exact import Solution
from solvent.games.pig.rules import HOLD, Turn
from solvent.model import TabularGame
from solvent.model.arrays import Floats, Ints
from solvent.report.panel import VIRIDIS, Axis, bar, hatching, runs, shade
from solvent.report.sections import Section, beside, script_json
from solvent.report.solved import SolvedTask

NEVER = "#d55e00"
"""The colour of scores at which rolling on is always optimal."""
UNREACHABLE, ROLLS, HOLDS = -1, 0, 1

SIDE, LEFT, TOP, BOTTOM = 320, 50, 8, 84
WIDTH, HEIGHT = LEFT + SIDE + 14, TOP + SIDE + BOTTOM


@dataclass(frozen=True, eq=False)
class HoldSurface:
    """Optimal play of the player on turn, by own score, the other's score and the turn total.

    Attributes:
        target: The score that wins.
        action: [T, T, T] :data:`ROLLS` or :data:`HOLDS`; :data:`UNREACHABLE` in states that play
            cannot reach, or where the turn is already won.
        chance: [T, T] the chance of winning at the beginning of a turn, NaN if it cannot be
            reached.
    """

    target: int
    action: Ints
    chance: Floats

    @property
    def hold_at(self) -> Ints:
        """[T, T] the smallest total at which holding is optimal.

        0 if it never is, -1 if no turn can begin there.
        """
        holds = self.action == HOLDS
        smallest = np.where(holds.any(axis=2), holds.argmax(axis=2), 0)
        return np.where(np.isnan(self.chance), -1, smallest)

    def intervals(self, own: int, other: int) -> list[int]:
        """Return the totals at which holding is optimal, as the first and last of each run."""
        line = self.action[own, other]
        totals = np.flatnonzero(line >= 0)
        ends: list[int] = []
        before = ROLLS
        for total in totals.tolist():
            if line[total] == HOLDS and before == ROLLS:
                ends += [total, total]
            elif line[total] == HOLDS:
                ends[-1] = total
            before = int(line[total])
        return ends


def hold_surface(table: TabularGame, solution: Solution) -> HoldSurface:
    """Return the surface of a solved game, from the states in which player 0 is on turn."""
    target = int(dict(table.info.parameters)["target"])
    fields = np.array(
        [(s.player, *s.scores, s.total) for s in cast("Sequence[Turn]", table.states)]
    )
    mine = np.flatnonzero((fields[:, 0] == 0) & ~table.terminal)
    _, own, other, total = fields[mine].T
    action = np.full((target,) * 3, UNREACHABLE)
    action[own, other, total] = solution.policies[0].probabilities[mine].argmax(axis=1) == HOLD
    chance = np.full((target, target), np.nan)
    first = total == 0
    chance[own[first], other[first]] = solution.values[mine[first]]
    return HoldSurface(target, action, chance)


def pig_sections(solved: SolvedTask) -> list[Section]:
    """The hold surface of a solved task."""
    surface = hold_surface(solved.table, solved.solution)
    return [Section("When to hold", _html(surface), beside(__file__, "hold_surface.js"))]


def _html(surface: HoldSurface) -> str:
    at = surface.hold_at
    pairs, held = int((at >= 0).sum()), int((at > 0).sum())
    many = [
        [surface.intervals(own, other) for other in range(surface.target)]
        for own in range(surface.target)
    ]
    again = sum(len(ends) > 2 for line in many for ends in line)
    told = (
        f"Of {pairs:,} pairs of scores there are {pairs - held:,} at which rolling on is always "
        "optimal."
    )
    if held:
        most = np.bincount(at[at > 0]).argmax()
        told += f" The most frequent total is {most}, at {int((at == most).sum()):,} pairs."
    if again:
        told += (
            f" At {again:,} the totals at which it holds are not one run: between two of them it "
            "rolls. A dot marks these pairs."
        )
    data = {
        "target": surface.target,
        "frame": {"left": LEFT, "top": TOP, "side": SIDE},
        "totals": np.flatnonzero((surface.action >= 0).any(axis=(0, 1))).tolist(),
        "holds": many,
        "chance": base64.b64encode(surface.chance.astype("<f4").tobytes()).decode(),
        "never": NEVER,
        "hold": shade(VIRIDIS, 0.6),
    }
    figure = (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" {{}}><title>{{}}</title>'
        "{}</svg>"
    )
    title = f"Smallest total at which to hold, Pig to {surface.target}"
    style = f'style="max-width: {1.5 * WIDTH:.0f}px"'
    drawn = figure.format(f'data-surface="" {style}', escape(title), picture(surface))
    cut = figure.format(f'data-cut="" tabindex="0" {style}', "Roll or hold", "")
    return (
        f"<p>The hold surface of Neller and Presser: the smallest turn total at which it is "
        f"optimal to hold, by both scores. Beside it the surface is cut at one score of the "
        f"opponent. {told}</p>"
        '<div class="own hold-surface"><form class="controls" autocomplete="off"><label>score of '
        f'the other <input type="range" min="0" max="{surface.target - 1}" '
        f'value="{surface.target * 3 // 10}" style="width: 11rem"><output></output></label></form>'
        f'<div class="panels"><figure><figcaption>hold at</figcaption>{drawn}</figure>'
        f"<figure><figcaption>roll or hold</figcaption>{cut}</figure></div>"
        '<p class="pointed" aria-live="polite">Point at a cell or tap it for its numbers.</p>'
        f'<script type="application/json">{script_json(data)}</script></div>'
    )


def picture(surface: HoldSurface) -> str:
    """The map of the smallest totals, with its axes and legend."""
    at, cells = surface.hold_at, surface.target
    unit = SIDE / cells
    totals = sorted(set(at[at > 0].tolist()))
    low, high = (totals[0], totals[-1]) if totals else (0, 1)
    colours = {n: shade(VIRIDIS, (n - low) / max(high - low, 1)) for n in range(low, high + 1)} | {
        0: NEVER
    }
    cell = f"translate({LEFT} {TOP + SIDE}) scale({unit:.6g} {-unit:.6g})"
    strokes = "".join(
        f'<path stroke="{colours[n]}" d="{path}"/>'
        for n, path in sorted(runs(at).items())
        if n >= 0
    )
    radius = max(unit / 4, 0.8)
    dots = "".join(
        f'<circle cx="{LEFT + (own + 0.5) * unit:.1f}" '
        f'cy="{TOP + SIDE - (other + 0.5) * unit:.1f}" r="{radius:.1f}" '
        'style="fill: var(--costly)"/>'
        for own in range(cells)
        for other in range(cells)
        if len(surface.intervals(own, other)) > 2
    )
    legend = (
        f'<rect x="{LEFT}" y="{TOP + SIDE + 46}" width="12" height="12" fill="{NEVER}"/>'
        f'<text x="{LEFT + 17}" y="{TOP + SIDE + 56}">never</text>'
    )
    if totals:
        scale = Axis(low, max(high, low + 1))
        wide = SIDE - 70
        marks = [n for n in scale.ticks() if n == int(n)]
        # A colour stands for one total, whose number is below its middle.
        each = wide / (high - low + 1)
        places = {n: 70 + (n - low + 0.5) * each for n in marks if n <= high}
        shades = [colours[n] for n in range(low, high + 1)]
        legend += bar(shades, {}, LEFT + 70, TOP + SIDE + 46, wide)
        legend += "".join(
            f'<text x="{LEFT + along:.1f}" y="{TOP + SIDE + 72}" text-anchor="middle">{n:g}</text>'
            for n, along in places.items()
        )
    return (
        f"{hatching(LEFT, TOP, SIDE, SIDE)}"
        f'<g transform="{cell}" shape-rendering="crispEdges" fill="none">{strokes}</g>{dots}'
        f"{axes(cells, 'own score', 'score of the other')}{legend}"
        f'<line class="chosen" style="stroke: #fff; stroke-width: 1.5" x1="{LEFT}" '
        f'x2="{LEFT + SIDE}" visibility="hidden"/>'
    )


def axes(cells: int, across: str, up: str) -> str:
    """Round numbers and the names of both axes, and a frame."""
    unit = SIDE / cells
    labels = "".join(
        f'<text x="{LEFT + (n + 0.5) * unit:.1f}" y="{TOP + SIDE + 15}" text-anchor="middle">{n:g}'
        f'</text><text x="{LEFT - 5}" y="{TOP + SIDE - (n + 0.5) * unit + 4:.1f}" '
        f'text-anchor="end">{n:g}</text>'
        for n in Axis(0, max(cells - 1, 1)).ticks()
        if n == int(n)
    )
    return (
        f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" class="grid"/>'
        f'{labels}<text x="{LEFT + SIDE / 2}" y="{TOP + SIDE + 33}" text-anchor="middle">{across}'
        f'</text><text transform="translate(13 {TOP + SIDE / 2}) rotate(-90)" '
        f'text-anchor="middle">{up}</text>'
    )
