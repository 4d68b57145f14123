"""The page on environments: its optima are the registered ones."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium as gym
import pytest

from solvent.envs.registration import ENVIRONMENTS, without_table
from solvent.registration import register_envs

PAGE = (Path(__file__).parents[2] / "docs" / "envs.md").read_text(encoding="utf-8")


def test_the_optima_are_the_reward_thresholds() -> None:
    register_envs()
    rows = dict(re.findall(r"^\| `(solvent/\S+)` \|.*\| (−?[\d.]+) \|$", PAGE, re.MULTILINE))
    assert rows.keys() == ENVIRONMENTS.keys() - set(without_table())
    for name, optimum in rows.items():
        assert float(optimum.replace("−", "-")) == pytest.approx(
            gym.spec(name).reward_threshold, abs=5e-10
        )
