"""The rules of the corridor, one by one, and what its dials leave as it is."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from solvent.exact import policy_value, solve
from solvent.games import Corridor
from solvent.games.corridor import STOPPED, Place
from solvent.model import Outcome, TabularPolicy, compile_game

DIALS: dict[str, dict[str, Any]] = {
    "plain": {},
    "horizon": {"rooms": 32, "doors": 2, "bait": 0.3},
    "gap": {"gap": 0.2},
    "noise": {"slip": "1/2", "reward_every": 3},
    "actions": {"doors": 10, "reward_every": 1},
}


def test_a_right_door_leads_on_and_a_wrong_one_back() -> None:
    game = Corridor(rooms=5, doors=3)
    stop = Fraction(1, 20)
    for room, right in enumerate(game.right_doors):
        for door in range(3):
            target = room + 1 if door == right else max(room - 1, 0)
            ends = () if target == 5 else (Outcome(stop, Place(STOPPED), 0),)
            chance = 1 - stop if ends else Fraction(1)
            on = Outcome(chance, Place(target), int(target == 5))
            assert game.transition(Place(room), (door,)) == (on, *ends)


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
    assert moves(game, 2, right)[0] == Fraction("0.8") + Fraction("0.2") * Fraction(13, 16)
    assert moves(game, 2, (right + 1) % 4)[0] == Fraction("0.6") + Fraction("0.2") * Fraction(
        13, 16
    )
    assert [Corridor(rooms=7, reward_every=3).paid(room) * 7 for room in range(8)] == [
        *(0, 0, 0, 3, 3, 3, 6, 7)
    ]
    bait = Corridor(rooms=6, bait=0.3)
    wrong = (bait.right_doors[0] + 1) % 3
    assert moves(bait, 0, wrong)[1] == Fraction("0.3") / 24
    assert moves(bait, 0, bait.right_doors[0])[1] == 0


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
        for policy in (TabularPolicy.uniform(table), *constants(table)):
            assert table.at_start(policy_value(table, policy)) < solution.value - 0.01


def constants(table: Any) -> list[TabularPolicy]:
    rows = np.where(table.terminal[:, None, None], 0.0, np.eye(table.mask[0].shape[1])[None])
    return [TabularPolicy.of(table, rows[:, door]) for door in range(rows.shape[1])]


def test_the_optimum_without_noise_is_a_geometric_series() -> None:
    # A move is made if the clock has not stopped before; the last of n moves pays 1.
    for rooms in (2, 8, 30):
        value = solve(Corridor(rooms=rooms)).value
        assert value == pytest.approx((1 - 1 / (4 * rooms)) ** (rooms - 1), abs=1e-12)


def test_every_door_is_right_equally_often_and_a_layout_is_a_seed() -> None:
    assert Counter(Counter(Corridor(rooms=9, layout=3).right_doors).values()) == {3: 3}
    drawn = {Corridor(layout=layout).right_doors for layout in range(20)}
    assert len(drawn) > 15
    assert Corridor(layout=7).right_doors == Corridor(layout=7, gap=0.1).right_doors
