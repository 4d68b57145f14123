"""A native vector environment and Gymnasium's own around single ones, stepped side by side."""

from typing import Any

import numpy as np
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv


def assert_equal(ours: Any, theirs: Any) -> None:
    assert data_equivalence(ours, theirs, exact=True), f"{ours}\n{theirs}"


def assert_steps_equal(native: Any, sync: SyncVectorEnv, steps: int, seed: int) -> tuple[int, int]:
    """Play the same random actions in both; illegal ones are among them.

    Returns:
        How many plays ended, and how many actions were illegal.
    """
    rng = np.random.default_rng(seed)
    n, width = native.num_envs, native.single_action_space.n
    ended = illegal = 0
    for _ in range(steps):
        actions = rng.integers(0, width, n)
        ours, theirs = native.step(actions), sync.step(actions)
        assert_equal(ours, theirs)
        over = ours[2]
        ended += int(over.sum())
        illegal += int(ours[4]["illegal_action"].sum())
        if "final_info" in ours[4]:
            illegal += int(ours[4]["final_info"]["illegal_action"].sum())
        if native.autoreset_mode is AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over.copy()}
            assert_equal(native.reset(options=options), sync.reset(options=dict(options)))
    return ended, illegal
