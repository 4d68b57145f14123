import gymnasium as gym
import torch
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import RLModuleSpec

import solvent

env = gym.make("solvent/FFCombat-v0")
# After a training: module = algorithm.get_module(), or RLModule.from_checkpoint(folder).
module = RLModuleSpec(
    module_class=DefaultPPOTorchRLModule,
    observation_space=env.observation_space,
    action_space=env.action_space,
    model_config={"fcnet_hiddens": [64], "vf_share_layers": False},
).build()


def logits(seen):
    given = module.forward_inference({Columns.OBS: torch.as_tensor(seen)})
    return given[Columns.ACTION_DIST_INPUTS]


score = solvent.score(env, logits, outputs="logits")
print(score)
