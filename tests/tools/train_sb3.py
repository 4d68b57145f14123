"""MaskablePPO of sb3-contrib on one game, scored exactly."""

import gymnasium as gym
from sb3_contrib import MaskablePPO

import solvent

env = gym.make("solvent/FFCombat-v0")
model = MaskablePPO("MlpPolicy", env, n_steps=128, gamma=1.0, seed=0)
model.learn(512)
score = solvent.score(env, model)
print(score)
