"""Figures 1 and 2 of Johnston 2022: equations 6 and 13 beside combats that are fought.

The left panel of each has a dot for every start, the probability of victory by the equation along
and the share of victories in the simulation upwards. The right panel has the same probability
against the SKILL difference, lines by the equation and dots by the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from solvent.games.fighting_fantasy.formulas import (
    victory_with_constant_luck,
    victory_without_luck,
)
from solvent.games.fighting_fantasy.rules import FightingFantasy, luck_succeeds, round_probabilities
from solvent.games.fighting_fantasy.simulated_combat import Start, Tally, simulate
from solvent.report import panel
from solvent.report.colours import ALGORITHMS
from solvent.report.panel import Axis, Panel, keys, side_by_side

SEED = 2022
"""Of the simulations."""


@dataclass(frozen=True, eq=False)
class Figure:
    """One of the two figures.

    Attributes:
        name: Of its file, without the ending.
        title: What it shows.
        game: The combats that are fought.
        rule: When LUCK is tested in them.
        equation: Probability of victory from a start.
        lines: The starts of each line of the right panel, at a difference of 0, by its name.
    """

    name: str
    title: str
    game: FightingFantasy
    rule: str
    equation: Callable[[Start], float]
    lines: Mapping[str, Start]


def without_luck(start: Start) -> float:
    """Equation 6."""
    won, drawn, lost = map(float, round_probabilities(start.difference))
    return victory_without_luck((won, drawn, lost), start.hero, start.opponent)


def with_constant_luck(start: Start) -> float:
    """Equation 13, errata mended."""
    won, drawn, lost = map(float, round_probabilities(start.difference))
    return victory_with_constant_luck(
        (won, drawn, lost), float(luck_succeeds(start.luck)), start.hero, start.opponent
    )


FIGURES = (
    Figure(
        "ff-without-luck",
        "Victory without LUCK: equation 6 and simulation",
        FightingFantasy([-10, 10], {4: 1, 8: 1, 24: 1}, {4: 1, 8: 1, 24: 1}, 0),
        "never",
        without_luck,
        {
            f"{hero} : {opponent}": Start(0, hero, opponent, 0)
            for hero, opponent in ((24, 8), (24, 24), (8, 8), (4, 4), (8, 24))
        },
    ),
    Figure(
        "ff-constant-luck",
        "Victory if LUCK is tested after every round won and never used up: equation 13 and "
        "simulation",
        FightingFantasy(
            [-6, 6], {8: 1, 24: 1}, {8: 1, 24: 1}, {5: 1, 7: 1, 9: 1, 12: 1}, luck_cost=0
        ),
        "offensive",
        with_constant_luck,
        {f"LUCK {luck}": Start(0, 24, 24, luck) for luck in (12, 9, 7, 5)},
    ),
)


@cache
def simulated(figure: Figure) -> Mapping[Start, Tally]:
    """The combats of a figure: 1,000 for each start on average, as in the paper."""
    starts = {outcome.state[:4] for outcome in figure.game.initial()}
    return simulate(figure.game, figure.rule, len(starts), SEED, num_envs=1000)


def picture(figure: Figure) -> str:
    """Both panels as one SVG."""
    tally = simulated(figure)
    differences = sorted({start.difference for start in tally})
    probability = Axis(0.0, 1.0)
    scatter = Panel("formula and simulation", "simulation", probability, probability, "equation")
    scatter.line([0, 1], [0, 1], "#9aa4ac", "equal", dashed=False)
    scatter.dots(
        [figure.equation(start) for start in tally],
        [found.mean for found in tally.values()],
        ALGORITHMS[0],
    )
    curves = Panel(
        "by SKILL difference",
        "probability of victory",
        Axis(float(min(differences)), float(max(differences))),
        probability,
        "SKILL difference",
    )
    for colour, (name, start) in zip(ALGORITHMS, figure.lines.items(), strict=False):
        along = [start._replace(difference=d) for d in differences]
        curves.line(differences, [figure.equation(at) for at in along], colour, name, dashed=False)
        curves.dots(differences, [tally[at].mean for at in along], colour)
    room = panel.WIDTH - panel.LEFT - panel.RIGHT
    legend = keys([*figure.lines], ALGORITHMS[: len(figure.lines)], panel.LEFT, panel.HEIGHT + 6,
                  room)  # fmt: skip
    return side_by_side(
        figure.title,
        [scatter.inside(), curves.inside() + legend],
        panel.WIDTH,
        panel.HEIGHT + panel.KEYS,
    )


def write_pictures(folder: str | Path) -> list[Path]:
    """Write ``ff-without-luck.svg`` and ``ff-constant-luck.svg``.

    Args:
        folder: Where to.

    Returns:
        The files.

    Raises:
        StoreError: If a file cannot be written.
    """
    return panel.write_pictures(folder, {f"{own.name}.svg": picture(own) for own in FIGURES})
