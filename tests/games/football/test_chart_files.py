"""Chart files: what is written is read back, and what is wrong is said with its place."""

from __future__ import annotations

import json
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
from solvent.games.football.chart_files import (
    LARGEST_FILE,
    SHIPPED,
    csv_text,
    load_chart,
    read_csv,
)
from solvent.games.football.expected_points import (
    ExpectedPointsError,
    parse_expected_points,
    read_expected_points,
)

TINY = """\
# name: tiny
# source: made up, for "tests"
# size: 2 x 3
defence,1,2,Q,P
A,-1,4,punt33,punt41r5
B,3,inc*3 | 20*1,punt36,punt40
C,fum,off10/7,punt35,block
"""


def tiny() -> Chart:
    return Chart.from_codes(
        "tiny",
        [["-1", "3", "fum"], ["4", "inc*3 | 20*1", "off10/7"]],
        ["punt33", "punt36", "punt35"],
        ["punt41r5", "punt40", "block"],
        'made up, for "tests"',
    )


def test_a_file_is_read_as_it_looks(tmp_path: Path) -> None:
    for suffix in (".csv", ".CSV"):
        path = tmp_path / f"chart{suffix}"
        path.write_text(TINY)
        assert load_chart(path) == load_chart(str(path)) == tiny()


@given(charts())
@settings(max_examples=100, deadline=None)
def test_a_chart_written_and_read_is_itself(chart: Chart) -> None:
    assert read_csv(csv_text(chart).encode(), "a.csv") == chart
    # As solutions keep it.
    assert Chart.from_table(json.loads(json.dumps(chart.table))) == chart


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


WRONG_CSV = (
    ("A,-1,4,", "A,-1,,", r"row A \(line 5\), column 2: the cell is empty"),
    ("fum,off10/7", "fim,off10/7", r"row C \(line 7\), column 1: 'fim' is not a result"),
    ("A,-1", "A,-101", r"row A \(line 5\), column 1: yards of gain is -101"),
    ("20*1", "20*0", r"row B \(line 6\), column 2: weight '0'"),
    ("20*1", "20", r"row B \(line 6\), column 2: '20' has no weight"),
    ("B,3,", "B,punt30,", "chart 'tiny', column 1, row B: 'punt30' kicks"),
    ("B,3,", "A,3,", r"row A \(line 6\): the rows are ABC, each once"),
    ("B,3,", "D,3,", r"row D \(line 6\): the rows are ABC, each once"),
    ("B,3,", "B,", r"row B \(line 6\): 3 cells where 4 are expected"),
    ("C,fum,off10/7,punt35,block\n", "", "no row C; the rows are ABC"),
    ("1,2,Q,P", "2,1,Q,P", "line 4: a chart of 2 x 3 begins with .*; found 'defence,2,1,Q,P'"),
    ("# size: 2 x 3\n", "", "line 3: a chart of 20 x 10 begins"),
    ("2 x 3", "2 x 27", "the size is '2 x 27'; .* at most 99 x 26"),
    ("B,3,", 'B,"3,', "line 6: not CSV"),
    ("name: tiny", "name: " + "x" * 100, "name is 'x"),
)
"""What is put in the place of what in a chart's file, and what the refusal says."""

NO_CSV = (
    (b"", "line 1: a chart of 20 x 10 begins"),
    (TINY.encode("utf-16"), "not UTF-8"),
    (b"#" * (LARGEST_FILE + 1), "larger than 1000000 bytes"),
    *((content, "") for content in CONTENTS.values()),
)


def test_what_is_wrong_with_a_file_is_said_with_its_place() -> None:
    for old, new, message in WRONG_CSV:
        assert TINY.count(old) == 1
        with pytest.raises(ChartError, match=r"^tiny\.csv[:,] ?" + message):
            read_csv(TINY.replace(old, new).encode(), "tiny.csv")
    for content, message in NO_CSV:
        with pytest.raises(ChartError, match=r"^bad\.csv.*" + message) as caught:
            read_csv(content, "bad.csv")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300


@given(st.integers(0, len(TINY) - 1), st.text(max_size=3), st.integers(0, 3))
@settings(max_examples=examples(300), deadline=None)
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


def test_what_is_no_file_is_no_chart(tmp_path: Path) -> None:
    for read, suffix in ((load_chart, ".csv"), (read_expected_points, ".json")):
        for path in no_files(tmp_path, suffix):
            with pytest.raises(OSError):  # noqa: PT011  # Each says its own.
                read(path)
    with pytest.raises(FileNotFoundError):
        load_chart(tmp_path / "none.csv")


def test_expected_points_are_not_believed() -> None:
    held = {
        "format": "solvent-expected-points", "version": 1, "chart": "a", "chart_hash": "b",
        "ruleset_hash": "c", "kickoff": 1, "free_kick": 1, "first_down": [1.5], "situations": None,
    }  # fmt: skip
    assert parse_expected_points(json.dumps(held).encode(), "some.file").kickoff == 1.0
    changed: tuple[tuple[str, Any, str], ...] = (
        ("kickoff", 10**400, "kickoff of the expected points has the value 1000"),
        ("kickoff", "x" * 100_000, "kickoff of the expected points has the value 'xxx"),
        ("first_down", [[0.5]], "first_down of the expected points has the value [0.5]"),
        ("first_down", [True], "first_down of the expected points has the value True"),
        ("chart", ["x" * 100_000], "'chart' is ['xxx"),
        ("version", "x" * 100_000, "version 'xxx"),
        ("x" * 100_000, 0, "keys missing or unknown: 'xxx"),
        ("kickoff", "0.7", "kickoff of the expected points has the value '0.7'"),
        ("kickoff", float("nan"), "not JSON (NaN is not allowed"),
        ("first_down", [None], "first_down of the expected points has the value None"),
        ("first_down", 3, "'first_down' is 3; it must be a list of numbers"),
        ("situations", 7, "'situations' is 7; it must be a list"),
        ("chart", 3, "'chart' is 3; it must be text"),
        ("version", 2, "version 2; this program reads version 1"),
        ("format", "odd", "not expected points"),
        ("other", 3, "other: 3 is no mapping of values"),
        ("other", {"x": 1}, "other: keys missing or unknown: 'chart', "),
    )
    contents = [
        (json.dumps({**held, name: value}).encode(), message) for name, value, message in changed
    ]
    contents += [(b"", "not JSON"), (b"[]", "not expected points")]
    for content, message in (*contents, *((content, "") for content in CONTENTS.values())):
        with pytest.raises(ExpectedPointsError) as caught:
            parse_expected_points(content, "some.file")
        assert message in str(caught.value)
        assert str(caught.value).startswith("some.file")
        assert len(str(caught.value)) < 300


def test_charts_by_name_and_what_is_no_name() -> None:
    for name in SHIPPED:
        assert load_chart(name).name == name
    for name, message in (
        ("standart", "no chart 'standart'; charts are standard, cautious.*mean 'standard'"),
        ("chart.xlsx", r"read and written as \.csv, not '\.xlsx'$"),
        ("chart.json", r"\.csv, not '\.json'; release 0\.2 converts .*--out FILE\.csv"),
    ):
        with pytest.raises(ChartError, match=message):
            load_chart(name)


PAGE = (Path(__file__).parents[3] / "docs/games/football-charts.md").read_text("utf-8")


def block(language: str) -> str:
    return PAGE.split(f"```{language}\n")[1].split("```")[0]


def test_the_page_shows_a_chart() -> None:
    assert read_csv(block("csv").encode(), "page.csv").name == "tiny"


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
    out = tmp_path / "again.csv"
    result = CliRunner().invoke(app, ["chart", "check", "dice", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert load_chart("dice").hash in result.output
    assert load_chart(out) == load_chart("dice")
    refused = CliRunner().invoke(app, ["chart", "check", "dice", "--out", str(tmp_path / "x.json")])
    assert refused.exit_code == 2
    shown = CliRunner().invoke(app, ["chart", "show", "standard"], env={"COLUMNS": "200"}).stdout
    table = {words[0]: words[1:] for words in map(str.split, shown.splitlines()) if words}
    chart = load_chart("standard")
    assert table["play"] == list(chart.letters)
    for play in range(1, 21):
        codes = [cell_text(chart.cell(play, letter)) for letter in chart.letters]
        assert table[str(play)] == codes
