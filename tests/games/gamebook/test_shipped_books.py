"""The books that come with the package: faultless, fair, and worth what their pages say."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from solvent.baselines import make_baseline
from solvent.exact import (
    SolvedTable,
    optimal_occupancy,
    policy_value,
    score,
    solve,
    solve_exactly,
    with_table,
)
from solvent.games.gamebook.library import book_path, open_book
from solvent.games.gamebook.loader import check_book
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.tabulation import Pages
from solvent.model import compile_game, parametrize_with_game_checks
from solvent.training import train

DOCS = Path(__file__).parents[3] / "docs"
TEACHING, FULL = "red-lamp", "ninth-tide"

BY_HAND = (DOCS / "teaching-book.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| (\d+) \| (page|lost) \| (.) \| (.) \| (.) \| (.) \| ([\d/]+) \|$", BY_HAND, re.M
)
"""Section, moment, stamina, luck, rope, loaf and worth, as the page on the teaching book says."""


@cache
def solved_book(name: str) -> SolvedTable:
    return cast(SolvedTable, with_table(solve(open_book(name))))


def of_baseline(solved: SolvedTable, name: str) -> float:
    """The value of a baseline."""
    policy = make_baseline(name, solved.table)
    return float(solved.table.at_start(policy_value(solved.table, policy)))


@pytest.fixture(params=[TEACHING, FULL])
def solved(request: pytest.FixtureRequest) -> SolvedTable:
    return solved_book(request.param)


@pytest.fixture
def solved_teaching() -> SolvedTable:
    return solved_book(TEACHING)


@parametrize_with_game_checks([open_book(TEACHING)])
def test_the_teaching_book_conforms(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


@pytest.mark.parametrize("name", [TEACHING, FULL])
def test_the_checker_finds_no_fault(name: str) -> None:
    assert check_book(book_path(name)) == []


def test_play_can_come_to_every_section_and_ending_and_everything_can_be_had(
    solved: SolvedTable,
) -> None:
    book, batches = solved.game.book, cast(Pages, solved.table.states).batches
    assert {layout.at[0] for layout, _ in batches} - {0} == set(book.sections)
    assert {layout.at[3] for layout, _ in batches} - {""} == set(book.endings)
    # A page holds a field only if what follows depends on it.
    seen: dict[int, set[int]] = defaultdict(set)
    for layout, columns in batches:
        for place, column in zip(layout.fields, columns.T, strict=False):
            seen[place].update(np.unique(column).tolist())
    assert all(len(seen[place]) > 1 for place in range(len(book.fields)))


def test_the_optimum_and_the_baselines_are_what_the_page_says(solved: SolvedTable) -> None:
    name = dict(solved.game.info.parameters)["book"]
    page = (DOCS / "games" / "gamebook.md").read_text("utf-8")
    [(sections, states, value, uniform, first)] = re.findall(
        rf"^\| `{name}` \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.M
    )
    assert len(solved.game.book.sections) == int(sections)
    assert solved.table.n_states == int(states)
    assert solved.solution.value == pytest.approx(float(value), abs=1e-12)
    assert of_baseline(solved, "uniform") == pytest.approx(float(uniform), abs=1e-6)
    assert of_baseline(solved, "first-legal") == pytest.approx(float(first), abs=1e-6)


@pytest.mark.slow
def test_the_fraction_of_the_full_book_is_what_the_page_says() -> None:
    page = (DOCS / "games" / "gamebook.md").read_text("utf-8")
    [(numerator, denominator)] = re.findall(r"^    (\d+)\n    / (\d+)$", page, re.M)
    value = solve_exactly(open_book(FULL).tabulate_exactly()).value
    assert value == Fraction(int(numerator), int(denominator))


@pytest.mark.slow
def test_best_play_of_the_full_book_is_what_the_page_says() -> None:
    full = solved_book(FULL)
    page = (DOCS / "games" / "gamebook.md").read_text("utf-8")
    best = optimal_occupancy(full.table, full.solution)
    ends: dict[str, float] = defaultdict(float)
    for end, probability in best.ends():
        ends[end.ending] += float(probability)
    [(whole, half)] = re.findall(r"with probability ([\d.]+) and half of it with ([\d.]+)\.", page)
    assert (f"{ends['victory']:.4f}", f"{ends['half']:.4f}") == (whole, half)
    stakes = {stake.group: stake for stake in best.decisions(lambda at: at.section, most=50)}
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| [^|]+ \| (0\.\d{4}) \|$", page, re.M)
    assert len(rows) == 7
    for section, title, worth in rows:
        assert full.game.book.sections[int(section)].title == title
        assert f"{stakes[int(section)].importance:.4f}" == worth


@pytest.fixture(scope="module")
def worth() -> dict[Page, Fraction]:
    """The exact worth of every page of the teaching book."""
    exact = open_book(TEACHING).tabulate_exactly()
    solution = solve_exactly(exact)
    pages = cast(Sequence[Page], exact.table.states)
    return {page: solution.values[s] for s, page in enumerate(pages)}


def hero_on(page: Page) -> dict[str, int | None]:
    """The fields on a page of the teaching book; None for one that matters no more."""
    return dict(zip(open_book(TEACHING).book.fields, page.values, strict=True))


def test_the_teaching_book_is_solved_by_hand(worth: dict[Page, Fraction]) -> None:
    for section, moment, *hero, fraction in ROWS:
        names = ("stamina", "luck", "rope", "loaf")
        wanted = {n: int(text) for n, text in zip(names, hero, strict=True) if text != "–"}
        found = [
            value
            for page, value in worth.items()
            if (page.section, page.step) == (int(section), moment.replace("page", ""))
            and all(hero_on(page)[name] in (number, None) for name, number in wanted.items())
        ]
        assert set(found) == {Fraction(fraction)}, (section, moment, hero)


def test_the_teaching_book_is_worth_more_than_its_first_options(
    worth: dict[Page, Fraction], solved_teaching: SolvedTable
) -> None:
    [start] = solved_teaching.game.initial()
    assert worth[start.state] == Fraction(5291, 7200)
    assert "The value of the book is **5291/7200**" in BY_HAND
    assert "981/2000 = 0.4905" in BY_HAND
    assert of_baseline(solved_teaching, "first-legal") == pytest.approx(981 / 2000, abs=1e-12)
    assert f"{of_baseline(solved_teaching, 'uniform'):.6f}" in BY_HAND


def test_taking_the_first_wound_and_testing_luck_are_exactly_tied(
    worth: dict[Page, Fraction],
) -> None:
    game = open_book(TEACHING)
    [state] = [
        page
        for page in worth
        if page.step == "lost" and hero_on(page)["stamina"] == 4 and hero_on(page)["luck"] == 7
    ]
    keep, test = (
        sum(o.probability * worth[cast(Page, o.state)] for o in game.transition(state, (action,)))
        for action in (0, 1)
    )
    assert keep == test == Fraction(341, 576)


GAME_PAGE = (DOCS / "games" / "gamebook.md").read_text("utf-8")


@pytest.mark.parametrize("book", ["red-lamp", pytest.param("ninth-tide", marks=pytest.mark.slow)])
def test_the_page_has_the_values_of_the_baselines(book: str) -> None:
    section = GAME_PAGE[GAME_PAGE.index("## Baselines") : GAME_PAGE.index("## Learners")]
    rows = re.findall(
        r"^\| `([\w-]+)` \| [^|]+ \| ([\d.]+) \| (\S+) \| ([\d.]+) \| (\S+) \|$", section, re.M
    )
    assert len(rows) == 4
    table = compile_game(open_book(book))
    solution = solve(table)
    for name, *figures in rows:
        value, normalized = figures[:2] if book == "red-lamp" else figures[2:]
        result = score(table, make_baseline(name, table), solution)
        assert result.value == pytest.approx(float(value), abs=1e-6)
        assert result.normalized == pytest.approx(float(normalized.replace("−", "-")), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_most_probable_actions_play_the_teaching_book_optimally(
    algorithm: str, seed: int, tmp_path: Path
) -> None:
    result = train(
        "solvent/Gamebook-v0", algorithm, seed=seed, folder=tmp_path, evaluations=1, progress=False
    )
    assert result.mode_score.optimality_gap == pytest.approx(0, abs=1e-12)
