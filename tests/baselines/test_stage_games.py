"""Compiled learners: steps as in the papers, exact values, and less and less to exploit."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from reduced_football import MIXED, reduced

from solvent.baselines.q_learning import MinimaxQ, q_learning
from solvent.baselines.stage_games import (
    FictitiousPlay,
    MirrorDescentSweeps,
    RegretMatching,
    StageLearner,
)
from solvent.exact import exploitability, score, solve
from solvent.games import FightingFantasy, Pig
from solvent.games.greed.rules import Greed
from solvent.model import TabularGame, TabularPolicy, against, compile_game
from solvent.tabular import matrix_game

Make = Callable[[TabularGame], StageLearner]


LEARNERS: dict[str, Make] = {
    "regret-matching": partial(RegretMatching, plus=False),
    "regret-matching+": RegretMatching,
    "fictitious-play": FictitiousPlay,
    "mirror-descent": MirrorDescentSweeps,
}
PAGE = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
PENNIES = np.array([[3.0, 0.0], [0.0, 1.0]])
"""Row 2 is played three times in four, and so is column 2; the value is 3/4."""


def lost(learner: StageLearner) -> float:
    """The mean exploitability of both players."""
    solution = solve(learner.game)
    return sum(exploitability(learner.game, learner.policy(p), solution) for p in (0, 1)) / 2


def test_regret_matching_takes_the_steps_of_the_paper() -> None:
    learner = RegretMatching(matrix_game(PENNIES), plus=False)
    learner.learn(1)
    # Both begin uniform: rows get 3/2 and 1/2, so that the first regrets +1/2, the second -1/2.
    assert learner.policy(0).probabilities[0].tolist() == [0.5, 0.5]
    learner.learn(1)
    # The second strategies are row 1 and column 2, and the average has both steps once.
    assert learner.policy(0).probabilities[0].tolist() == [0.75, 0.25]
    assert learner.policy(1).probabilities[0].tolist() == [0.25, 0.75]
    learner.learn(1)
    # Row 2 would have gained 1 then: regrets 1/2 and 1/2. Column 2 stays.
    assert learner.policy(0).probabilities[0] == pytest.approx([2 / 3, 1 / 3])
    assert learner.policy(1).probabilities[0] == pytest.approx([1 / 6, 5 / 6])


def test_regret_matching_plus_takes_turns_and_weighs_by_time() -> None:
    learner = RegretMatching(matrix_game(PENNIES))
    learner.learn(1)
    # Row 1 gains against uniform play; column 2 is the response to it.
    assert learner.policy(0).probabilities[0].tolist() == [1, 0]
    assert learner.policy(1).probabilities[0].tolist() == [0, 1]
    learner.learn(1)
    # Against column 2 row 2 gains 1 over row 1, whose regret is 1/2: strategy (1/3, 2/3), which
    # counts twice.
    assert learner.policy(0).probabilities[0] == pytest.approx([1 / 3 + 2 / 9, 4 / 9])


def test_fictitious_play_responds_to_averages_in_turn() -> None:
    learner = FictitiousPlay(matrix_game(PENNIES))
    learner.learn(1)
    # Row 1 against uniform play; then column 2, since rows were (3/4, 1/4) on average.
    assert learner.policy(0).probabilities[0].tolist() == [0.75, 0.25]
    assert learner.policy(1).probabilities[0].tolist() == [0.25, 0.75]


def test_mirror_descent_takes_the_step_of_the_paper() -> None:
    learner = MirrorDescentSweeps(matrix_game(PENNIES))
    learner.learn(1)
    # Step 4 and temperature 1 in ranges of 3 points: 4 (3/2 - 1/2) / 3 / (1 + 4) apart.
    ratio = np.exp(4 / 3 / 5)
    x = np.array([ratio, 1]) / (ratio + 1)
    assert learner.policy(0).probabilities[0] == pytest.approx(x)
    gap = 4 * (3 * x[0] - x[1]) / 3 / 5
    y = 1 / (1 + np.exp(gap))
    assert learner.policy(1).probabilities[0] == pytest.approx([y, 1 - y])


@pytest.mark.parametrize("name", LEARNERS)
def test_the_page_says_how_close_sweeps_come(name: str) -> None:
    row = re.search(
        rf"^\| 20, 4 \| {re.escape(name)} \| ([\d.]+) \| ([\d.]+) \|", PAGE, re.MULTILINE
    )
    learner = LEARNERS[name](compile_game(Greed(20, 4)))
    for stated in map(float, row.groups()):
        learner.learn(10 if learner.sweeps == 0 else 90)
        assert lost(learner) == pytest.approx(stated, rel=0.05, abs=1e-5)


def test_more_moves_leave_a_smaller_gap_and_ten_million_less_than_a_thousandth() -> None:
    game = compile_game(FightingFantasy())
    solution = solve(game)
    few, more, most = (
        score(game, q_learning(game, steps=steps), solution).optimality_gap
        for steps in (10_000, 300_000, 10_000_000)
    )
    assert few > 3 * more > 9 * most
    assert most < 0.001


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
