"""Chart files: what is written is read back, and what is wrong is said with its place."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from bad_files import CONTENTS, no_files
from example_counts import examples
from football_charts import charts
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.football.chart import Chart, ChartError, cell_text
from solvent.games.football.chart_csv import csv_text, read_csv
from solvent.games.football.chart_files import SHIPPED, chart_bytes, load_chart, read_chart
from solvent.games.football.chart_json import json_text, read_json
from solvent.games.football.chart_table import LARGEST_FILE
from solvent.games.football.expected_points import (
    ExpectedPointsError,
    parse_expected_points,
    read_expected_points,
)
from solvent.games.football.results import Result

TINY = """\
# name: tiny
# source: made up, for "tests"
# size: 2 x 3
defence,1,2,Q,P
A,-1,4,punt33,punt41r5
B,3,inc*3 | 20*1,punt36,punt40
C,fum,off10/7,punt35,block
"""

TINY_JSON: dict[str, Any] = {
    "format": "solvent-chart",
    "version": 1,
    "name": "tiny",
    "source": 'made up, for "tests"',
    "plays": 2,
    "defences": 3,
    "columns": ["1", "2", "Q", "P"],
    "rows": {
        "A": ["-1", "4", "punt33", "punt41r5"],
        "B": ["3", {"inc": "3/4", "20": 0.25}, "punt36", "punt40"],
        "C": ["fum", "off10/7", "punt35", "block"],
    },
}


def tiny() -> Chart:
    return Chart.from_codes(
        "tiny",
        [["-1", "3", "fum"], ["4", "inc*3 | 20*1", "off10/7"]],
        ["punt33", "punt36", "punt35"],
        ["punt41r5", "punt40", "block"],
        'made up, for "tests"',
    )


def test_both_formats_say_the_same() -> None:
    assert read_csv(TINY.encode(), "tiny.csv") == tiny()
    assert read_json(json.dumps(TINY_JSON).encode(), "tiny.json") == tiny()


@given(charts())
@settings(max_examples=100, deadline=None)
def test_a_chart_written_and_read_is_itself(chart: Chart) -> None:
    from_csv = read_csv(csv_text(chart).encode(), "a.csv")
    from_json = read_json(json_text(chart).encode(), "a.json")
    assert from_csv == from_json == chart
    assert csv_text(from_json) == csv_text(chart)
    assert json_text(from_csv) == json_text(chart)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".CSV"])
def test_the_suffix_decides(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"chart{suffix}"
    path.write_bytes(chart_bytes(tiny(), path))
    assert read_chart(path) == load_chart(str(path)) == tiny()


def test_a_file_as_a_spreadsheet_saves_it() -> None:
    # With a byte order mark, carriage returns, padded remarks and blank lines.
    lines = [
        "\ufeff# name: tiny,,,,",
        '"# source: made up, for ""tests""",,,,',
        "# size: 2 x 3,,,,",
    ]
    table = [",,,,", *TINY.splitlines()[3:], ",,,,", ""]
    assert read_csv("\r\n".join([*lines, *table]).encode(), "tiny.csv") == tiny()


def test_letters_headings_and_codes_in_any_case_and_rows_in_any_order() -> None:
    head, table = TINY.splitlines()[:3], TINY.splitlines()[3:]
    text = "\n".join([*head, table[0].upper(), *(line.lower() for line in table[:0:-1])])
    assert read_csv(text.encode(), "tiny.csv") == tiny()


def test_a_chart_without_a_name_is_named_after_its_file() -> None:
    text = TINY.replace("# name: tiny\n", "")
    assert read_csv(text.encode(), "charts/mine.csv").name == "mine"


def test_decimals_are_read_as_they_are_written() -> None:
    table = json.loads(json.dumps(TINY_JSON))
    table["rows"]["B"][1] = {"inc": 0.1, "20": "0.2", "5": "7/10"}
    cell = read_json(json.dumps(table).encode(), "tiny.json").cell(2, "B")
    assert {result: p for p, result in cell} == {
        Result("incomplete"): Fraction(1, 10),
        Result("gain", 20): Fraction(1, 5),
        Result("gain", 5): Fraction(7, 10),
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("A,-1,4,", "A,-1,,", r"row A \(line 5\), column 2: the cell is empty"),
        ("fum,off10/7", "fim,off10/7", r"row C \(line 7\), column 1: 'fim' is not a result"),
        ("off10/7", "off10/7/3", r"row C \(line 7\), column 2: 'off10/7/3' is not a result"),
        ("A,-1", "A,-101", r"row A \(line 5\), column 1: yards of gain is -101"),
        ("punt41r5", "punt41r500", r"row A \(line 5\), column P: return of punt is 500"),
        ("20*1", "20*0", r"row B \(line 6\), column 2: weight '0'"),
        ("20*1", "20*-1", r"row B \(line 6\), column 2: weight '-1'"),
        ("20*1", "20", r"row B \(line 6\), column 2: '20' has no weight"),
        ("B,3,", "B,punt30,", r"row B \(line 6\), column 1: 'punt30' kicks"),
        ("B,3,", "A,3,", r"row A \(line 6\): there is a row A already"),
        ("B,3,", "D,3,", r"row D \(line 6\): there is no defence 'D'; the 3 defences are ABC"),
        ("B,3,", "BC,3,", r"row BC \(line 6\): there is no defence 'BC'"),
        ("B,3,", "B,", r"row B \(line 6\): 3 cells where 4 are expected; column P is missing"),
        ("B,3,", "B,3,3,", r"row B \(line 6\): 5 cells where 4 are expected"),
        ("C,fum,off10/7,punt35,block\n", "", "no row C; 3 defences are expected"),
        ("1,2,Q,P", "1,Q,P", "line 4: 3 columns; expected are 4: plays 1 to 2, Q and P"),
        ("1,2,Q,P", "2,1,Q,P", "line 4: the heading of column 1 is '2'; expected is '1'"),
        ("1,2,Q,P", "1,2,P,Q", "line 4: the heading of column 3 is 'P'; expected is 'Q'"),
        ("defence,", "play,", "line 4: a chart begins with 'defence,1,2,...,Q,P'; found 'play"),
        ("# size: 2 x 3\n", "", "line 3: 4 columns; expected are 22: plays 1 to 20"),
        ("2 x 3", "two x 3", "the size is 'two x 3'"),
        ("2 x 3", "0 x 3", "plays is 0; allowed are whole numbers 1 to 99"),
        ("2 x 3", "2 x 27", "defences is 27; allowed are whole numbers 1 to 26"),
        ("B,3,", 'B,"3,', "line 6: not CSV"),
        ("name: tiny", "name: " + "x" * 100, "name is 'x"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_said_with_its_place(
    old: str, new: str, message: str
) -> None:
    assert TINY.count(old) == 1
    with pytest.raises(ChartError, match=r"^tiny\.csv[:,] ?" + message):
        read_csv(TINY.replace(old, new).encode(), "tiny.csv")


def test_nineteen_plays_where_twenty_are_stated() -> None:
    rows = csv_text(load_chart("standard")).splitlines()
    cut = [line if line.startswith(("#", '"#')) else ",".join(_without(line, 20)) for line in rows]
    with pytest.raises(ChartError, match="21 columns; expected are 22: plays 1 to 20, Q and P"):
        read_csv("\n".join(cut).encode(), "cut.csv")


def _without(line: str, place: int) -> list[str]:
    fields = line.split(",")
    return fields[:place] + fields[place + 1 :]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \r\n\n", "the file is empty"),
        (b"# size: 2 x 2\n", "no table"),
        (TINY.encode("utf-16"), "line 1: not UTF-8"),
        (TINY.replace("made", "mäde").encode("latin-1"), "line 2: not UTF-8"),
        (b"#" * (LARGEST_FILE + 1), "larger than 1000000 bytes"),
        (b"\0\0", "begins with"),
    ],
)
def test_a_file_that_is_no_csv_chart(content: bytes, message: str) -> None:
    with pytest.raises(ChartError, match=r"^bad\.csv.*" + message):
        read_csv(content, "bad.csv")


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (["format"], "other", "not a chart"),
        (["version"], 2, "version 2; this program reads version 1"),
        (["plays"], 20, "4 columns; expected are 22"),
        (["plays"], "2", "plays is '2'"),
        (["plays"], True, "plays is True"),
        (["defences"], 2, "row C: there is no defence 'C'"),
        (["defences"], 4, "no row D"),
        (["name"], 3, "name is 3"),
        (["columns"], "12QP", '"columns" is a list'),
        (["columns", 0], "3", "the heading of column 1 is '3'"),
        (["rows"], [], '"columns" is a list and "rows" an object'),
        (["rows", "B"], "3", "row B is not a list"),
        (["rows", "B"], ["3"], "row B: 1 cells where 4 are expected; column 2 is missing"),
        (["rows", "B", 0], 3, "row B, column 1: a cell is a text or an object of codes, not 3"),
        (["rows", "B", 0], "x", "row B, column 1: 'x' is not a result"),
        (["rows", "B", 0], {}, "row B, column 1: the probabilities sum to 0"),
        (["rows", "B", 1, "20"], "1/5", "row B, column 2: the probabilities sum to 19/20, not to"),
        (["rows", "B", 1, "20"], "1/0", "row B, column 2: probability '1/0'"),
        (["rows", "B", 1, "20"], "-1/4", "row B, column 2: probability '-1/4'"),
        (["rows", "B", 1, "20"], True, "row B, column 2: probability True"),
        (["rows", "B", 1, "20"], "1e999999999", "row B, column 2: probability '1e999999999'"),
        (["rows", "B", 1, "20"], 0, "row B, column 2: '20' has probability 0"),
        (["rows", "B", 1, "punt40"], "1/4", "row B, column 2"),
        (["rows", "B", 1, "200"], "1/4", "row B, column 2: yards of gain is 200"),
        (["more"], 1, "keys missing or unknown: more"),
    ],
)
def test_what_is_wrong_with_a_json_file_is_said_with_its_place(
    keys: list[Any], value: Any, message: str
) -> None:
    table = json.loads(json.dumps(TINY_JSON))
    place = table
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    with pytest.raises(ChartError, match=r"^tiny\.json[:,] ?" + message):
        read_json(json.dumps(table).encode(), "tiny.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a chart"),
        (b'{"format": "solvent-chart", "version": 1}', "keys missing or unknown: columns, "),
        (b'{"rows": {"A": [], "A": []}}', "not JSON .*'A' stands there twice"),
        (b'{"plays": ' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_a_file_that_is_no_json_chart(content: bytes, message: str) -> None:
    with pytest.raises(ChartError, match=r"^bad\.json.*" + message):
        read_json(content, "bad.json")


@given(st.integers(0, len(TINY) - 1), st.text(max_size=3), st.integers(0, 3))
@settings(max_examples=examples(300), deadline=None)
def test_a_damaged_file_is_read_as_a_chart_or_refused_as_one(
    place: int, inserted: str, removed: int
) -> None:
    messages = []
    for text, read in ((TINY, read_csv), (json.dumps(TINY_JSON), read_json)):
        damaged = text[:place] + inserted + text[place + removed :]
        try:
            chart = read(damaged.encode("utf-8", "surrogatepass"), "damaged")
        except ChartError as error:
            messages.append(str(error))
        else:
            assert read_csv(csv_text(chart).encode(), "again") == chart
    assert all(message.startswith("damaged") and len(message) < 400 for message in messages)


def test_what_is_no_file_is_no_chart(tmp_path: Path) -> None:
    for path in no_files(tmp_path, ".json"):
        with pytest.raises(OSError):  # noqa: PT011  # Each says its own.
            read_chart(path)
        with pytest.raises(OSError):  # noqa: PT011
            read_expected_points(path)


def test_a_key_that_stands_twice_among_many_is_found_at_once() -> None:
    # Each of them was counted among all others, which takes minutes.
    keys = [f'"{n}": 0' for n in range(60_000)]
    with pytest.raises(ChartError, match="'59999' stands there twice"):
        read_json(f"{{{', '.join([*keys, keys[-1]])}}}".encode(), "chart.json")


@pytest.mark.parametrize("name", CONTENTS)
def test_other_content_is_one_line(name: str) -> None:
    for read in (read_csv, read_json):
        with pytest.raises(ChartError, match=r"^some\.file") as caught:
            read(CONTENTS[name], "some.file")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300
    with pytest.raises(ExpectedPointsError, match=r"^some\.file") as error:
        parse_expected_points(CONTENTS[name], "some.file")
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kickoff", 10**400, "kickoff of the expected points has the value 1000"),
        ("kickoff", "x" * 100_000, "kickoff of the expected points has the value 'xxx"),
        ("first_down", [[0.5]], "first_down of the expected points has the value [0.5]"),
        ("first_down", [True], "first_down of the expected points has the value True"),
        ("chart", ["x" * 100_000], "'chart' is ['xxx"),
        ("version", "x" * 100_000, "version 'xxx"),
        ("x" * 100_000, 0, "keys missing or unknown: 'xxx"),
    ],
)
def test_expected_points_are_not_believed(name: str, value: Any, message: str) -> None:
    held = {
        "format": "solvent-expected-points", "version": 1, "chart": "a", "chart_hash": "b",
        "ruleset_hash": "c", "kickoff": 1, "free_kick": 1, "first_down": [1.5], "situations": None,
    }  # fmt: skip
    assert parse_expected_points(json.dumps(held).encode(), "some.file").kickoff == 1.0
    with pytest.raises(ExpectedPointsError) as caught:
        parse_expected_points(json.dumps({**held, name: value}).encode(), "some.file")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_charts_by_name_and_what_is_no_name(tmp_path: Path) -> None:
    for name in SHIPPED:
        assert load_chart(name).name == name
    with pytest.raises(ChartError, match="no chart 'standart'; charts are standard, cautious"):
        load_chart("standart")
    with pytest.raises(ChartError, match=r"read and written as \.csv or \.json, not '\.xlsx'"):
        load_chart("chart.xlsx")
    with pytest.raises(ChartError, match="not ''"):
        chart_bytes(tiny(), tmp_path / "chart")
    with pytest.raises(FileNotFoundError):
        load_chart(tmp_path / "none.csv")


PAGE = (Path(__file__).parents[3] / "docs/games/football-charts.md").read_text("utf-8")


def block(language: str) -> str:
    return PAGE.split(f"```{language}\n")[1].split("```")[0]


def test_the_page_shows_one_chart_in_both_formats() -> None:
    chart = read_csv(block("csv").encode(), "page.csv")
    assert read_json(block("json").encode(), "page.json") == chart


def test_the_page_shows_what_the_command_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = csv_text(load_chart("standard")).splitlines()
    row = lines[6].split(",")
    row[14] = "1o2"
    Path("mychart.csv").write_text("\n".join([*lines[:6], ",".join(row), *lines[7:]]))
    prompt, expected = block("console").splitlines()
    program, *words = prompt.removeprefix("$ ").split()
    result = CliRunner().invoke(app, words, prog_name=program)
    assert (result.exit_code, result.stderr.rstrip()) == (2, expected)


def test_the_command_checks_shows_and_writes_charts(tmp_path: Path) -> None:
    out = tmp_path / "dice.json"
    result = CliRunner().invoke(app, ["chart", "check", "dice", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert load_chart("dice").hash in result.output
    assert read_chart(out) == load_chart("dice")
    shown = CliRunner().invoke(app, ["chart", "show", "standard"], env={"COLUMNS": "200"}).stdout
    table = {words[0]: words[1:] for words in map(str.split, shown.splitlines()) if words}
    chart = load_chart("standard")
    assert table["play"] == list(chart.letters)
    for play in range(1, 21):
        codes = [cell_text(chart.cell(play, letter)) for letter in chart.letters]
        assert table[str(play)] == codes
