"""Self-play where both act at once: one network in both roles, and its average is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reduced_football import reduced

from solvent.benchmark.progress import Moment
from solvent.exact import exploitability, load_policy
from solvent.model import TabularGame, compile_game
from solvent.training import TrainingResult, train_self_play
from solvent.training.exploring_starts import exploring_starts, free_choice

STEPS = 4096
SETTINGS = {"n_envs": 128, "n_steps": 8, "batch_size": 256, "n_epochs": 2}


class Interrupted(Exception):  # noqa: N818
    pass


@pytest.fixture(scope="module")
def football() -> TabularGame:
    return compile_game(reduced())


def start(game: TabularGame, folder: Path, **kwargs: Any) -> TrainingResult:
    arguments: dict[str, Any] = {
        "timesteps": STEPS,
        "evaluations": 2,
        "refresh": 1024,
        "exploring": 0.5,
        "hyperparameters": SETTINGS,
        "progress": False,
    }
    return train_self_play(game, "maskable_ppo", seed=1, folder=folder, **(arguments | kwargs))


@pytest.fixture(scope="module")
def trained(football: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    return start(football, tmp_path_factory.mktemp("football"))


def test_interrupted_it_ends_as_uninterrupted(
    trained: TrainingResult, football: TabularGame, tmp_path: Path
) -> None:
    def stop(moment: Moment) -> None:
        if moment.evaluation is not None and moment.evaluation.timesteps >= STEPS // 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        start(football, tmp_path, progress=stop)
    parts = start(football, tmp_path)
    for a, b in zip(
        trained.policies + trained.averages, parts.policies + parts.averages, strict=True
    ):
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
    assert [replace(p, seconds=0) for p in trained.curve] == [
        replace(p, seconds=0) for p in parts.curve
    ]


def test_the_average_is_scored_and_kept(trained: TrainingResult, football: TabularGame) -> None:
    last = trained.curve[-1]
    for seat, average in enumerate(trained.averages):
        saved = load_policy(trained.folder / f"policy_average_{seat}.npz", football)
        np.testing.assert_array_equal(saved.probabilities, average.probabilities)
        expected = exploitability(football, average)
        assert trained.average_scores[seat].exploitability == pytest.approx(expected)
        assert getattr(last, f"average_exploitability_{seat}") == pytest.approx(expected)
        assert not np.array_equal(average.probabilities, trained.policies[seat].probabilities)
    assert trained.average_exploitability == pytest.approx(
        sum(score.optimality_gap for score in trained.average_scores) / 2
    )


def test_plays_are_explored_where_both_call(football: TabularGame) -> None:
    begun = exploring_starts(football, 0.5, free_choice(football)).initial
    both = (football.action_count[0] > 1) & (football.action_count[1] > 1)
    assert begun.sum() == pytest.approx(1)
    assert (begun[both] > 0).all()
    assert begun[~both & (football.initial == 0)].sum() == 0


def test_an_odd_number_of_seats_is_refused(football: TabularGame, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="n_envs is 127; both seats of an episode need an even number"
    ):
        start(football, tmp_path, hyperparameters=SETTINGS | {"n_envs": 127})
