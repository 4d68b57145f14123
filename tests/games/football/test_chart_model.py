"""The model that makes charts: the ladders, who stands where on them, and the shipped files."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from solvent.cli.app import app
from solvent.games.football import chart_files
from solvent.games.football.chart import Chart, cell_text
from solvent.games.football.chart_files import SHIPPED, load_chart
from solvent.games.football.chart_model import (
    LAST_RUN,
    PUBLISHED,
    ChartParameters,
    Ladder,
    ladder,
    make_chart,
    pass_ladder,
    run_ladder,
)
from solvent.games.football.results import Result

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


def test_seeds_differ() -> None:
    assert len({make_chart("x", ChartParameters(seed=seed)).hash for seed in range(20)}) == 20


@pytest.mark.parametrize("field", [field.name for field in fields(ChartParameters)])
@pytest.mark.parametrize("value", [-1000, 10**30, 2.0, "3", None, True])
def test_parameters_out_of_range_are_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{field} is {value!r}; allowed are whole numbers from"):
        ChartParameters(**{field: value})


def test_the_published_cells_need_their_defences() -> None:
    with pytest.raises(ValueError, match="defences is 4; the published cells need 5"):
        ChartParameters(defences=4, published=1)


# The ladders.

WORST_TO_BEST = {"fumble": 0, "interception": 0, "gain": 1, "incomplete": 1, "long-gain": 2}


@settings(max_examples=30)
@given(st.integers(0, 1000), st.sampled_from([load_chart(name).source for name in SHIPPED]))
def test_a_ladder_rises_from_a_lost_ball_to_the_longest_gain(depth: int, source: str) -> None:
    rungs = [ladder(depth, _parameters(source)).result(rung) for rung in range(1000)]
    heights = [(WORST_TO_BEST[r.kind], r.yards - r.return_yards) for r in rungs]
    assert heights == sorted(heights)


def _parameters(source: str) -> ChartParameters:
    words = source.split("--")[1:]
    return ChartParameters(
        **{name.replace("-", "_"): int(value) for name, value in map(str.split, words)}
    )


def test_each_part_takes_its_share_of_the_ladder() -> None:
    rungs = Ladder(
        turnover=50, sack=100, incomplete=300, long=20, low=30, typical=80, top=200, passes=True
    )
    results = [rungs.result(rung) for rung in range(1000)]
    counts = Counter(result.kind for result in results)
    assert counts == {"interception": 50, "gain": 630, "incomplete": 300, "long-gain": 20}
    caught = [result.yards for result in results if result.kind == "gain" and result.yards > 0]
    assert len(caught) == 530
    assert (min(caught), max(caught)) == (3, 20)
    assert float(np.median(caught)) == 8
    assert all(r.yards == 8 for r in results if r.kind == "interception")


def test_runs_lose_the_ball_by_fumbles_and_passes_by_interceptions() -> None:
    for depth in range(0, 1001, 50):
        rungs = ladder(depth, ChartParameters())
        worst = "fumble" if depth < LAST_RUN else "interception"
        assert rungs.result(0).kind == worst
        assert rungs.passes == (depth >= LAST_RUN) == bool(rungs.incomplete) == bool(rungs.sack)


def test_parameters_act_on_the_ladders_as_they_say() -> None:
    wild = ChartParameters(run_tenths=10, pass_tenths=-20, risk=200, incomplete=50)
    for depth in range(0, 1001, 100):
        usual, other = ladder(depth, ChartParameters()), ladder(depth, wild)
        shift = 10 if depth < LAST_RUN else -20
        assert other.typical - usual.typical == other.top - usual.top == shift
        assert other.turnover == 2 * usual.turnover
        assert other.incomplete == usual.incomplete // 2


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


def rungs_by_defence(chart: Chart, play: int) -> list[int]:
    """Where on its ladder each cell of a play can stand at the lowest."""
    depth = (play - 1) * 1000 // (chart.plays - 1)
    results = [ladder(depth, PLAIN).result(rung) for rung in range(1000)]
    return [results.index(_in_bounds(cell[0][1])) for cell in chart.cells[play - 1]]


def _in_bounds(result: Result) -> Result:
    return replace(result, out_of_bounds=False)


def test_without_noise_the_better_a_play_is_expected_the_less_it_gains() -> None:
    chart = make_chart("plain", PLAIN)
    assert rungs_by_defence(chart, 1) == sorted(rungs_by_defence(chart, 1))
    assert rungs_by_defence(chart, 20) == sorted(rungs_by_defence(chart, 20), reverse=True)
    # Play 10 of 20 has depth 473 and is expected by defences E (focus 444) and F (555).
    middle = rungs_by_defence(chart, 10)
    assert middle[4] == min(middle)
    assert max(middle) in (middle[0], middle[9])


@pytest.mark.parametrize("seed", range(5))
def test_a_seed_decides_against_whom_not_how_much(seed: int) -> None:
    # Each of the ten defences has a tenth of the ladder, whatever the noise.
    chart = make_chart("noisy", ChartParameters(seed=seed, noise=2000, penalties=0))
    for play in range(1, 21):
        rungs = ladder((play - 1) * 1000 // 19, PLAIN)
        results = [rungs.result(rung) for rung in range(1000)]
        cells = [_in_bounds(cell[0][1]) for cell in chart.cells[play - 1]]
        for tenth, result in enumerate(sorted(cells, key=results.index)):
            assert result in results[100 * tenth : 100 * (tenth + 1)]


def test_penalties_are_as_frequent_as_they_say() -> None:
    drawn = [
        result
        for seed in range(10)
        for line in make_chart("x", ChartParameters(seed=seed, penalties=20)).cells
        for cell in line
        for _, result in cell
    ]
    share = np.mean([r.kind in ("offence-penalty", "defence-penalty", "choice") for r in drawn])
    # 2000 cells: three standard deviations.
    assert abs(share - 0.2) < 3 * np.sqrt(0.2 * 0.8 / 2000)


def test_dice_weigh_the_results_of_a_cell() -> None:
    chart = make_chart("dice", ChartParameters(plays=9, defences=6, dice=2, penalties=0))
    for line in chart.cells:
        for cell in line:
            assert len(cell) > 1
            assert all(36 % probability.denominator == 0 for probability, _ in cell)
    # Play 1's first cell takes the first draws of the stream, so it stands on the same rung.
    plain = make_chart("plain", replace(PLAIN, plays=9, defences=6)).cell(1, "A")[0][1]
    cell = make_chart("rolled", replace(PLAIN, plays=9, defences=6, dice=2)).cell(1, "A")
    rolled = {result: probability for probability, result in cell}
    assert rolled[plain] >= Fraction(6, 36)
    results = [ladder(0, PLAIN).result(rung) for rung in range(1000)]
    # That rung is one of 0..166; from there 3/5 of the way to either end.
    lowest, *_, highest = sorted(rolled, key=results.index)
    assert lowest in results[:67]
    assert highest in results[599:667]


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


def test_only_the_first_defences_block_and_only_the_last_drop_a_punt() -> None:
    chart = make_chart("x", ChartParameters())
    kinds = {
        letter: {result.kind for _, result in chart.cell("P", letter)} for letter in chart.letters
    }
    assert [letter for letter in kinds if "blocked-punt" in kinds[letter]] == ["A", "B"]
    assert [letter for letter in kinds if "fumbled-punt" in kinds[letter]] == ["I", "J"]
