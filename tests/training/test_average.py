"""The average weighs the k-th policy k^2 times, in each state by itself."""

from __future__ import annotations

import numpy as np
import pytest
from two_players import OneShot, random_policy

from solvent.games.greed.rules import Greed
from solvent.model import TabularPolicy, compile_game
from solvent.training.snapshots import AveragePolicy


def test_the_kth_counts_k_squared_times() -> None:
    game = compile_game(OneShot())
    policies = [random_policy(game, 1, seed) for seed in range(5)]
    average = AveragePolicy(game, 1)
    for policy in policies:
        average.add(policy)
    weights = np.arange(1, 6) ** 2 / 55
    expected = np.tensordot(weights, [policy.probabilities for policy in policies], axes=1)
    np.testing.assert_allclose(average.policy().probabilities, expected, atol=1e-15)
    assert average.policy("mean").name == "mean"


def test_it_is_uniform_while_nothing_is_in_it() -> None:
    game = compile_game(OneShot())
    np.testing.assert_array_equal(
        AveragePolicy(game, 0).policy().probabilities, TabularPolicy.uniform(game).probabilities
    )


def test_a_policy_for_another_game_is_refused() -> None:
    average = AveragePolicy(compile_game(OneShot()), 0)
    with pytest.raises(ValueError, match="was made for the model"):
        average.add(TabularPolicy.uniform(compile_game(Greed(4, 2))))
