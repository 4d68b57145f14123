"""Networks on gamebooks: the teaching book is learned exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from solvent.training import train


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_most_probable_actions_play_the_teaching_book_optimally(
    algorithm: str, seed: int, tmp_path: Path
) -> None:
    result = train(
        "solvent/Gamebook-v0", algorithm, seed=seed, folder=tmp_path, evaluations=1, progress=False
    )
    assert result.mode_score.optimality_gap == pytest.approx(0, abs=1e-12)
