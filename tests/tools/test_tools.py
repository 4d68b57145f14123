"""The tools of the first environment of `make tools`: each recipe is run as a reader would."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import solvent
from solvent.training import extract_policy, load_model

pytestmark = pytest.mark.filterwarnings("default")

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(recipe: str) -> dict[str, Any]:
    return runpy.run_path(str(HERE / f"{recipe}.py"))


@pytest.mark.parametrize("recipe", ["train_sb3", "train_loop", "train_torchrl", "train_tianshou"])
def test_a_tool_trains_with_masks_and_its_policy_is_scored(recipe: str) -> None:
    made = run(recipe)
    score, game = made["score"], made["game"]
    assert score.optimum == pytest.approx(gym.spec("solvent/FFCombat-v0").reward_threshold)
    assert 0 < score.optimality_gap < score.optimum
    # The number is that of the policy, not of anything else that was made on the way.
    assert game.at_start(solvent.policy_value(game, made["policy"])) == pytest.approx(score.value)
    if recipe == "train_torchrl":
        for rollout in made["rollouts"].values():
            assert rollout.shape[0] > 0
        turns = made["rollouts"]["greed"]
        masks = {agent: turns[agent, "action_mask"][:, 0] for agent in ("player_0", "player_1")}
        for agent, mask in masks.items():
            acts = turns[agent, "mask"][:, 0]
            played = turns[agent, "action"][:, 0]
            assert acts.any()
            assert mask.gather(1, played[:, None])[acts].all()
    if recipe == "train_tianshou":
        assert made["result"].train_step == 512


def test_supersuit_gives_stable_baselines3_both_players_of_football() -> None:
    assert run("train_supersuit")["model"].num_timesteps == 512


def test_record_video_writes_a_film() -> None:
    from moviepy import VideoFileClip

    os.environ["SDL_VIDEODRIVER"] = "dummy"
    made = run("record_video")
    with VideoFileClip(str(made["film"])) as film:
        assert film.size[0] > 100
        assert film.n_frames >= 2


def test_rl_zoo_trains_by_the_tuned_settings_and_its_policy_is_scored() -> None:
    settings = Path(solvent.__file__).parent / "games/fighting_fantasy/hyperparameters/ppo.yml"
    command = f"-m rl_zoo3.train --algo ppo --env solvent/FFCombat-v0 --gym-packages solvent \
        --conf-file {settings} --n-timesteps 256 --eval-freq -1 --log-folder logs --seed 1"
    subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            *command.split(),
            "--hyperparams",
            "n_envs:1",
            "n_steps:64",
        ],
        check=True,
        timeout=600,
    )
    [saved] = Path("logs").rglob("*-v0.zip")
    game = gym.make("solvent/FFCombat-v0").unwrapped.game
    model = load_model(saved, "ppo", trust=True)
    score = solvent.score(game, extract_policy(model, game, observation="vector"))
    assert 0 < score.optimality_gap < score.optimum
