"""AgileRL's DQN on one game with its masks, scored exactly; then its MADDPG on both of football."""

import gymnasium as gym
import numpy as np
import supersuit
import torch
from agilerl.algorithms import DQN, MADDPG
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.training.train_multi_agent_off_policy import train_multi_agent_off_policy
from agilerl.training.train_off_policy import train_off_policy
from pettingzoo.utils import BaseParallelWrapper

import solvent
from solvent.envs.pettingzoo_games import football_strategy

torch.manual_seed(0)
options = {"max_steps": 512, "evo_steps": 512, "eval_steps": 16, "verbose": False}

envs = gym.make_vec("solvent/FFCombat-v0", num_envs=4)
seen, actions = envs.single_observation_space, envs.single_action_space
agent = DQN(seen, actions, gamma=1.0)
[agent], _ = train_off_policy(envs, "combat", "DQN", [agent], ReplayBuffer(2000), **options)

score = solvent.score(envs, agent.actor, outputs="action_values", illegal="mask")
print(score)


class PaddedMasks(BaseParallelWrapper):
    """SuperSuit pads spaces, but no masks."""

    def reset(self, seed=None, options=None):
        seen, infos = self.env.reset(seed=seed, options=options)
        return seen, self.padded(infos)

    def step(self, actions):
        *told, infos = self.env.step(actions)
        return *told, self.padded(infos)

    def padded(self, infos):
        for agent, info in infos.items():
            more = self.action_space(agent).n - len(info["action_mask"])
            info["action_mask"] = np.pad(info["action_mask"], (0, more))
        return infos


# AgileRL reads masks in the info only, and wants equal spaces of agents whose names begin alike.
football = football_strategy.parallel_env(mask="info")
football = supersuit.pad_action_space_v0(supersuit.pad_observations_v0(football))
football = PaddedMasks(football)
agents = football.possible_agents
both = MADDPG(
    [football.observation_space(agent) for agent in agents],
    [football.action_space(agent) for agent in agents],
    agent_ids=agents,
)
[both], returns = train_multi_agent_off_policy(
    football, "football", "MADDPG", [both], ReplayBuffer(2000), sum_scores=False, **options
)
print(returns)
