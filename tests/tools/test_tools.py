"""The tools of the first environment of `make tools`: each recipe is run as a reader would."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO

import solvent
from solvent.games import Greed
from solvent.model import to_openspiel

pytestmark = pytest.mark.filterwarnings("default")


def of_stable_baselines3(made: Any, seen: Any, mask: Any) -> Any:
    found = made["model"].policy.get_distribution(torch.as_tensor(seen), mask)
    return found.distribution.logits


# The logits of a recipe's policy in a state, by the recipe.
LOGITS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "train_sb3": of_stable_baselines3,
    "train_loop": lambda made, seen, mask: made["logits_of"](seen, mask),
    "score_flax": lambda made, seen, mask: made["actor"](seen),
}


@pytest.mark.parametrize("recipe", LOGITS)
def test_a_policy_is_scored_as_it_is(recipe: str, run_scored: Any) -> None:
    run_scored(recipe, LOGITS[recipe])


def test_torchrl_trains_with_masks_and_its_policy_is_scored(run_scored: Any) -> None:
    made = run_scored(
        "train_torchrl", lambda made, seen, mask: made["logits"](torch.as_tensor(seen))
    )
    assert all(rollout.shape[0] > 0 for rollout in made["rollouts"].values())
    turns = made["rollouts"]["greed"]
    for agent in ("player_0", "player_1"):
        mask, acts, played = (
            turns[agent, kind][:, 0] for kind in ("action_mask", "mask", "action")
        )
        assert acts.any()
        assert mask.gather(1, played[:, None])[acts].all()


def test_tianshou_trains_with_masks_and_its_policy_is_scored(run_scored: Any) -> None:
    made = run_scored(
        "train_tianshou", lambda made, seen, mask: made["action_values"](seen), greedy=True
    )
    assert made["result"].train_step == 512


def test_openspiels_nfsp_learns_a_game_of_ours() -> None:
    from open_spiel.python.jax.nfsp import NFSP
    from open_spiel.python.rl_environment import Environment

    env = Environment(to_openspiel(solvent.compile_game(Greed(limit=3, sides=2))))
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agents = [
        NFSP(p, size, actions, [16], 200, 0.5, batch_size=8, min_buffer_size_to_learn=20)
        for p in (0, 1)
    ]
    for _ in range(60):
        step = env.reset()
        while not step.last():
            chosen = agents[step.observations["current_player"]].step(step)
            step = env.step([chosen.action])
        for agent in agents:
            agent.step(step)
    losses = [loss for agent in agents for loss in agent.loss if loss is not None]
    assert losses
    assert np.isfinite(losses).all()


def test_supersuit_gives_stable_baselines3_both_players_of_football(run: Any) -> None:
    assert run("train_supersuit")["model"].num_timesteps == 512


def test_record_video_writes_a_film(run: Any) -> None:
    from moviepy import VideoFileClip

    os.environ["SDL_VIDEODRIVER"] = "dummy"
    made = run("record_video")
    with VideoFileClip(str(made["film"])) as film:
        assert film.size[0] > 100
        assert film.n_frames >= 2


def test_rl_zoo_trains_by_the_tuned_settings_and_its_policy_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
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
    score = solvent.score("solvent/FFCombat-v0", PPO.load(saved))
    assert 0 < score.optimality_gap < score.optimum
