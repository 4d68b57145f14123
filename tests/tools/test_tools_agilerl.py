"""AgileRL, which needs an environment of its own: the recipe is run as a reader would."""

from typing import Any

import numpy as np
import pytest
import torch

pytestmark = pytest.mark.filterwarnings("default")


def test_agilerl_trains_with_masks_and_its_policy_is_scored(run_scored: Any) -> None:
    made = run_scored(
        "train_agilerl",
        lambda made, seen, mask: made["agent"].actor(torch.as_tensor(seen)),
        greedy=True,
    )
    # What MADDPG has learned from was legal.
    football = made["football"]
    seen, infos = football.reset(seed=0)
    actions, _ = made["both"].get_action(
        {agent: one[None] for agent, one in seen.items()}, infos=infos
    )
    for agent, info in infos.items():
        assert info["action_mask"].shape == (football.action_space(agent).n,)
        assert info["action_mask"][int(np.asarray(actions[agent]).item())] == 1
