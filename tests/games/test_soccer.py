"""The rules of Littman's soccer, its symmetry, and the discount in them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from solvent import solve
from solvent.exact.matrix_game import solve_matrix_game
from solvent.games import Soccer
from solvent.games.soccer import DRAWN, OFF, PLAYING, Pitch, moved
from solvent.model import TabularGame, compile_game

GAME = Soccer()
SURE = Soccer("1/1000")
FORWARD, BACK, LEFT, RIGHT, STAND = range(5)


@pytest.fixture(scope="module")
def table() -> TabularGame:
    return compile_game(GAME)


def pitch(first: tuple[int, int], second: tuple[int, int], ball: int) -> Pitch:
    return Pitch(first, second, ball, PLAYING)


def scored(player: int) -> Pitch:
    return Pitch(OFF, OFF, -1, player)


def test_there_are_760_positions_and_three_ends(table: TabularGame) -> None:
    # 20 squares for one, 19 for the other, and the ball at either.
    assert table.n_states == 20 * 19 * 2 + 3


MOVED = [
    ("each moves in its own directions", ((1, 3), (2, 1), 0), 0, FORWARD, ((1, 2), (2, 1), 0)),
    ("each moves in its own directions", ((1, 3), (2, 1), 0), 1, FORWARD, ((1, 3), (2, 2), 0)),
    ("each moves in its own directions", ((1, 3), (2, 1), 0), 0, BACK, ((1, 4), (2, 1), 0)),
    ("each moves in its own directions", ((1, 3), (2, 1), 0), 1, BACK, ((1, 3), (2, 0), 0)),
    ("each moves in its own directions", ((1, 3), (2, 1), 0), 0, LEFT, ((2, 3), (2, 1), 0)),
    ("each moves in its own directions", ((1, 3), (2, 1), 0), 1, LEFT, ((1, 3), (1, 1), 0)),
    ("each moves in its own directions", ((1, 3), (2, 1), 0), 0, RIGHT, ((0, 3), (2, 1), 0)),
    ("each moves in its own directions", ((1, 3), (2, 1), 0), 1, RIGHT, ((1, 3), (3, 1), 0)),
    ("who stands does not move", ((1, 3), (2, 1), 0), 0, STAND, ((1, 3), (2, 1), 0)),
    ("nobody leaves the board", ((0, 4), (2, 1), 0), 0, BACK, ((0, 4), (2, 1), 0)),
    ("nobody leaves the board", ((0, 4), (2, 1), 0), 0, RIGHT, ((0, 4), (2, 1), 0)),
    ("beside the goal", ((0, 0), (2, 1), 0), 0, FORWARD, ((0, 0), (2, 1), 0)),
    ("behind one's own goal", ((1, 4), (2, 1), 0), 0, BACK, ((1, 4), (2, 1), 0)),
    ("the ball is needed to score", ((1, 0), (0, 0), 1), 0, FORWARD, ((1, 0), (0, 0), 1)),
    ("who walks into the other leaves the ball", ((1, 2), (1, 1), 0), 0, FORWARD,
     ((1, 2), (1, 1), 1)),
    ("the ball stays with who is walked into", ((1, 2), (1, 1), 0), 1, FORWARD,
     ((1, 2), (1, 1), 0)),
    ("who walks into the other leaves the ball", ((1, 2), (1, 1), 1), 1, FORWARD,
     ((1, 2), (1, 1), 0)),
]  # fmt: skip
"""A rule, a pitch, a player and its move, and the pitch after it."""


def test_a_move_leads_where_its_rule_says() -> None:
    for rule, before, player, action, after in MOVED:
        assert moved(pitch(*before), player, action) == pitch(*after), (rule, player, action)
    for row in (1, 2):
        assert moved(pitch((row, 0), (0, 0), 0), 0, FORWARD) == scored(0)
        assert moved(pitch((0, 0), (row, 4), 1), 1, FORWARD) == scored(1)


def turned(state: Pitch) -> Pitch:
    """The pitch as it is from the other end, with the players' parts exchanged."""
    if state.result != PLAYING:
        return scored({0: 1, 1: 0, DRAWN: DRAWN}[state.result])
    first, second = ((3 - row, 4 - column) for row, column in (state.second, state.first))
    return pitch(first, second, 1 - state.ball)


def test_both_players_see_the_same_game(table: TabularGame) -> None:
    solution = solve(table)
    assert solution.value == pytest.approx(0, abs=1e-9)
    other = [table.index[turned(state)] for state in table.states]
    np.testing.assert_allclose(solution.values[other], -solution.values, atol=1e-9)
    np.testing.assert_array_equal(table.observation[0][other], table.observation[1])


def test_equal_chances_are_one_parameter() -> None:
    assert Soccer(0.1) == Soccer("1/10") == Soccer(Fraction(1, 10))
    assert dict(Soccer(0.25).info.parameters) == {"draw_chance": "1/4"}


def test_the_random_end_is_a_discount_of_nine_tenths(table: TabularGame) -> None:
    """Shapley's operator with a discount has the values of the game as its fixed point."""
    values = solve(table).values
    bare = compile_game(SURE)
    at = [table.index[state] for state in bare.states]
    for state in (bare.index[outcome.state] for outcome in GAME.initial()):
        payoffs = np.zeros((5, 5))
        for row in range(bare.row_start[state], bare.row_start[state + 1]):
            branch = slice(bare.outcome_start[row], bare.outcome_start[row + 1])
            # Without the end itself, the chances are those of the moves.
            chances = bare.probability[branch] / np.where(
                bare.terminal[bare.next_state[branch]], 1, 0.999
            )
            after = [at[s] for s in bare.next_state[branch]]
            payoff = chances @ (bare.outcome_reward[branch] + 0.9 * values[after])
            payoffs.flat[row - bare.row_start[state]] = payoff
        assert solve_matrix_game(payoffs).value == pytest.approx(values[at[state]], abs=1e-9)
