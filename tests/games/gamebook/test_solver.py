"""Books solved in rationals, in floats and as trees, and what best play comes to."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from gamebooks import small
from generated_books import generated_book
from tree_checks import assert_tree_equals_table, solve_as_tree

from solvent.exact import optimal_occupancy, solve, solve_exactly
from solvent.games import Pig, open_book
from solvent.games.gamebook.loader import parse_book
from solvent.games.gamebook.page import FinalState
from solvent.games.gamebook.rules import Gamebook
from solvent.model import RationalGame, compile_game

BOOKS = [generated_book(12, seed, endurance=4) for seed in (1, 5)]

# A small book with a loss added each round, invulnerability, division, a long probability, and
# flags that start true.
CAUSEWAY = """\
format: solvent-gamebook
version: 1
title: The Causeway
variables:
  skill: {initial: 11, max: 20}
  endurance: {initial: 1d3 + 6, max: 10}
  coins: {initial: 7, max: 9}
flags:
  warded: true
  lamp: {initial: true, description: It burns without smoke.}
combat:
  results-table:
    skill: skill
    endurance: endurance
    table:
      columns: [..0, 1..]
      rows: {0: [0/K, 1/4], 1: [1/4, 1/3], 2: [1/3, 2/3], 3: [2/3, 2/2], 4: [2/2, 3/2],
             5: [2/2, 3/1], 6: [3/1, 4/1], 7: [3/1, 4/0], 8: [4/0, 5/0], 9: [5/0, K/0]}
endings: {won: {score: 1}, spared: {score: 1/7}, lost: {score: 0}}
sections:
  1:
    choices:
      - {label: pay, do: [{lose: {coins: coins // 2}}, {gain: {endurance: coins // 3}}], goto: 2}
      - {label: wade, do: [{lose: {endurance: endurance // 8}}], goto: 2}
      - {label: leave the lamp, do: [{clear: lamp}, {gain: {endurance: 2}}], goto: 2}
  2:
    chances:
      - {probability: 123456789012345/987654321098765, do: [{clear: warded}], goto: 3}
      - {probability: 864197532086420/987654321098765, goto: 3}
  3:
    fight:
      enemies: [{name: Wight, skill: 11, endurance: 8}]
      added: {hero: 1 + (not warded), enemy: coins == 7}
      invulnerable: {rounds: ..2, when: lamp}
      escape: {after: 3, parting: true, goto: 4}
      victory: 4
      defeat: {ending: lost}
  4:
    roll:
      dice: (digit + endurance) // 2
      results: {..5: {ending: spared}, 6..: {ending: won}}
"""


def the_causeway_by_hand() -> Fraction:
    """The value of that book, without a line of the suite."""
    column = [(0, 99), (1, 4), (1, 3), (2, 3), (2, 2), (2, 2), (3, 1), (3, 1), (4, 0), (5, 0)]

    def crossed(endurance: int) -> Fraction:
        high = sum((digit + endurance) // 2 >= 6 for digit in range(10))
        return Fraction(high, 10) + Fraction(10 - high, 10) / 7

    @cache
    def fight(hero: int, wight: int, rounds: int, safe: int, hurt: int, strike: int) -> Fraction:
        on, away = Fraction(0), Fraction(0)
        for enemy_loss, hero_loss in column:
            now = hero if rounds < safe else hero - hero_loss - hurt
            left = wight - enemy_loss - strike
            if now > 0:
                away += crossed(now) / 10
                on += (
                    crossed(now) if left <= 0 else fight(now, left, rounds + 1, safe, hurt, strike)
                ) / 10
        return max(on, away) if rounds >= 3 else on

    unwarded = Fraction(123456789012345, 987654321098765)
    total = Fraction(0)
    for endurance in (7, 8, 9):
        ways = [
            (min(endurance + 4 // 3, 10), 0, 2),  # 7 coins less 7 // 2 are 4.
            (endurance - endurance // 8, 1, 2),
            (min(endurance + 2, 10), 1, 0),
        ]
        total += max(
            unwarded * fight(hero, 8, 0, safe, 2, strike)
            + (1 - unwarded) * fight(hero, 8, 0, safe, 1, strike)
            for hero, strike, safe in ways
        )
    return total / 3


def test_a_book_with_what_few_books_have_is_worth_what_counting_gives() -> None:
    game = Gamebook(parse_book(CAUSEWAY.encode()))
    model, reference = game.tabulate_exactly(), compile_game(game, reference=True)
    value = solve_exactly(model).value
    assert value == the_causeway_by_hand()
    assert value.denominator % 987654321098765 == 0
    assert set(reference.states) == set(model.table.states)
    for table in (model.table, reference):
        assert solve(table).value == pytest.approx(float(value), abs=1e-12)


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
