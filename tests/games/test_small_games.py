"""Small games for one: conformance, rules one by one, theorems, and outside judges."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache, reduce
from itertools import product
from math import exp, factorial, sqrt
from operator import xor
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from refusals import assert_refused

from solvent.exact import policy_value, solve
from solvent.games import (
    Blackjack,
    Blotto,
    CarRental,
    Corridor,
    DynaMaze,
    EquipmentReplacement,
    FightingFantasy,
    Gambler,
    Goofspiel,
    Greed,
    Gridworld,
    Inventory,
    Nim,
    Pig,
    Racetrack,
    RandomWalk,
    RockPaperScissors,
    Soccer,
    TicTacToe,
    WindyGridworld,
    Yahtzee,
)
from solvent.games.blackjack import (
    CARDS,
    OVER,
    STICK,
    Hand,
    add,
    dealers_natural,
    drawn_to,
)
from solvent.games.car_rental.rules import PARTS, day
from solvent.games.corridor import STOPPED, Place
from solvent.games.dyna_maze import MAZE
from solvent.games.equipment_replacement import REPLACE
from solvent.games.gambler import Capital
from solvent.games.inventory.rules import Shop
from solvent.games.racetrack import BOOK, BOOK_RIGHT
from solvent.games.soccer import DRAWN, OFF, PLAYING
from solvent.games.yahtzee.rules import BOUNDS
from solvent.model import (
    TabularPolicy,
    compile_game,
    discounted,
    parametrize_with_game_checks,
)
from solvent.model.arrays import Floats
from solvent.model.checks import check_table

# What every small game has: the checks, what players see, and refused parameters


ROOM = ("......F", "......F", "......F", "S.....F")
CHECKED = [
    Blackjack(),
    Blackjack(natural=False),
    Blotto([3, 3]),
    Blotto([4, 3], 2, spoils=True),
    discounted(CarRental(capacity=3), 0.9),
    Corridor(),
    Corridor(rooms=32, doors=2, bait=0.3),
    Corridor(gap=0.2),
    Corridor(slip="1/2", reward_every=3),
    Corridor(doors=10, reward_every=1),
    discounted(DynaMaze(), 0.95),
    EquipmentReplacement(horizon=3, worst=3, wearing=[1, 2, 1], scrap=2),
    EquipmentReplacement(horizon=2, wear=4),
    Gambler(goal=10),
    Gambler(heads="2/3", goal=7, capital=6),
    Goofspiel(3),
    Goofspiel(4, "descending"),
    Goofspiel(2, "ascending"),
    discounted(Gridworld(), 0.9),
    Inventory(horizon=2),
    Inventory(2, 4, (1, 0, 2), stock=1),
    Nim([2, 3]),
    Nim([1, 2, 2], misere=True),
    Racetrack(ROOM, noise="1/3"),
    Racetrack(("#..F", "#..F", "S..F"), noise=0),
    RandomWalk(),
    RandomWalk(1),
    RandomWalk(19, left=-1),
    RockPaperScissors((1, 2, 3)),
    WindyGridworld(),
    WindyGridworld("nine", stochastic=True),
]


@parametrize_with_game_checks(CHECKED)
def test_it_is_a_game(game: Any, check: Any) -> None:
    check(game)


@pytest.mark.slow
@parametrize_with_game_checks([Soccer(), TicTacToe()])
def test_a_larger_one_is_a_game(game: Any, check: Any) -> None:
    check(game)


# A game, a state, and what each player sees of it.
SEEN: list[tuple[Any, Any, list[list[float]]]] = [
    (Blackjack(), (14, 7, True), [[14 / 21, 0.7, 1, 0]]),
    (Blotto([2, 4], 2), ((2, 0), (1, 3)), [[0.5, 0, 0.25, 0.75], [0.25, 0.75, 0.5, 0]]),
    (CarRental(), (5, 20), [[0.25, 1]]),
    (Corridor(rooms=3), (STOPPED,), [[0, 0, 0]]),
    (Corridor(rooms=3), (2,), [[0, 0, 1]]),
    (Corridor(rooms=3), (3,), [[1, 1, 1]]),
    (DynaMaze(), (1, 4), [[0.2, 0.5]]),
    (EquipmentReplacement(horizon=3, worst=3), (2, 1), [[2 / 3, 1 / 3]]),
    (
        FightingFantasy(stamina=8, opponent_stamina=10, luck=4),
        (5, 4, 5, 3, "won"),
        [[0.25, 0.5, 0.5, 0.75, 1]],
    ),
    (
        FightingFantasy(skill_difference=-5, stamina=10, opponent_stamina=8, luck=4),
        (-5, 5, 2, 3, "lost"),
        [[-0.25, 0.5, 0.25, 0.75, -1]],
    ),
    # Without any luck there is nothing to divide by.
    (FightingFantasy(luck=0), (0, 12, 0, 0, "over"), [[0, 1, 0, 0, 0]]),
    (Gambler(goal=10), (3,), [[0.3]]),
    (
        Goofspiel(3),
        (2, (3,), (1, 3), (2, 3)),
        [[1, 0, 1, 0, 1, 1, 0, 0, 1, 2 / 3], [0, 1, 1, 1, 0, 1, 0, 0, 1, 2 / 3]],
    ),
    (Gridworld(), (1, 4), [[0.25, 1]]),
    (Greed(9, 2), (1, (4, 2), "play"), [[0, 0.4, 0.2, 0, 0], [1, 0.2, 0.4, 0, 0]]),
    (Greed(9, 2), (0, (4, 10), "last"), [[1, 0.4, 1, 1, 0], [0, 1, 0.4, 1, 0]]),
    (Greed(9, 2), (0, (4, 10), "over"), [[0, 0.4, 1, 0, 1], [0, 1, 0.4, 0, 1]]),
    (Inventory(), (2, 1), [[2 / 3, 1 / 3]]),
    (Nim([1, 3]), ((1, 3), 1), [[1 / 15, 3 / 15, 0], [1 / 15, 3 / 15, 1]]),
    (Pig(20), (1, (10, 4), 6), [[0, 0.5, 0.2, 0.3], [1, 0.2, 0.5, 0.3]]),
    (Racetrack("bend"), (3, 4, 1, 2), [[3 / 7, 0.5, 0.25, 0.5]]),
    (RandomWalk(), (3,), [[0.5]]),
    (RockPaperScissors(), (1, 0), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]]),
    (
        Soccer(),
        ((1, 3), (2, 1), 1, PLAYING),
        [[1 / 3, 3 / 4, 2 / 3, 1 / 4, 0, -1], [1 / 3, 3 / 4, 2 / 3, 1 / 4, 1, -1]],
    ),
    *(
        (Soccer(), (OFF, OFF, -1, result), [[0] * 5 + [own], [0] * 5 + [other]])
        for result, own, other in ((DRAWN, 0, 0), (0, 0.5, 1), (1, 1, 0.5))
    ),
    (
        TicTacToe(),
        ((1, 0, 0, 0, 2, 0, 0, 0, 0),),
        [[1, 0, 0, 0, -1, 0, 0, 0, 0, 1], [-1, 0, 0, 0, 1, 0, 0, 0, 0, 0]],
    ),
    (WindyGridworld(), (3, 9), [[0.5, 1]]),
]


def test_what_players_see() -> None:
    for game, values, expected in SEEN:
        state = type(game.initial()[0].state)(*values)
        seen = [game.observe(state, player) for player in range(game.info.players)]
        np.testing.assert_allclose(seen, expected, rtol=1e-6, err_msg=game.info.name)


# Whole numbers that parameters may be: from the least to the largest.
RANGES: list[tuple[Callable[..., Any], str, int, int]] = [
    (Blotto, "fields", 2, 6),
    (CarRental, "capacity", 1, 30),
    (Corridor, "rooms", 2, 1000),
    (Corridor, "doors", 2, 100),
    (Corridor, "layout", 0, 2**32 - 1),
    (Corridor, "reward_every", 1, 1000),
    (EquipmentReplacement, "horizon", 1, 1000),
    (EquipmentReplacement, "worst", 1, 1000),
    (EquipmentReplacement, "wear", 0, 10),
    *((EquipmentReplacement, name, 0, 10**6) for name in ("income", "operating", "price", "scrap")),
    (Gambler, "goal", 2, 1000),
    (Gambler, "capital", 1, 99),
    (Goofspiel, "cards", 2, 7),
    (Inventory, "horizon", 1, 100_000),
    (Inventory, "capacity", 1, 10_000),
    (Inventory, "stock", 0, 3),
    *((Inventory, name, 0, 10**6) for name in ("price", "fixed_cost", "cost", "holding")),
    (Greed, "limit", 1, 10_000),
    (Greed, "sides", 1, 10_000),
    (Pig, "target", 1, 1000),
    (Pig, "sides", 2, 100),
    (RandomWalk, "states", 1, 999),
    (RandomWalk, "left", -1, 0),
    *((Yahtzee, name, *ends) for name, ends in BOUNDS.items()),
]


def test_whole_numbers_are_allowed_up_to_their_ends() -> None:
    for game, name, low, high in RANGES:
        for allowed in (low, high):
            game(**{name: allowed})


def test_lists_make_the_game_that_tuples_make() -> None:
    for make, values in ((Nim, (3, 4)), (Blotto, (4, 3)), (RockPaperScissors, (1, 2, 3))):
        assert {make(list(values))} == {make(values)}
    assert Racetrack(["S.#F"]).rows == ("S.#F",)


REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (Blotto, {"soldiers": 5}, "soldiers is 5; allowed are lists"),
    (Blotto, {"soldiers": [5, 0]}, r"soldiers\[1\] is 0; .*1 to 100"),
    (Blotto, {"soldiers": [5] * 3}, "the length of soldiers is 3"),
    (Blotto, {"soldiers": [5, 30]}, "30 soldiers can be divided among 3 fields in 496 ways"),
    (Blotto, {"spoils": 0}, "spoils is 0; allowed are True and False"),
    (EquipmentReplacement, {"wearing": "12"}, "wearing is '12'; allowed are lists"),
    (EquipmentReplacement, {"wearing": [-1, 2]}, r"wearing\[0\] is -1; .*0 to 1000000$"),
    (EquipmentReplacement, {"wearing": [0]}, "the sum of wearing is 0"),
    (Gambler, {"heads": 0}, "heads is 0; allowed are numbers between 0 and 1"),
    (Gambler, {"heads": 1}, "heads is 1; allowed are numbers between 0 and 1"),
    (Gambler, {"heads": 1.5}, r"heads is 1\.5; allowed are numbers from 0 to 1"),
    (Racetrack, {"track": "oval"}, "track is 'oval'; allowed are bend, book"),
    (Racetrack, {"track": ["S.", "F"]}, "rows of equal length"),
    (Racetrack, {"track": ["S.x", "..F"]}, "each #, ., S, F"),
    (Racetrack, {"track": ["...", "..F"]}, "with a starting line S"),
    (Racetrack, {"track": ["S..", "..."]}, "a finish F"),
    (Racetrack, {"track": []}, "track is "),
    (Racetrack, {"track": ["SF" + "." * 1999]}, "at most 2000 cells"),
    (Racetrack, {"track": 7}, "track is 7"),
    (Racetrack, {"noise": 1}, "noise is 1; allowed are numbers from 0, less than 1"),
    (Racetrack, {"noise": -0.1}, r"noise is -0\.1"),
    (RandomWalk, {"states": 6}, "states is 6; allowed are odd numbers"),
    (WindyGridworld, {"moves": "queen"}, "moves is 'queen'; allowed are four, king, nine"),
    (WindyGridworld, {"stochastic": 1}, "stochastic is 1; allowed are True and False"),
    (CarRental, {"shuttle": 1}, "shuttle is 1; allowed are True and False"),
    (CarRental, {"parking": "no"}, "parking is 'no'; allowed are True and False"),
    (
        Goofspiel,
        {"order": "shuffled"},
        "order is 'shuffled'; allowed are ascending, descending, random",
    ),
    (Inventory, {"demand": [0, 0]}, "the sum of demand is 0"),
    (Inventory, {"demand": [10**6 + 1]}, r"demand\[0\] is 1000001; .*0 to 1000000$"),
    (Inventory, {"demand": "121"}, "demand is '121'; allowed are lists"),
    (Inventory, {"demand": [1, -1]}, r"demand\[1\] is -1"),
    (Inventory, {"demand": []}, "the length of demand is 0"),
    (Nim, {"heaps": []}, "the length of heaps is 0"),
    (Nim, {"heaps": [1] * 7}, "the length of heaps is 7; .* 1 to 6"),
    (Nim, {"heaps": [1, 16]}, r"heaps\[1\] is 16; .* 1 to 15"),
    (Nim, {"heaps": [0]}, r"heaps\[0\] is 0"),
    (Nim, {"heaps": "345"}, "heaps is '345'; allowed are lists"),
    (Nim, {"heaps": 3}, "heaps is 3; allowed are lists"),
    (Nim, {"misere": 1}, "misere is 1; allowed are True and False"),
    (RockPaperScissors, {"wins": [1, 1]}, "the length of wins is 2"),
    (RockPaperScissors, {"wins": [1] * 4}, "the length of wins is 4"),
    (RockPaperScissors, {"wins": [1, 0, 1]}, r"wins\[1\] is 0; .*1 to 1000"),
    (Blackjack, {"natural": 1}, "natural is 1; allowed are True and False"),
    (Soccer, {"draw_chance": 0}, r"draw_chance is 0; allowed are .* from 1/1000 to 1"),
    (Soccer, {"draw_chance": "1/2000"}, "draw_chance is '1/2000'"),
    (Corridor, {"gap": 0}, "gap is 0; allowed are numbers above 0 and up to 1"),
    (Corridor, {"slip": 1}, "slip is 1; allowed are numbers from 0 and below 1"),
    *(
        (Corridor, {name: x}, rf"^{name} is {x}; allowed are numbers from 0 to 1$")
        for name in ("gap", "slip", "bait")
        for x in (-1, 2)
    ),
    (Corridor, {"bait": 2}, "bait is 2"),
    (Pig, {"signed": 1}, r"signed is 1; allowed are True and False"),
    (Greed, {"limit": float("nan")}, "limit is nan"),
    (Greed, {"limit": True}, "limit is True"),
    (Greed, {"sides": "6"}, "sides is '6'"),
    (Yahtzee, {"boxes": "aces,ones"}, "a box is 'ones'; allowed are"),
    (Yahtzee, {"boxes": []}, r"boxes is \[\]; allowed are 'all' and lists of at least one of aces"),
    (Yahtzee, {"boxes": 3}, "boxes is 3; allowed are"),
    (Yahtzee, {"boxes": ["chance", "chance"]}, "allowed is every box once"),
    (Yahtzee, {"boxes": "sixes", "faces": 5}, "a box is 'sixes'; allowed are"),
    (Yahtzee, {"joker": "wild"}, "joker is 'wild'; allowed are"),
    *(
        (game, {name: x}, f"^{name} is {x}; allowed are whole numbers from {low} to {high}$")
        for game, name, low, high in RANGES
        for x in (low - 1, high + 1, low + 0.5)
    ),
]


def test_parameters_are_refused_by_name() -> None:
    assert_refused(REFUSED, lambda game, parameters: game(**parameters))


# What is known of the small games: theorems, published values, and the boards of the books


@pytest.mark.parametrize("heads", [0.1, 0.25, 0.4])
def test_bold_play_is_optimal_against_the_odds(heads: float) -> None:
    """Dubins and Savage 1965: of s < 1/2 the value is heads x that of 2 s, and so on."""
    table = compile_game(Gambler(heads=heads, goal=16))
    value = dict(zip(table.states, solve(table).values, strict=True))

    def bold(dollars: int) -> float:
        if dollars in (0, 16):
            return float(dollars == 16)
        if dollars <= 8:
            return heads * bold(2 * dollars)
        return heads + (1 - heads) * bold(2 * dollars - 16)

    for dollars in range(1, 16):
        assert value[Capital(dollars)] == pytest.approx(bold(dollars), abs=1e-12)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"horizon": 20, "worst": 30, "price": 30},
        {"horizon": 15, "wearing": [0, 1, 0, 3], "operating": 5, "scrap": 40},
    ],
)
def test_a_control_limit_is_optimal(parameters: dict[str, Any]) -> None:
    """Puterman 1994, section 4.7.5: who replaces at some wear does so at any larger one."""
    table = compile_game(EquipmentReplacement(**parameters))
    replaces = solve(table).policies[0].probabilities[:, REPLACE] == 1
    found: dict[int, list[bool]] = {}
    for replaced, state in sorted(zip(replaces, table.states, strict=True), key=lambda x: x[1]):
        found.setdefault(state.left, []).append(bool(replaced))
    assert all(by_wear == sorted(by_wear) for by_wear in found.values())
    assert sum(map(any, found.values())) > 3


# Of the inventory, Puterman 1994, section 3.2.2, by stock and order.
EXPECTED_REWARDS = {0: [0, -1, -2, -5], 1: [5, 0, -3], 2: [6, -1], 3: [5]}

# Values by periods left and stock, Puterman 1994, section 4.6.1.
PUBLISHED = {1: [0, 5, 6, 5], 2: [2, 25 / 4, 10, 21 / 2], 3: [n / 16 for n in (67, 129, 194, 227)]}

# The optimal orders there.
ORDERS = {1: [0, 0, 0, 0], 2: [2, 0, 0, 0], 3: [3, 0, 0, 0]}


def test_the_published_numbers_of_the_inventory() -> None:
    game = Inventory(horizon=4)
    for stock, rewards in EXPECTED_REWARDS.items():
        outcomes = [game.transition(Shop(2, stock), (order,)) for order in range(4 - stock)]
        assert [sum(o.probability * o.reward for o in found) for found in outcomes] == rewards
    table = compile_game(game)
    solution = solve(table)
    for left, values in PUBLISHED.items():
        for stock, value in enumerate(values):
            # A stock of 3 is never met in the first period, and all are in the later ones.
            state = table.index[Shop(left, stock)]
            assert solution.values[state] == value
            assert solution.policies[0].probabilities[state].argmax() == ORDERS[left][stock]


@pytest.mark.parametrize("misere", [False, True])
@pytest.mark.parametrize("heaps", [[3, 4, 5], [1, 1, 1, 2], [15, 6], [1, 1, 1, 1, 1]])
def test_boutons_theorem_in_every_position(heaps: list[int], misere: bool) -> None:
    table = compile_game(Nim(heaps, misere))
    for state, value in zip(table.states, solve(table).values.tolist(), strict=True):
        lost = reduce(xor, state.heaps) == 0
        if misere and max(state.heaps) <= 1:
            lost = not lost
        if any(state.heaps):
            wins = 1 if state.player == 0 else -1
            assert value == (-wins if lost else wins), state


@pytest.mark.parametrize("wins", [(1, 1, 1), (1, 2, 3), (7, 1, 1)])
def test_a_throw_is_as_frequent_as_the_victory_over_what_beats_it(wins: tuple[int, ...]) -> None:
    solution = solve(compile_game(RockPaperScissors(wins)))
    assert solution.value == pytest.approx(0, abs=1e-12)
    rock, paper, scissors = wins
    expected = np.array([scissors, rock, paper]) / sum(wins)
    for policy in solution.policies:
        np.testing.assert_allclose(policy.probabilities[0], expected, atol=1e-12)


# Games whose value a theorem gives, and the value.
KNOWN: list[tuple[str, Any, float]] = [
    *(
        ("equal armies are worth nothing", Blotto([army, army], fields), 0)
        for army, fields in ((3, 2), (5, 3), (6, 3), (4, 4))
    ),
    *(
        # A move is made if the clock has not stopped before; the last of n moves pays 1.
        ("the corridor without noise", Corridor(rooms=n), (1 - 1 / (4 * n)) ** (n - 1))
        for n in (2, 8, 30)
    ),
]


def test_the_value_is_the_one_that_is_known() -> None:
    for theorem, game, value in KNOWN:
        assert solve(game).value == pytest.approx(value, abs=1e-12), (theorem, game)


def test_all_soldiers_are_divided_in_every_way() -> None:
    for own, army in zip(Blotto([5, 4], 3).divisions, (5, 4), strict=True):
        assert list(own) == [d for d in product(range(army + 1), repeat=3) if sum(d) == army]


def test_the_boards_are_those_of_the_figures() -> None:
    walls = {(r, c) for r in range(6) for c in range(9) if MAZE[r][c] == "#"}
    assert walls == {(1, 2), (2, 2), (3, 2), (4, 5), (0, 7), (1, 7), (2, 7)}
    for track, size, finishes, line in (
        (BOOK, (32, {17}), 6, "###SSSSSS########"),
        (BOOK_RIGHT, (30, {32}), 9, "S" * 23 + "#" * 9),
    ):
        assert (len(track), {len(row) for row in track}) == size
        assert [row.count("F") for row in track] == [n < finishes for n in range(len(track))]
        assert [row.count("S") for row in track] == [0] * (len(track) - 1) + [line.count("S")]
        assert track[-1] == line
    # From the narrowest row on the track widens by a cell in each row, down to the line.
    assert [row.index(".") for row in BOOK_RIGHT[13:28]] == [*range(14, -1, -1)]


# The rules of the corridor, one by one, and what its dials leave as it is


DIALS: dict[str, dict[str, Any]] = {
    "plain": {},
    "horizon": {"rooms": 32, "doors": 2, "bait": 0.3},
    "gap": {"gap": 0.2},
    "noise": {"slip": "1/2", "reward_every": 3},
    "actions": {"doors": 10, "reward_every": 1},
}


def moves(game: Corridor, room: int, door: int) -> tuple[Fraction, Fraction]:
    """The probability of going on by a door, and the mean reward."""
    outcomes = game.transition(Place(room), (door,))
    on = sum(o.probability for o in outcomes if o.reward > 0)
    return Fraction(on), Fraction(sum(o.probability * o.reward for o in outcomes))


def test_dials_set_the_chances_of_doors_and_what_is_paid() -> None:
    # With a reward in every room, the outcomes that pay are those that lead on.
    game = Corridor(rooms=6, doors=4, reward_every=1, gap=0.25, slip=0.2)
    right = game.right_doors[2]
    # The right door 1, a wrong one 3/4, a random one (1 + 3 * 3/4) / 4 = 13/16.
    for door, chance in ((right, Fraction("0.8")), ((right + 1) % 4, Fraction("0.6"))):
        assert moves(game, 2, door)[0] == chance + Fraction("0.2") * Fraction(13, 16)
    assert [Corridor(rooms=7, reward_every=3).reward_until(room) * 7 for room in range(8)] == [
        *(0, 0, 0, 3, 3, 3, 6, 7)
    ]
    bait = Corridor(rooms=6, bait=0.3)
    right = bait.right_doors[0]
    assert [moves(bait, 0, door)[1] for door in (right, (right + 1) % 3)] == [
        0,
        Fraction("0.3") / 24,
    ]
    assert Corridor(bait="0").info.reward_range == (0.0, 1.0)


@pytest.mark.parametrize("name", DIALS)
def test_the_right_doors_are_optimal_at_every_setting_and_no_constant_door_is(name: str) -> None:
    for layout in range(3):
        game = Corridor(**DIALS[name], layout=layout)
        table = compile_game(game)
        solution = solve(table)
        best = solution.policies[0].probabilities.argmax(axis=1)
        for state, action in zip(table.states, best.tolist(), strict=True):
            if not game.is_terminal(state):
                assert action == game.right_doors[state.room], (layout, state)
        constants = (
            TabularPolicy.deterministic(table, np.full(table.n_states, door))
            for door in range(table.mask[0].shape[1])
        )
        for policy in (TabularPolicy.uniform(table), *constants):
            assert table.at_start(policy_value(table, policy)) < solution.value - 0.01


def test_every_door_is_right_equally_often_and_a_layout_is_a_seed() -> None:
    assert Counter(Counter(Corridor(rooms=9, layout=3).right_doors).values()) == {3: 3}
    assert len({Corridor(layout=layout).right_doors for layout in range(20)}) > 15
    assert Corridor(layout=7).right_doors == Corridor(layout=7, gap=0.1).right_doors


# The table of Jack's car rental, and its Poisson numbers


@pytest.mark.parametrize("game", [CarRental(6), CarRental(11, shuttle=True, parking=True)])
def test_the_table_is_that_of_the_rules(game: CarRental) -> None:
    check_table(game)


@cache
def poisson_day(requests: int, returns: int) -> tuple[Floats, Floats]:
    """The probabilities [21, 21] and the rent [21], by sums over all numbers up to 60.

    Beyond those there is less than 1e-40.
    """

    def poisson(mean: int, n: int) -> float:
        return exp(-mean) * mean**n / factorial(n)

    probability, rent = np.zeros((21, 21)), np.zeros(21)
    for morning, asked in product(range(21), range(60)):
        rent[morning] += poisson(requests, asked) * 10 * min(asked, morning)
        for back in range(60):
            evening = min(morning - min(asked, morning) + back, 20)
            probability[morning, evening] += poisson(requests, asked) * poisson(returns, back)
    return probability, rent


@pytest.mark.parametrize(("requests", "returns"), [(3, 3), (4, 2)])
def test_a_day_is_that_of_poisson_numbers(requests: int, returns: int) -> None:
    found, (probability, rent) = day(20, requests, returns), poisson_day(requests, returns)
    assert (found.parts.sum(axis=1) == PARTS**2).all()
    np.testing.assert_allclose((found.parts / PARTS**2).astype(float), probability, rtol=1e-14)
    np.testing.assert_allclose([n / PARTS for n in found.rent], rent, rtol=1e-14)


def test_the_bracket_holds_for_the_problem_as_it_is_described() -> None:
    """The table was rounded to 2**-26, and the values were 5e-8 to 2e-6 beside the brackets."""
    # Of value iteration over both locations at once, with the numbers of `poisson_day`.
    for both, optimum in ((False, 563.6871643604596), (True, 562.356752260885)):
        game = CarRental(shuttle=both, parking=both)
        solution = solve(discounted(game, 0.9))
        assert solution.upper - solution.lower < 1e-9, game
        assert solution.lower < optimum < solution.upper, game


# The rules of Blackjack, one by one, and Gymnasium's as an outside judge


GAME = Blackjack()
CARD = Fraction(1, 13)


# From a sum, with a usable ace or not, by a card to a sum.
ACES = [
    (5, False, 10, (15, False)),
    (0, False, 1, (11, True)),
    (10, False, 1, (21, True)),
    (11, False, 1, (12, False)),
    (11, True, 1, (12, True)),
    (17, True, 5, (12, False)),
    (17, True, 4, (21, True)),
    (15, False, 10, (25, False)),
]


def test_cards_sums_and_the_dealer_are_as_the_rules_say() -> None:
    tens = {card: (4 if card == 10 else 1) * CARD for card in range(1, 11)}
    below_12 = {(11 + card, False): CARD for card in range(1, 10)} | {(21, False): 4 * CARD}
    for rule, found, expected in (
        ("there are as many tens as four other cards", CARDS, tens),
        ("an ace counts 11 as long as it can", [(*one[:3], add(*one[:3])) for one in ACES], ACES),
        ("the dealer sticks on 17", drawn_to(17, 17, False), {(17, False): 1}),
        (
            "and hits up to 16",
            drawn_to(17, 16, False),
            {(16 + card, False): p for card, p in tens.items()},
        ),
        (
            "two cards that make 21 are an ace and a ten",
            [dealers_natural(card) for card in range(1, 11)],
            [4 * CARD, *[0] * 8, CARD],
        ),
        ("below 12 the player is not asked", drawn_to(12, 11, False), below_12),
        ("nor at the start", min(outcome.state.total for outcome in GAME.initial()), 12),
    ):
        assert found == expected, rule


def test_the_start_is_two_cards_and_one_of_the_dealer_s() -> None:
    start = {outcome.state: outcome.probability for outcome in GAME.initial()}
    naturals = {hand: p for hand, p in start.items() if hand.natural}
    assert naturals == {Hand(21, card, True, True): 8 * CARD**2 * p for card, p in CARDS.items()}
    # Two aces, or with one card before it an ace below 12.
    assert start[Hand(12, 3, True)] == CARD**3
    plain = {outcome.state: outcome.probability for outcome in Blackjack(natural=False).initial()}
    assert plain[Hand(21, 3, True)] == start[Hand(21, 3, True, True)] + start.get(
        Hand(21, 3, True), 0
    )
    assert not any(hand.natural for hand in plain)


def test_there_are_the_200_states_of_the_book() -> None:
    every = {Hand(*seen) for seen in product(range(12, 22), range(1, 11), (False, True))}
    assert {*compile_game(Blackjack(natural=False)).states} == {OVER, *every}
    assert len(compile_game(GAME).states) == 211


def test_who_is_nearer_to_21_wins() -> None:
    # With a six the dealer has 17, 18 and so on by these chances.
    sums = [(last, p) for (last, _), p in drawn_to(17, 6, False).items() if last <= 21]
    for total in range(12, 22):
        found = {o.reward: o.probability for o in GAME.transition(Hand(total, 6, False), (STICK,))}
        ways = [
            sum(p for last, p in sums if last == total),
            sum(p for last, p in sums if last > total),
        ]
        assert [found.get(reward, 0) for reward in (0, -1, 1)] == [*ways, 1 - sum(ways)]


@pytest.mark.parametrize("natural", [True, False])
def test_the_optimal_policy_returns_as_much_in_gymnasium(natural: bool) -> None:
    """10,000 hands of ``Blackjack-v1``, whose rules are not ours, in six standard errors."""
    table = compile_game(Blackjack(natural=natural))
    solution = solve(table)
    best = {
        (s.total, s.dealer, int(s.usable)): int(p.argmax())
        for s, p in zip(table.states, solution.policies[0].probabilities, strict=True)
        if not s.natural
    }
    env = gym.make("Blackjack-v1", sab=natural).unwrapped
    returns = []
    env.reset(seed=1)
    for _ in range(10_000):
        seen, _ = env.reset()
        over, reward = False, 0.0
        while not over:
            seen, reward, over, _, _ = env.step(1 if seen[0] < 12 else best[tuple(map(int, seen))])
        returns.append(reward)
    error = np.std(returns) / sqrt(len(returns))
    assert abs(np.mean(returns) - solution.value) < 6 * error
