"""MaskablePPO of sb3-contrib on one game, scored exactly."""

import gymnasium as gym
from sb3_contrib import MaskablePPO

import solvent
from solvent.training import extract_policy

env = gym.make("solvent/FFCombat-v0")
model = MaskablePPO("MlpPolicy", env, n_steps=128, gamma=1.0, seed=0)
model.learn(512)

game = env.unwrapped.game
policy = extract_policy(model, game, observation="vector")
score = solvent.score(game, policy)
print(score)
