"""RLlib's PPO with its masking module on one game, scored exactly; then both players of Greed."""

import gymnasium as gym
import pettingzoo
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import solvent
from solvent.envs import MaskObservation


def make_env(config):
    return MaskObservation(gym.make("solvent:solvent/FFCombat-v0"), observation="observations")


def make_greed(config):
    return PettingZooEnv(pettingzoo.make("aec", "solvent/greed", limit=20, sides=4, mask="info"))


def make_football(config):
    return ParallelPettingZooEnv(
        pettingzoo.make("parallel", "solvent/football-strategy", mask="info")
    )


def ppo(env):
    return (
        PPOConfig()
        .environment(env)
        .env_runners(num_env_runners=0)
        .training(train_batch_size=256, minibatch_size=128, num_epochs=2, gamma=1.0)
        .debugging(seed=0)
    )


ray.init(num_cpus=1, include_dashboard=False)
register_env("combat", make_env)
spec = RLModuleSpec(module_class=ActionMaskingTorchRLModule)
algorithm = ppo("combat").rl_module(rl_module_spec=spec).build_algo()
for _ in range(2):
    algorithm.train()

module = algorithm.get_module()


def logits(seen, mask):
    seen, mask = torch.as_tensor(seen), torch.as_tensor(mask, dtype=torch.float32)
    batch = {"obs": {"observations": seen, "action_mask": mask}}
    return module.forward_inference(batch)["action_dist_inputs"]


score = solvent.score("solvent/FFCombat-v0", logits, outputs="logits", takes_mask=True)
print(score)
algorithm.stop()

trained = {}
for name, make in {"greed": make_greed, "football": make_football}.items():
    register_env(name, make)
    algorithm = (
        ppo(name)
        .multi_agent(
            policies={"player_0", "player_1"}, policy_mapping_fn=lambda agent, *_, **__: agent
        )
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={agent: RLModuleSpec() for agent in ("player_0", "player_1")}
            )
        )
        .build_algo()
    )
    trained[name] = algorithm.train()["num_env_steps_sampled_lifetime"]
    algorithm.stop()
print(trained)
ray.shutdown()
