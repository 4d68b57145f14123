"""Training without a table: it learns, it is resumed to the bit, and its networks are scored."""

from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from interruptions import assert_goes_on
from timed_football import RULES

from solvent import make_game
from solvent.games.football_clock.players import BEST_RESPONSE, score_player
from solvent.training import train

HALF = "solvent/FootballHalf-v0"
# A half of a minute and a half on a field of eight yards, with the calls of the standard chart.
SHORT: dict[str, Any] = {
    "ruleset": {**RULES, "barred": []},
    "clock": {"half": 90, "stops": [30]},
    "timeouts": 0,
}
SMALL = {"n_envs": 32, "n_steps": 16, "batch_size": 128}


def trained(folder: Path, steps: int, opponent: Any, **arguments: Any) -> Any:
    return train(
        HALF,
        timesteps=steps,
        folder=folder,
        env_kwargs={**SHORT, "opponent": opponent},
        **{
            "algorithm": "maskable_ppo",
            "hyperparameters": SMALL,
            "evaluations": 4,
            "progress": False,
            **arguments,
        },
    )


@pytest.mark.parametrize("opponent", ["uniform", "self-play"])
def test_interrupted_training_goes_on_to_the_same_network_and_that_is_an_opponent(
    tmp_path: Path, opponent: str
) -> None:
    run = partial(trained, steps=2048, opponent=opponent, refresh=512)
    whole = assert_goes_on(run, tmp_path, 1024)
    env = gym.make_vec(
        HALF,
        num_envs=8,
        autoreset_mode=AutoresetMode.SAME_STEP.value,
        opponent=str(whole.folder / "network.npz"),
        **SHORT,
    )
    env.reset(seed=0)
    assert np.abs([env.step(np.zeros(8, np.int64))[1] for _ in range(40)]).sum() > 0


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
    score = score_player(game, result.networks[0])
    assert -8 < score.against["optimal"].average < 0
    assert score.against[BEST_RESPONSE].average < score.against["optimal"].average


# Numbers of CALL and CHOICE among the phases of an episode, and a row that is a kickoff's.
WRONG_STATES = (
    ({"row": 10**6}, "saved row goes from 1000000 to 1000000; allowed are 0 to"),
    ({"choice": 10**6}, "saved choice goes from 1000000"),
    ({"ticks": -1}, "saved ticks goes from -1"),
    ({"phase": 0, "row": "kickoff"}, "saved episode 0 waits for a call or a choice"),
    ({"phase": 1, "choice": -1}, "saved episode 0 waits for a call or a choice"),
)


def test_a_saved_state_that_no_episode_has_is_refused() -> None:
    env: Any = gym.make_vec(HALF, num_envs=2, vectorization_mode="vector_entry_point", **SHORT)
    env.reset(seed=0)
    saved, kickoff = env.get_state(), env.simulator.sampler.packed.n_situations
    for change, message in WRONG_STATES:
        arrays = {
            name: np.full(2, kickoff if value == "kickoff" else value, np.int32)
            for name, value in change.items()
        }
        with pytest.raises(ValueError, match=message):
            env.set_state(saved | arrays)
    env.set_state(saved)


# Football without a clock


@pytest.mark.slow
def test_a_short_training_beats_the_agent_by_more_than_optimal_play_does(tmp_path: Path) -> None:
    result = train(
        "solvent/FootballAgent-v0",
        "maskable_ppo",
        timesteps=1_000_000,
        exploring_starts=0.5,
        evaluations=2,
        folder=tmp_path,
        progress=False,
    )
    assert result.score.optimum == pytest.approx(4.056183789, abs=1e-6)
    assert result.curve[0].mode_value < 1
    assert result.mode_score.value > 2.8
    assert result.score.value > 1


@pytest.mark.slow
def test_a_short_self_play_is_far_harder_to_exploit_than_uniform_play(tmp_path: Path) -> None:
    result = train(
        "solvent/FootballStrategy-v0",
        "mirror_descent",
        self_play=True,
        timesteps=2_500_000,
        refresh=200_000,
        evaluations=1,
        folder=tmp_path,
        progress=False,
    )
    assert result.curve[0].average_exploitability_0 == pytest.approx(3.33, abs=0.01)
    gaps = [score.optimality_gap for score in result.average_scores]
    assert sum(gaps) / 2 < 0.8
