"""Parameters of the small games that are refused, each by its name and its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from solvent.games import (
    Blotto,
    CarRental,
    EquipmentReplacement,
    Gambler,
    Goofspiel,
    Inventory,
    Nim,
    Pig,
    Racetrack,
    RandomWalk,
    WindyGridworld,
)

REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (Blotto, {"soldiers": 5}, "soldiers is 5; allowed are lists of two"),
    (Blotto, {"soldiers": [5, 0]}, "soldiers of player 1 is 0; .*1 to 100"),
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
    (Inventory, {"demand": []}, "the sum of demand is 0"),
    (Nim, {"heaps": []}, "the number of heaps is 0"),
    (Nim, {"heaps": [1] * 7}, "the number of heaps is 7; .* 1 to 6"),
    (Nim, {"heaps": [1, 16]}, r"heaps\[1\] is 16; .* 1 to 15"),
    (Nim, {"heaps": [0]}, r"heaps\[0\] is 0"),
    (Nim, {"heaps": "345"}, "heaps is '345'; allowed are lists"),
    (Nim, {"heaps": 3}, "heaps is 3; allowed are lists"),
    (Nim, {"misere": 1}, "misere is 1; allowed are True and False"),
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
