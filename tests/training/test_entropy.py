"""The bonus for entropy falls in a line to 0."""

from __future__ import annotations

from typing import Any

import pytest

from solvent.model import TabularGame
from solvent.training.algorithms import EntropyCallback


class Recorded(EntropyCallback):
    """The callback, with the bonus of each rollout."""

    def _on_rollout_end(self) -> None:
        self.seen = [*getattr(self, "seen", []), self.model.ent_coef]  # type: ignore[attr-defined]


def test_the_bonus_falls_to_nothing(small: TabularGame, make_model: Any) -> None:
    for name in ("ppo", "a2c", "maskable_ppo"):
        callback = Recorded()
        make_model(name, small, ent_coef=0.04).learn(512, callback=callback)
        assert callback.seen == pytest.approx([0.04, 0.03, 0.02, 0.01]), name
