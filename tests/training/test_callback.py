"""The learning curve holds exact scores; tests of the microscope show that it changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stable_baselines3.common.callbacks import BaseCallback
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from solvent.exact import score, solve
from solvent.model import TabularGame
from solvent.training import ExactEvalCallback, extract, read_curve, train


class Recompute(BaseCallback):
    """Scores the network by itself, at every moment at which the curve might be drawn."""

    def __init__(self, game: TabularGame) -> None:
        super().__init__()
        self.game = game
        self.seen: dict[int, tuple[float, ...]] = {}

    def _on_rollout_start(self) -> None:
        policies = extract(self.model, self.game)
        sampled, mode = score(self.game, policies.sampled), score(self.game, policies.mode)
        self.seen[self.num_timesteps] = (
            sampled.value,
            sampled.optimality_gap,
            mode.value,
            mode.optimality_gap,
        )

    def _on_step(self) -> bool:
        return True

    _on_training_end = _on_rollout_start


@pytest.mark.parametrize("name", ["ppo", "masked_dqn"])
def test_the_curve_equals_scores_computed_apart(
    name: str, small: TabularGame, make_model: Any, tmp_path: Path
) -> None:
    path = tmp_path / "curve.csv"
    apart = Recompute(small)
    exact = ExactEvalCallback(small, every=300, path=path)
    make_model(name, small).learn(1000, callback=[apart, exact])
    curve = read_curve(path)
    assert curve == exact.curve
    # The first moments at or after each multiple of 300 at which learning pauses, and the end.
    steps = [point.timesteps for point in curve]
    assert steps == [min(s for s in apart.seen if s >= k) for k in (0, 300, 600, 900)] + [
        max(apart.seen)
    ] * (max(apart.seen) not in (min(s for s in apart.seen if s >= 900),))
    for point in curve:
        found = (point.value, point.gap, point.mode_value, point.mode_gap)
        assert found == pytest.approx(apart.seen[point.timesteps], abs=1e-12)
        assert point.value + point.gap == pytest.approx(solve(small).value, abs=1e-9)
    seconds = [point.seconds for point in curve]
    assert seconds == sorted(seconds)


def test_tensorboard_shows_the_curve(small: TabularGame, tmp_path: Path) -> None:
    result = train(small, timesteps=2**14, folder=tmp_path, evaluations=2, progress=False)
    log = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    events = log.Scalars("exact/mode_gap")
    assert [(e.step, e.value) for e in events] == [
        (p.timesteps, pytest.approx(p.mode_gap, abs=1e-6)) for p in result.curve
    ]
