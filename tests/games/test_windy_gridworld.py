"""The rules of the windy gridworld, one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from solvent.games import WindyGridworld
from solvent.games.windy_gridworld import STEPS, Cell
from solvent.model import Outcome

UP, DOWN, RIGHT, LEFT = range(4)
KING = WindyGridworld("king")


def test_an_episode_goes_from_s_to_g() -> None:
    game = WindyGridworld()
    assert game.initial() == (Outcome(Fraction(1), Cell(3, 0)),)
    ends = [(r, c) for r in range(7) for c in range(10) if game.is_terminal(Cell(r, c))]
    assert ends == [(3, 7)]


@pytest.mark.parametrize(("moves", "count"), [("four", 4), ("king", 8), ("nine", 9)])
def test_the_moves_are_those_of_the_parameter(moves: str, count: int) -> None:
    game = WindyGridworld(moves)
    assert game.legal_actions(Cell(3, 0)) == (tuple(range(count)),)
    assert len(game.info.actions[0]) == count
    assert {STEPS[name] for name in KING.info.actions[0]} == {
        (r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)
    }
    assert STEPS[WindyGridworld("nine").info.actions[0][8]] == (0, 0)


@pytest.mark.parametrize(
    ("cell", "action", "after"),
    [
        (Cell(3, 0), RIGHT, Cell(3, 1)),
        (Cell(3, 1), UP, Cell(2, 1)),
        (Cell(3, 1), DOWN, Cell(4, 1)),
        (Cell(3, 3), LEFT, Cell(2, 2)),
        (Cell(3, 3), RIGHT, Cell(2, 4)),
        # The book's own example: from the right of the goal, left leads to the cell above it.
        (Cell(3, 8), LEFT, Cell(2, 7)),
        (Cell(4, 6), DOWN, Cell(3, 6)),
        (Cell(4, 6), UP, Cell(1, 6)),
    ],
)
def test_the_wind_of_the_column_that_is_left_shifts_upward(
    cell: Cell, action: int, after: Cell
) -> None:
    assert WindyGridworld().transition(cell, (action,)) == (Outcome(Fraction(1), after, -1),)


@pytest.mark.parametrize(
    ("cell", "action", "after"),
    [
        (Cell(3, 0), LEFT, Cell(3, 0)),
        (Cell(0, 9), RIGHT, Cell(0, 9)),
        (Cell(6, 0), DOWN, Cell(6, 0)),
        (Cell(1, 7), UP, Cell(0, 7)),
    ],
)
def test_nothing_leads_off_the_board(cell: Cell, action: int, after: Cell) -> None:
    assert WindyGridworld().transition(cell, (action,)) == (Outcome(Fraction(1), after, -1),)


def test_a_stochastic_wind_varies_by_a_cell_where_there_is_any() -> None:
    game = WindyGridworld("king", stochastic=True)
    third = Fraction(1, 3)
    assert game.transition(Cell(3, 3), (RIGHT,)) == tuple(
        Outcome(third, Cell(row, 4), -1) for row in (1, 2, 3)
    )
    assert game.transition(Cell(3, 0), (RIGHT,)) == (Outcome(Fraction(1), Cell(3, 1), -1),)
    # Winds of 1, 2 and 3: from row 2 the latter two lead to the upper edge.
    assert game.transition(Cell(2, 6), (RIGHT,)) == (
        Outcome(2 * third, Cell(0, 7), -1),
        Outcome(third, Cell(1, 7), -1),
    )
