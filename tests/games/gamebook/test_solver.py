"""Books solved in rationals, in floats and as trees, and what best play comes to."""

from fractions import Fraction

import numpy as np
import pytest
from gamebooks import small
from generated_books import generated_book
from tree_checks import assert_tree_equals_table, solve_as_tree

from solvent.exact import optimal_occupancy, solve, solve_exactly
from solvent.games import Pig, open_book
from solvent.games.gamebook.page import FinalState
from solvent.games.gamebook.rules import Gamebook
from solvent.model import RationalGame, compile_game

BOOKS = [generated_book(12, seed, endurance=4) for seed in (1, 5)]


@pytest.mark.parametrize(
    ("seed", "keep"),
    [
        (1, ("gold",)),
        (5, ("luck", "flag0", "thing0", "hunting")),
        (8, ("endurance", "meal")),
        (10, ("luck", "flag0", "thing0", "hunting")),
    ],
)
def test_final_states_are_those_that_play_with_a_full_memory_comes_to(
    seed: int, keep: tuple[str, ...]
) -> None:
    book = generated_book(10, seed, endurance=4, rare=seed > 5)
    game = Gamebook(book, keep=keep)
    model = game.tabulate_exactly()
    play = optimal_occupancy(model, solve_exactly(model))
    rows = dict(play.ends(game.final_state))
    assert sum(rows.values()) == 1
    # The same decisions, with nothing forgotten.
    memory, places = Gamebook(book, forget=False, keep=keep), [game.book.position[n] for n in keep]
    found: dict[FinalState, Fraction] = {}
    todo = {o.state: Fraction(o.probability) for o in memory.initial()}
    while todo:
        page, p = todo.popitem()
        if memory.is_terminal(page):
            values = tuple(page.values[place] for place in places)
            end = FinalState(page.ending, page.section, values)
            found[end] = found.get(end, Fraction(0)) + p
            continue
        row = play.row[model.table.index[game.from_reader(page)]]
        for outcome in memory.transition(page, (int(model.table.row_action[0][row]),)):
            todo[outcome.state] = todo.get(outcome.state, Fraction(0)) + p * outcome.probability
    assert rows == found
    assert all(None not in end.values for end in rows)
    # What is kept does not change the value.
    assert solve_exactly(Gamebook(book).tabulate_exactly()).value == play.value
    # In floats the same, to rounding.
    floats = dict(optimal_occupancy(model.table, solve(model.table)).ends(game.final_state))
    assert sum(floats.values()) == pytest.approx(1, abs=1e-12)


def test_a_field_that_is_kept_is_known_where_a_rule_ends_play_before_it_is_set_anew() -> None:
    sections = """
  1: {do: [{lose: {gold: 1d2}}, {lose: {endurance: 1d2 * 4}}, {set: {gold: 9}}], ending: won}
whenever: [{when: endurance <= 0, ending: lost}]
"""
    game = Gamebook(small(sections), keep=("gold",))
    model = game.tabulate_exactly()
    assert dict(optimal_occupancy(model, solve_exactly(model)).ends(game.final_state)) == {
        FinalState("won", 1, (9,)): Fraction(1, 2),
        FinalState("lost", 1, (3,)): Fraction(1, 4),
        FinalState("lost", 1, (4,)): Fraction(1, 4),
    }


@pytest.mark.parametrize("book", [*BOOKS, open_book("red-lamp").book])
def test_rationals_are_those_of_the_tree_state_by_state(book: object) -> None:
    game = Gamebook(book)  # type: ignore[arg-type]
    model, tree = game.tabulate_exactly(), solve_as_tree(game)
    solution = solve_exactly(model)
    assert solution.value == tree.value
    compared = 0
    for at in tree.nodes:
        if at.state is not None:
            assert solution.values[model.table.index[at.state]] == tree.value_of(at) - at.collected
            compared += 1
    assert compared == model.table.n_states


def test_floats_are_those_of_the_tree() -> None:
    assert_tree_equals_table(Gamebook(BOOKS[0]))


@pytest.mark.parametrize("book", BOOKS)
def test_the_bracket_of_the_floats_holds_the_rational(book: object) -> None:
    model = Gamebook(book).tabulate_exactly()  # type: ignore[arg-type]
    solution = solve(model.table)
    assert Fraction(solution.lower) <= solve_exactly(model).value <= Fraction(solution.upper)
    assert solution.upper - solution.lower < 1e-12


def test_a_game_with_cycles_and_a_solution_of_another_kind_are_refused() -> None:
    table = compile_game(Pig(target=3, sides=2))
    numbers = sorted({*table.probability.tolist(), *table.outcome_reward.tolist()})
    index = (np.searchsorted(numbers, of) for of in (table.probability, table.outcome_reward))
    initial = {int(s): Fraction(float(table.initial[s])) for s in np.flatnonzero(table.initial)}
    with pytest.raises(ValueError, match="can be visited twice"):
        solve_exactly(RationalGame(table, tuple(map(Fraction, numbers)), *index, initial))
    model = Gamebook(BOOKS[0]).tabulate_exactly()
    with pytest.raises(
        ValueError, match="both the game and the solution must be in rationals, or neither"
    ):
        optimal_occupancy(model.table, solve_exactly(model))
