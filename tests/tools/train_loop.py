"""A loop in one file, in the manner of CleanRL, on the compiled vector environment."""

import gymnasium as gym
import torch
from gymnasium.vector import AutoresetMode
from torch.distributions import Categorical

import solvent

torch.manual_seed(0)
envs = gym.make_vec("solvent/FFCombat-v0", num_envs=32, autoreset_mode=AutoresetMode.SAME_STEP)
width, n_actions = envs.single_observation_space.shape[0], envs.single_action_space.n
actor = torch.nn.Sequential(
    torch.nn.Linear(width, 64), torch.nn.Tanh(), torch.nn.Linear(64, n_actions)
)
critic = torch.nn.Sequential(torch.nn.Linear(width, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)


def logits_of(seen, mask):
    return actor(torch.as_tensor(seen)).masked_fill(~torch.as_tensor(mask, dtype=bool), -1e8)


seen, info = envs.reset(seed=0)
for _ in range(20):
    log_probs, values, rewards, goes_on = [], [], [], []
    for _ in range(16):
        distribution = Categorical(logits=logits_of(seen, info["action_mask"]))
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        values.append(critic(torch.as_tensor(seen)).squeeze(-1))
        seen, reward, terminated, truncated, info = envs.step(action.numpy())
        rewards.append(torch.as_tensor(reward, dtype=torch.float32))
        goes_on.append(torch.as_tensor(~terminated, dtype=torch.float32))
    with torch.no_grad():
        target = critic(torch.as_tensor(seen)).squeeze(-1)
        targets = []
        for reward, on in zip(reversed(rewards), reversed(goes_on), strict=True):
            target = reward + on * target
            targets.append(target)
    advantage = torch.stack(targets[::-1]) - torch.stack(values)
    loss = advantage.pow(2).mean() - (torch.stack(log_probs) * advantage.detach()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

score = solvent.score(envs, logits_of, outputs="logits", takes_mask=True)
print(score)
