"""AgileRL, which needs an environment of its own: the recipe is run as a reader would."""

from __future__ import annotations

import runpy
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import solvent

pytestmark = pytest.mark.filterwarnings("default")


def test_agilerl_trains_with_masks_and_its_policy_is_scored() -> None:
    made = runpy.run_path(str(Path(__file__).with_name("train_agilerl.py")))
    score = made["score"]
    assert score.optimum == pytest.approx(gym.spec("solvent/FFCombat-v0").reward_threshold)
    assert 0 < score.optimality_gap < score.optimum
    value = made["game"].at_start(solvent.policy_value(made["game"], made["policy"]))
    assert value == pytest.approx(score.value)
    # What MADDPG has learned from was legal.
    football = made["football"]
    seen, infos = football.reset(seed=0)
    actions, _ = made["both"].get_action(
        {agent: one[None] for agent, one in seen.items()}, infos=infos
    )
    for agent, info in infos.items():
        assert info["action_mask"].shape == (football.action_space(agent).n,)
        assert info["action_mask"][int(np.asarray(actions[agent]).item())] == 1
