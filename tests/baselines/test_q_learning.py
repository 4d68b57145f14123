"""Q-learning comes close to the optimum and Minimax-Q to the equilibrium, always the same way."""

from __future__ import annotations

import numpy as np
import pytest
from reduced_football import MIXED, reduced

from solvent.baselines.q_learning import MinimaxQ, q_learning
from solvent.exact import exploitability, score, solve
from solvent.games import FightingFantasy, Pig
from solvent.model import TabularPolicy, against, compile_game


def test_more_moves_leave_a_smaller_gap_and_ten_million_less_than_a_thousandth() -> None:
    game = compile_game(FightingFantasy())
    solution = solve(game)
    few, more, most = (
        score(game, q_learning(game, steps=steps), solution).optimality_gap
        for steps in (10_000, 300_000, 10_000_000)
    )
    assert few > 3 * more > 9 * most
    assert most < 0.001


def test_equal_seeds_give_equal_policies() -> None:
    game = compile_game(FightingFantasy())
    first, again, other = (q_learning(game, steps=20_000, seed=s).probabilities for s in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


def test_the_other_player_learns_to_minimize() -> None:
    game = compile_game(Pig(target=6))
    folded = against(game, TabularPolicy.uniform(game, player=0))
    learned = q_learning(folded, 1, steps=1_000_000)
    assert learned.player == 1
    result = score(folded, learned)
    assert result.optimality_gap < 0.01
    assert result.normalized > 0.9


DRIVE = compile_game(reduced("drive", MIXED))
SOLUTION = solve(DRIVE)


def losses(learner: MinimaxQ) -> float:
    return sum(exploitability(DRIVE, learner.policy(player), SOLUTION) for player in (0, 1))


def test_more_moves_leave_less_to_exploit() -> None:
    short, long = [], []
    for seed in range(2):
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
