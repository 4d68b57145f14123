"""Tianshou's DQN on one game with its masks, scored exactly; then both players of Greed."""

import gymnasium as gym
import pettingzoo
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import solvent
from solvent.envs import MaskObservation

torch.manual_seed(0)


def make_env():
    return MaskObservation(gym.make("solvent/FFCombat-v0"), observation="obs", mask="mask")


def make_greed():
    return PettingZooEnv(pettingzoo.make("aec", "solvent/greed", limit=20, sides=4))


def dqn(space, n_actions):
    model = Net(state_shape=space.shape, action_shape=n_actions, hidden_sizes=[64])
    policy = DiscreteQLearningPolicy(
        model=model, action_space=gym.spaces.Discrete(n_actions), eps_training=0.1
    )
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0)


def train(algorithm, make, **options):
    envs = DummyVectorEnv([make] * 4)
    collector = Collector(algorithm, envs, VectorReplayBuffer(2000, 4), exploration_noise=True)
    collector.reset()
    return algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=512,
            collection_step_num_env_steps=64,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=64,
            show_progress=False,
            verbose=False,
            **options,
        )
    )


env = make_env()
algorithm = dqn(env.observation_space["obs"], int(env.action_space.n))
train(algorithm, make_env)


def action_values(seen):
    return algorithm.policy.model(seen)[0]


score = solvent.score("solvent/FFCombat-v0", action_values, outputs="action_values", illegal="mask")
print(score)

both = make_greed()
n_actions = int(both.action_space.n)
seats = [dqn(both.observation_space["observation"], n_actions) for _ in both.agents]
result = train(
    MultiAgentOffPolicyAlgorithm(algorithms=seats, env=both),
    make_greed,
    multi_agent_return_reduction=lambda returns: returns[:, 0],
)
print(result.train_step, "steps of both players")
