"""The figures of the page about football with a clock."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from solvent.exact.kernels.timed_football.layout import Layout
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


@pytest.mark.slow
@pytest.mark.parametrize(("form", "timeouts"), [("half", 0), ("half", 3), ("two-minutes", 3)])
def test_what_was_found_is_found_again(form: str, timeouts: int) -> None:
    """The two forms that are left take minutes of both processors, and 2 and 6 GB."""
    store = SheetStore(layout_of(form, timeouts))
    solve_layout(store.layout, store)
    solution = TimedSolution(store, TimedFootball(form=form, timeouts=timeouts))
    value, error, gap = FOUND[form, timeouts]
    assert solution.value == pytest.approx(float(value.removesuffix(" points")), abs=5.1e-10)
    assert solution.error < 2 * float(error)
    assert solution.largest_gap < 10 * float(gap)
    assert f"{store.games:,}" == TIMES[form, timeouts][1]
