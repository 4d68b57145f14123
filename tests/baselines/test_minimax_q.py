"""Minimax-Q comes close to the equilibrium, and always the same way."""

from __future__ import annotations

import numpy as np
import pytest
from reduced_football import MIXED, reduced

from solvent.baselines.minimax_q import MinimaxQ
from solvent.baselines.sampling import by_action, by_rank
from solvent.exact import exploitability, solve
from solvent.model import TabularPolicy, compile_game

DRIVE = compile_game(reduced("drive", MIXED))
SOLUTION = solve(DRIVE)


def losses(learner: MinimaxQ) -> float:
    return sum(exploitability(DRIVE, learner.policy(player), SOLUTION) for player in (0, 1))


def test_more_moves_leave_less_to_exploit() -> None:
    short, long = [], []
    for seed in range(3):
        learner = MinimaxQ(DRIVE, seed=seed)
        learner.learn(1_000)
        short.append(losses(learner))
        learner.learn(1_000_000)
        long.append(losses(learner))
        assert DRIVE.at_start(learner.values) == pytest.approx(SOLUTION.value, abs=0.05)
    assert np.mean(long) < 0.12
    assert np.mean(short) > 3 * np.mean(long)


def test_it_does_not_matter_how_moves_are_divided() -> None:
    whole, parts, other = MinimaxQ(DRIVE, seed=1), MinimaxQ(DRIVE, seed=1), MinimaxQ(DRIVE, seed=2)
    whole.learn(3_000)
    for moves in (1, 999, 2_000):
        parts.learn(moves)
    other.learn(3_000)
    assert parts.moves == 3_000
    assert (whole.values == parts.values).all()
    assert (whole.values != other.values).any()


def test_a_share_of_the_calls_can_stay_uniform() -> None:
    learner = MinimaxQ(DRIVE)
    assert (
        learner.policy(1).probabilities == TabularPolicy.uniform(DRIVE, player=1).probabilities
    ).all()
    learner.learn(5_000)
    learned, uniform = learner.policy(0), TabularPolicy.uniform(DRIVE)
    half = learner.policy(0, exploration=0.5).probabilities
    np.testing.assert_allclose(half, (learned.probabilities + uniform.probabilities) / 2)


@pytest.mark.parametrize("moves", [0, 1.5, -3])
def test_moves_are_counted_from_1(moves: int) -> None:
    with pytest.raises(ValueError, match=f"moves is {moves}"):
        MinimaxQ(DRIVE).learn(moves)


def test_strategies_by_rank_leave_out_what_is_illegal() -> None:
    mask = np.array([[True, False, True], [False, False, False], [True, True, True]])
    probabilities = np.array([[0.25, 0, 0.75], [0, 0, 0], [0.5, 0.25, 0.25]])
    strategies = by_rank(probabilities, mask)
    assert strategies.tolist() == [[0.25, 0.75, 0], [0, 0, 0], [0.5, 0.25, 0.25]]
    assert (by_action(strategies, mask) == probabilities).all()
