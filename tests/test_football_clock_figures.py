"""The figures of the page about football with a clock."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from solvent.baselines.timed_football_agent import AgentSheets
from solvent.exact.kernels.timed_football.evaluation import evaluate_pairs
from solvent.exact.kernels.timed_football.layout import Layout
from solvent.exact.kernels.timed_football.optimal import OptimalSheets
from solvent.exact.kernels.timed_football.sheet_folder import SheetFolder
from solvent.exact.kernels.timed_football.solution import TimedSolution, layout_for
from solvent.exact.kernels.timed_football.solve import solve_layout
from solvent.exact.kernels.timed_football.store import SheetStore
from solvent.games import TimedFootball

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "football-clock.md").read_text(encoding="utf-8")


def table(heading: str) -> dict[tuple[str, int], list[str]]:
    """The rows of a table, found by its header, by form and time-outs."""
    lines = PAGE[PAGE.index(heading) :].splitlines()[2:]
    rows: dict[tuple[str, int], list[str]] = {}
    for line in lines:
        if not line.startswith("|"):
            break
        form, timeouts, *cells = (cell.strip(" `") for cell in line.strip("|").split("|"))
        rows[form, 0 if timeouts == "none" else int(timeouts)] = cells
    return rows


FOUND = table("| form | time-outs | value to player 0")
TIMES = table("| form | time-outs | states | matrix games")
SIZES = table("| form | time-outs | states | sheets | disk |")


def layout_of(form: str, timeouts: int) -> Layout:
    return layout_for(TimedFootball(form=form, timeouts=timeouts))


@pytest.mark.parametrize(("form", "timeouts"), SIZES)
def test_sizes(form: str, timeouts: int) -> None:
    layout = layout_of(form, timeouts)
    states, sheets, disk = SIZES[form, timeouts]
    assert states == f"{layout.states:,}"
    assert sheets == f"{len(layout.sheets):,}"
    number, unit = disk.split()
    assert float(number) == pytest.approx(layout.size / {"MB": 1e6, "GB": 1e9}[unit], rel=0.05)


def test_all_tables_are_of_the_same_games() -> None:
    assert FOUND.keys() == TIMES.keys() == SIZES.keys() - {("full", 3)}
    for game, (states, *_) in TIMES.items():
        assert states == SIZES[game][0]


def test_the_readme_has_the_whole_game_of_the_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [row] = [line for line in readme.splitlines() if line.startswith("| Football with a clock")]
    found = re.search(r"(0\.\d+) for the side .* \(([\d,]+) states\)", row)
    assert found is not None
    assert found[1] == f"{float(FOUND['full', 0][0]):.6f}"
    assert found[2] == SIZES["full", 0][0]


def agent_table() -> dict[tuple[str, int, bool], tuple[float, float, float]]:
    """What is possible and what the agent gets against the optimal player and the best answer.

    The key's last entry is whether it begins with the ball or the kickoff's return. A row without a
    form goes on with the last one.
    """
    rows, form, timeouts = {}, "", 0
    for line in PAGE[PAGE.index("| form | it begins |") :].splitlines()[2:]:
        if not line.startswith("|"):
            break
        name, begins, optimal, answer = (cell.strip() for cell in line.strip("|").split("|"))
        if name.startswith("`"):
            form, timeouts = name.split("`")[1], 0
        elif name:
            timeouts = int(name.split()[1])
        gets, possible = optimal.removesuffix(")").replace("the value is ", "").split(" (")
        first, second, third = (
            float(number.replace("\N{MINUS SIGN}", "-")) for number in (possible, gets, answer)
        )
        rows[form, timeouts, begins.startswith("with ")] = first, second, third
    return rows


AGENT = agent_table()


def test_what_is_possible_for_the_agent_is_the_value() -> None:
    assert len(AGENT) == 10
    for (form, timeouts, first), (possible, optimal, answer) in AGENT.items():
        assert answer < optimal < possible
        if (form, timeouts) in FOUND:
            value = float(FOUND[form, timeouts][0].removesuffix(" points"))
            others = -value if form == "half" else 1 - value
            digits = 2 if form == "half" else 4
            assert possible == round(value if first else others, digits)


def test_the_page_of_training_has_the_same_agent() -> None:
    training = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    kickoffs = [AGENT["second-half", 0, first][1] for first in (True, False)]
    assert f"The paper's agent has {sum(kickoffs) / 2:.4f} against the optimal player" in training
    given = [AGENT["half", 0, first][2] for first in (True, False)]
    found = re.search(r"a best answer gets ([\d.]+) from the\s+paper's agent", training)
    assert found is not None
    assert float(found[1]) == pytest.approx(-sum(given) / 2, abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "timeouts"), [("two-minutes", 0), ("half", 0)])
def test_the_agent_gets_what_the_page_says(form: str, timeouts: int) -> None:
    """The other forms take up to half an hour of a processor, with their solutions on the disk."""
    game = TimedFootball(form=form, timeouts=timeouts)
    store = SheetStore(layout_for(game))
    solve_layout(store.layout, store)
    [begin] = game.initial()
    pairs = [
        (AgentSheets(store.layout), OptimalSheets(store.layout, store.read)),
        (AgentSheets(store.layout), None),
    ]
    results = evaluate_pairs(store.layout, begin.state, pairs)
    digits = 2 if form == "half" else 4
    for first in (True, False):
        gets = [one.first if first else one.second for one in results]
        assert [round(n, digits) for n in gets] == list(AGENT[form, timeouts, first][1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "timeouts"),
    [("half", 0), ("half", 3), ("two-minutes", 3), ("second-half", 0), ("full", 0)],
)
def test_what_was_found_is_found_again(form: str, timeouts: int, tmp_path: Path) -> None:
    """The whole game takes ten minutes of a processor and 6.1 GB of disk."""
    layout = layout_of(form, timeouts)
    free = shutil.disk_usage(tmp_path).free
    if free < 1.1 * layout.size:
        pytest.skip(f"{form} takes {layout.size / 1e9:.1f} GB of disk, {free / 1e9:.1f} are free")
    with SheetFolder.create(tmp_path / form, layout) as store:
        solve_layout(layout, store)
        solution = TimedSolution(store, TimedFootball(form=form, timeouts=timeouts))
        value, error, gap = FOUND[form, timeouts]
        assert solution.value == pytest.approx(float(value.removesuffix(" points")), abs=5.1e-10)
        assert solution.error < 2 * float(error)
        assert solution.largest_gap < 10 * float(gap)
        assert f"{store.games:,}" == TIMES[form, timeouts][1]
    shutil.rmtree(tmp_path / form)
