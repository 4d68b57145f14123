"""Small games for two: symmetry, theorems, counts, and Pig as it is told and shown."""

import base64
import json
import random
import re
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, cast

import numpy as np
import pytest

from solvent import (
    TabularPolicy,
    best_response,
    compile_game,
    exploitability,
    policy_value,
    solve,
)
from solvent.games import Goofspiel, Pig, Soccer, TicTacToe
from solvent.games.pig.report import PigPages, hold_surface
from solvent.games.pig.rules import HOLD, ROLL, Turn
from solvent.games.soccer import DRAWN, OFF, PLAYING, Pitch, moved
from solvent.games.tic_tac_toe import Board
from solvent.report.panel import UNKNOWN
from solvent.report.solved import SolvedTask

# Goofspiel's symmetry, and Ross's theorem on bids at random


@pytest.mark.parametrize(("cards", "order"), [(4, "random"), (5, "random"), (5, "descending")])
def test_the_game_is_symmetric_and_its_solution_cannot_be_exploited(cards: int, order: str) -> None:
    goofspiel = compile_game(Goofspiel(cards, order))
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


# The published counts of tic-tac-toe


def symmetric(state: Board) -> set[tuple[int, ...]]:
    """The eight boards that turning and mirroring make of one."""
    square = np.array(state.squares).reshape(3, 3)
    turned = [np.rot90(square, k) for k in range(4)]
    return {tuple(b.ravel().tolist()) for one in turned for b in (one, one.T)}


def test_the_published_numbers_of_positions() -> None:
    board = compile_game(TicTacToe())
    assert board.n_states == 5478
    assert len({min(symmetric(state)) for state in board.states}) == 765


# The rules of Littman's soccer, and its symmetry


FORWARD, BACK, LEFT, RIGHT, STAND = range(5)


def pitch(first: tuple[int, int], second: tuple[int, int], ball: int) -> Pitch:
    return Pitch(first, second, ball, PLAYING)


def scored(player: int) -> Pitch:
    return Pitch(OFF, OFF, -1, player)


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


def test_both_players_see_the_same_game() -> None:
    soccer = compile_game(Soccer())
    # 20 squares for one, 19 for the other, the ball at either, and three ends.
    assert soccer.n_states == 20 * 19 * 2 + 3
    solution = solve(soccer)
    assert solution.value == pytest.approx(0, abs=1e-9)
    other = [soccer.index[turned(state)] for state in soccer.states]
    np.testing.assert_allclose(solution.values[other], -solution.values, atol=1e-9)
    np.testing.assert_array_equal(soccer.observation[0][other], soccer.observation[1])


def test_equal_chances_are_one_parameter() -> None:
    assert Soccer(0.1) == Soccer("1/10") == Soccer(Fraction(1, 10))
    assert dict(Soccer(0.25).info.parameters) == {"draw_chance": "1/4"}


# Pig in the terminal and on its page


# Where a 1 is so likely that holding pays.
SMALL = Pig(target=14, sides=3)


@pytest.mark.slow
def test_published_at_41_to_49() -> None:
    """Hold from 22 on, but roll at 27 (E. Farmer 2014); 21 is the most frequent total."""
    solution: Any = solve(Pig())
    action, _ = hold_surface(solution.table, solution.solution)
    assert action[41, 49, [21, 22, 26, 27, 28]].tolist() == [0, 1, 1, 0, 1]
    at = (action == 1).argmax(axis=2)
    assert np.bincount(at[at > 0]).argmax() == 21


# Pig in the terminal: the face that is told is the one that led to the next turn

TEN = Pig(target=10)


@pytest.mark.parametrize("player", [0, 1])
def test_the_die_told_leads_to_the_next_turn(player: int) -> None:
    state = Turn(player, (4, 4), 2)
    faces: dict[Turn, set[int]] = {}
    for outcome, seed in product(TEN.transition(state, (ROLL, ROLL)), range(20)):
        told = TEN.tell(state, (ROLL, ROLL), outcome, random.Random(seed))
        face = int(re.match(r"The die shows (\d)", told)[1])
        faces.setdefault(outcome.state, set()).add(face)
    [won] = filter(TEN.is_terminal, faces)
    assert faces == {
        won: {4, 5, 6},
        Turn(1 - player, (4, 4), 0): {1},
        **{Turn(player, (4, 4), 2 + face): {face} for face in (2, 3)},
    }
    [held] = TEN.transition(state, (HOLD, HOLD))
    assert TEN.tell(state, (HOLD, HOLD), held, random.Random(1)) == ""


def test_the_page_shows_the_smallest_totals_the_runs_and_the_chances() -> None:
    found: Any = solve(SMALL)
    task = SolvedTask(SMALL, found.table, found.solution, cast(Any, None))
    [section] = PigPages().sections(task)
    totals, chances = (
        json.loads(text.split("<")[0])
        for text in section.html.split('<script type="application/json">')[1:]
    )
    assert totals["names"] == ["hold at", "runs of totals"]
    shown = np.frombuffer(base64.b64decode(totals["numbers"]), "<i2").reshape(2, 14, 14)
    won = np.frombuffer(base64.b64decode(chances["numbers"]), "<i2").reshape(14, 14)
    for own, other in np.ndindex(14, 14):
        turns = [Turn(0, (own, other), total) for total in range(14 - own)]
        holds = {t.total: found.policy(t, 0).get(HOLD) for t in turns if t in found.table.index}
        first = next((total for total, held in holds.items() if held), UNKNOWN)
        changes = pairwise(holds.values())
        assert shown[0, own, other] == first
        assert shown[1, own, other] == sum(bool(after and not before) for before, after in changes)
        chance = found.value_of(turns[0]) if turns[0] in found.table.index else np.nan
        expected = UNKNOWN if np.isnan(chance) else round(1e4 * chance)
        assert won[own, other] == pytest.approx(expected, abs=1)
    assert 0 < (shown[0] > 0).sum() < (won != UNKNOWN).sum()
    assert "in orange" in section.html
