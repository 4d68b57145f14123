"""A football so small that all of it can be looked at: a short field, few downs, few plays."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from solvent.games.football.chart import Cell, Chart, Result, ordered_cell, parse_cell
from solvent.games.football.expected_points import ExpectedPoints
from solvent.games.football.rules import FootballStrategy
from solvent.games.football.ruleset import Ruleset


def chart_of(
    name: str,
    plays: Sequence[Sequence[str]],
    quick_kick: Sequence[str],
    punt: Sequence[str],
    source: str = "",
) -> Chart:
    """A chart from the text of its cells, ``plays[play - 1][defence]``."""
    columns = (tuple(map(parse_cell, cells)) for cells in (*plays, quick_kick, punt))
    *cells, kicked, punted = columns
    return Chart(name, tuple(cells), kicked, punted, source)


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


# Random results, cells and charts of football


yards = st.integers(-99, 99)
lengths = st.integers(0, 99)
penalties = st.one_of(
    st.builds(Result, st.just("offence-penalty"), st.integers(1, 99)),
    st.builds(Result, st.just("defence-penalty"), st.integers(1, 99), first_down=st.booleans()),
)
plain_plays = st.one_of(
    st.builds(Result, st.just("gain"), yards, out_of_bounds=st.booleans()),
    st.builds(Result, st.just("fumble"), yards),
    st.builds(Result, st.just("interception"), yards, return_yards=lengths),
    st.sampled_from([Result("incomplete"), Result("long-gain")]),
)
kicks = st.one_of(
    st.builds(Result, st.just("punt"), st.integers(1, 99), return_yards=lengths),
    st.builds(Result, st.just("fumbled-punt"), st.integers(1, 99)),
    st.just(Result("blocked-punt")),
)


def with_choices(results: st.SearchStrategy[Result]) -> st.SearchStrategy[Result]:
    options = st.tuples(penalties, results)
    return st.one_of(results, penalties, options.map(lambda o: Result("choice", options=o)))


plays = with_choices(plain_plays)
kicking = with_choices(st.one_of(plain_plays, kicks))


def cells(results: st.SearchStrategy[Result]) -> st.SearchStrategy[Cell]:
    weighted = st.dictionaries(results, st.integers(1, 1000), min_size=1, max_size=4)
    return weighted.map(
        lambda w: ordered_cell((Fraction(n, sum(w.values())), r) for r, n in w.items())
    )


lines = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=40
).map(lambda text: "".join(filter(str.isprintable, text)).strip())


@st.composite
def charts(draw: Callable[[Any], Any]) -> Chart:
    """Small charts of any shape and content."""
    defences = draw(st.integers(1, 4))
    column = st.lists(cells(plays), min_size=defences, max_size=defences).map(tuple)
    kick_column = st.lists(cells(kicking), min_size=defences, max_size=defences).map(tuple)
    table = draw(st.lists(column, min_size=1, max_size=4))
    return Chart(
        # A chart without a name is named after its file.
        draw(lines.filter(bool)),
        tuple(table),
        draw(kick_column),
        draw(kick_column),
        draw(lines),
    )
