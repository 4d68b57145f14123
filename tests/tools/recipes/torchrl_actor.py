import gymnasium as gym
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.modules import MLP, OneHotCategorical, ProbabilisticActor

import solvent

env = gym.make("solvent/FFCombat-v0")
net = MLP(in_features=env.observation_space.shape[0], out_features=2, num_cells=[64])
actor = ProbabilisticActor(
    TensorDictModule(net, in_keys=["observation"], out_keys=["logits"]),
    in_keys=["logits"],
    distribution_class=OneHotCategorical,
)


# ... your training ...
def probabilities(seen):
    given = TensorDict({"observation": torch.as_tensor(seen)}, batch_size=[len(seen)])
    return actor.get_dist(given).probs


score = solvent.score(env, probabilities)
print(score)
