"""Training without a table: it learns, it is resumed to the bit, and its networks are scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from timed_football import RULES

from solvent import make_game
from solvent.baselines.network import load_network
from solvent.envs.registration import rules_and_source
from solvent.envs.simulation import Simulation
from solvent.games.football_clock.scores import BEST_RESPONSE, network_layers, score_timed
from solvent.training import TrainingResult, load_model, train
from solvent.training.extract import network_player

HALF = "solvent/FootballHalf-v0"
# A half of a minute and a half on a field of eight yards, with the calls of the standard chart.
SHORT: dict[str, Any] = {
    "ruleset": {**RULES, "barred": []},
    "clock": {"half": 90, "stops": [30]},
    "timeouts": 0,
}
SMALL = {"n_envs": 32, "n_steps": 16, "batch_size": 128}


def trained(folder: Path, steps: int, opponent: Any = "uniform", **arguments: Any) -> Any:
    return train(
        HALF,
        timesteps=steps,
        folder=folder,
        env_kwargs={**SHORT, "opponent": opponent},
        progress=False,
        **{
            "algorithm": "maskable_ppo",
            "hyperparameters": SMALL,
            "evaluations": 4,
            **arguments,
        },
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    result: TrainingResult = trained(tmp_path_factory.mktemp("ppo"), 2_048)
    return result


@pytest.mark.slow
def test_it_learns_to_score_against_random_calls(tmp_path: Path) -> None:
    result = trained(tmp_path, 15_000)
    game = make_game("football-strategy", form="half", **SHORT)
    score = score_timed(game, network_layers(game, result.networks[0]), opponents=())
    rolled = [point.mean for point in result.curve if point.plays]
    assert rolled[-1] > rolled[0] + 1
    assert score.against[BEST_RESPONSE].average < 0
    assert score.exploitability > 0


def test_a_finished_training_is_read_back(finished: TrainingResult) -> None:
    again = trained(finished.folder, 2_048)
    assert again.curve == finished.curve
    assert again.timesteps == finished.timesteps
    record = json.loads((finished.folder / "run.json").read_text())
    assert record["request"]["environment"] == HALF
    with pytest.raises(ValueError, match=r"holds another training: its hyperparameters.*2048"):
        trained(finished.folder, 3_072)


def some_plays(observation: str) -> tuple[Simulation, np.ndarray]:
    _, sampler = rules_and_source("football-strategy", {"form": "half", **SHORT})
    plays = sampler.plays(64, observation)
    plays.arrays["stream"][:] = np.arange(1, 65)
    everyone = np.arange(64)
    plays.begin(everyone)
    plays.move(everyone, *np.full((2, 64), len(plays.rules.info.actions[0]) - 4), np.zeros(64))
    return plays, everyone


def test_a_saved_network_is_the_network_that_was_trained(finished: TrainingResult) -> None:
    model = load_model(finished.folder / "model.zip", "maskable_ppo", trust=True)
    saved = load_network(finished.folder / "network.npz")
    plays, everyone = some_plays("onehot")
    who = np.zeros(64, np.int64)
    live = everyone[plays.acts(everyone, who)]
    own = network_player(model, masked=True, observation="onehot")
    seats = who[: len(live)]
    mine, kept = own.mixes(plays, live, seats), saved.mixes(plays, live, seats)
    np.testing.assert_array_equal(mine, kept)
    masks = plays.legal(live, seats) == 1
    distribution = model.policy.get_distribution(
        model.policy.obs_to_tensor(plays.observe(live, seats))[0], action_masks=masks
    ).distribution
    np.testing.assert_allclose(kept, distribution.probs.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("opponent", ["uniform", "self-play"])
def test_interrupted_training_goes_on_to_the_same_network(tmp_path: Path, opponent: str) -> None:
    class InterruptedTestError(Exception):
        pass

    def interrupt(moment: Any) -> None:
        if moment.timesteps >= 1024:
            raise InterruptedTestError

    arguments: dict[str, Any] = {"opponent": opponent, "refresh": 512}
    whole = trained(tmp_path / "whole", 2048, **arguments)
    with pytest.raises(InterruptedTestError):
        train(
            HALF,
            "maskable_ppo",
            timesteps=2048,
            folder=tmp_path / "parts",
            env_kwargs={**SHORT, "opponent": opponent},
            hyperparameters=SMALL,
            evaluations=4,
            refresh=512,
            progress=interrupt,
        )
    parts = trained(tmp_path / "parts", 2048, **arguments)
    for mine, other in zip(
        parts.networks[0].network.weights, whole.networks[0].network.weights, strict=True
    ):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("algorithm", ["ppo", "masked_dqn"])
def test_other_algorithms_train_too(tmp_path: Path, algorithm: str) -> None:
    changes = SMALL if algorithm == "ppo" else {"n_envs": 32, "learning_starts": 500}
    result = trained(tmp_path, 2000, algorithm=algorithm, hyperparameters=changes)
    assert result.networks[0].masked == (algorithm == "masked_dqn")
    assert result.networks[0].rule == ("sampled" if algorithm == "ppo" else "mode")
    plays, everyone = some_plays("onehot")
    who = np.zeros(64, np.int64)
    live = everyone[plays.acts(everyone, who)]
    strategies = result.networks[0].mixes(plays, live, who[: len(live)])
    np.testing.assert_allclose(strategies.sum(axis=1), 1)
    assert (strategies[plays.legal(live, who[: len(live)]) == 0] == 0).all()


def test_a_trained_network_is_an_opponent(finished: TrainingResult) -> None:
    env = gym.make_vec(
        HALF,
        num_envs=8,
        autoreset_mode=AutoresetMode.SAME_STEP.value,
        opponent=str(finished.folder / "network.npz"),
        **SHORT,
    )
    env.reset(seed=0)
    rewards = [env.step(np.zeros(8, np.int64))[1] for _ in range(40)]
    assert np.abs(rewards).sum() > 0


@pytest.mark.slow
def test_a_network_is_hard_to_beat_after_a_million_steps(tmp_path: Path) -> None:
    """PPO that met the optimal player in a half of full length."""
    result = train(
        HALF,
        "maskable_ppo",
        timesteps=1_000_000,
        folder=tmp_path,
        env_kwargs={"timeouts": 0, "opponent": "optimal"},
        progress=False,
    )
    game = make_game("football-strategy", form="half", timeouts=0)
    score = score_timed(game, network_layers(game, result.networks[0]), opponents=("optimal",))
    assert -8 < score.against["optimal"].average < 0
    assert score.against[BEST_RESPONSE].average < score.against["optimal"].average
