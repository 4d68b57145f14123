"""The rules of the Dyna maze, one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from solvent.games import DynaMaze
from solvent.games.dyna_maze import MAZE, NAMES, Cell
from solvent.model import Outcome

GAME = DynaMaze()
UP, DOWN, RIGHT, LEFT = map(NAMES.index, ("up", "down", "right", "left"))


def test_an_episode_goes_from_s_to_g() -> None:
    assert GAME.initial() == (Outcome(Fraction(1), Cell(2, 0)),)
    cells = [Cell(r, c) for r in range(6) for c in range(9)]
    assert [cell for cell in cells if GAME.is_terminal(cell)] == [Cell(0, 8)]


def test_the_walls_are_those_of_the_book() -> None:
    walls = {(r, c) for r in range(6) for c in range(9) if MAZE[r][c] == "#"}
    assert walls == {(1, 2), (2, 2), (3, 2), (4, 5), (0, 7), (1, 7), (2, 7)}


@pytest.mark.parametrize(
    ("cell", "action", "after"),
    [
        (Cell(2, 0), UP, Cell(1, 0)),
        (Cell(2, 0), DOWN, Cell(3, 0)),
        (Cell(2, 0), RIGHT, Cell(2, 1)),
        (Cell(2, 1), LEFT, Cell(2, 0)),
        # Off the board, and into a wall.
        (Cell(2, 0), LEFT, Cell(2, 0)),
        (Cell(0, 0), UP, Cell(0, 0)),
        (Cell(5, 8), DOWN, Cell(5, 8)),
        (Cell(3, 8), RIGHT, Cell(3, 8)),
        (Cell(2, 1), RIGHT, Cell(2, 1)),
    ],
)
def test_a_move_leads_to_the_next_cell_unless_there_is_none(
    cell: Cell, action: int, after: Cell
) -> None:
    assert GAME.transition(cell, (action,)) == (Outcome(Fraction(1), after),)


def test_only_the_goal_pays() -> None:
    assert GAME.transition(Cell(1, 8), (UP,)) == (Outcome(Fraction(1), Cell(0, 8), 1),)
