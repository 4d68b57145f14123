"""Results, charts, their files and the model that makes them."""

import json
import re
import shlex
from dataclasses import fields, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reduced_football
from bad_files import CONTENTS
from commands import answer, refusal, run, said
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from reduced_football import MIXED, RULES, chart_of, charts
from refusals import assert_refused

from solvent.games.football import chart as chart_module
from solvent.games.football.chart import (
    SHIPPED,
    Chart,
    ChartError,
    Result,
    cell_text,
    csv_text,
    load_chart,
    parse_result,
    read_csv,
)
from solvent.games.football.chart_model import (
    ChartParameters,
    make_chart,
)
from solvent.games.football.packed import pack_rules
from solvent.games.football.ruleset import Ruleset
from solvent.games.football.situation import Situation
from solvent.games.football.solver.points import (
    expected_points_of,
    solve_charts,
    solve_points,
)

# Codes in the form in which they are written.
CODES_OF_RESULTS = {
    "5": Result("gain", 5),
    "-3": Result("gain", -3),
    "0": Result("gain"),
    "12o": Result("gain", 12, out_of_bounds=True),
    "inc": Result("incomplete"),
    "fum": Result("fumble"),
    "fum-2": Result("fumble", -2),
    "fum6": Result("fumble", 6),
    "int15": Result("interception", 15),
    "int-4": Result("interception", -4),
    "int15r10": Result("interception", 15, return_yards=10),
    "off15": Result("offence-penalty", 15),
    "def5": Result("defence-penalty", 5),
    "def15f": Result("defence-penalty", 15, first_down=True),
    "off10/7": Result("choice", options=(Result("offence-penalty", 10), Result("gain", 7))),
    "def15f/int9r2": Result(
        "choice",
        options=(
            Result("defence-penalty", 15, first_down=True),
            Result("interception", 9, return_yards=2),
        ),
    ),
    "long": Result("long-gain"),
    "punt40": Result("punt", 40),
    "punt40r8": Result("punt", 40, return_yards=8),
    "punt40fum": Result("fumbled-punt", 40),
    "block": Result("blocked-punt"),
}

# What is read and written in another form.
SPELLINGS = {"+5": "5", " 007 ": "7", "-0": "0", "12O": "12o", "FUM+0": "fum", "Int15R0": "int15",
             "Off10 / +7O": "off10/7o"}  # fmt: skip


def test_a_code_says_what_the_table_of_the_module_says() -> None:
    assert {code: parse_result(code) for code in CODES_OF_RESULTS} == CODES_OF_RESULTS
    spelled = SPELLINGS | {code: code for code in CODES_OF_RESULTS}
    assert {written: parse_result(written).code for written in spelled} == spelled


@given(reduced_football.kicking)
def test_code_and_repr_lead_back_to_the_result(result: Result) -> None:
    assert parse_result(result.code) == result
    assert parse_result(result.code.upper()) == result
    assert eval(repr(result)) == result


def small(**changes: list[str]) -> Chart:
    given = {"1": ["3", "fum*1 | 4*3"], "2": ["def5/12o", "inc"], "Q": ["punt30"] * 2,
             "P": ["punt40r8", "block*1 | punt40*35"], **changes}  # fmt: skip
    return chart_of("small", [given["1"], given["2"]], given["Q"], given["P"])


def test_the_hash_is_of_the_cells_alone() -> None:
    chart = small()
    assert replace(chart, name="other", source="elsewhere").hash == chart.hash
    changed = [small(**{heading: ["-1", "inc"]}) for heading in "12QP"]
    # Nor can a play be mistaken for a defence.
    changed += [
        chart_of("row", plays, ["punt30"] * len(plays[0]), ["punt30"] * len(plays[0]))
        for plays in ([["3", "4"]], [["3"], ["4"]])
    ]
    assert len({chart.hash, *(other.hash for other in changed)}) == 7


def test_probabilities_of_a_cell_are_positive_and_sum_to_1() -> None:
    good, gain = ((Fraction(1), Result("gain", 4)),), Result("gain", 3)
    where = "chart 'bad', column 2, row B: .*"
    rows = (
        (((Fraction(1, 2), gain),), f"{where}sum to 1/2, not to 1"),
        (((Fraction(2), gain), (Fraction(-1), Result("incomplete"))), f"{where}probability -1"),
        (((Fraction(1), gain), (Fraction(0), Result("incomplete"))), f"{where}probability 0"),
        ((), f"{where}sum to 0"),
    )
    assert_refused(
        rows,
        lambda cell: Chart("bad", ((good, good), (good, cell)), (good, good), (good, good)),
        ChartError,
    )


# The shipped charts.


def test_the_standard_chart_has_the_published_cells() -> None:
    # McCulloch 2015, figure 1 and the text around it.
    published = {(1, "D"): "1", (2, "B"): "fum", (3, "D"): "2", (4, "B"): "2", (4, "E"): "5"}
    columns = load_chart("standard").columns
    found = {(p, d): cell_text(columns[str(p)]["ABCDE".index(d)]) for p, d in published}
    assert found == published


TINY = """\
# name: tiny
# source: made up, for "tests"
# size: 2 x 3
defence,1,2,Q,P
A,-1,4,punt33,punt41r5
B,3,inc*3 | 20*1,punt36,punt40
C,fum,off10/7,punt35,block
"""


TINY_CHART = chart_of(
    "tiny",
    [["-1", "3", "fum"], ["4", "inc*3 | 20*1", "off10/7"]],
    ["punt33", "punt36", "punt35"],
    ["punt41r5", "punt40", "block"],
    'made up, for "tests"',
)


@given(charts())
@settings(max_examples=30)
def test_a_chart_written_and_read_is_itself(chart: Chart) -> None:
    assert read_csv(csv_text(chart).encode(), "a.csv") == chart


def test_a_file_is_read_as_it_looks_in_any_case_and_as_a_spreadsheet_saves_it(
    tmp_path: Path,
) -> None:
    head, table = TINY.splitlines()[:3], TINY.splitlines()[3:]
    spelled = [*head, table[0].upper(), *(line.lower() for line in table[1:])]
    # With a byte order mark, carriage returns, padded remarks and blank lines.
    remarks = ["\ufeff#name: tiny,,,,", '"# source: made up, for ""tests""",,,,']
    saved = [*remarks, "# size: 2 x 3,,,,", ",,,,", *table, ",,,,", ""]
    for suffix, text in (
        (".csv", TINY),
        (".CSV", "\n".join(spelled)),
        (".csv", "\r\n".join(saved)),
    ):
        path = tmp_path / f"chart{suffix}"
        path.write_bytes(text.encode())
        assert load_chart(path) == load_chart(str(path)) == TINY_CHART, text


# What is put in the place of what in a chart's file, and what the refusal says.
WRONG_CSV = (
    ("A,-1,4,", "A,-1,,", "row A, column 2: '' is not a result"),
    ("fum,off10/7", "fim,off10/7", "row C, column 1: 'fim' is not a result"),
    ("A,-1", "A,-101", "row A, column 1: yards of gain is -101"),
    ("20*1", "20*0", r"row B, column 2: '20\*0' has no weight"),
    ("20*1", "20", "row B, column 2: '20' has no weight"),
    ("B,3,", "B,punt30,", "chart 'tiny', column 1, row B: 'punt30' kicks"),
    ("B,3,", "A,3,", "the rows are 'AAC'; expected A, B, C"),
    ("B,3,", "D,3,", "the rows are 'ADC'; expected A, B, C"),
    ("B,3,", "B,", "row B: 3 cells where 4 are expected"),
    ("B,3,", "B,3,3,", "row B: 5 cells where 4 are expected"),
    ("C,fum,off10/7,punt35,block\n", "", "2x2 plays x defences, but the size is '2 x 3'"),
    ("1,2,Q,P", "2,1,Q,P", "the first line is not 'defence,1,2"),
    ("# size: 2 x 3\n", "", "2x3 plays x defences, but the size is '20 x 10'; state"),
    ("2 x 3", "3 x 3", "2x3 plays x defences, but the size is '3 x 3'"),
    ("B,3,", 'B,"3,', "2x2 plays x defences, but the size is '2 x 3'"),
    ("name: tiny", "name: " + "x" * 600, "name is 'x"),
    *(("A,-1", f"A,{code}", f".* column 1: {message}") for code, message in (
        (" 5x ", "'5x' is not a result; results look like 5, -3, 12o, "),
        ("100", "yards of gain is 100; allowed are whole numbers from -99 to 99"),
        ("int15r100", "return of interception is 100; allowed are whole numbers from 0 to 99"),
        ("off0", "yards of offence-penalty is 0; allowed are whole numbers from 1 to 99"),
        ("def5/120", "yards of gain is 120"),
        ("off5f", "'off5f' is not a result"),
        ("5r3", "'5r3' is not a result"),
        ("7/7", "a choice is a penalty and a play"),
        ("off10/def5", "a choice is a penalty and a play"),
        ("off10/def5/7", "'off10/def5/7' is not a result"),
    )),
)  # fmt: skip

NO_CSV = (
    (b"", "the first line is not 'defence,1,2"),
    (b"defence,Q,P", "0x0 plays x defences, but the size is '20 x 10'"),
    (b"# size: 0 x 0\ndefence,Q,P", ""),
    (TINY.encode("utf-16"), "not UTF-8"),
    *((content, "") for content in CONTENTS.values()),
)


def test_what_is_wrong_with_a_file_is_said_with_its_place() -> None:
    changed = ((TINY.replace(old, new).encode(), message) for old, new, message in WRONG_CSV)
    for content, message in (*changed, *NO_CSV):
        with pytest.raises(ChartError, match=r"^tiny\.csv[:,]? ?.*" + message) as caught:
            read_csv(content, "tiny.csv")
        assert len(str(caught.value).splitlines()) == 1, message
        assert len(str(caught.value)) < 300, message


@given(st.integers(0, len(TINY) - 1), st.text(max_size=3), st.integers(0, 3))
@settings(max_examples=examples(300))
def test_a_damaged_file_is_read_as_a_chart_or_refused_as_one(
    place: int, inserted: str, removed: int
) -> None:
    damaged = TINY[:place] + inserted + TINY[place + removed :]
    message = "damaged"
    try:
        chart = read_csv(damaged.encode("utf-8", "surrogatepass"), "damaged")
    except ChartError as error:
        message = str(error)
    else:
        assert read_csv(csv_text(chart).encode(), "again") == chart
    assert message.startswith("damaged")
    assert len(message) < 400


def test_the_command_checks_and_shows_charts(tmp_path: Path) -> None:
    assert load_chart("dice").hash in said("chart", "check", "dice")
    large = tmp_path / "large.csv"
    large.write_bytes(b"#" * 1_000_001)
    refusal("chart", "check", large)
    shown = said("chart", "show", "standard", env={"COLUMNS": "200"})
    table: dict[str, list[str]] = {}
    for first, *cells in filter(None, map(str.split, shown.splitlines())):
        table.setdefault(first, []).extend(cells)
    chart = load_chart("standard")
    assert table["play"] == list(chart.letters)
    for play in range(1, 21):
        assert table[str(play)] == [*map(cell_text, chart.cells[play - 1])]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_command_in_a_shipped_file_makes_it_again_byte_for_byte(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    remark, _, command = load_chart(name).source.partition("; ")
    program, *words = command.split()
    assert (remark, program) == ("an original", "solvent")
    said(*words)
    shipped = Path(chart_module.__file__).parent / "charts" / f"{name}.csv"
    assert (tmp_path / shipped.name).read_bytes() == shipped.read_bytes()


def test_parameters_out_of_range_are_refused() -> None:
    wrong: tuple[Any, ...] = (-1000, 10**30, 2.0, "3", True)
    assert_refused(
        (
            ({field.name: value}, f"{field.name} is {value!r}; allowed are whole")
            for field, value in product(fields(ChartParameters), wrong)
        ),
        lambda given: ChartParameters(**given),
    )


@given(
    st.builds(
        ChartParameters,
        seed=st.integers(0, 2**63 - 1),
        plays=st.integers(5, 25),
        defences=st.integers(5, 12),
        run_tenths=st.integers(-50, 50),
        pass_tenths=st.integers(-100, 100),
        risk=st.integers(0, 200),
        incomplete=st.integers(0, 150),
        noise=st.integers(0, 2000),
        penalties=st.integers(0, 50),
        dice=st.integers(0, 3),
        published=st.integers(0, 1),
    )
)
@settings(max_examples=examples(60))
def test_all_parameters_that_are_allowed_make_a_chart(parameters: ChartParameters) -> None:
    chart = make_chart("random", parameters)
    assert (chart.plays, chart.defences) == (parameters.plays, parameters.defences)
    assert make_chart("random", parameters) == chart


# `solvent chart points`


CLOCK = {"half": 45, "stops": [15], "timeouts": 0, "largest_margin": 8}


@pytest.fixture
def chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a small chart, in the folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my chart.csv").write_text(csv_text(MIXED))
    return "my chart.csv"


def advised(message: str, **names: str) -> list[str]:
    """The words of the command that an error says, with what stands for names put in."""
    [command] = re.findall(r"`solvent (.*?)`", message)
    return [names.get(word, word) for word in shlex.split(command)]


def test_points_and_sheets_take_the_rules_as_solve_does(chart: str) -> None:
    rules = ["--ruleset", json.dumps(RULES)]
    wanted = solve_points(pack_rules(load_chart(chart), Ruleset.of(RULES)))
    assert f"{wanted.kickoff_value:.6f} to the receiver" in said("chart", "points", chart, *rules)
    for command in ("points", "sheet"):
        refused = refusal("chart", command, chart, "--ruleset", '{"saftey": 3}')
        assert "Did you mean 'safety'?" in refused
    for numbers in (["--down", "3"], ["--to-goal", "9"], ["--to-go", "8"], ["--punting"]):
        refused = refusal("chart", "sheet", chart, *rules, *numbers)
        assert "is no situation; allowed are downs from 1 to 2" in refused, numbers


def test_a_sheet_says_what_both_sides_call(chart: str) -> None:
    place = ["--down", "2", "--to-goal", "4"]
    words = ["chart", "sheet", chart, "--ruleset", json.dumps(RULES), *place]
    shown, sheet = said(*words), answer(*words, "--json")
    assert sheet["situation"] == {"down": 2, "to_go": 3, "to_goal": 4, "punting": False}
    assert f"{sheet['value']:.6f} points to the offence" in shown
    calls = [call for side in ("offence", "defence") for call in sheet[side]]
    assert {"quick kick", "field goal", "punt", "A", "B"} < {call["name"] for call in calls}
    for name, chance, loss in (call.values() for call in calls):
        assert re.search(rf"\b{name} +{100 * chance:.2f}% +{loss:.4f}", shown), name
    mine, theirs = ([c["chance"] for c in sheet[side]] for side in ("offence", "defence"))
    against = np.array(sheet["payoff"]) @ theirs
    assert mine @ against == pytest.approx(sheet["value"])
    losses = [call["loss"] for call in sheet["offence"]]
    assert sheet["value"] - against == pytest.approx(losses)


def test_expected_points_of_an_own_chart_and_of_two_charts_are_solved_and_kept(
    chart: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = chart_of("other", [["3", "1"], ["inc", "4"]], ["punt4"] * 2, ["punt6"] * 2)
    (tmp_path / "other.csv").write_text(csv_text(other))
    rules = ["--ruleset", json.dumps(RULES)]
    words = ["solve", "football-strategy", "--chart", chart, *rules, "--to-goal", "4", "--json"]
    packed = [pack_rules(each, Ruleset.of(RULES)) for each in (MIXED, other)]
    one = packed[0]
    alone = solve_points(one)
    four, five = (one.index(Situation(1, 3, to_goal)) for to_goal in (4, 5))
    assert answer(*words)["value"] == pytest.approx(alone.values[four], abs=1e-8)
    ours, theirs = solve_charts(*packed)
    made = said("chart", "points", chart, "--other-chart", "other.csv", *rules)
    for side, name in ((ours, "mixed"), (theirs, "other")):
        assert re.search(rf"chart +{name} *\n", made)
        assert f"gain                 {side.gain:.6f} by each score" in made
        assert re.search(rf"^ *5 +{side.values[five]:.4f}", made, re.MULTILINE)
    both = [*words, "--other-chart", "other.csv"]
    assert answer(*both)["value"] == pytest.approx(ours.values[four], abs=1e-8)
    for side, pair in ((ours, (chart, "other.csv")), (theirs, ("other.csv", chart))):
        sheet = ["chart", "sheet", pair[0], "--other-chart", pair[1], *rules, "--to-goal", "4"]
        assert answer(*sheet, "--json")["value"] == pytest.approx(side.values[four], abs=1e-8)
    said("report", "--game", *(word for word in both[1:] if word != "--json"))
    shown = re.findall(r'data-points="(.*?)"', Path("report.html").read_text("utf-8"))
    assert float(shown[0]) == pytest.approx(ours.values[five], abs=1e-8)
    # What has been kept need not be solved again.
    monkeypatch.setenv("SOLVENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("solvent.model.cache.LONG", 0.0)
    for _ in range(2):
        expected_points_of.cache_clear()
        points = expected_points_of(MIXED, Ruleset.of(RULES), other)
        assert points.first_down[3] == pytest.approx(ours.values[four], abs=1e-12)
        assert points.other_side.kickoff == theirs.kickoff_value
        monkeypatch.setattr("solvent.games.football.solver.points.solve_charts", None)


def test_a_form_too_large_to_play_is_solved_as_the_error_says(
    chart: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solvent.games.football_clock.solution.SOLVED_IN_MEMORY", 10)
    game = ["--form", "second-half", "--chart", chart, "--margin", "-3"]
    game += ["--ruleset", json.dumps(RULES), "--clock", json.dumps(CLOCK)]
    refused = run("play", "football", *game)
    assert refused.exit_code == 2
    assert "with --solution DIR and the same parameters" in refused.stderr
    said(*advised(refused.stderr, DIR="solved"))
    said("report", "--solution", "solved", *game)
    played = run("play", "football", "--solution", "solved", *game, "--seed", "1")
    assert played.stdout.strip()
    assert "is a solution with" not in played.stderr
