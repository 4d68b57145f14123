"""Learning a symmetric game: who goes round the equilibrium, and who comes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvent import exploitability
from solvent.games import RockPaperScissors
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.training import load_model, train
from solvent.training.extract import extract_seats

SETTINGS = {"n_envs": 128, "n_steps": 4, "batch_size": 64}


@pytest.fixture(scope="module")
def game() -> TabularGame:
    """Weighted, so that uniform play, where learners begin, is no equilibrium."""
    return compile_game(RockPaperScissors([1, 2, 3]))


def mean_exploitability(game: TabularGame, *policies: TabularPolicy) -> float:
    return sum(exploitability(game, policy) for policy in policies) / len(policies)


def uniform_exploitability(game: TabularGame) -> float:
    return mean_exploitability(game, *(TabularPolicy.uniform(game, player=p) for p in (0, 1)))


def start(game: TabularGame, folder: Path, algorithm: str, **changes: Any) -> Any:
    arguments: dict[str, Any] = {
        "self_play": True,
        "seed": 1,
        "timesteps": 16_384,
        "evaluations": 2,
        "refresh": 1024,
        "progress": False,
    }
    return train(game, algorithm, folder=folder, **(arguments | changes))


def test_with_networks_mirror_descent_learns_both_seats_of_a_symmetric_game(
    game: TabularGame, tmp_path: Path
) -> None:
    trained = start(game, tmp_path, "mirror_descent", hyperparameters=SETTINGS)
    assert trained.average_exploitability < 0.3 * uniform_exploitability(game)
    assert trained.exploitability < 0.3 * uniform_exploitability(game)
    for policy in trained.policies:
        assert policy.probabilities.shape == game.mask[0].shape
    # Seats have networks of their own, which a file keeps.
    first, second = (policy.probabilities[0] for policy in trained.policies)
    assert not np.array_equal(first, second)
    model = load_model(tmp_path / "model.zip", "mirror_descent", trust=True)
    for found, kept in zip(extract_seats(model, game), trained.policies, strict=True):
        np.testing.assert_array_equal(found.sampled.probabilities, kept.probabilities)


def test_one_network_of_ppo_plays_both_seats_of_a_symmetric_game_alike(
    game: TabularGame, tmp_path: Path
) -> None:
    settings = {"n_envs": 64, "n_steps": 4, "batch_size": 128, "n_epochs": 1}
    trained = start(game, tmp_path, "maskable_ppo", timesteps=1024, hyperparameters=settings)
    first, second = (policy.probabilities[0] for policy in trained.policies)
    np.testing.assert_array_equal(first, second)
