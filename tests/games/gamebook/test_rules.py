"""The rules of books, sentence by sentence, and the game that the machine makes of them."""

import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from gamebooks import HERO, changed, small
from generated_books import generated_book
from refusals import assert_refused

from solvent.exact import solve, solve_exactly
from solvent.games.gamebook.loader import parse_book
from solvent.games.gamebook.page import Page
from solvent.games.gamebook.rules import Gamebook, absorption
from solvent.model import (
    TooManyStatesError,
    compile_game,
    modified_exactly,
    parametrize_with_game_checks,
)

# The example book, so small that its states can be looked at one by one.
SMALL_MILL = changed(
    ("endurance: {initial: 1d6 + 6, max: 14", "endurance: {initial: 1d2 + 1, max: 4"),
    ("luck: {initial: 7, max: 12}", "luck: {initial: 2, max: 3}"),
    ("gold: {initial: 6, max: 20}", "gold: {initial: 4, max: 4}"),
    ("bag: {capacity: 3}", "bag: {capacity: 1}"),
    ("Miller, skill: 10, endurance: 9", "Miller, skill: 10, endurance: 3"),
    ("Shadow, skill: 8, endurance: 4", "Shadow, skill: 8, endurance: 2"),
)


@parametrize_with_game_checks(
    [
        Gamebook(parse_book(SMALL_MILL.encode())),
        Gamebook(generated_book(14, seed=1, endurance=4)),
        Gamebook(generated_book(10, seed=3, endurance=3), forget=False),
        Gamebook(generated_book(14, seed=5, endurance=6, rare=True), keep=("gold", "flag0")),
    ]
)
def test_books_conform(game: Any, check: Any) -> None:
    check(game)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_tables_of_generated_books_agree_with_the_rules(seed: int) -> None:
    for game in (
        Gamebook(generated_book(24, seed, endurance=6)),
        Gamebook(generated_book(9, seed, endurance=4), forget=False),
        Gamebook(generated_book(24, seed, endurance=6, rare=True)),
        Gamebook(generated_book(24, seed, endurance=6, rare=True), keep=("gold", "meal")),
    ):
        ours, rules = compile_game(game), compile_game(game, reference=True)
        assert set(ours.states) == set(rules.states)
        assert solve(ours).value == pytest.approx(solve(rules).value, abs=1e-12)


def after(sections: str, start: Mapping[str, int]) -> dict[tuple[Any, ...], Fraction]:
    """What follows the first page of section 1: section, ending, and the fields that changed.

    All fields are kept, so that each can be looked at.
    """
    game = Gamebook(small(sections), forget=False)
    fields = {**dict(zip(game.book.fields, game.initial()[0].state.values, strict=True)), **start}
    found = {}
    for outcome in game.transition(Page(1, 0, "", tuple(fields.values())), (0,)):
        to = outcome.state
        reached = zip(fields.items(), to.values, strict=True)
        news = {name: new for (name, old), new in reached if old != new}
        found[to.section, to.ending, *news.items()] = outcome.probability
    return found


ONE = Fraction(1)
MEAL = "{eat: {item: meal, unless: hunting, hunger: {endurance: 3}}}"

# What happens at the end of section 1, from which state, and what has changed then.
EFFECTS: list[tuple[str, dict[str, int], dict[tuple[Any, ...], Fraction]]] = [
    # Values are clamped each time: 5 + 7 is 9 at most, and 9 - 8 is 1.
    ("{gain: {gold: 7}}, {lose: {gold: 8, endurance: 20}}", {}, {("gold 1", "endurance 0"): ONE}),
    # Dice are thrown anew wherever they stand. A difference of 5 is what gold was before.
    ("{set: {gold: 1d2 - 1d2}}", {}, {("gold 0",): Fraction(3, 4), ("gold 1",): Fraction(1, 4)}),
    # Items are taken as far as there is room, and dropped as far as they are there.
    ("{take: {meal: 5}}, {drop: {meal: 2}}, {take: rope}", {}, {("rope 1",): ONE}),
    ("{take: {meal: 5}}, {drop: {meal: 2}}, {take: rope}", {"rope": 1, "meal": 0}, {(): ONE}),
    ("{empty: bag}", {"rope": 1, "meal": 2, "axe": 1}, {("rope 0", "meal 0"): ONE}),
    ("{set: [cursed, rested]}", {}, {("cursed 1", "rested 1"): ONE}),
    ("{set: cursed}, {clear: [cursed, rested]}", {"rested": 1}, {("rested 0",): ONE}),
    ("{clear: warded}", {}, {("warded 0",): ONE}),
    ("{gain: {gold: count(bag) + count(weapon)}}", {"axe": 1, "rope": 1}, {("gold 8",): ONE}),
    ("{lose: {gold: room(bag)}}", {}, {("gold 3",): ONE}),
    (MEAL, {}, {("meal 0",): ONE}),
    (MEAL, {"meal": 0}, {("endurance 5",): ONE}),
    (MEAL, {"hunting": 1}, {(): ONE}),
    ("{if: gold >= 5, then: [{lose: {gold: 5}}], else: [{set: cursed}]}", {}, {("gold 0",): ONE}),
    ("{if: gold > 5, then: [{lose: {gold: 5}}], else: [{set: cursed}]}", {}, {("cursed 1",): ONE}),
    # Division rounds down below 0 too: 4 + floor(-7 / 4).
    ("{set: {gold: gold // 2}}", {}, {("gold 2",): ONE}),
    ("{set: {gold: 4 + (endurance - 15) // 4}}", {}, {("gold 2",): ONE}),
]


def test_what_effects_come_to() -> None:
    for effects, start, expected in EFFECTS:
        odds = after(f"\n  1: {{goto: 2}}\n  2: {{do: [{effects}], ending: won}}\n", start)
        found = {tuple(f"{n} {v}" for n, v in news): p for (_, _, *news), p in odds.items()}
        assert found == expected, effects


ENDS = "  2: {ending: won}\n  3: {ending: lost}\n"
# The chance of climbing with modifiers; what is not modified is not rounded.
DARK, LADEN = (modified_exactly(Fraction(3, 5), Fraction(n, 100)) for n in (-15, -10))

# By rule: the sections of a book, and rows of the fields that the first page does not have as usual
# and of what follows it, as `after` returns it.
SENTENCES: dict[str, tuple[str, list[tuple[dict[str, int], dict[tuple[Any, ...], Fraction]]]]] = {
    "a rule of whenever ends play in the middle of a block": (
        """
  1: {goto: 2}
  2: {do: [{lose: {endurance: 9}}, {gain: {endurance: 9}}], ending: won}
whenever: [{when: endurance <= 0, ending: lost}]
""",
        [({}, {(2, "lost", ("endurance", 0)): ONE})],
    ),
    "a rule that holds already ends nothing": (
        """
  1: {goto: 2}
  2: {do: [{lose: {endurance: 1}}, {set: {gold: 8}}], ending: won}
whenever: [{when: endurance <= 0, ending: lost}, {when: gold == 9, ending: lost}]
""",
        [({"endurance": 0, "gold": 9}, {(2, "won", ("gold", 8)): ONE})],
    ),
    "the first case that holds applies": (
        """
  1:
    branch:
      - {when: gold >= 5, goto: 2}
      - {when: gold >= 3, goto: 3}
      - {goto: 4}
  4: {ending: lost}
"""
        + ENDS,
        [
            ({"gold": 9}, {(2, "won"): ONE}),
            ({"gold": 5}, {(2, "won"): ONE}),
            ({"gold": 4}, {(3, "lost"): ONE}),
            ({"gold": 2}, {(4, "lost"): ONE}),
        ],
    ),
    "rows hold ranges, and dice look at fields": (
        "\n  1: {roll: {dice: 2d6 - luck, results: {..0: 2, 1..: 3}}}\n" + ENDS,
        [
            ({}, {(2, "won"): Fraction(21, 36), (3, "lost"): Fraction(15, 36)}),
            ({"luck": 1}, {(3, "lost"): ONE}),
            ({"luck": 12}, {(2, "won"): ONE}),
        ],
    ),
    "a check adds up what applies, and rounds once": (
        """
  1:
    check:
      name: climbing
      base: 60%
      modifiers:
        - {name: night, size: -15%}
        - {name: rope, size: +20%, when: rope}
        - {name: burden, size: -5%, times: count(bag), when: not cursed}
      success: 2
      failure: 3
"""
        + ENDS,
        [
            ({"meal": 0}, {(2, "won"): DARK, (3, "lost"): 1 - DARK}),
            ({"meal": 2, "rope": 1}, {(2, "won"): LADEN, (3, "lost"): 1 - LADEN}),
            (
                {"meal": 0, "rope": 1},
                {(2, "won"): Fraction(3, 5), (3, "lost"): Fraction(2, 5)},
            ),
        ],
    ),
    "a game inside a section goes on until it is over": (
        """
  1:
    repeat:
      do: [{lose: {gold: 1}}]
      roll:
        dice: 1d6
        results:
          1..3: {branch: [{when: gold == 0, goto: 3}, again]}
          4..5: again
          6: {do: [{gain: {gold: 5}}], goto: 2}
"""
        + ENDS,
        [
            # At 0 gold the dice are thrown until they show neither 4 nor 5.
            (
                {"gold": 1},
                {
                    (3, "lost", ("gold", 0)): Fraction(3, 4),
                    (2, "won", ("gold", 5)): Fraction(1, 4),
                },
            ),
            # With 2, one throw comes before that: 6 is out with 1 + 5.
            (
                {"gold": 2},
                {
                    (2, "won", ("gold", 6)): Fraction(1, 6),
                    (3, "lost", ("gold", 0)): Fraction(5, 6) * Fraction(3, 4),
                    (2, "won", ("gold", 5)): Fraction(5, 6) * Fraction(1, 4),
                },
            ),
        ],
    ),
}


def test_what_follows_a_page() -> None:
    for rule, (sections, rows) in SENTENCES.items():
        for start, expected in rows:
            assert after(sections, start=start) == expected, (rule, start)


def test_options_keep_their_numbers_and_only_those_whose_condition_holds_are_offered() -> None:
    game = Gamebook(
        small("""
  1:
    choices:
      - {label: pay, when: gold >= 6, ending: lost}
      - {label: walk, ending: won}
      - {label: climb, when: rope, ending: won}
""")
    )
    first = game.initial()[0].state
    assert game.labels(first) == {0: "pick hunting", 1: "pick tracking"}
    page = traded(game, first, 0)
    assert game.legal_actions(page) == ((1,),)
    assert game.labels(page) == {1: "walk"}


def traded(game: Gamebook, page: Page, action: int) -> Page:
    [outcome] = game.transition(page, (action,))
    return outcome.state


def shop(goods: str) -> tuple[Gamebook, Page]:
    section = (
        f"\n  1: {{shop: {{money: gold, goods: [{goods}], leave: 2}}}}\n  2: {{ending: won}}\n"
    )
    game = Gamebook(small(section), forget=False)
    return game, traded(game, game.initial()[0].state, 0)


def test_a_shop_sells_as_long_as_there_is_money_and_room() -> None:
    game, page = shop("{item: meal, buy: 2, sell: 1}")
    gold, meal = (game.book.position[name] for name in ("gold", "meal"))
    assert game.labels(page) == {0: "leave", 1: "buy meal for 2 gold", 2: "sell meal for 1 gold"}
    for action, left in ((1, (3, 2)), (2, (4, 1))):
        page = traded(game, page, action)
        assert (page.values[gold], page.values[meal]) == left
    assert traded(game, page, 0).ending == "won"
    # After a meal for 3 there is no money for another, after a rope and a meal there is no room.
    for goods, bought in (
        ("{item: meal, buy: 3}", (1,)),
        ("{item: meal, buy: 1}, {item: rope, buy: 1}", (2, 1)),
    ):
        game, page = shop(goods)
        for action in bought:
            page = traded(game, page, action)
        assert game.legal_actions(page) == ((0,),), goods


def test_of_a_limited_good_only_so_many_are_sold_in_a_visit() -> None:
    game, page = shop("{item: meal, buy: 1}, {item: rope, buy: 1, quantity: 1, sell: 1}")
    bought = traded(game, page, 2)
    assert (page.local, bought.local) == ((0,), (1,))
    assert game.legal_actions(traded(game, bought, 3)) == ((0, 1),)


def test_each_set_of_disciplines_is_picked_in_one_way() -> None:
    four = "pick: 2, from: {hunting: , tracking: , lore: , stealth: }"
    head = HERO.replace("pick: 1, from: {hunting: , tracking: }", four)
    table = Gamebook(small("\n  1: {ending: won}\n", head), forget=False).tabulate()
    picked = sorted(page.values[-4:] for page in table.states if page.ending)
    assert picked == sorted(set(permutations((1, 1, 0, 0))))
    # Each is reached by one way.
    assert (np.bincount(table.next_state) <= 1).all()


def test_what_matters_no_more_is_forgotten_and_changes_no_value() -> None:
    for book in (
        parse_book(SMALL_MILL.encode()),
        *(generated_book(9, seed, endurance=4, rare=seed > 1) for seed in (0, 1, 6, 8)),
    ):
        short, long = (Gamebook(book, forget=forget).tabulate_exactly() for forget in (True, False))
        assert solve_exactly(short).value == solve_exactly(long).value
        assert short.table.n_states < long.table.n_states


def test_what_cannot_be_a_table_is_refused_with_its_section() -> None:
    repeat = "{repeat: {branch: [{when: gold > 5, goto: 2}, again]}}\n  2: {ending: won}"
    inner = "ending: won"
    for _ in range(4):
        inner = (
            f"chances: [{{probability: 1/1{'0' * 99}, {inner}}}, "
            f"{{probability: {'9' * 99}/1{'0' * 99}, ending: lost}}]"
        )
    rows = (
        (repeat, "section 1: the repeat never ends"),
        (f"{{{inner}}}", r"section 1: a probability is below 10\^-323"),
    )
    assert_refused(rows, lambda section: Gamebook(small(f"\n  1: {section}\n")).tabulate())


def test_a_field_is_forgotten_after_its_last_use_and_not_thrown_before_its_first() -> None:
    game = Gamebook(
        small("""
  1: {do: [{gain: {gold: 1d6}}], goto: 2}
  2: {choices: [{label: a, when: endurance > 3, goto: 3}, {label: b, goto: 3}]}
  3: {do: [{set: {gold: 7}}], goto: 4}
  4: {branch: [{when: gold > 6, ending: won}, {ending: lost}]}
""")
    )
    table, places = game.tabulate(), [game.book.position[name] for name in ("gold", "endurance")]
    known = {
        page.section: tuple(page.values[place] is not None for place in places)
        for page in table.states
    }
    # Gold is set in section 3 whatever it was, so neither it nor the throw matters before.
    assert known[1] == known[2] == (False, True)
    assert known[3] == (True, False)
    assert table.n_states == 3 + 1 + 1 + 1


def test_a_book_with_too_many_states_is_refused() -> None:
    with pytest.raises(TooManyStatesError, match="more than 10 states, reached in section"):
        Gamebook(generated_book(14, seed=1)).tabulate_exactly(max_states=10)


def test_ranges_too_large_for_one_number_are_kept_apart() -> None:
    wide = "".join(f"  v{i}: {{initial: {i}, min: -1000000, max: 1000000}}\n" for i in range(5))
    reads = " + ".join(f"v{i}" for i in range(5))
    text = f"""\
format: solvent-gamebook
version: 1
title: Wide
variables:
{wide}
endings: {{won: {{score: 1}}, lost: {{score: 0}}}}
sections:
  1: {{do: [{{gain: {{v0: digit, v4: digit}}}}], goto: 2}}
  2: {{choices: [{{label: a, when: {reads} > 15, ending: won}}, {{label: b, ending: lost}}]}}
"""
    model = Gamebook(parse_book(text.encode())).tabulate_exactly()
    # Sums of 10 and two digits above 15: those of 6 and more.
    assert solve_exactly(model).value == Fraction(100 - 21, 100)
    assert model.table.n_states == 1 + 100 + 100 + 2


@pytest.mark.parametrize("seed", range(5))
def test_absorption_is_the_solution_of_the_linear_equations(seed: int) -> None:
    rng, n, m = random.Random(seed), 7, 3
    weights = [[rng.choice([0, 0, 1, 3]) for _ in range(n + m)] for _ in range(n)]
    for row in weights:
        row[n + rng.randrange(m)] += 1
    probabilities = [[Fraction(w, sum(row)) for w in row] for row in weights]
    found = absorption(
        {i: {j: p for j, p in enumerate(row) if p} for i, row in enumerate(probabilities)}
    )
    matrix = np.array(probabilities, float)
    expected = np.linalg.solve(np.eye(n) - matrix[:, :n], matrix[:, n:])
    for i in range(n):
        assert sum(found[i].values()) == 1
        assert [float(found[i].get(n + j, 0)) for j in range(m)] == pytest.approx(expected[i])
