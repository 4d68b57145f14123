"""The rules of Colonel Blotto, and the published values of small battles."""

from __future__ import annotations

from math import comb
from typing import Any

import pytest

from solvent import solve
from solvent.games import Blotto
from solvent.games.blotto import Battle
from solvent.model import compile_game

FOUR_AGAINST_THREE = Blotto([4, 3], 2, spoils=True)


def played(game: Blotto, first: tuple[int, ...], second: tuple[int, ...]) -> Any:
    [start] = game.initial()
    actions = (game.divisions[0].index(first), game.divisions[1].index(second))
    [outcome] = game.transition(start.state, actions)
    assert outcome.state == Battle(first, second)
    assert game.is_terminal(outcome.state)
    return outcome.reward


def test_all_soldiers_are_divided_in_every_way() -> None:
    game = Blotto([5, 4], 3)
    for own, army in zip(game.divisions, (5, 4), strict=True):
        assert len(own) == len(set(own)) == comb(army + 2, 2)
        assert {sum(division) for division in own} == {army}
        assert {len(division) for division in own} == {3}
    assert game.info.actions[1][0] == "0-0-4"


def test_the_payoff_is_fields_taken_less_fields_lost() -> None:
    game = Blotto([5, 5], 3)
    assert played(game, (2, 2, 1), (5, 0, 0)) == 1
    assert played(game, (5, 0, 0), (2, 2, 1)) == -1
    assert played(game, (2, 2, 1), (2, 1, 2)) == 0
    assert played(game, (0, 0, 5), (0, 1, 4)) == 0
    assert played(game, (2, 1, 2), (3, 0, 2)) == 0


def test_with_spoils_the_soldiers_that_are_beaten_count_too() -> None:
    # Both tie on empty posts and on equal ones; the matrix is that of the textbooks.
    rows = {
        (4, 0): [4, 0, 2, 1],
        (0, 4): [0, 4, 1, 2],
        (3, 1): [1, -1, 3, 0],
        (1, 3): [-1, 1, 0, 3],
        (2, 2): [-2, -2, 2, 2],
    }
    for own, payoffs in rows.items():
        columns = ((3, 0), (0, 3), (2, 1), (1, 2))
        assert [played(FOUR_AGAINST_THREE, own, other) for other in columns] == payoffs


@pytest.mark.parametrize(("army", "fields"), [(3, 2), (5, 3), (6, 3), (4, 4)])
def test_equal_armies_are_worth_nothing(army: int, fields: int) -> None:
    solution = solve(compile_game(Blotto([army, army], fields)))
    assert solution.value == pytest.approx(0, abs=1e-12)
