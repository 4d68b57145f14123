"""The model that makes charts: the ladders, who stands where on them, and the shipped files."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.football import chart_files
from solvent.games.football.chart import cell_text
from solvent.games.football.chart_files import SHIPPED, load_chart
from solvent.games.football.chart_model import (
    PUBLISHED,
    ChartParameters,
    make_chart,
    pass_ladder,
    run_ladder,
)

CHARTS = Path(chart_files.__file__).parent / "charts"
PLAIN = ChartParameters(noise=0, penalties=0)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_command_in_a_shipped_file_makes_it_again_byte_for_byte(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    remark, _, command = load_chart(name).source.partition("; ")
    program, *words = command.split()
    assert (remark, program) == ("an original", "solvent")
    result = CliRunner().invoke(app, words, prog_name=program)
    assert result.exit_code == 0, result.output
    assert (tmp_path / f"{name}.csv").read_bytes() == (CHARTS / f"{name}.csv").read_bytes()


parameters = st.builds(
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


@given(parameters)
@settings(max_examples=examples(60), deadline=None)
@pytest.mark.slow
def test_all_parameters_allowed_make_a_chart(given: ChartParameters) -> None:
    chart = make_chart("random", given)
    assert (chart.plays, chart.defences) == (given.plays, given.defences)
    assert make_chart("random", given) == chart


def test_parameters_out_of_range_are_refused() -> None:
    for field in fields(ChartParameters):
        for value in (-1000, 10**30, 2.0, "3", True):
            wrong: dict[str, Any] = {field.name: value}
            with pytest.raises(ValueError, match=f"{field.name} is {value!r}; allowed are whole"):
                ChartParameters(**wrong)


def test_the_page_of_the_charts_gives_the_ends_of_the_ladders() -> None:
    page = (Path(__file__).parents[3] / "docs/games/football-charts.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    numbers = {row[0]: [float(cell.replace("−", "-") or 0) for cell in row[1:]]
               for row in rows if len(row) == 9 and row[0] and row[1][0].isdigit()}  # fmt: skip
    assert numbers == {
        name: [
            depth, one.turnover, one.sack, one.incomplete, one.long,
            one.low / 10, one.typical / 10, one.top / 10,
        ]
        for name, depth, one in (
            ("plunge", 0, run_ladder(0, PLAIN)),
            ("widest run", 0.4, run_ladder(1000, PLAIN)),
            ("shortest pass", 0.4, pass_ladder(0, PLAIN)),
            ("longest pass", 1, pass_ladder(1000, PLAIN)),
        )
    }  # fmt: skip


# Who stands where.


def test_the_published_cells_are_put_in() -> None:
    chart = make_chart("x", ChartParameters(seed=9, published=1))
    without = make_chart("x", ChartParameters(seed=9))
    assert {place: cell_text(chart.cell(*place)) for place in PUBLISHED} == PUBLISHED
    differ = [
        (play, letter)
        for play in range(1, 21)
        for letter in chart.letters
        if chart.cell(play, letter) != without.cell(play, letter)
    ]
    assert set(differ) <= set(PUBLISHED)
