"""A network learns to beat the published agent of football."""

from __future__ import annotations

from pathlib import Path

import pytest

from solvent.training import train


@pytest.mark.slow
def test_a_short_training_beats_the_agent_by_more_than_optimal_play_does(tmp_path: Path) -> None:
    result = train(
        "solvent/FootballAgent-v0",
        "maskable_ppo",
        timesteps=1_000_000,
        stakes=0.5,
        evaluations=2,
        folder=tmp_path,
        progress=False,
    )
    assert result.score.optimum == pytest.approx(4.278810951, abs=1e-6)
    assert result.curve[0].mode_value < 1
    assert result.mode_score.value > 2.8
    assert result.score.value > 1
