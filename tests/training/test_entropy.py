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


@pytest.mark.parametrize("name", ["ppo", "a2c", "maskable_ppo"])
def test_the_bonus_falls_to_nothing(name: str, small: TabularGame, make_model: Any) -> None:
    record = Record()
    make_model(name, small, ent_coef=0.04).learn(512, callback=[EntropyCallback(), record])
    assert record.seen == pytest.approx([0.04, 0.03, 0.02, 0.01])


def test_a_learner_without_it_is_left_alone(small: TabularGame, make_model: Any) -> None:
    model = make_model("dqn", small)
    model.learn(128, callback=EntropyCallback())
    assert not hasattr(model, "ent_coef")
