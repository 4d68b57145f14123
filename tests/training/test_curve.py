"""Learning curves: exact scores at every point, whatever the policy, and the entropy bonus."""

from __future__ import annotations

from math import inf, isnan
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.callbacks import BaseCallback
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from solvent.benchmark import policies as module
from solvent.benchmark.policies import learned_exploitability, recorded_score
from solvent.exact import score, solve
from solvent.games import Pig
from solvent.model import GymnasiumTable, TabularGame, TabularPolicy, compile_game, discounted
from solvent.training import ExactEvalCallback, extract, read_curve, train
from solvent.training.algorithms import EntropyCallback


class Recompute(BaseCallback):
    """Scores the network by itself, at every moment at which the curve might be drawn."""

    def __init__(self, game: TabularGame) -> None:
        super().__init__()
        self.game = game
        self.seen: dict[int, tuple[float, ...]] = {}

    def _on_rollout_start(self) -> None:
        policies = extract(self.model, self.game, gate=False)
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


class Recorded(EntropyCallback):
    """The callback, with the bonus of each rollout."""

    def _on_rollout_end(self) -> None:
        self.seen = [*getattr(self, "seen", []), self.model.ent_coef]  # type: ignore[attr-defined]


def test_the_bonus_falls_to_nothing(small: TabularGame, make_model: Any) -> None:
    for name in ("ppo", "a2c", "maskable_ppo"):
        callback = Recorded()
        make_model(name, small, ent_coef=0.04).learn(512, callback=callback)
        assert callback.seen == pytest.approx([0.04, 0.03, 0.02, 0.01]), name


@pytest.fixture(scope="module")
def pig() -> TabularGame:
    return compile_game(Pig(8))


@pytest.mark.parametrize("player", [0, 1])
def test_without_a_proof_they_are_not_numbers(
    pig: TabularGame, player: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No bracket is as narrow as this.
    monkeypatch.setattr(module, "LEARNED", -1.0)
    policy, solution = TabularPolicy.uniform(pig, player=player), solve(pig)
    illegal = np.zeros(pig.n_states)
    found = recorded_score(pig, policy, solution, illegal=illegal, tolerance=-1.0)
    assert isnan(found.value)
    assert isnan(found.optimality_gap)
    assert found.optimum == score(pig, policy, solution).optimum
    assert isnan(learned_exploitability(pig, policy, solution))


CLIFF = GymnasiumTable.from_env(gym.make("CliffWalking-v1"))
SHORT = {"timesteps": 1024, "evaluations": 4, "progress": False}


def test_a_training_along_the_cliff_has_an_exact_curve_and_can_be_read_back(
    tmp_path: Path,
) -> None:
    """With every policy the value is a number: minus infinity until an episode ends."""
    result = train(CLIFF, "dqn", folder=tmp_path, **SHORT)  # type: ignore[arg-type]
    assert len(result.curve) == 5
    for point in result.curve:
        figures = (point.value, point.gap, point.mode_value, point.mode_gap)
        assert not any(map(isnan, figures))
        for value, gap in (figures[:2], figures[2:]):
            assert (value, gap) == (-inf, inf) or value + gap == pytest.approx(-13)
    # A network that has seen no end yet walks into a wall.
    assert result.curve[0].mode_value == -inf
    assert read_curve(tmp_path / "curve.csv") == result.curve
    score = result.mode_score
    assert score.optimum == -13
    assert score.optimality_gap == score.optimum - score.value


def test_an_environment_of_gymnasium_s_is_trained_on_by_its_id(tmp_path: Path) -> None:
    by_id, by_rules = (
        train(
            game,
            "dqn",
            folder=tmp_path / name,
            env_kwargs={"observation": "index", **own},
            **SHORT,  # type: ignore[arg-type]
        )
        for name, game, own in (
            ("id", "CliffWalking-v1", {"discount": 0.9}),
            ("rules", discounted(CLIFF, 0.9), {}),
        )
    )
    assert by_id.mode_score == by_rules.mode_score
    assert by_id.mode.model_hash == by_rules.mode.model_hash
    with pytest.raises(ValueError, match=r"publishes no|has no P"):
        train("Blackjack-v1", "dqn", folder=tmp_path / "other", **SHORT)  # type: ignore[arg-type]
