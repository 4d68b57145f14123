"""The rules of the random walk, one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from solvent.games import RandomWalk
from solvent.games.random_walk import Place
from solvent.model import Outcome

HALF = Fraction(1, 2)


@pytest.mark.parametrize(("states", "middle"), [(1, 1), (5, 3), (19, 10)])
def test_the_walk_begins_in_the_middle(states: int, middle: int) -> None:
    assert RandomWalk(states).initial() == (Outcome(Fraction(1), Place(middle)),)


def test_it_goes_left_or_right_by_chance() -> None:
    assert RandomWalk().legal_actions(Place(2)) == ((0,),)
    assert RandomWalk().transition(Place(2), (0,)) == (
        Outcome(HALF, Place(1)),
        Outcome(HALF, Place(3)),
    )


@pytest.mark.parametrize("left", [0, -1])
def test_leaving_pays_1_on_the_right_and_what_is_said_on_the_left(left: int) -> None:
    game = RandomWalk(5, left)
    assert game.transition(Place(1), (0,))[0] == Outcome(HALF, Place(0), left)
    assert game.transition(Place(5), (0,))[1] == Outcome(HALF, Place(6), 1)
    assert [game.is_terminal(Place(n)) for n in range(7)] == [True, *[False] * 5, True]
    assert game.info.reward_range == (left, 1)
