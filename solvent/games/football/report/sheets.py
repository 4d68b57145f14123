"""Call sheets: both sides' optimal mixed strategies in a situation that the reader sets.

A sheet is Tables 1 and 2 of McCulloch (2015, "A Game-Theoretic Intelligent Agent for the Board Game
Football Strategy") with one more column, what a call loses against the other's mixed strategy. The
page holds those of all downs and lines, and of some distances; ``solvent chart sheet`` prints any.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from solvent.games.football.calls import Actions
from solvent.games.football.chart import Chart
from solvent.games.football.situation import Situation, ordinal
from solvent.games.football.solver import CallSheet
from solvent.games.football.solver.solved import SolvedFootball
from solvent.model.arrays import Floats
from solvent.report.sections import Section, beside, script_json

DISTANCES = (1, 2, 3, 5, 7, 10, 15, 20)
"""Yards to go of the sheets in the page, with those of a first down."""

LARGEST = 32767
"""Numbers are given to the script as whole parts of the largest, up to this; below 0, illegal."""


class Call(NamedTuple):
    """A call by name, its chance, and the points that it loses against the other's strategy."""

    name: str
    chance: float
    loss: float


def both_sides(chart: Chart, sheet: CallSheet) -> tuple[list[Call], list[Call]]:
    """The legal calls of offence and defence in a situation."""
    names = offence_calls(chart)
    offence_loss = sheet.value - sheet.payoff @ sheet.defence_strategy
    defence_loss = sheet.offence_strategy @ sheet.payoff - sheet.value
    return (
        _calls([names[action] for action in sheet.actions], sheet.offence_strategy, offence_loss),
        _calls(chart.letters, sheet.defence_strategy, defence_loss),
    )


def _calls(names: Iterable[str], strategy: Floats, loss: Floats) -> list[Call]:
    # A call that is mixed loses nothing but rounding.
    lost = np.where(strategy > 0, 0.0, np.maximum(loss, 0.0))
    return [Call(*line) for line in zip(names, strategy.tolist(), lost.tolist(), strict=True)]


def offence_calls(chart: Chart) -> tuple[str, ...]:
    """The names of the offence's actions."""
    names = Actions.of(chart, offence=True, defence=False, kicks=False).names
    return names[: chart.plays + 3]


def sheets_section(solved: SolvedFootball) -> Section:
    """The sheets, with what sets the situation."""
    html = beside(__file__, "football_sheets.html")
    data = script_json(sheets_data(solved))
    script = beside(__file__, "football_sheets.js")
    return Section("Call sheets", html.replace("{{ data }}", data), script)


def sheets_data(solved: SolvedFootball) -> dict[str, Any]:
    """Return the data that the script reads.

    ``numbers`` holds 16-bit whole numbers, [downs + 1, distances, field - 1, 1 + 2A + 2m]: by
    down, punt formation being the last; by distance; by yards to the goal from 1 on. Each row is
    the value, what the offence's actions lose, the chances of its mixed strategy, and the same of
    the defence. Points are to be multiplied by ``point``, chances by ``chance``.
    """
    rules = solved.rules
    ruleset, chart = rules.ruleset, rules.chart
    distances = sorted({y for y in (*DISTANCES, ruleset.first_down) if y < ruleset.field})
    downs = [(down, False) for down in range(1, ruleset.downs + 1)] + [(ruleset.downs, True)]
    situations = solved.numbers(
        [
            Situation(down, min(y, x), x, punting)
            for down, punting in downs
            for y in distances
            for x in range(1, ruleset.field)
        ]
    )
    value = solved.values[situations, None]
    offence_loss = value - solved.calls[0][situations]
    defence_loss = solved.calls[1][situations] - value
    points = np.concatenate((np.abs(value), offence_loss, defence_loss), axis=1)
    point, chance = float(np.nanmax(points)) / LARGEST, 1 / LARGEST
    rows = np.concatenate(
        (
            np.round(value / point),
            _whole(offence_loss, point),
            _whole(solved.offence_strategy[situations], chance),
            _whole(defence_loss, point),
            _whole(solved.defence_strategy[situations], chance),
        ),
        axis=1,
    )
    return {
        "chart": chart.name,
        "field": ruleset.field,
        "downs": [f"{ordinal(d)} down{', punt formation' if p else ''}" for d, p in downs],
        "ordinals": [ordinal(down) for down, _ in downs],
        "distances": distances,
        "usual": ruleset.first_down,
        "start": ruleset.touchback,
        "offence": offence_calls(chart),
        "defence": list(chart.letters),
        "point": point,
        "chance": chance,
        "numbers": base64.b64encode(rows.astype("<i2").tobytes()).decode(),
    }


def _whole(numbers: Floats, unit: float) -> Floats:
    """Return the values in units, rounded, never below 0; anything not a number becomes -1."""
    return np.nan_to_num(np.maximum(np.round(numbers / unit), 0), nan=-1)
