"""Against one opponent the optimum is the best response to it; among several, the worst counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from solvent.baselines import make_baseline
from solvent.exact import best_response, exploitability, policy_value
from solvent.games.greed.rules import Greed
from solvent.model import TabularGame, compile_game
from solvent.training import TrainingResult, train

SETTINGS = {"n_envs": 64, "n_steps": 16, "batch_size": 256, "n_epochs": 2}


@pytest.fixture(scope="module")
def greed() -> TabularGame:
    return compile_game(Greed(8, 3))


def start(
    folder: Path, name: str = "maskable_ppo", timesteps: int = 4_096, **env_kwargs: Any
) -> TrainingResult:
    return train(
        "solvent/Greed-v0",
        name,
        timesteps=timesteps,
        folder=folder,
        env_kwargs={"limit": 8, "sides": 3, **env_kwargs},
        hyperparameters=SETTINGS,
        evaluations=2,
        progress=False,
    )


@pytest.mark.parametrize(("seat", "opponent"), [(0, "stand-at-80"), (1, "optimal")])
def test_the_score_is_against_the_one_opponent(
    seat: int, opponent: str, greed: TabularGame, tmp_path: Path
) -> None:
    result = start(tmp_path, timesteps=15_000, opponent=opponent, seat=seat)
    other = make_baseline(opponent, greed, 1 - seat)
    sign = 1 - 2 * seat
    value = sign * (greed.initial @ policy_value(greed, result.policy, other))
    assert result.policy.player == seat
    assert result.score.value == pytest.approx(value)
    assert result.score.optimum == pytest.approx(sign * best_response(greed, other).value)
    assert result.score.optimality_gap == pytest.approx(result.curve[-1].gap)
    assert result.score.exploitability == pytest.approx(exploitability(greed, result.policy))
    assert result.curve[-1].mode_gap < result.curve[0].mode_gap


def test_among_several_the_worst_opponent_counts(greed: TabularGame, tmp_path: Path) -> None:
    result = start(tmp_path, opponent={"optimal": 1, "uniform": 2})
    assert result.score.optimality_gap == pytest.approx(exploitability(greed, result.policy))
    assert result.score.exploitability == result.score.optimality_gap


def test_a_saved_policy_is_an_opponent(greed: TabularGame, tmp_path: Path) -> None:
    first = start(tmp_path / "first", opponent="uniform", seat=1)
    result = start(tmp_path / "second", opponent=str(tmp_path / "first" / "policy_mode.npz"))
    value = greed.initial @ policy_value(greed, result.mode, first.mode)
    assert result.mode_score.value == pytest.approx(value)
