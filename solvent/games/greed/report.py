"""Maps of Greed: the optimal number of dice and the rating of every position.

The pictures are those of C. Addis, "A Guide to Optimization and Optimal Play in Greed" (2023),
figures 1 and 2, for any limit and sides: before the last turn and in it, with the score of the
player on turn from left to right and the other's from bottom to top. A rating is the chance to win
with optimal play, ties counted half.

A map is drawn as vectors, each run of equal cells as one stroke, so that it needs no pixels and
stays small. Beyond :data:`MOST_CELLS` cells to a side only every k-th score is drawn.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import cast

import numpy as np

from solvent.exact import GapLocation
from solvent.games.greed.kernel import GreedSolution, solve_greed
from solvent.games.greed.rules import Greed, Position, fits_a_table
from solvent.model import Game, TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints
from solvent.model.text import small
from solvent.report import panel
from solvent.report.colours import CIVIDIS, VIRIDIS, shade
from solvent.report.panel import Axis, bar, hatching, runs
from solvent.report.sections import Section, Untabled, beside, script_json
from solvent.report.solved import SolvedTask

MOST_CELLS = 250
"""The largest number of cells along a side of a map."""
LEVELS = 50
"""Number of colours for ratings."""
COSTLY = 1e-9
"""Choices that lose less than this count as optimal."""
STAND = "#e3e6e8"
"""The colour of rolling no dice, which is on neither scale."""

SIDE, LEFT, TOP, BOTTOM = 300, 52, 26, 84
WIDTH, HEIGHT = LEFT + SIDE + 14, TOP + SIDE + BOTTOM


@dataclass(frozen=True, eq=False)
class GreedMap:
    """One map of the dice and ratings of all positions.

    Attributes:
        name: Name of the file, without its extension.
        title: Title of the map.
        dice: [n, n] the fewest optimal dice, by score of the player on turn and the other's.
        rating: [n, n] the rating.
        step: Difference between the scores of neighbouring cells.
        most: Largest number of dice that is optimal anywhere in the game.
    """

    name: str
    title: str
    dice: Ints
    rating: Floats
    step: int
    most: int


def maps_of(solution: GreedSolution) -> tuple[GreedMap, GreedMap]:
    """Return the maps of normal and of last turns."""
    step = -(-(solution.game.limit + 1) // MOST_CELLS)
    most = int(max(solution.normal_roll.max(), solution.last_roll.max()))
    rules = f"Greed to {solution.game.limit} with {solution.game.sides}-sided dice"
    normal, last = (
        GreedMap(
            name,
            f"{rules}, {turn}",
            dice[::step, ::step].astype(np.int64),
            rating[::step, ::step],
            step,
            most,
        )
        for name, turn, dice, rating in (
            ("greed-normal", "before the last turn", solution.normal_roll, solution.normal),
            ("greed-last-turn", "in the last turn", solution.last_roll, solution.last),
        )
    )
    return normal, last


def greed_sections(solved: SolvedTask) -> list[Section]:
    """Return the maps of a solved task, and its agents' choices in the same positions."""
    assert isinstance(solved.game, Greed)
    solution = solve_greed(solved.game.limit, solved.game.sides)
    own = [Section("What the agents choose", _agents(solved))] if solved.agents else []
    return [maps_section(solution), *own]


def _agents(solved: SolvedTask) -> str:
    colours = dice_colours(solved.table.mask[0].shape[1] - 1)
    figures = "".join(
        f"<figure><figcaption><b>{escape(agent.agent.name)}</b>, seat {policy.player}, {turn}: "
        f"{len(costly)} costly{_largest(costly)}</figcaption><svg "
        f'class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" data-costly="{len(costly)}"><title>Dice of {escape(agent.agent.name)}, '
        f"seat {policy.player}, {turn}</title>"
        f"{_panel('number of dice', 1, dice, colours, costly)}</svg></figure>"
        for agent in solved.agents
        for policy, location in zip(agent.policies, agent.locations, strict=True)
        for turn, phase in (("before the last turn", "play"), ("last turn", "last"))
        for dice, costly in [chosen(solved.table, policy, location, phase)]
    )
    return (
        "<p>The most probable number of dice in every position; hatched are positions that no "
        "episode reaches. A red dot marks a choice that loses against the best one. Its area is in "
        "proportion to what a visit loses; the largest loss of each map is named.</p>"
        f'<div class="panels small">{figures}</div>'
    )


def _largest(costly: Mapping[tuple[int, int], float]) -> str:
    return f", up to {small(max(costly.values()))}" if costly else ""


def chosen(
    table: TabularGame, policy: TabularPolicy, location: GapLocation, phase: str
) -> tuple[Ints, dict[tuple[int, int], float]]:
    """Return the rolls of a policy in the positions in which its player is on turn.

    Args:
        table: The table of the game.
        policy: The policy of either player.
        location: The gap attribution of the policy.
        phase: ``"play"`` or ``"last"``.

    Returns:
        [M+1, M+1] the most probable number of dice by own score and the other's, -1 where play
        cannot reach; and the loss of a visit, by the pairs of scores in which there is one.
    """
    me = policy.player
    positions = [
        (s, position.scores[me], position.scores[1 - me])
        for s, position in enumerate(cast("Sequence[Position]", table.states))
        if position.player == me and position.phase == phase
    ]
    limit = int(dict(table.info.parameters)["limit"])
    dice = np.full((limit + 1, limit + 1), -1)
    costly = {}
    for state, own, other in positions:
        dice[own, other] = policy.probabilities[state].argmax()
        if location.loss[state] > COSTLY:
            costly[own, other] = float(location.loss[state])
    return dice, costly


def maps_section(solution: GreedSolution) -> Section:
    """Return the four maps with their explanation."""
    maps = maps_of(solution)
    thinned = f" Only every {maps[0].step}th score is drawn." if maps[0].step > 1 else ""
    blocks = "".join(_block(item) for item in maps)
    html = (
        "<p>For every pair of scores, reachable or not: how many dice are best, the fewest where "
        "several numbers are tied, and the rating, which is the chance to win with optimal play, "
        f"ties counted half. Grey is a stand.{thinned}</p>{blocks}"
    )
    return Section("Optimal play at every pair of scores", html, beside(__file__, "greed_maps.js"))


def untabled_greed(subject: Game | GreedSolution) -> Untabled | None:
    """Return the optimum and maps of a game that is too large for a table, else None.

    Args:
        subject: The rules, or their solution without a table.
    """
    game = subject.game if isinstance(subject, GreedSolution) else subject
    if not isinstance(game, Greed) or fits_a_table(game):
        return None
    solved = subject if isinstance(subject, GreedSolution) else solve_greed(game.limit, game.sides)
    return Untabled(solved, (maps_section(solved),))


def write_pictures(folder: str | Path, *, limit: int = 100, sides: int = 6) -> list[Path]:
    """Write ``greed-normal.svg`` and ``greed-last-turn.svg``, each with dice and rating.

    Args:
        folder: Output folder.
        limit: Largest score that is not a bust.
        sides: Sides of each die.

    Returns:
        The files.

    Raises:
        ValueError: If a parameter is out of its range.
        StoreError: If a file cannot be written.
    """
    maps = maps_of(solve_greed(limit, sides))
    return panel.write_pictures(folder, {f"{item.name}.svg": picture(item) for item in maps})


def picture(item: GreedMap) -> str:
    """Return a map's two panels side by side as one self-contained SVG."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" '
        f'width="{2 * WIDTH}" height="{HEIGHT}" role="img" font-size="12" '
        f'font-family="system-ui, sans-serif"><title>{escape(item.title)}</title>'
        f'<rect width="100%" height="100%" fill="#fff"/>{_dice_panel(item)}'
        f'<g transform="translate({WIDTH} 0)">{_rating_panel(item)}</g></svg>'
    )


def _block(item: GreedMap) -> str:
    """Return a map for the page: a chart per panel, and the numbers for its script."""
    panels = "".join(
        f'<figure><svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'style="max-width: {1.6 * WIDTH:.0f}px"><title>{escape(name)}: {escape(item.title)}'
        f"</title>{drawn}</svg></figure>"
        for name, drawn in (("Dice", _dice_panel(item)), ("Rating", _rating_panel(item)))
    )
    data = {
        "step": item.step,
        "cells": len(item.dice),
        "left": LEFT,
        "top": TOP,
        "side": SIDE,
        "dice": _packed(item.dice),
        "rating": _packed(np.round(item.rating * 65535)),
    }
    return (
        f'<div class="own greed-maps" data-map="{item.name}"><p><b>{escape(item.title)}</b></p>'
        f'<div class="panels">{panels}</div><p class="pointed">Point at a cell for its numbers.'
        f'</p><script type="application/json">{script_json(data)}</script></div>'
    )


def _packed(numbers: Floats | Ints) -> str:
    return base64.b64encode(numbers.astype("<u2").tobytes()).decode()


def dice_colours(most: int) -> list[str]:
    """Return a colour for each number of dice from 0 to `most`."""
    return [STAND, *(shade(VIRIDIS, n / max(most, 1)) for n in range(1, most + 1))]


def _dice_panel(item: GreedMap) -> str:
    return _panel("optimal number of dice", item.step, item.dice, dice_colours(item.most))


def _rating_panel(item: GreedMap) -> str:
    # A rating on the border of two levels must not be torn by rounding.
    level = np.minimum((item.rating * LEVELS + 1e-9).astype(np.int64), LEVELS - 1)
    colours = [shade(CIVIDIS, n / (LEVELS - 1)) for n in range(LEVELS)]
    return _panel("rating", item.step, level, colours, scale=Axis(0.0, 1.0))


def _panel(
    name: str,
    step: int,
    level: Ints,
    colours: Sequence[str],
    marked: Mapping[tuple[int, int], float] | None = None,
    scale: Axis | None = None,
) -> str:
    """Return a map with its axes and legend.

    Args:
        name: Title of the map.
        step: Difference between the scores of neighbouring cells.
        level: [n, n] the number of each cell's colour, or -1 for none.
        colours: Colours, by number.
        marked: Cells with a dot, with what it is in proportion to; then cells without a colour
            are hatched.
        scale: Values along the legend; the numbers of the colours by default.
    """
    cells = len(level)
    unit = SIDE / cells
    strokes = "".join(
        f'<path stroke="{colours[n]}" d="{path}"/>'
        for n, path in sorted(runs(level).items())
        if n >= 0
    )
    labels = []
    for score in Axis(0, max((cells - 1) * step, 1)).ticks():
        if score != int(score):
            continue
        along = (score / step + 0.5) * unit
        labels.append(
            f'<text x="{LEFT + along:.1f}" y="{TOP + SIDE + 15}" text-anchor="middle">{score:g}'
            f'</text><text x="{LEFT - 5}" y="{TOP + SIDE - along + 4:.1f}" text-anchor="end">'
            f"{score:g}</text>"
        )
    most = max((marked or {}).values(), default=0.0)
    dots = "".join(
        f'<circle cx="{LEFT + (x + 0.5) * unit:.1f}" cy="{TOP + SIDE - (y + 0.5) * unit:.1f}" '
        f'r="{max(0.42 * unit * (loss / most) ** 0.5, 0.8):.2f}" fill="#d0021b" '
        f'style="fill: var(--costly)" stroke="#fff" stroke-width="0.6"/>'
        for (x, y), loss in (marked or {}).items()
    )
    missing = "" if marked is None else hatching(LEFT, TOP, SIDE, SIDE)
    middle = LEFT + SIDE / 2
    return (
        f'<text x="{middle}" y="16" text-anchor="middle" font-weight="600">{name}</text>'
        f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" class="grid" '
        f'stroke="#dde2e6"/>{missing}<g transform="translate({LEFT} {TOP + SIDE}) '
        f'scale({unit:.6g} {-unit:.6g})" shape-rendering="crispEdges" fill="none">{strokes}</g>'
        f"{dots}{''.join(labels)}"
        f'<text x="{middle}" y="{TOP + SIDE + 33}" text-anchor="middle">'
        f'score of the player on turn</text><text transform="translate(13 {TOP + SIDE / 2}) '
        f'rotate(-90)" text-anchor="middle">score of the other</text>{_legend(colours, scale)}'
    )


def _legend(colours: Sequence[str], scale: Axis | None) -> str:
    """Return a bar of all colours, with round numbers below it."""
    if scale is None:
        wide = SIDE / len(colours)
        numbers = Axis(0, max(len(colours) - 1, 1)).ticks()
        places = {n: (n + 0.5) * wide for n in numbers if n == int(n) and n < len(colours)}
    else:
        places = {n: scale.share(n) * SIDE for n in scale.ticks()}
    return bar(colours, places, LEFT, TOP + SIDE + 44, SIDE)
