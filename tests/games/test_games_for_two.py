"""Small games for two: symmetry, theorems, minimax, and Pig as it is told and shown."""

import base64
import json
import random
import re
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest

from solvent import (
    TabularGame,
    TabularPolicy,
    best_response,
    compile_game,
    exploitability,
    make_game,
    policy_value,
)
from solvent.exact import SolvedTable, solve, solve_matrix_game
from solvent.games import Goofspiel, Pig, Soccer, TicTacToe
from solvent.games.pig.report import HoldSurface, PigPages, hold_surface
from solvent.games.pig.rules import HOLD, ROLL, Turn
from solvent.games.soccer import DRAWN, OFF, PLAYING, Pitch, moved
from solvent.games.tic_tac_toe import Board, winner
from solvent.report.panel import UNKNOWN
from solvent.report.solved import SolvedTask

# Goofspiel's symmetry, and Ross's theorem on bids at random


@pytest.fixture(scope="module", params=[(4, "random"), (5, "random"), (5, "descending")], ids=str)
def goofspiel(request: pytest.FixtureRequest) -> TabularGame:
    return compile_game(Goofspiel(*request.param))


def test_the_game_is_symmetric_and_its_solution_cannot_be_exploited(goofspiel: TabularGame) -> None:
    solution = solve(goofspiel)
    assert solution.value == pytest.approx(0, abs=1e-12)
    for policy in solution.policies:
        assert exploitability(goofspiel, policy, solution) == pytest.approx(0, abs=1e-9)
    # Hands the other way round have the opposite value, in every state.
    mirrored = [s._replace(first=s.second, second=s.first) for s in goofspiel.states]
    np.testing.assert_allclose(
        solution.values[[goofspiel.index[s] for s in mirrored]], -solution.values, atol=1e-9
    )


@pytest.mark.parametrize("cards", [3, 4, 5])
def test_against_bids_at_random_it_is_best_to_bid_the_prize(cards: int) -> None:
    """Ross 1971; the difference is then the sum of k (2 k - n - 1) / n, (n^2 - 1) / 6."""
    goofspiel = compile_game(Goofspiel(cards))
    uniform = TabularPolicy.uniform(goofspiel, player=1)
    best = best_response(goofspiel, uniform)
    assert best.value == pytest.approx((cards**2 - 1) / 6, abs=1e-12)
    matching = np.array([max(s.prize - 1, 0) for s in goofspiel.states])
    # Where the card is gone already, as it never is along the way, any other does.
    held = goofspiel.mask[0][np.arange(goofspiel.n_states), matching]
    matching = np.where(held, matching, goofspiel.mask[0].argmax(axis=1))
    policy = TabularPolicy.deterministic(goofspiel, matching)
    assert goofspiel.at_start(policy_value(goofspiel, policy, uniform)) == pytest.approx(best.value)


# The published counts of tic-tac-toe, and its value


TICTACTOE = TicTacToe()


@pytest.fixture(scope="module")
def board() -> TabularGame:
    return compile_game(TICTACTOE)


def symmetric(state: Board) -> set[tuple[int, ...]]:
    """The eight boards that turning and mirroring make of one."""
    square = np.array(state.squares).reshape(3, 3)
    turned = [np.rot90(square, k) for k in range(4)]
    return {tuple(b.ravel().tolist()) for one in turned for b in (one, one.T)}


def test_the_published_numbers_of_positions(board: TabularGame) -> None:
    assert board.n_states == 5478
    assert len({min(symmetric(state)) for state in board.states}) == 765


def test_every_position_has_the_value_of_plain_minimax(board: TabularGame) -> None:
    solution = solve(board)
    values = dict(zip(board.states, solution.values.tolist(), strict=True))
    assert solution.value == solution.lower == solution.upper == 0

    @cache
    def minimax(state: Board) -> int:
        won = winner(state)
        if won is not None:
            return (1, -1)[won]
        free = [k for k, mark in enumerate(state.squares) if mark == 0]
        if not free:
            return 0
        player = TICTACTOE.turn(state)
        following = [
            minimax(Board((*state.squares[:k], 1 + player, *state.squares[k + 1 :]))) for k in free
        ]
        return (max, min)[player](following)

    for state in board.states:
        # What is won already is no value to come.
        assert values[state] == (0 if TICTACTOE.is_terminal(state) else minimax(state))
    assert make_game("tic-tac-toe") == TICTACTOE


# The rules of Littman's soccer, its symmetry, and the discount in them


SOCCER = Soccer()
SURE = Soccer("1/1000")
FORWARD, BACK, LEFT, RIGHT, STAND = range(5)


@pytest.fixture(scope="module")
def soccer() -> TabularGame:
    return compile_game(SOCCER)


def pitch(first: tuple[int, int], second: tuple[int, int], ball: int) -> Pitch:
    return Pitch(first, second, ball, PLAYING)


def scored(player: int) -> Pitch:
    return Pitch(OFF, OFF, -1, player)


def test_there_are_760_positions_and_three_ends(soccer: TabularGame) -> None:
    # 20 squares for one, 19 for the other, and the ball at either.
    assert soccer.n_states == 20 * 19 * 2 + 3


# A rule, a pitch, a player and its move, and the pitch after it.
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


def test_both_players_see_the_same_game(soccer: TabularGame) -> None:
    solution = solve(soccer)
    assert solution.value == pytest.approx(0, abs=1e-9)
    other = [soccer.index[turned(state)] for state in soccer.states]
    np.testing.assert_allclose(solution.values[other], -solution.values, atol=1e-9)
    np.testing.assert_array_equal(soccer.observation[0][other], soccer.observation[1])


def test_equal_chances_are_one_parameter() -> None:
    assert Soccer(0.1) == Soccer("1/10") == Soccer(Fraction(1, 10))
    assert dict(Soccer(0.25).info.parameters) == {"draw_chance": "1/4"}


def test_the_random_end_is_a_discount_of_nine_tenths(soccer: TabularGame) -> None:
    """Shapley's operator with a discount has the values of the game as its fixed point."""
    values = solve(soccer).values
    bare = compile_game(SURE)
    at = [soccer.index[state] for state in bare.states]
    for state in (bare.index[outcome.state] for outcome in SOCCER.initial()):
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


# Pig in the terminal and on its page


# Where a 1 is so likely that holding pays.
SMALL = Pig(target=14, sides=3)


@cache
def solved(game: Pig) -> SolvedTable:
    return cast(SolvedTable, solve(game))


def surface(game: Pig = SMALL) -> HoldSurface:
    return hold_surface(solved(game).table, solved(game).solution)


def rolls_better(target: int, sides: int) -> tuple[Any, Any]:
    """[own, other, total] what rolling gains over holding by value iteration, and the chances."""
    own, other, total = np.ogrid[:target, :target, :target]
    value = np.full((target,) * 3, 0.5)
    while True:
        passed = 1 - value[:, :, 0].T[:, :, None]
        roll = passed / sides + np.zeros_like(value)
        for face in range(2, sides + 1):
            on = value[own, other, np.minimum(total + face, target - 1)]
            roll += np.where(own + total + face >= target, 1.0, on) / sides
        hold = 1 - value[other, np.minimum(own + total, target - 1), 0]
        best = np.where(total == 0, roll, np.maximum(roll, hold))
        if np.abs(best - value).max() < 1e-13:
            return roll - hold, best[:, :, 0]
        value = best


def test_the_surface_is_that_of_value_iteration() -> None:
    found = surface()
    gain, chance = rolls_better(SMALL.target, SMALL.sides)
    reached = found.action >= 0
    reached[:, :, 0] = False
    clear = reached & (np.abs(gain) > 1e-9)
    assert clear.sum() > 200
    assert ((found.action == 1) == (gain < 0))[clear].all()
    begins = ~np.isnan(found.chance)
    assert found.chance[begins] == pytest.approx(chance[begins], abs=1e-9)
    assert 0 < (found.hold_at > 0).sum() < begins.sum()


@pytest.mark.slow
def test_published_at_41_to_49() -> None:
    """Hold from 22 on, but roll at 27 (E. Farmer 2014); 21 is the most frequent total."""
    found = surface(Pig())
    assert found.action[41, 49, [21, 22, 26, 27, 28]].tolist() == [0, 1, 1, 0, 1]
    assert found.runs[41, 49] > 1
    at = found.hold_at
    assert np.bincount(at[at > 0]).argmax() == 21


# Pig in the terminal: the face that is told is the one that led to the next turn

TEN = Pig(target=10)


@pytest.mark.parametrize("player", [0, 1])
def test_the_die_told_leads_to_the_next_turn(player: int) -> None:
    state = Turn(player, (4, 4), 2)
    seen = set()
    for outcome in TEN.transition(state, (ROLL, ROLL)):
        for seed in range(20):
            told = TEN.tell(state, (ROLL, ROLL), outcome, random.Random(seed))
            face = int(re.match(r"The die shows (\d)", told)[1])
            seen.add(face)
            after = outcome.state
            if TEN.is_terminal(after):
                assert face in (4, 5, 6)
            elif face == 1:
                assert (after.player, after.scores) == (1 - player, (4, 4))
            else:
                assert (after.player, after.total) == (player, 2 + face)
    assert seen == set(range(1, 7))
    [held] = TEN.transition(state, (HOLD, HOLD))
    assert TEN.tell(state, (HOLD, HOLD), held, random.Random(1)) == ""


def test_the_page_shows_the_smallest_totals_and_the_runs() -> None:
    found = solved(SMALL)
    task = SolvedTask(SMALL, found.table, found.solution, cast(Any, None))
    [section] = PigPages().sections(task)
    data = json.loads(section.html.split('<script type="application/json">')[1].split("<")[0])
    assert data["names"] == ["hold at", "runs of totals"]
    shown = np.frombuffer(base64.b64decode(data["numbers"]), "<i2").reshape(2, 14, 14)
    for own, other in np.ndindex(14, 14):
        turns = [Turn(0, (own, other), total) for total in range(14 - own)]
        holds = {t.total: found.policy(t, 0).get(HOLD) for t in turns if t in found.table.index}
        first = next((total for total, held in holds.items() if held), UNKNOWN)
        changes = pairwise(holds.values())
        assert shown[0, own, other] == first
        assert shown[1, own, other] == sum(bool(after and not before) for before, after in changes)
    assert "in orange" in section.html
