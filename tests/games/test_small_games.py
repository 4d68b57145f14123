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
    Gambler,
    Goofspiel,
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
from solvent.model import check_game, discounted, parametrize_with_game_checks

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
def test_tic_tac_toe_is_a_game() -> None:
    check_game(TicTacToe())


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
    (Gambler(goal=10), (3,), [[0.3]]),
    (
        Goofspiel(3),
        BIDDING,
        [[1, 0, 1, 0, 1, 1, 0, 0, 1, 2 / 3], [0, 1, 1, 1, 0, 1, 0, 0, 1, 2 / 3]],
    ),
    (Gridworld(), (1, 4), [[0.25, 1]]),
    (Inventory(), (2, 1), [[2 / 3, 1 / 3]]),
    (Nim([1, 3]), Heaps((1, 3), 1), [[1 / 15, 3 / 15, 0], [1 / 15, 3 / 15, 1]]),
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


REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (Blotto, {"soldiers": 5}, "soldiers is 5; allowed are lists"),
    (Blotto, {"soldiers": [5, 0]}, r"soldiers\[1\] is 0; .*1 to 100"),
    (Blotto, {"fields": 1}, "fields is 1; .*2 to 6"),
    (Blotto, {"soldiers": [5, 30]}, "30 soldiers can be divided among 3 fields in 496 ways"),
    (Blotto, {"spoils": 0}, "spoils is 0; allowed are True and False"),
    (EquipmentReplacement, {"horizon": 0}, "horizon is 0"),
    (EquipmentReplacement, {"worst": 0}, "worst is 0"),
    (EquipmentReplacement, {"wear": 11}, "wear is 11; .*0 to 10"),
    (EquipmentReplacement, {"operating": -1}, "operating is -1"),
    (EquipmentReplacement, {"wearing": "12"}, "wearing is '12'; allowed are lists"),
    (EquipmentReplacement, {"wearing": [0]}, "the sum of wearing is 0"),
    (Gambler, {"heads": 0}, "heads is 0; allowed are numbers between 0 and 1"),
    (Gambler, {"heads": 1}, "heads is 1; allowed are numbers between 0 and 1"),
    (Gambler, {"heads": 1.5}, r"heads is 1\.5; allowed are numbers from 0 to 1"),
    (Gambler, {"goal": 1}, "goal is 1; .*2 to 1000"),
    (Gambler, {"goal": 1001}, "goal is 1001"),
    (Gambler, {"capital": 0}, "capital is 0; .*1 to 99"),
    (Gambler, {"capital": 100}, "capital is 100"),
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
    (RandomWalk, {"states": 0}, "states is 0; .*1 to 999"),
    (RandomWalk, {"states": 1001}, "states is 1001"),
    (RandomWalk, {"states": 6}, "states is 6; allowed are odd numbers"),
    (RandomWalk, {"left": 1}, "left is 1; .*-1 to 0"),
    (WindyGridworld, {"moves": "queen"}, "moves is 'queen'; allowed are four, king, nine"),
    (WindyGridworld, {"stochastic": 1}, "stochastic is 1; allowed are True and False"),
    (CarRental, {"capacity": 0}, "capacity is 0; .*1 to 30"),
    (CarRental, {"capacity": 31}, "capacity is 31"),
    (CarRental, {"shuttle": 1}, "shuttle is 1; allowed are True and False"),
    (CarRental, {"parking": "no"}, "parking is 'no'; allowed are True and False"),
    (Goofspiel, {"cards": 1}, "cards is 1; .*2 to 7"),
    (Goofspiel, {"cards": 8}, "cards is 8"),
    (
        Goofspiel,
        {"order": "shuffled"},
        "order is 'shuffled'; allowed are ascending, descending, random",
    ),
    (Inventory, {"horizon": 0}, "horizon is 0"),
    (Inventory, {"capacity": 0}, "capacity is 0"),
    (Inventory, {"stock": 4}, "stock is 4; .*0 to 3"),
    (Inventory, {"price": -1}, "price is -1"),
    (Inventory, {"fixed_cost": 0.5}, "fixed_cost is 0.5"),
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
    (RockPaperScissors, {"wins": [1, 0, 1]}, r"wins\[1\] is 0; .*1 to 1000"),
    (Blackjack, {"natural": 1}, "natural is 1; allowed are True and False"),
    (Soccer, {"draw_chance": 0}, r"draw_chance is 0; allowed are .* from 1/1000 to 1"),
    (Soccer, {"draw_chance": "1/2000"}, "draw_chance is '1/2000'"),
    (Corridor, {"rooms": 1}, "rooms is 1"),
    (Corridor, {"gap": 0}, "gap is 0"),
    (Corridor, {"slip": 1}, "slip is 1"),
    (Corridor, {"bait": 2}, "bait is 2"),
    (Pig, {"target": 0}, r"target is 0; .*1.*1000"),
    (Pig, {"target": 1001}, r"target is 1001"),
    (Pig, {"sides": 1}, r"sides is 1; .*2.*100"),
    (Pig, {"sides": 101}, r"sides is 101"),
    (Pig, {"signed": 1}, r"signed is 1; allowed are True and False"),
]


def test_parameters_are_refused_by_name() -> None:
    for game, parameters, message in REFUSED:
        with pytest.raises(ValueError, match=message):
            game(**parameters)
