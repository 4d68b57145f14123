"""A network of Flax, scored exactly."""

import gymnasium as gym
from flax import nnx

import solvent

env = gym.make("solvent/FFCombat-v0")
rngs, width = nnx.Rngs(0), env.observation_space.shape[0]
actor = nnx.Sequential(
    nnx.Linear(width, 64, rngs=rngs), nnx.tanh, nnx.Linear(64, env.action_space.n, rngs=rngs)
)
# ... your training ...
score = solvent.score(env, actor, outputs="logits", illegal="mask")
print(score)
