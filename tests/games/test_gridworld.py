"""The rules of the gridworld, one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from solvent.games import Gridworld
from solvent.games.gridworld import MOVES, NAMES, Cell
from solvent.model import Outcome

GAME = Gridworld()
NORTH, SOUTH, EAST, WEST = map(NAMES.index, ("north", "south", "east", "west"))


def test_an_episode_begins_in_any_cell() -> None:
    start = GAME.initial()
    assert {outcome.state for outcome in start} == {Cell(r, c) for r in range(5) for c in range(5)}
    assert {outcome.probability for outcome in start} == {Fraction(1, 25)}


def test_a_move_leads_to_the_next_cell_or_bumps_into_the_edge_for_1() -> None:
    steps = {NORTH: (-1, 0), SOUTH: (1, 0), EAST: (0, 1), WEST: (0, -1)}
    board = {Cell(row, column) for row in range(5) for column in range(5)}
    for cell in board - {Cell(0, 1), Cell(0, 3)}:
        for action, (down, right) in steps.items():
            after = Cell(cell.row + down, cell.column + right)
            expected = (
                Outcome(Fraction(1), after) if after in board else Outcome(Fraction(1), cell, -1)
            )
            assert GAME.transition(cell, (action,)) == (expected,), (cell, action)


@pytest.mark.parametrize("action", range(len(MOVES)))
def test_every_move_from_a_and_b_jumps_and_pays(action: int) -> None:
    assert GAME.transition(Cell(0, 1), (action,)) == (Outcome(Fraction(1), Cell(4, 1), 10),)
    assert GAME.transition(Cell(0, 3), (action,)) == (Outcome(Fraction(1), Cell(2, 3), 5),)


def test_it_never_ends() -> None:
    assert not any(GAME.is_terminal(outcome.state) for outcome in GAME.initial())
