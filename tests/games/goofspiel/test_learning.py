"""Both seats of Goofspiel, a symmetric game of several rounds, learned by mirror descent."""

from __future__ import annotations

from pathlib import Path

import pytest

from solvent import exploitability
from solvent.games import Goofspiel
from solvent.model import TabularPolicy, compile_game
from solvent.training import train


def after_training(game: Goofspiel, folder: Path, n_envs: int, timesteps: int) -> float:
    """The exploitability that is left, as a share of that of uniform play."""
    table = compile_game(game)
    trained = train(
        table,
        "mirror_descent",
        self_play=True,
        seed=1,
        timesteps=timesteps,
        evaluations=2,
        refresh=2048,
        hyperparameters={"n_envs": n_envs, "n_steps": 4, "batch_size": 64},
        folder=folder,
        progress=False,
    )
    uniform = sum(exploitability(table, TabularPolicy.uniform(table, player=p)) for p in (0, 1))
    return 2 * trained.average_exploitability / uniform


def test_three_cards_in_a_known_order(tmp_path: Path) -> None:
    assert after_training(Goofspiel(3, "descending"), tmp_path, 256, 32_768) < 0.1


@pytest.mark.slow
def test_four_cards_in_a_random_order(tmp_path: Path) -> None:
    assert after_training(Goofspiel(4), tmp_path, 1024, 524_288) < 0.5
