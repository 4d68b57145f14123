"""Models learned from samples: frequencies, and policies that improve with their number."""

from __future__ import annotations

import numpy as np
import pytest
from learned_model import learned_model

from solvent.exact import exploitability, solve
from solvent.games.greed.rules import Greed
from solvent.model import TabularPolicy, compile_game

GREED = compile_game(Greed(12, 4))
SOLUTION = solve(GREED)


def lost(samples: int, seed: int) -> float:
    """The mean exploitability in the game of both policies that are optimal in the model."""
    found = solve(learned_model(GREED, samples, seed=seed))
    policies = [
        TabularPolicy.of(GREED, found.policies[player].probabilities, player=player)
        for player in (0, 1)
    ]
    return float(np.mean([exploitability(GREED, policy, SOLUTION) for policy in policies]))


def test_probabilities_are_frequencies_of_what_can_happen() -> None:
    model = learned_model(GREED, 5)
    counts = model.probability * 5
    np.testing.assert_allclose(counts, counts.round(), atol=1e-12)
    assert counts.min() > 0.5
    possible = set(zip(GREED.outcome_row.tolist(), GREED.next_state.tolist(), strict=True))
    assert set(zip(model.outcome_row.tolist(), model.next_state.tolist(), strict=True)) < possible
    assert model.states == GREED.states


def test_frequencies_tend_to_the_probabilities() -> None:
    model = learned_model(GREED, 40_000)
    first = slice(0, GREED.row_start[1])
    for row in range(first.start, first.stop):
        exact, found = (
            {int(game.next_state[k]): float(game.probability[k]) for k in outcomes}
            for game, outcomes in (
                (game, range(game.outcome_start[row], game.outcome_start[row + 1]))
                for game in (GREED, model)
            )
        )
        for state, probability in exact.items():
            assert found.get(state, 0.0) == pytest.approx(probability, abs=0.015)


def test_more_samples_leave_less_to_exploit() -> None:
    few, many = ([lost(samples, seed) for seed in range(3)] for samples in (3, 300))
    assert max(many) < min(few) / 3
    assert max(many) < 0.02
