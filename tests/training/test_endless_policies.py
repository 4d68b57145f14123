"""Trainings under whose policies episodes never end: along the cliff that is most of a training."""

from __future__ import annotations

import json
from math import inf, isnan
from pathlib import Path

import gymnasium as gym
import pytest

from solvent.exact.learning_curve import read_curve
from solvent.model import GymnasiumTable, discounted
from solvent.training import train

CLIFF = GymnasiumTable.from_env(gym.make("CliffWalking-v1"))
SHORT = {"timesteps": 1024, "evaluations": 4, "progress": False}


def test_a_training_along_the_cliff_has_an_exact_curve_and_can_be_read_back(
    tmp_path: Path,
) -> None:
    """With every policy the value is a number: minus infinity until an episode ends."""
    result = train(CLIFF, "dqn", folder=tmp_path, **SHORT)  # type: ignore[arg-type]
    assert len(result.curve) == 5
    for point in result.curve:
        figures = (point.value, point.gap, point.mode_value, point.mode_gap)
        assert not any(map(isnan, figures))
        for value, gap in (figures[:2], figures[2:]):
            assert (value, gap) == (-inf, inf) or value + gap == pytest.approx(-13)
    # A network that has seen no end yet walks into a wall.
    assert result.curve[0].mode_value == -inf
    assert read_curve(tmp_path / "curve.csv") == result.curve
    score = result.mode_score
    assert score.optimum == -13
    assert score.optimality_gap == score.optimum - score.value
    # Whatever the record states.
    held = json.loads((tmp_path / "run.json").read_text())
    held["result"]["mode_score"]["value"] = -500.0 if score.value == -inf else -inf
    (tmp_path / "run.json").write_text(json.dumps(held))
    again = train(CLIFF, "dqn", folder=tmp_path, **SHORT)  # type: ignore[arg-type]
    assert again.mode_score == score
    assert again.score == result.score


def test_an_environment_of_gymnasium_s_is_trained_on_by_its_id(tmp_path: Path) -> None:
    by_id, by_rules = (
        train(
            game,
            "dqn",
            folder=tmp_path / name,
            env_kwargs={"observation": "index", **own},
            **SHORT,  # type: ignore[arg-type]
        )
        for name, game, own in (
            ("id", "CliffWalking-v1", {"discount": 0.9}),
            ("rules", discounted(CLIFF, 0.9), {}),
        )
    )
    assert by_id.mode_score == by_rules.mode_score
    assert by_id.mode.model_hash == by_rules.mode.model_hash
    with pytest.raises(ValueError, match=r"publishes no|has no P"):
        train("Blackjack-v1", "dqn", folder=tmp_path / "other", **SHORT)  # type: ignore[arg-type]
