"""A football so small that all of it can be looked at: a short field, few downs, few plays."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvent.games.football.chart import Chart
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset
from tests.helpers.football_charts import chart_of

RULES: dict[str, Any] = {
    "field": 9,
    "downs": 2,
    "first_down": 3,
    "field_goals": {"2": "3/4", "4": "1/4"},
    "field_goal_spot": 1,
    "touchback": 2,
    "fake_punt_penalty": 1,
    "blocked_punt_loss": 2,
    "barred": [[2, 3, 3]],
    "long_gain": {"4": 2, "6": 1, "8": 1},
    "kickoff": {"3": 5, "kicker 2": 1, "long": 2, "long+2": 1},
    "onside": {"kicker 5": 1, "6": 2},
    "free_kick": {"4": 3, "long+1": 1},
    "long_play": 3,
}

CHART = chart_of(
    "reduced",
    [
        ["1", "3", "off2/2"],
        ["fum", "def2/4o", "inc * 2 | 4 * 1 | int3r1 * 1"],
        ["inc", "long", "def1f"],
    ],
    ["punt4", "punt3r1", "block * 1 | punt5fum * 2"],
    ["punt6", "punt4r3", "punt5fum"],
)

# Plays that lose ground, so that safeties and the defence's touchdowns are met.
BACKWARDS = chart_of(
    "backwards",
    [["-4", "5"], ["2 * 1 | -9 * 1", "int2r9 * 1 | fum-7 * 1 | off3 * 1"]],
    ["punt9", "block"],
    ["punt2r9", "punt2"],
)

NO_CHOICE = chart_of("single", [["2"]], ["punt4"], ["punt6"])

# Few results, so that even the game of both sides is solved in no time.
MIXED = chart_of(
    "mixed",
    [["3", "0"], ["inc", "4 * 1 | int2 * 1"]],
    ["punt4", "punt3"],
    ["punt6", "punt5"],
)

CHARTS = (CHART, BACKWARDS, NO_CHOICE)


CODES = (
    "-1", "0", "1", "2", "3", "4o", "inc", "fum", "fum1", "int2r1", "off1", "def1", "off1/3",
    "def1/1", "def2f/2", "long", "2 * 2 | fum * 1", "inc * 1 | 4 * 2",
)  # fmt: skip


def random_chart(seed: int) -> Chart:
    """Three plays against three defences, with results of all kinds."""
    drawn = np.random.default_rng(seed).integers(len(CODES), size=(3, 3))
    return chart_of(
        f"random {seed}",
        [[CODES[code] for code in line] for line in drawn],
        ["punt4", "punt3r1", "punt4"],
        ["punt6", "punt5", "block * 1 | punt5 * 2"],
    )


def reduced_points(chart: Chart, ruleset: Ruleset) -> ExpectedPoints:
    """Values that fall with the distance from the goal; two first downs have equal ones."""
    field = ruleset.field
    values = [2.9 - 0.37 * x for x in range(1, field)]
    values[-1] = values[-2]
    return ExpectedPoints(chart.name, chart.hash, ruleset.hash, tuple(values), 0.7, 1.3)


def reduced(
    form: str = "drive", chart: Chart = CHART, rules: dict[str, Any] = RULES, **parameters: Any
) -> FootballStrategy:
    """Reduced football in one of its forms; a drive begins in the middle of the field."""
    ruleset = Ruleset.of(rules)
    if form != "points":
        parameters = {"to_goal": ruleset.field // 2, **parameters}
    return FootballStrategy(chart, form, ruleset, reduced_points(chart, ruleset), **parameters)
