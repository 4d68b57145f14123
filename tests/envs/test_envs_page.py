"""The page on environments: its code runs, and its optima are the registered ones."""

from __future__ import annotations

import re
import textwrap
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


def test_the_code_runs() -> None:
    namespace: dict[str, object] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(textwrap.dedent(block), "envs.md", "exec"), namespace)
    # The last block is value iteration on P.
    threshold = ENVIRONMENTS["solvent/FFCombat-v0"].optimum
    assert namespace["optimum"] == pytest.approx(threshold, abs=1e-12)
