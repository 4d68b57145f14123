"""Gymnasium's RecordVideo writes an episode as a film."""

from pathlib import Path

import gymnasium as gym

import solvent  # registers the environments

env = gym.wrappers.RecordVideo(
    gym.make("solvent/FFCombat-v0", render_mode="rgb_array"),
    "videos",
    episode_trigger=lambda n: True,
)
env.reset(seed=0)
terminated = False
while not terminated:
    *_, terminated, _, _ = env.step(env.action_space.sample())
env.close()
[film] = Path("videos").glob("*.mp4")
print(film)
