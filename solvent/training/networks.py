"""Networks of Stable-Baselines3 as players that need no torch."""

from __future__ import annotations

import numpy as np
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn

from solvent.baselines.network import Network, NetworkPlayer
from solvent.training.seen import refuse_changes

ACTIVATIONS = {nn.ReLU: "relu", nn.Tanh: "tanh"}


def network_player(
    model: BaseAlgorithm,
    *,
    masked: bool,
    observation: str,
    mode: bool = False,
    name: str = "network",
) -> NetworkPlayer:
    """What a learner plays now.

    Args:
        model: Of PPO, MaskablePPO, DQN or MaskedDQN.
        masked: Whether it is told the legal actions.
        observation: What it sees.
        mode: Whether it always takes its most probable action; a DQN always does.
        name: What to call it.

    Raises:
        ValueError: If the network is of another kind, depends on the past, or sees something
            else than its game shows.
    """
    refuse_changes(model)
    policy = model.policy
    if isinstance(policy, DQNPolicy):
        modules = list(policy.q_net.q_net)
    elif isinstance(policy, (ActorCriticPolicy, MaskableActorCriticPolicy)):
        modules = [*policy.mlp_extractor.policy_net, policy.action_net]
    else:
        raise ValueError(
            f"the network is a {type(policy).__name__}; allowed are those of PPO, "
            f"MaskablePPO and DQN"
        )
    rule = "mode" if mode or isinstance(policy, DQNPolicy) else "sampled"
    return NetworkPlayer(_network(modules), rule, masked, observation, name)


def _network(modules: list[nn.Module]) -> Network:
    """The layers of a network, which have to be affine with one kind of activation between."""
    layers = [module for module in modules if isinstance(module, nn.Linear)]
    between = {type(module) for module in modules if not isinstance(module, nn.Linear)}
    if len(between) > 1 or not between <= set(ACTIVATIONS):
        names = ", ".join(sorted(kind.__name__ for kind in between))
        raise ValueError(f"the network has {names} between its layers; allowed are ReLU or Tanh")
    return Network(
        tuple(np.ascontiguousarray(layer.weight.detach().cpu().numpy().T) for layer in layers),
        tuple(layer.bias.detach().cpu().numpy().copy() for layer in layers),
        ACTIVATIONS[between.pop()] if between else "relu",
    )
