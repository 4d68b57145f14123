"""Stable-Baselines3's PPO on both players of Football Strategy at once, by SuperSuit."""

import pettingzoo
import supersuit
from stable_baselines3 import PPO

import solvent  # registers the games

env = pettingzoo.make("parallel", "solvent/football-strategy", mask="info")
# Offence and defence have different actions and observations.
env = supersuit.pad_action_space_v0(supersuit.pad_observations_v0(env))
envs = supersuit.pettingzoo_env_to_vec_env_v1(env)
envs = supersuit.concat_vec_envs_v1(envs, 2, base_class="stable_baselines3")
model = PPO("MlpPolicy", envs, n_steps=64, batch_size=128, gamma=1.0)
model.learn(512)
print(model.num_timesteps)
