"""What every small game has: the checks, what players see, and refused parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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
from solvent.games.blackjack import Hand
from solvent.games.blotto import Battle
from solvent.games.car_rental.rules import Cars
from solvent.games.corridor import STOPPED
from solvent.games.goofspiel import Bidding
from solvent.games.nim import Heaps
from solvent.games.racetrack import Car
from solvent.games.soccer import PLAYING, Pitch
from solvent.games.tic_tac_toe import Board
from solvent.games.yahtzee.rules import BOUNDS
from solvent.model import discounted, parametrize_with_game_checks

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


BATTLE, BIDDING = Battle((2, 0), (1, 3)), Bidding(2, (3,), (1, 3), (2, 3))
PITCH = Pitch((1, 3), (2, 1), 1, PLAYING)
SEEN: list[tuple[Any, Any, list[list[float]]]] = [
    (Blackjack(), Hand(14, 7, True), [[14 / 21, 0.7, 1, 0]]),
    (Blotto([2, 4], 2), BATTLE, [[0.5, 0, 0.25, 0.75], [0.25, 0.75, 0.5, 0]]),
    (CarRental(), Cars(5, 20), [[0.25, 1]]),
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
    # Without any luck there is nothing to divide by.
    (FightingFantasy(luck=0), (0, 12, 0, 0, "over"), [[0, 1, 0, 0, 0]]),
    (Gambler(goal=10), (3,), [[0.3]]),
    (
        Goofspiel(3),
        BIDDING,
        [[1, 0, 1, 0, 1, 1, 0, 0, 1, 2 / 3], [0, 1, 1, 1, 0, 1, 0, 0, 1, 2 / 3]],
    ),
    (Gridworld(), (1, 4), [[0.25, 1]]),
    (Inventory(), (2, 1), [[2 / 3, 1 / 3]]),
    (Nim([1, 3]), Heaps((1, 3), 1), [[1 / 15, 3 / 15, 0], [1 / 15, 3 / 15, 1]]),
    (Pig(20), (1, (10, 4), 6), [[0, 0.5, 0.2, 0.3], [1, 0.2, 0.5, 0.3]]),
    (Racetrack("bend"), Car(3, 4, 1, 2), [[3 / 7, 0.5, 0.25, 0.5]]),
    (RandomWalk(), (3,), [[0.5]]),
    (RockPaperScissors(), (1, 0), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]]),
    (Soccer(), PITCH, [[1 / 3, 3 / 4, 2 / 3, 1 / 4, 0, -1], [1 / 3, 3 / 4, 2 / 3, 1 / 4, 1, -1]]),
    (
        TicTacToe(),
        Board((1, 0, 0, 0, 2, 0, 0, 0, 0)),
        [[1, 0, 0, 0, -1, 0, 0, 0, 0, 1], [-1, 0, 0, 0, 1, 0, 0, 0, 0, 0]],
    ),
    (WindyGridworld(), (3, 9), [[0.5, 1]]),
]
"""A game, a state, and what each player sees of it."""


def test_what_players_see() -> None:
    for game, values, expected in SEEN:
        state = type(game.initial()[0].state)(*values)
        seen = [game.observe(state, player) for player in range(game.info.players)]
        np.testing.assert_allclose(seen, expected, err_msg=game.info.name)


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
"""Whole numbers that parameters may be: from the least to the largest."""


def test_whole_numbers_are_allowed_up_to_their_ends() -> None:
    for game, name, low, high in RANGES:
        for allowed in (low, high):
            game(**{name: allowed})
        for refused in (low - 1, high + 1, low + 0.5):
            message = f"^{name} is {refused}; allowed are whole numbers from {low} to {high}$"
            with pytest.raises(ValueError, match=message):
                game(**{name: refused})


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
    (Corridor, {"gap": 0}, "gap is 0"),
    (Corridor, {"slip": 1}, "slip is 1"),
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
]


def test_parameters_are_refused_by_name() -> None:
    for game, parameters, message in REFUSED:
        with pytest.raises(ValueError, match=message):
            game(**parameters)
