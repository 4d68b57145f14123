"""RLlib, which needs an environment of its own: the recipe is run as a reader would."""

from __future__ import annotations

import runpy
from pathlib import Path

import gymnasium as gym
import pytest

import solvent

pytestmark = pytest.mark.filterwarnings("default")


def test_rllib_trains_with_masks_and_its_policy_is_scored() -> None:
    made = runpy.run_path(str(Path(__file__).with_name("train_rllib.py")))
    score = made["score"]
    assert score.optimum == pytest.approx(gym.spec("solvent/FFCombat-v0").reward_threshold)
    assert 0 < score.optimality_gap < score.optimum
    value = made["game"].at_start(solvent.policy_value(made["game"], made["policy"]))
    assert value == pytest.approx(score.value)
    # Every action was legal before it came to the environment.
    assert not (made["p"] * ~made["game"].mask[0])[~made["game"].terminal].any()
    assert made["trained"] == {"greed": 256, "football": 256}
