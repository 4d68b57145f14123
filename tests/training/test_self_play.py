"""Self-play: interrupted or not the same, exact columns, and a pool of what it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interruptions import Interrupted, stop_at
from reduced_football import reduced

from solvent.exact import load_policy, nash_conv, score, solve
from solvent.games.greed.rules import Greed
from solvent.model import TabularGame, compile_game
from solvent.training import SelfPlayEvaluation, TrainingResult, read_curve, train
from solvent.training.forms import exploring_starts, free_choice

STEPS = 2_048
ENOUGH_TO_LEARN = 12_000
BOTH_SEATS = {"n_envs": 64, "n_steps": 8, "batch_size": 256, "n_epochs": 2}
SETTINGS: dict[str, dict[str, Any]] = {
    "ppo": {"n_envs": 32, "n_steps": 16, "batch_size": 128, "n_epochs": 4},
    "masked_dqn": {"n_envs": 16, "batch_size": 64, "learning_starts": 500, "gradient_steps": 1},
}


@pytest.fixture(scope="module")
def greed() -> TabularGame:
    return compile_game(Greed(8, 3))


def start(game: TabularGame, name: str, folder: Path, **kwargs: Any) -> TrainingResult:
    arguments: dict[str, Any] = {
        "timesteps": STEPS,
        "evaluations": 4,
        "refresh": 1000,
        "exploring_starts": 0.2,
        "hyperparameters": SETTINGS[name.removeprefix("maskable_")],
        "progress": False,
    }
    arguments |= {"self_play": True, "seed": 1, **kwargs}
    return train(game, name, folder=folder, **arguments)


@pytest.fixture(scope="module")
def football() -> TabularGame:
    """A small game in which both act at once, so that the learner takes both seats."""
    return compile_game(reduced())


@pytest.fixture(scope="module")
def trained(greed: TabularGame, tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    return start(
        greed,
        "maskable_ppo",
        tmp_path_factory.mktemp("self-play"),
        timesteps=ENOUGH_TO_LEARN,
        refresh=2000,
    )


@pytest.mark.parametrize(
    ("name", "game", "settings"),
    [(name, "greed", {}) for name in SETTINGS]
    + [("maskable_ppo", "football", {"hyperparameters": BOTH_SEATS, "exploring_starts": 0.5})],
)
def test_interrupted_self_play_ends_as_uninterrupted(
    name: str,
    game: str,
    settings: dict[str, Any],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    played: TabularGame = request.getfixturevalue(game)
    whole = start(played, name, tmp_path / "whole", **settings)
    assert len(whole.curve) == 5

    for evaluations in (1, 3):
        stop = stop_at(evaluations * STEPS // 4)
        with pytest.raises(Interrupted):
            start(played, name, tmp_path / "parts", progress=stop, **settings)
        assert json.loads((tmp_path / "parts" / "run.json").read_text())["result"] is None
    parts = start(played, name, tmp_path / "parts", **settings)
    for kind in ("policies", "modes", "averages"):
        for a, b in zip(getattr(whole, kind), getattr(parts, kind), strict=True):
            np.testing.assert_array_equal(a.probabilities, b.probabilities)
    assert whole.scores == parts.scores
    assert [replace(p, seconds=0) for p in whole.curve] == [
        replace(p, seconds=0) for p in parts.curve
    ]


def test_files_columns_and_scores_are_those_of_the_policies(
    trained: TrainingResult, greed: TabularGame
) -> None:
    first, last = trained.curve[0], trained.curve[-1]
    assert last.gap < first.gap / 2, "it learns"
    for name, policies, scores, prefix in (
        ("policy", trained.policies, trained.scores, ""),
        ("policy_mode", trained.modes, trained.mode_scores, "mode_"),
        ("policy_average", trained.averages, trained.average_scores, "average_"),
    ):
        for seat, policy in enumerate(policies):
            saved = load_policy(trained.folder / f"{name}_{seat}.npz", greed)
            assert saved.player == seat
            np.testing.assert_array_equal(saved.probabilities, policy.probabilities)
            expected = score(greed, policy).exploitability
            assert scores[seat].exploitability == pytest.approx(expected)
            assert getattr(last, f"{prefix}exploitability_{seat}") == pytest.approx(expected)
        mean = getattr(trained, f"{prefix}exploitability")
        assert 2 * mean == pytest.approx(nash_conv(greed, *policies))
    assert (last.gap, last.mode_gap) == pytest.approx(
        (trained.exploitability, trained.mode_exploitability)
    )
    assert last.value == pytest.approx(-last.gap)
    assert read_curve(trained.folder / "curve.csv", SelfPlayEvaluation) == trained.curve
    assert not (trained.folder / "checkpoint.npz").exists()


def test_where_both_act_at_once_they_explore_and_need_an_even_number(
    football: TabularGame, tmp_path: Path
) -> None:
    begun = exploring_starts(football, 0.5, free_choice(football)).initial
    both = (football.action_count[0] > 1) & (football.action_count[1] > 1)
    assert begun.sum() == pytest.approx(1)
    assert (begun[both] > 0).all()
    assert begun[~both & (football.initial == 0)].sum() == 0
    with pytest.raises(ValueError, match="n_envs is 127; both seats of an episode need an even"):
        start(football, "ppo", tmp_path, hyperparameters=BOTH_SEATS | {"n_envs": 127})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo", "maskable_ppo"])
def test_greed_to_20_is_hard_to_exploit(name: str, tmp_path: Path) -> None:
    result = train(
        "solvent/Greed-v0",
        name,
        self_play=True,
        timesteps=2_000_000,
        env_kwargs={"limit": 20, "sides": 4},
        folder=tmp_path,
        progress=False,
    )
    assert result.mode_exploitability < 0.005
    assert result.mode_scores[0].optimum == pytest.approx(solve(compile_game(Greed(20, 4))).value)
