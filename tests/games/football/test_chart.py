"""Charts: cells, shape, what they are equal to; and the football in the shipped ones."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from football_charts import charts, yards_table
from hypothesis import given, settings

from solvent.games.football.chart import (
    Chart,
    ChartError,
    cell_text,
    headings,
    ordered_cell,
    parse_cell,
)
from solvent.games.football.chart_files import SHIPPED, load_chart
from solvent.games.football.packed import pack_rules
from solvent.games.football.results import Result
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.solver.points import solve_points

GAIN = Result("gain", 3)


def small(**changes: list[str]) -> Chart:
    """Two plays against two defences."""
    given = {"1": ["3", "fum*1 | 4*3"], "2": ["def5/12o", "inc"], "Q": ["punt30"] * 2,
             "P": ["punt40r8", "block*1 | punt40*35"], **changes}  # fmt: skip
    return Chart.from_codes("small", [given["1"], given["2"]], given["Q"], given["P"])


def test_cells_are_found_by_play_and_letter() -> None:
    chart = small()
    assert (chart.plays, chart.defences, chart.letters) == (2, 2, "AB")
    assert chart.cell(1, "A") == ((Fraction(1), GAIN),)
    assert chart.cell("2", "B") == parse_cell("inc")
    assert chart.cell("Q", "B") == parse_cell("punt30")
    assert chart.cell("P", "A") == parse_cell("punt40r8")
    assert tuple(chart.columns) == headings(2) == ("1", "2", "Q", "P")
    for play, letter in ((3, "A"), (1, "C"), (1, "AB"), (0, "A")):
        with pytest.raises(KeyError):
            chart.cell(play, letter)


def test_a_code_that_stands_there_again_adds_its_weight() -> None:
    for text, same in (
        ("3*1 | +3*2", "3"),
        ("3*3 | fum*1 | 3*1", "3*4 | fum*1"),
        ("inc*1 | INC*1 | 3*2 | inc*2", "inc*2 | 3*1"),
        ("off5/3*1 | 3*1 | off5/3*1", "off5/3*2 | 3*1"),
    ):
        assert parse_cell(text) == parse_cell(same)
        twice = tuple((probability / 2, result) for probability, result in parse_cell(same)) * 2
        assert ordered_cell(twice) == parse_cell(same)


def test_results_are_distinct_ascending_and_include_the_options_of_choices() -> None:
    chart = small()
    assert list(chart.results) == sorted(set(chart.results))
    codes = {result.code for result in chart.results}
    assert codes == {"3", "fum", "4", "def5/12o", "def5", "12o", "inc", "punt30", "punt40r8",
                     "block", "punt40"}  # fmt: skip


@given(charts())
@settings(max_examples=50)
def test_every_cell_is_a_distribution_over_results_of_the_chart(chart: Chart) -> None:
    for column in chart.columns.values():
        for cell in column:
            assert sum(probability for probability, _ in cell) == 1
            assert {result for _, result in cell} <= set(chart.results)
            assert parse_cell(cell_text(cell)) == cell


def test_the_hash_is_of_the_cells_alone() -> None:
    chart = small()
    renamed = Chart("other", chart.cells, chart.quick_kick, chart.punt, "elsewhere")
    assert renamed.hash == chart.hash
    changed = [small(**{heading: ["-1", "inc"]}) for heading in "12QP"]
    assert len({chart.hash, *(other.hash for other in changed)}) == 5
    # Nor can a play be mistaken for a defence.
    row = Chart.from_codes("row", [["3", "4"]], ["punt30"] * 2, ["punt30"] * 2)
    column = Chart.from_codes("row", [["3"], ["4"]], ["punt30"], ["punt30"])
    assert row.hash != column.hash


NO_CELLS = (
    (" ", "empty"),
    ("3*0 | 4*1", "weight '0'"),
    ("3*-1 | 4*2", "weight '-1'"),
    ("3*1.5 | 4*2", r"weight '1\.5'"),
    ("3*1000001 | 4*2", "weight '1000001'"),
    ("3*" + "9" * 5000, "weight"),
    ("3 | 4*1", "'3' has no weight"),
    ("3*1 | ", "'' has no weight"),
    ("3*1*2", r"weight '1\*2'"),
)

WRONG_CELLS = (
    (((Fraction(1, 2), GAIN),), "sum to 1/2, not to 1"),
    (((Fraction(2), GAIN), (Fraction(-1), Result("incomplete"))), "probability -1"),
    ((), "sum to 0"),
    (parse_cell("punt40"), "'punt40' kicks; only the columns Q and P may"),
    (parse_cell("def5/punt40"), "'def5/punt40' kicks"),
)

NO_CHARTS = (
    ("bad", [], [], "0 plays and 0 defences"),
    ("bad", [[]], [], "1 plays and 0 defences"),
    ("bad", [["3"]] * 100, ["3"], "100 plays and 1 defences"),
    ("bad", [["3"] * 27], ["3"] * 27, "1 plays and 27 defences"),
    ("bad", [["3", "4"], ["3"]], ["3", "4"], "column 2: 1 cells where column 1 has 2"),
    ("bad", [["3", "4"]], ["3"], "column Q: 1 cells"),
    *((name, [["3"]], ["punt30"], "name is") for name in ("two\nlines", " blank", "x" * 81)),
)


def test_what_is_no_cell_and_no_chart() -> None:
    for text, message in NO_CELLS:
        with pytest.raises(ValueError, match=message):
            parse_cell(text)
    good = parse_cell("3")
    for cell, message in WRONG_CELLS:
        with pytest.raises(ChartError, match=f"chart 'bad', column 2, row B: .*{message}"):
            Chart("bad", ((good, good), (good, cell)), (good, good), (good, good))
    for name, plays, kick, message in NO_CHARTS:
        with pytest.raises(ChartError, match=message):
            Chart.from_codes(name, plays, kick, kick)


# The shipped charts.


def test_the_standard_chart_has_the_published_cells() -> None:
    # McCulloch 2015, figure 1 and the text around it.
    chart = load_chart("standard")
    published = {(1, "D"): "1", (2, "B"): "fum", (3, "D"): "2", (4, "B"): "2", (4, "E"): "5"}
    assert {place: cell_text(chart.cell(*place)) for place in published} == published


def test_shape_and_variety() -> None:
    for name in SHIPPED:
        chart = load_chart(name)
        assert (chart.plays, chart.defences) == ((9, 6) if name == "dice" else (20, 10))
        assert len(chart.results) > 60
        # Only the dice chart rolls; punts apart, the others are tables of single results.
        rolls = {len(cell) > 1 for line in chart.cells for cell in line}
        assert rolls == {name == "dice"}
        # No play and no defence is dominated in yards.
        table = yards_table(chart)
        for lines in (table, -table.T):
            below = (lines[:, None, :] > lines[None, :, :]).any(axis=2)
            assert below.sum() == len(lines) * (len(lines) - 1)


PAGE = Path(__file__).parents[3] / "docs/games/football-charts.md"


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_every_play_and_every_defence_is_called_somewhere_in_the_equilibrium(name: str) -> None:
    chart = load_chart(name)
    rules = pack_rules(chart, Ruleset())
    solution = solve_points(rules)
    # Everything counted has at least a thousandth, in at least one situation of a thousand.
    for strategy in (solution.offence_strategy[:, : chart.plays], solution.defence_strategy):
        called = (strategy > 1e-3).mean(axis=0)
        assert called.min() > 1e-3, called
        assert strategy.max(axis=0).min() > 0.1
    # And the figures of the page are these.
    index = {tuple(situation): i for i, situation in enumerate(rules.situation.tolist())}
    places = [index[1, 10, to_goal, 0] for to_goal in (80, 50, 20)]
    [row] = re.findall(rf"^\| `{name}` \| (\d+) \| (.*) \|$", PAGE.read_text("utf-8"), re.M)
    assert int(row[0]) == len(chart.results)
    expected = [solution.kickoff_value, *solution.values[places]]
    assert row[1].split(" | ") == [f"{value:.2f}" for value in expected]
    if name == "standard":
        assert (solution.offence_strategy[places[0]] > 1e-9).sum() == 8
        assert (solution.defence_strategy[places[0]] > 1e-9).sum() == 8
