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


@pytest.mark.parametrize(
    ("action", "after"),
    [(NORTH, Cell(1, 2)), (SOUTH, Cell(3, 2)), (EAST, Cell(2, 3)), (WEST, Cell(2, 1))],
)
def test_a_move_leads_to_the_next_cell_and_pays_nothing(action: int, after: Cell) -> None:
    assert GAME.transition(Cell(2, 2), (action,)) == (Outcome(Fraction(1), after),)


@pytest.mark.parametrize(
    ("cell", "action"),
    [(Cell(0, 0), NORTH), (Cell(4, 4), SOUTH), (Cell(2, 4), EAST), (Cell(3, 0), WEST)],
)
def test_a_move_off_the_board_costs_1_and_leads_nowhere(cell: Cell, action: int) -> None:
    assert GAME.transition(cell, (action,)) == (Outcome(Fraction(1), cell, -1),)


@pytest.mark.parametrize("action", range(len(MOVES)))
def test_every_move_from_a_and_b_jumps_and_pays(action: int) -> None:
    assert GAME.transition(Cell(0, 1), (action,)) == (Outcome(Fraction(1), Cell(4, 1), 10),)
    assert GAME.transition(Cell(0, 3), (action,)) == (Outcome(Fraction(1), Cell(2, 3), 5),)


def test_it_never_ends() -> None:
    assert not any(GAME.is_terminal(outcome.state) for outcome in GAME.initial())
