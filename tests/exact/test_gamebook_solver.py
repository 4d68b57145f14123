"""Books solved in rationals, in floats and as trees, and what best play comes to."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from gamebooks import small
from generated_books import generated_book
from tree_checks import assert_tree_equals_table, solve_as_tree

from solvent.exact import best_play, policy_value, solve, solve_exactly, state_visitation
from solvent.exact.rational import row_value
from solvent.games import Pig
from solvent.games.gamebook.machine import Gamebook
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.shelf import open_book
from solvent.model import TabularGame, compile_game
from solvent.model.rational import RationalGame

BOOKS = [generated_book(12, seed, endurance=4) for seed in (1, 5)]

FERRY = """
  1:
    choices:
      - {label: ferry, do: [{lose: {gold: 3}}], goto: 2}
      - {label: swim, chances: [{probability: 2/3, goto: 3}, {probability: 1/3, ending: lost}]}
  2: {branch: [{when: gold >= 3, ending: won}, {goto: 3}]}
  3: {roll: {dice: digit, results: {0..5: {ending: won}, 6..: {ending: lost}}}}
"""


def test_a_book_by_hand() -> None:
    # 5 gold less 3 is not enough for the other side: 6/10 by the ferry, 2/3 of that swimming.
    model = Gamebook(small(FERRY)).tabulate_exactly()
    solution = solve_exactly(model)
    assert solution.value == Fraction(6, 10)
    play = best_play(model, solution)
    assert {page.ending: p for page, p in play.ends()} == {
        "won": Fraction(6, 10),
        "lost": Fraction(4, 10),
    }
    [stake, *rest] = play.stakes(lambda page: page.section)
    assert (stake.group, stake.worth, stake.visits) == (1, Fraction(6, 30), 1)
    assert stake.actions == ((0, 1),)
    assert all(other.worth == 0 for other in rest)


@pytest.mark.parametrize("book", [*BOOKS, open_book("red-lamp").book])
def test_rationals_are_those_of_the_tree_state_by_state(book: object) -> None:
    game = Gamebook(book)  # type: ignore[arg-type]
    model = game.tabulate_exactly()
    solution = solve_exactly(model)
    tree = solve_as_tree(game)
    assert solution.value == tree.value
    compared = 0
    for at in tree.graph.index:
        if at.state is not None:
            index = model.table.index[at.state]
            assert solution.value_of(index) == tree.value_of(at) - at.collected
            compared += 1
    assert compared == model.table.n_states


def test_floats_are_those_of_the_tree() -> None:
    assert_tree_equals_table(Gamebook(BOOKS[0]))


@pytest.mark.parametrize("book", BOOKS)
def test_the_bracket_of_the_floats_holds_the_rational(book: object) -> None:
    model = Gamebook(book).tabulate_exactly()  # type: ignore[arg-type]
    solution = solve(model.table)
    exact = solve_exactly(model).value
    assert Fraction(solution.lower) <= exact <= Fraction(solution.upper)
    assert solution.upper - solution.lower < 1e-12


def test_best_play_in_floats_is_that_in_rationals() -> None:
    model = Gamebook(BOOKS[0]).tabulate_exactly()
    rational = solve_exactly(model)
    exact = best_play(model, rational)
    solution = solve(model.table)
    floats = best_play(model.table, solution)
    visits = state_visitation(model.table, solution.policies[0])
    for index, p in floats.visits.items():
        assert p == pytest.approx(visits[index], abs=1e-12)
    assert sum(p for _, p in exact.ends()) == 1
    paid = sum(p * Gamebook(BOOKS[0]).reward(page) for page, p in exact.ends())
    assert paid == rational.value

    def place(page: Page) -> tuple[int, str]:
        return page.section, page.step

    exact_worth = {stake.group: stake.worth for stake in exact.stakes(place, 1000)}
    float_worth = {stake.group: stake.worth for stake in floats.stakes(place, 1000)}
    for group, worth in float_worth.items():
        assert float(exact_worth.get(group, 0)) == pytest.approx(float(worth), abs=1e-9)
    values = policy_value(model.table, solution.policies[0])
    assert model.table.at_start(values) == pytest.approx(float(rational.value), abs=1e-12)


def test_stakes_are_what_the_second_best_action_loses() -> None:
    model = Gamebook(BOOKS[1]).tabulate_exactly()
    solution = solve_exactly(model)
    play = best_play(model, solution)
    [stake] = play.stakes(lambda page: page, most=1)
    index = model.table.index[stake.group]
    rows = range(model.table.row_start[index], model.table.row_start[index + 1])
    values = sorted((row_value(model, solution, row) for row in rows), reverse=True)
    assert values[0] == solution.value_of(index)
    assert stake.worth == play.visits[index] * (values[0] - values[1])


def rational(table: TabularGame) -> RationalGame:
    """A table whose floats are taken for the rationals they are."""
    numbers = sorted({*table.probability.tolist(), *table.outcome_reward.tolist()})
    index = {number: i for i, number in enumerate(numbers)}
    return RationalGame(
        table,
        tuple(Fraction(number) for number in numbers),
        np.array([index[p] for p in table.probability.tolist()]),
        np.array([index[r] for r in table.outcome_reward.tolist()]),
        {int(s): Fraction(float(table.initial[s])) for s in np.flatnonzero(table.initial)},
    )


def test_a_game_with_cycles_is_refused() -> None:
    with pytest.raises(ValueError, match="can be visited twice"):
        solve_exactly(rational(compile_game(Pig(target=3, sides=2))))


def test_floats_that_are_no_rationals_of_the_game_are_refused() -> None:
    model = Gamebook(BOOKS[0]).tabulate_exactly()
    shifted = np.roll(model.probability, 1)
    with pytest.raises(ValueError, match="probability does not agree"):
        replace(model, probability=shifted)


def test_best_play_takes_a_solution_of_its_own_kind() -> None:
    model = Gamebook(BOOKS[0]).tabulate_exactly()
    with pytest.raises(ValueError, match="only with it"):
        best_play(model.table, solve_exactly(model))


@pytest.mark.slow
def test_a_book_of_350_sections_in_both_arithmetics() -> None:
    model = Gamebook(generated_book(350)).tabulate_exactly()
    assert model.table.n_states >= 250_000
    solution = solve(model.table)
    exact = solve_exactly(model).value
    assert Fraction(solution.lower) <= exact <= Fraction(solution.upper)
