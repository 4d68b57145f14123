"""Methods that only scripts use: models learned from samples, and classification trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from classification_tree import fit_tree
from learned_model import learned_model

from solvent.exact import exploitability, solve
from solvent.games.greed.rules import Greed
from solvent.model import TabularPolicy, compile_game

GREED = compile_game(Greed(12, 4))


def test_the_probabilities_of_a_learned_model_are_frequencies() -> None:
    model = learned_model(GREED, 5)
    counts = model.probability * 5
    np.testing.assert_allclose(counts, counts.round(), atol=1e-12)
    assert counts.min() > 0.5
    possible = set(zip(GREED.outcome_row.tolist(), GREED.next_state.tolist(), strict=True))
    assert set(zip(model.outcome_row.tolist(), model.next_state.tolist(), strict=True)) < possible
    many = learned_model(GREED, 40_000)
    for row in range(GREED.row_start[1]):
        exact, found = (
            dict(zip(game.next_state[here].tolist(), game.probability[here].tolist(), strict=True))
            for game in (GREED, many)
            for here in [slice(*game.outcome_start[row : row + 2])]
        )
        for state, probability in exact.items():
            assert found.get(state, 0.0) == pytest.approx(probability, abs=0.015)


def test_more_samples_leave_less_to_exploit() -> None:
    solution = solve(GREED)

    def lost(samples: int, seed: int) -> float:
        """Return the mean exploitability of both policies that are optimal in the model."""
        found = solve(learned_model(GREED, samples, seed=seed)).policies
        policies = [TabularPolicy.of(GREED, found[p].probabilities, player=p) for p in (0, 1)]
        return float(np.mean([exploitability(GREED, one, solution) for one in policies]))

    few, many = ([lost(samples, seed) for seed in range(3)] for samples in (3, 300))
    assert max(many) < min(few) / 3
    assert max(many) < 0.02


def staircase() -> tuple[Any, Any]:
    """Points of a 30 x 30 grid; the class is 0, 1 or 2 by bands of x, with a corner of 3s."""
    x, y = np.indices((30, 30)).reshape(2, -1)
    classes = np.digitize(x, (10, 20))
    classes[(x >= 27) & (y >= 27)] = 3
    return np.stack((x, y), axis=1), classes


def test_a_split_of_a_tree_stays_if_and_only_if_it_saves_its_price() -> None:
    features, classes = staircase()
    # The corner of 9 points takes two splits; always answering 0 or 1 misclassifies 600.
    below = fit_tree(features, classes, ("x", "y"), cp=4.4 / 600)
    above = fit_tree(features, classes, ("x", "y"), cp=4.6 / 600)
    assert (below.n_leaves, above.n_leaves) == (5, 3)
    assert above.accuracy(features, classes) == pytest.approx(1 - 9 / 900)
    assert str(above).splitlines() == [
        "x < 9.5",
        "  -> 0",
        "x > 9.5",
        "  x < 19.5",
        "    -> 1",
        "  x > 19.5",
        "    -> 2",
    ]
    points = np.array([[0, 5], [9, 0], [10, 29], [19, 1], [20, 1], [400, -3]])
    assert above.predict(points).tolist() == [0, 0, 1, 1, 2, 2]
