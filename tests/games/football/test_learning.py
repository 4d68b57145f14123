"""Networks learn football: to beat the published agent, and by self-play to be hard to beat."""

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
        exploring_starts=0.5,
        evaluations=2,
        folder=tmp_path,
        progress=False,
    )
    assert result.score.optimum == pytest.approx(4.056183789, abs=1e-6)
    assert result.curve[0].mode_value < 1
    assert result.mode_score.value > 2.8
    assert result.score.value > 1


@pytest.mark.slow
def test_a_short_self_play_is_far_harder_to_exploit_than_uniform_play(tmp_path: Path) -> None:
    result = train(
        "solvent/FootballStrategy-v0",
        "mirror_descent",
        self_play=True,
        timesteps=2_500_000,
        refresh=200_000,
        evaluations=1,
        folder=tmp_path,
        progress=False,
    )
    uniform = result.curve[0]
    assert uniform.average_exploitability_0 == pytest.approx(3.33, abs=0.01)
    assert result.average_exploitability < 0.8
