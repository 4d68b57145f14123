"""The published counts of tic-tac-toe, and its value."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from solvent import make_game, solve
from solvent.games import TicTacToe
from solvent.games.tic_tac_toe import Board, winner
from solvent.model import TabularGame, compile_game

GAME = TicTacToe()


@pytest.fixture(scope="module")
def table() -> TabularGame:
    return compile_game(GAME)


def symmetric(state: Board) -> set[tuple[int, ...]]:
    """The eight boards that turning and mirroring make of one."""
    square = np.array(state.squares).reshape(3, 3)
    turned = [np.rot90(square, k) for k in range(4)]
    return {tuple(b.ravel().tolist()) for one in turned for b in (one, one.T)}


def test_the_published_numbers_of_positions(table: TabularGame) -> None:
    assert table.n_states == 5478
    assert len({min(symmetric(state)) for state in table.states}) == 765


def test_every_position_has_the_value_of_plain_minimax(table: TabularGame) -> None:
    solution = solve(table)
    values = dict(zip(table.states, solution.values.tolist(), strict=True))
    assert solution.value == solution.lower == solution.upper == 0

    @cache
    def minimax(state: Board) -> int:
        won = winner(state)
        if won is not None:
            return (1, -1)[won]
        free = [k for k, mark in enumerate(state.squares) if mark == 0]
        if not free:
            return 0
        player = GAME.turn(state)
        following = [
            minimax(Board((*state.squares[:k], 1 + player, *state.squares[k + 1 :]))) for k in free
        ]
        return (max, min)[player](following)

    for state in table.states:
        # What is won already is no value to come.
        assert values[state] == (0 if GAME.is_terminal(state) else minimax(state))
    assert make_game("tic-tac-toe") == GAME
