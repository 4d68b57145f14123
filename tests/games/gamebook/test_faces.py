"""A book in an environment, in a terminal and on its page, and the books that are shipped."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from gamebooks import changed, small

from solvent.baselines import make_baseline
from solvent.exact import SolvedTable, optimal_occupancy, score, solve, solve_exactly, with_table
from solvent.games.gamebook.library import book_path, open_book
from solvent.games.gamebook.loader import check_book, parse_book
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.report import GamebookPages, episode_course, layout
from solvent.games.gamebook.rules import Gamebook
from solvent.games.gamebook.tabulation import Pages
from solvent.model import TabularPolicy, compile_game, make_game, parametrize_with_game_checks
from solvent.report.solved import game_task
from solvent.training import train

# A book opened by name, read in an environment, played in a terminal, and on its page


# The example book with a weaker hero and a weaker miller: eleven thousand states.
TEXT = changed(
    ("endurance: {initial: 1d6 + 6, max: 14", "endurance: {initial: 1d2 + 4, max: 6"),
    ("gold: {initial: 6, max: 20}", "gold: {initial: 3, max: 4}"),
    ("luck: {initial: 7", "luck: {initial: 4"),
    ("endurance: 9}, {name: Shadow", "endurance: 5}, {name: Shadow"),
)
SMALL_MILL = Gamebook(parse_book(TEXT.encode()))


def test_the_parameters_make_the_game_again(tmp_path: Path) -> None:
    path = tmp_path / "Small.YAML"
    path.write_text(TEXT, encoding="utf-8")
    info = make_game("gamebook", book=str(path)).info
    again = make_game(info.name, **dict(info.parameters))
    assert compile_game(again).model_hash == compile_game(SMALL_MILL).model_hash


def test_the_reader_sees_what_the_solver_forgets() -> None:
    game, reader = SMALL_MILL, SMALL_MILL.for_reader()
    table, rng, forgotten = compile_game(game), np.random.default_rng(0), 0
    for _ in range(50):
        state = reader.initial()[0].state
        while not reader.is_terminal(state):
            known = game.from_reader(state)
            assert known in table.index
            assert None not in state.values
            forgotten += known.values.count(None)
            [actions] = reader.legal_actions(state)
            assert game.legal_actions(known) == (actions,)
            action = int(rng.choice(actions))
            outcomes = reader.transition(state, (action,))
            # Both games agree on what follows, with its rewards, once the rest is forgotten.
            merged: dict[tuple[object, object], Fraction] = defaultdict(Fraction)
            for outcome in outcomes:
                merged[game.from_reader(outcome.state), outcome.reward] += outcome.probability
            theirs = {(o.state, o.reward): o.probability for o in game.transition(known, (action,))}
            assert merged == theirs
            state = outcomes[int(rng.integers(len(outcomes)))].state
        assert game.from_reader(state) in table.index
    assert forgotten > 0


# Best play is worth 0.6 wherever it goes; uniform play loses in section 3 only.
FORK = Gamebook(
    small(
        """\
  1:
    choices:
      - {label: Left., goto: 2}
      - {label: Right <b>., goto: 3}
  2:
    do: [{lose: {gold: 1}}]
    chances:
      - {probability: 1/4, goto: 3}
      - {probability: 3/4, text: A stair., goto: 4}
  3:
    text: Here.
    choices:
      - {label: Wait., ending: lost}
      - {label: Run., goto: 4}
  4:
    roll:
      dice: digit
      results:
        ..5: {ending: won}
        6..: {ending: lost}
  """
    )
)


def test_a_reading_is_what_one_calculates_by_hand() -> None:
    table = compile_game(FORK)
    found = episode_course(FORK, table, TabularPolicy.uniform(table), solve(table).values)
    # Section 3: half of all plays go there at once, and a quarter of the others.
    assert found.reached == pytest.approx({1: 1, 2: 0.5, 3: 0.625, 4: 0.375 + 0.3125})
    assert found.value == pytest.approx(dict.fromkeys((1, 2, 3, 4), 0.6))
    assert found.endings == pytest.approx({"won": 0.4125, "lost": 0.5875})


@pytest.mark.parametrize("game", [FORK, SMALL_MILL])
def test_every_line_of_the_map_leads_to_the_right(game: Gamebook) -> None:
    place, targets = layout(game.book), game.book.targets
    assert place.keys() == game.book.sections.keys()
    assert len(set(place.values())) == len(place)
    assert all(place[n][0] < place[target][0] for n in place for target in targets[n])


def test_the_page_of_a_book_has_its_sections_and_no_markup_of_its_labels() -> None:
    solved = game_task(cast(SolvedTable, solve(FORK)))
    html = "".join(section.html for section in GamebookPages().sections(solved))
    numbered = re.findall(
        r'cx="([\d.]+)"[^>]*data-section="(\d+)".*?x="([\d.]+)"[^>]*>(\d+)<', html
    )
    assert sorted(n for _, n, _, _ in numbered) == ["1", "2", "3", "4"]
    assert all(dot == text and n == shown for dot, n, text, shown in numbered)
    assert "<b>" not in html
    assert re.search(r"<td>uniform</td><td class=\"n\">0\.4125</td>", html)
    assert re.search(r"<td>section 3</td><td>Run</td>", html)


def test_the_map_of_a_book_tells_what_is_optimal_only_where_that_is_asked_for() -> None:
    solved = solve(make_game("gamebook"))
    for optimal, maps in ((True, 1), (False, 0)):
        sections = GamebookPages().state_sections(solved, solved.game.initial()[0].state, optimal)
        assert ['data-section="1"' in section.html for section in sections] == [True] * maps


# The books that come with the package: faultless, fair, and worth what their pages say


DOCS = Path(__file__).parents[3] / "docs"
GAME_PAGE = (DOCS / "games" / "gamebook.md").read_text("utf-8")
TEACHING, FULL = "red-lamp", "ninth-tide"

BY_HAND = (DOCS / "teaching-book.md").read_text("utf-8")
# Section, moment, stamina, luck, rope, loaf and worth, as the page on the teaching book says.
ROWS = re.findall(
    r"^\| (\d+) \| (page|lost) \| (.) \| (.) \| (.) \| (.) \| ([\d/]+) \|$", BY_HAND, re.M
)


@cache
def solved_book(name: str) -> SolvedTable:
    return cast(SolvedTable, with_table(solve(open_book(name))))


def of_baseline(solved: SolvedTable, name: str) -> float:
    return score(solved.table, make_baseline(name, solved.table), solved.solution).value


@pytest.fixture(params=[TEACHING, FULL])
def solved(request: pytest.FixtureRequest) -> SolvedTable:
    return solved_book(request.param)


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
    for arrangement, columns in batches:
        for place, column in zip(arrangement.fields, columns.T, strict=False):
            seen[place].update(np.unique(column).tolist())
    assert all(len(seen[place]) > 1 for place in range(len(book.fields)))


def test_the_optimum_and_the_baselines_are_what_the_page_says(solved: SolvedTable) -> None:
    name = dict(solved.game.info.parameters)["book"]
    [(sections, states, value, *baselines)] = re.findall(
        rf"^\| `{name}` \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", GAME_PAGE, re.M
    )
    assert len(solved.game.book.sections) == int(sections)
    assert solved.table.n_states == int(states)
    assert solved.solution.value == pytest.approx(float(value), abs=1e-12)
    found = [of_baseline(solved, baseline) for baseline in ("uniform", "first-legal")]
    assert found == pytest.approx([float(figure) for figure in baselines], abs=1e-6)


@pytest.mark.slow
def test_the_fraction_of_the_full_book_is_what_the_page_says() -> None:
    [(numerator, denominator)] = re.findall(r"^    (\d+)\n    / (\d+)$", GAME_PAGE, re.M)
    value = solve_exactly(open_book(FULL).tabulate_exactly()).value
    assert value == Fraction(int(numerator), int(denominator))


@pytest.mark.slow
def test_best_play_of_the_full_book_is_what_the_page_says() -> None:
    full = solved_book(FULL)
    best = optimal_occupancy(full.table, full.solution)
    ends: dict[str, float] = defaultdict(float)
    for end, probability in best.ends():
        ends[end.ending] += float(probability)
    shown = f"with probability {ends['victory']:.4f} and half of it with {ends['half']:.4f}."
    assert shown in " ".join(GAME_PAGE.split())
    stakes = {stake.group: stake for stake in best.decisions(lambda at: at.section, most=50)}
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| [^|]+ \| (0\.\d{4}) \|$", GAME_PAGE, re.M)
    assert len(rows) == 7
    for section, title, worth in rows:
        assert full.game.book.sections[int(section)].title == title
        assert f"{stakes[int(section)].importance:.4f}" == worth


@pytest.fixture(scope="module")
def worth() -> dict[Page, Fraction]:
    exact = open_book(TEACHING).tabulate_exactly()
    pages = cast(Sequence[Page], exact.table.states)
    return dict(zip(pages, solve_exactly(exact).values, strict=True))


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
    worth: dict[Page, Fraction],
) -> None:
    teaching = solved_book(TEACHING)
    assert worth[teaching.game.initial()[0].state] == Fraction(5291, 7200)
    assert "The value of the book is **5291/7200**" in BY_HAND
    assert "981/2000 = 0.4905" in BY_HAND
    assert of_baseline(teaching, "first-legal") == pytest.approx(981 / 2000, abs=1e-12)
    assert f"{of_baseline(teaching, 'uniform'):.6f}" in BY_HAND


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


@pytest.mark.parametrize("book", [TEACHING, pytest.param(FULL, marks=pytest.mark.slow)])
def test_the_page_has_the_values_of_the_baselines(book: str) -> None:
    section = GAME_PAGE[GAME_PAGE.index("## Baselines") : GAME_PAGE.index("## Learners")]
    rows = re.findall(
        r"^\| `([\w-]+)` \| [^|]+ \| ([\d.]+) \| (\S+) \| ([\d.]+) \| (\S+) \|$", section, re.M
    )
    assert len(rows) == 4
    table, solution = solved_book(book).table, solved_book(book).solution
    for name, *figures in rows:
        value, normalized = figures[:2] if book == TEACHING else figures[2:]
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
