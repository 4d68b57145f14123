"""PPO in one file of plain PyTorch, to be entered in a benchmark.

    solvent bench --suite quick --algorithm examples/own_ppo.py:own_ppo --out own

J. Schulman et al., "Proximal policy optimization algorithms", 2017. The policy that it returns is a
function of observations; the benchmark asks it about every state and computes its value exactly.
Nothing is kept in between: a run that is interrupted begins anew, and ends the same.
"""

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


def own_ppo(
    make: Any,
    seed: int,
    budget: Any,
    callback: Any,
    n_envs: int = 64,
    n_steps: int = 32,
    epochs: int = 4,
    minibatches: int = 4,
    learning_rate: float = 2e-3,
    clip: float = 0.2,
    gae_lambda: float = 0.8,
    entropy: float = 0.01,
    width: int = 64,
) -> Any:
    """Learn one seat; all parameters after the first four are hyperparameters."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    envs = make.vector(n_envs, observation="onehot", autoreset_mode="SameStep")
    n_actions = int(envs.single_action_space.n)
    inputs = int(envs.single_observation_space.shape[0])

    def network(outputs: int) -> nn.Sequential:
        hidden = nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()
        return nn.Sequential(*hidden, nn.Linear(width, outputs))

    actor, critic = network(n_actions), network(1)
    parameters = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=learning_rate)

    def policy(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return torch.softmax(actor(torch.as_tensor(observations)), dim=-1).numpy()

    rollouts = max(1, budget.timesteps // (n_envs * n_steps))
    seen, _ = envs.reset(seed=seed)
    for rollout in range(rollouts):
        optimizer.param_groups[0]["lr"] = learning_rate * (1 - rollout / rollouts)
        kept: dict[str, list[torch.Tensor]] = {name: [] for name in ("s", "a", "p", "v", "r", "d")}
        for _ in range(n_steps):
            state = torch.as_tensor(seen)
            with torch.no_grad():
                chances, value = Categorical(logits=actor(state)), critic(state).squeeze(-1)
            action = chances.sample()
            seen, reward, terminated, _, _ = envs.step(action.numpy())
            found = (state, action, chances.log_prob(action), value, reward, terminated)
            for name, one in zip(kept, found, strict=True):
                kept[name].append(torch.as_tensor(one))
        states, actions, log_probs, values, rewards, ends = (
            torch.stack(kept[name]) for name in kept
        )
        with torch.no_grad():
            following = critic(torch.as_tensor(seen)).squeeze(-1)
        advantages, last = torch.zeros_like(values), torch.zeros(n_envs)
        for step in reversed(range(n_steps)):
            alive = (~ends[step]).float()
            error = rewards[step].float() + alive * following - values[step]
            last = error + gae_lambda * alive * last
            advantages[step], following = last, values[step]
        learn_from = [one.flatten(0, 1) for one in (states, actions, log_probs, advantages)]
        targets = (advantages + values).flatten()
        for _ in range(epochs):
            for part in torch.randperm(n_envs * n_steps).chunk(minibatches):
                state, action, old, advantage = (one[part] for one in learn_from)
                chances = Categorical(logits=actor(state))
                ratio = (chances.log_prob(action) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - clip, 1 + clip)
                gain = torch.min(ratio * advantage, clipped * advantage).mean()
                fit = (critic(state).squeeze(-1) - targets[part]).square().mean()
                loss = fit / 2 - gain - entropy * chances.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 0.5)
                optimizer.step()
        if rollout % max(1, rollouts // 20) == 0 or rollout == rollouts - 1:
            callback(policy, (rollout + 1) * n_envs * n_steps)
    return policy


own_ppo.observation = "onehot"  # type: ignore[attr-defined]  # What `policy` is asked about.
