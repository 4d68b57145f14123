"""The rules of rock-paper-scissors, and its equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvent import solve
from solvent.games import RockPaperScissors
from solvent.games.rock_paper_scissors import Hands
from solvent.model import compile_game, parametrize_with_game_checks

ROCK, PAPER, SCISSORS = range(3)


@parametrize_with_game_checks([RockPaperScissors(), RockPaperScissors([3, 1, 2])])
def test_the_game_passes_the_checks(game: Any, check: Any) -> None:
    check(game)


@pytest.mark.parametrize(
    ("better", "worse", "counts"), [(ROCK, SCISSORS, 5), (PAPER, ROCK, 7), (SCISSORS, PAPER, 9)]
)
def test_who_beats_whom_and_what_it_counts(better: int, worse: int, counts: int) -> None:
    game = RockPaperScissors([5, 7, 9])
    [start] = game.initial()
    [won] = game.transition(start.state, (better, worse))
    assert (won.state, won.reward) == (Hands(better, worse), counts)
    [lost] = game.transition(start.state, (worse, better))
    assert (lost.state, lost.reward) == (Hands(worse, better), -counts)
    [even] = game.transition(start.state, (better, better))
    assert even.reward == 0
    assert game.is_terminal(even.state)
    assert not game.is_terminal(start.state)


def test_the_throws_are_drawn_and_seen() -> None:
    game = RockPaperScissors()
    assert game.draw(Hands(PAPER, ROCK)) == "paper against rock: player A wins"
    assert game.draw(Hands(PAPER, SCISSORS)) == "paper against scissors: player B wins"
    assert game.draw(Hands(PAPER, PAPER)) == "paper against paper: a draw"
    np.testing.assert_allclose(game.observe(Hands(PAPER, ROCK), 0), [2 / 3, 1 / 3])
    np.testing.assert_allclose(game.observe(Hands(PAPER, ROCK), 1), [1 / 3, 2 / 3])


@pytest.mark.parametrize("wins", [(1, 1, 1), (1, 2, 3), (7, 1, 1)])
def test_a_throw_is_as_frequent_as_the_victory_over_what_beats_it(wins: tuple[int, ...]) -> None:
    table = compile_game(RockPaperScissors(wins))
    solution = solve(table)
    assert solution.value == pytest.approx(0, abs=1e-12)
    rock, paper, scissors = wins
    expected = np.array([scissors, rock, paper]) / sum(wins)
    for policy in solution.policies:
        np.testing.assert_allclose(policy.probabilities[0], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("wins", "message"),
    [
        ([1, 1], "wins is .*; allowed are lists of three whole numbers"),
        ("111", "allowed are lists of three"),
        ([1, 0, 1], "wins of paper is 0; .*1 to 1000"),
        ([1, 1, 1001], "wins of scissors is 1001"),
    ],
)
def test_other_weights_are_refused(wins: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RockPaperScissors(wins)
