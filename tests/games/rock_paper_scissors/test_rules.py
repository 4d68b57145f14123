"""The rules of rock-paper-scissors, and its equilibrium."""

from __future__ import annotations

import numpy as np
import pytest

from solvent import solve
from solvent.games import RockPaperScissors
from solvent.games.rock_paper_scissors import Hands
from solvent.model import compile_game

ROCK, PAPER, SCISSORS = range(3)


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


@pytest.mark.parametrize("wins", [(1, 1, 1), (1, 2, 3), (7, 1, 1)])
def test_a_throw_is_as_frequent_as_the_victory_over_what_beats_it(wins: tuple[int, ...]) -> None:
    table = compile_game(RockPaperScissors(wins))
    solution = solve(table)
    assert solution.value == pytest.approx(0, abs=1e-12)
    rock, paper, scissors = wins
    expected = np.array([scissors, rock, paper]) / sum(wins)
    for policy in solution.policies:
        np.testing.assert_allclose(policy.probabilities[0], expected, atol=1e-12)
