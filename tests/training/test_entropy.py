"""The bonus for entropy falls in a line to 0, and learners without one are left alone."""

from __future__ import annotations

from typing import Any

import pytest
from stable_baselines3.common.callbacks import BaseCallback

from solvent.model import TabularGame
from solvent.training.algorithms import EntropyCallback


class Record(BaseCallback):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []

    def _on_rollout_start(self) -> None:
        self.seen.append(self.model.ent_coef)  # type: ignore[attr-defined]

    def _on_step(self) -> bool:
        return True


def test_the_bonus_falls_to_nothing(small: TabularGame, make_model: Any) -> None:
    for name in ("ppo", "a2c", "maskable_ppo"):
        record = Record()
        make_model(name, small, ent_coef=0.04).learn(512, callback=[EntropyCallback(), record])
        assert record.seen == pytest.approx([0.04, 0.03, 0.02, 0.01]), name
