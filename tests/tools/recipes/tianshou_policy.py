import gymnasium as gym
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.data import Batch
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor

import solvent

env = gym.make("solvent/FFCombat-v0")
net = Net(state_shape=env.observation_space.shape, hidden_sizes=[64])
actor = DiscreteActor(preprocess_net=net, action_shape=env.action_space.n)
policy = DiscreteActorPolicy(actor=actor, action_space=env.action_space)


# ... your training ...
def probabilities(seen):
    return policy(Batch(obs=seen, info=Batch())).dist.probs


score = solvent.score(env, probabilities)
print(score)
