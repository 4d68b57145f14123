"""The rules of Littman's soccer, its symmetry, and the discount in them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from solvent import solve
from solvent.exact.matrix_game import solve_matrix_game
from solvent.games import Soccer
from solvent.games.soccer import ACTIONS, DRAWN, OFF, PLAYING, STEPS, Pitch, moved
from solvent.model import Outcome, TabularGame, check_game, compile_game

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


@pytest.mark.slow
def test_the_game_passes_the_checks() -> None:
    check_game(GAME)


def test_there_are_760_positions_and_three_ends(table: TabularGame) -> None:
    # 20 squares for one, 19 for the other, and the ball at either.
    assert table.n_states == 20 * 19 * 2 + 3


def test_either_player_has_the_ball_at_first() -> None:
    half = Fraction(1, 2)
    assert GAME.initial() == (
        Outcome(half, pitch((1, 3), (2, 1), 0)),
        Outcome(half, pitch((1, 3), (2, 1), 1)),
    )


def test_each_moves_in_its_own_directions() -> None:
    state = pitch((1, 3), (2, 1), 0)
    squares = {
        FORWARD: ((1, 2), (2, 2)),
        BACK: ((1, 4), (2, 0)),
        LEFT: ((2, 3), (1, 1)),
        RIGHT: ((0, 3), (3, 1)),
        STAND: ((1, 3), (2, 1)),
    }
    for action, (first, second) in squares.items():
        assert moved(state, 0, action).first == first
        assert moved(state, 1, action).second == second
    assert len(ACTIONS) == len(STEPS) == len(squares)


def test_a_move_off_the_board_is_made_on_the_spot() -> None:
    assert moved(pitch((0, 4), (2, 1), 0), 0, BACK) == pitch((0, 4), (2, 1), 0)
    assert moved(pitch((0, 4), (2, 1), 0), 0, RIGHT) == pitch((0, 4), (2, 1), 0)
    # Beside the goal, and behind one's own.
    assert moved(pitch((0, 0), (2, 1), 0), 0, FORWARD) == pitch((0, 0), (2, 1), 0)
    assert moved(pitch((1, 4), (2, 1), 0), 0, BACK) == pitch((1, 4), (2, 1), 0)


@pytest.mark.parametrize("row", [1, 2])
def test_the_player_with_the_ball_scores_through_the_middle(row: int) -> None:
    assert moved(pitch((row, 0), (0, 0), 0), 0, FORWARD) == scored(0)
    assert moved(pitch((0, 0), (row, 4), 1), 1, FORWARD) == scored(1)
    assert moved(pitch((row, 0), (0, 0), 1), 0, FORWARD) == pitch((row, 0), (0, 0), 1)


def test_who_walks_into_the_other_leaves_the_ball_there() -> None:
    state = pitch((1, 2), (1, 1), 0)
    assert moved(state, 0, FORWARD) == state._replace(ball=1)
    assert moved(state, 1, FORWARD) == state
    assert moved(state._replace(ball=1), 1, FORWARD) == state


def test_the_order_of_the_moves_is_random() -> None:
    # Both want the square between them: who is first has it, and the other walks into it.
    state = pitch((1, 3), (1, 1), 1)
    going = Fraction(9, 10) / 2
    assert GAME.transition(state, (FORWARD, FORWARD)) == (
        Outcome(going, pitch((1, 2), (1, 1), 0)),
        Outcome(going, pitch((1, 3), (1, 2), 1)),
        Outcome(Fraction(1, 10), scored(DRAWN)),
    )


def test_a_step_without_a_goal_may_end_the_game() -> None:
    state = pitch((1, 0), (3, 4), 0)
    assert GAME.transition(state, (FORWARD, STAND)) == (Outcome(Fraction(1), scored(0), 1),)
    assert GAME.transition(state, (STAND, STAND)) == (
        Outcome(Fraction(9, 10), state),
        Outcome(Fraction(1, 10), scored(DRAWN)),
    )
    # The other loses the ball by walking back into the player at the goal.
    steal = pitch((1, 0), (1, 1), 1)
    assert GAME.transition(steal, (STAND, BACK)) == (
        Outcome(Fraction(9, 10), steal._replace(ball=0)),
        Outcome(Fraction(1, 10), scored(DRAWN)),
    )
    assert GAME.transition(steal, (FORWARD, BACK)) == (
        Outcome(Fraction(9, 10) / 2, steal._replace(ball=0)),
        Outcome(Fraction(1, 2), scored(0), 1),
        Outcome(Fraction(1, 20), scored(DRAWN)),
    )


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
