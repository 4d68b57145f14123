"""Networks as policies that need no torch: as tables, the bridge to exact scores, or as arrays.

A policy network is a function of the observation, and a finite game has finitely many observations.
Evaluating the network on all of them gives a table of action probabilities, and from then on every
number about the network is exact. In a two-player game this is done for each player, with the
player's own observations, in the states where it moves.

Illegal actions are handled as in training. An algorithm that is told the legal actions
(MaskablePPO, :class:`~solvent.training.masked_dqn.MaskedDQN`) chooses among them. Any other may
choose an illegal action, which the environment replaces by the lowest legal one. Its table is
projected in the same way, and the probability that was moved is reported.

The network is evaluated on the inputs of its training, which :mod:`solvent.training.seen` checks.
It then passes the gate (:mod:`solvent.baselines.gate`) like any function, and its outputs are
compared with the model's own ``predict`` in every state.

:class:`LookupNetwork` is the way back: a policy's table as a network, where a library expects one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.qrdqn.policies import QRDQNPolicy
from stable_baselines3 import DQN
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import VecNormalize
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn
from torch.distributions import Categorical

from solvent.baselines.gate import QueriedFunction, check_wrappers
from solvent.baselines.network import Network, NetworkPlayer
from solvent.envs.sampling import kind_that_fits
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.training.forms import with_roles, without_roles
from solvent.training.masked_dqn import MaskedDQN, MaskedReplayBuffer
from solvent.training.seen import Normalization, inputs, rows_of

SEATS = (0, 1)

OF_ACTION_VALUES = (DQNPolicy, QRDQNPolicy)
"""Networks of action values, of which the largest is chosen; QR-DQN's are means of quantiles."""

LIBRARIES = ("sb3_contrib", "solvent", "stable_baselines3")
"""Packages whose models are known to play as their networks say."""

ACTIVATIONS = {nn.ReLU: "relu", nn.Tanh: "tanh"}
"""Activations allowed between the layers of a network that is kept as plain arrays."""


@dataclass(frozen=True, eq=False)
class Extraction:
    """A network's two policies.

    Attributes:
        sampled: The policy with ``deterministic=False``, but without epsilon-exploration. For DQN
            and QR-DQN it is therefore the same as `mode`.
        mode: The policy with ``deterministic=True``.
        illegal: [S] probability of illegal actions when the network is sampled.
        illegal_mode: [S] 1 where the network's greedy action is illegal, else 0.
    """

    sampled: TabularPolicy
    mode: TabularPolicy
    illegal: Floats
    illegal_mode: Floats


def extract(
    model: BaseAlgorithm,
    game: TabularGame,
    *,
    observation: str | NDArray[Any] | None = None,
    player: int = 0,
    batch_size: int = 8192,
    name: str | None = None,
    normalization: Normalization | VecNormalize | None = None,
    gate: bool = True,
) -> Extraction:
    """Evaluate a network on every state of a game.

    Args:
        model: A learner of PPO, A2C, TRPO, MaskablePPO, DQN, QR-DQN or MaskedDQN.
        game: The table that its environment samples.
        observation: The network's observation: ``"vector"``, ``"onehot"``, ``"index"``, or [S]
            numbers of the states in a Gymnasium environment. By default, the one that fits its
            observation space, ``"vector"`` before the others.
        player: The player whose policy is wanted.
        batch_size: Number of states that are evaluated at once.
        name: Name of the policy. Default: the name of the algorithm's class.
        normalization: The statistics of ``VecNormalize``, for a network that was trained under it
            and loaded from a file, which does not hold them. By default, the present statistics of
            its own environment, if any.
        gate: Check the network at the gate. False if it has passed before, as in a training.

    Raises:
        ValueError: If the network is of another kind, depends on the past, was trained on other
            observations, other actions or another game, or acts differently from its outputs.
    """
    _check_kind(model)
    width, actions = game.mask[player].shape[1], getattr(model.action_space, "n", None)
    if actions != width:
        raise ValueError(f"the network chooses among {actions} actions, the game has {width}")
    if observation is None:
        observation = kind_that_fits(model.observation_space, game, player)
    given = inputs(model, game, observation, player, normalization)
    # Evaluation mode; the learner's next step puts it back into training mode.
    model.policy.set_training_mode(False)
    values = isinstance(model.policy, OF_ACTION_VALUES)
    asked = QueriedFunction(
        game,
        partial(action_values if values else _action_probabilities, model),
        given,
        outputs="action_values" if values else "probabilities",
        takes_mask=True,
        predict=partial(_predicted, model),
        player=player,
        batch_size=batch_size,
        name=name or type(model).__name__,
    )
    sampled, illegal = asked.policy()
    mode, illegal_mode = asked.policy(greedy=True, name=f"{asked.name} (mode)")
    if gate:
        asked.pass_gate(sampled, model.env, rows_of(game, player, observation))
        _check_own(model)
    return Extraction(sampled, mode, illegal, illegal_mode)


def extract_seats(
    model: BaseAlgorithm,
    game: TabularGame,
    *,
    observation: str | None = None,
    name: str | None = None,
    gate: bool = True,
) -> tuple[Extraction, Extraction]:
    """Return the policies of a network that learned both seats, in seat 0 and in seat 1.

    Args:
        model: A learner of PPO, A2C, TRPO, MaskablePPO, DQN, QR-DQN or MaskedDQN, trained on
            ``with_roles(game)``, `apart` or not.
        game: A two-player game.
        observation: The network's observation: ``"vector"``, ``"onehot"`` or ``"index"``. By
            default, the one that fits its observation space, ``"vector"`` before the others.
        name: Name of the policies. Default: the name of the algorithm's class.
        gate: Check the network at the gate, as for :func:`extract`.

    Raises:
        ValueError: As for :func:`extract`.
    """
    first, second = game.info.actions
    chooses = getattr(model.action_space, "n", None)
    learned = with_roles(game, apart=chooses == len(first) + len(second))

    def own(player: int) -> Extraction:
        found = extract(
            model, learned, observation=observation, player=player, name=name, gate=gate
        )
        return replace(
            found, sampled=without_roles(found.sampled, game), mode=without_roles(found.mode, game)
        )

    return own(0), own(1)


def network_player(
    model: BaseAlgorithm,
    *,
    masked: bool,
    observation: str,
    mode: bool = False,
    name: str = "network",
) -> NetworkPlayer:
    """Return a learner's present policy as plain arrays, which need no torch.

    Args:
        model: A learner of PPO, A2C, TRPO, MaskablePPO, DQN, QR-DQN or MaskedDQN.
        masked: Whether the learner is told the legal actions.
        observation: The learner's kind of observation.
        mode: Return the greedy policy; DQN's always is.
        name: Name of the player.

    Raises:
        ValueError: If the network is of another kind, depends on the past, has other observations
            than its game shows, or its ``predict`` chooses otherwise than these arrays.
    """
    check_wrappers(model.env)
    _check_kind(model)
    _check_own(model)
    policy = model.policy
    if isinstance(policy, DQNPolicy):
        modules = list(policy.q_net.q_net)
    elif isinstance(policy, QRDQNPolicy):
        modules = list(policy.quantile_net.quantile_net)
    else:
        assert isinstance(policy, (ActorCriticPolicy, MaskableActorCriticPolicy))
        modules = [*policy.mlp_extractor.policy_net, policy.action_net]
    rule = "mode" if mode or isinstance(policy, OF_ACTION_VALUES) else "sampled"
    network = _network(modules)
    if isinstance(policy, QRDQNPolicy):
        network = _mean_of_quantiles(network, policy.n_quantiles)
    seen = np.random.default_rng(0).random((64, len(network.weights[0])), np.float32)
    outputs, legal = network(seen), np.ones((64, len(network.biases[-1])), bool)
    chosen = outputs[np.arange(64), _predicted(model, seen, legal)]
    if not np.allclose(chosen, outputs.max(axis=1), rtol=1e-4, atol=1e-4):
        raise ValueError(
            f"{name} plays other actions than the last layers of its network say: allowed are a "
            f"network of these layers alone and its own predict"
        )
    return NetworkPlayer(network, rule, masked, observation, name)


def _check_own(model: BaseAlgorithm) -> None:
    """Refuse a model that chooses actions otherwise than its library does.

    Raises:
        ValueError: If a method was replaced, even if its deterministic policy is the same.
    """
    for method in (model.predict, model.policy.predict, model.policy._predict):
        if getattr(method, "__module__", "").partition(".")[0] not in LIBRARIES:
            raise ValueError(
                f"{type(model.policy).__name__} has a {method.__name__} of its own, so that its "
                f"network's outputs are not what it plays; pass that as a function, "
                f"lambda seen: model.predict(seen, deterministic=True)[0]"
            )


def _predicted(model: BaseAlgorithm, seen: NDArray[Any], legal: Bools) -> Ints:
    """Return the actions that ``predict`` chooses, [n]."""
    told: Any = {}
    if isinstance(model, MaskedDQN) or isinstance(model.policy, MaskableActorCriticPolicy):
        told = {"action_masks": legal}
    return np.asarray(model.predict(seen, deterministic=True, **told)[0])


@torch.no_grad()
def action_values(model: BaseAlgorithm, seen: NDArray[np.generic], legal: Bools) -> Floats:
    """Return a network's action values, [n, A]; for MaskedDQN minus infinity where illegal."""
    given = model.policy.obs_to_tensor(seen)[0]
    q = mean_values(value_network(model.policy), given).cpu().numpy().astype(np.float64)
    return np.where(legal, q, -np.inf) if isinstance(model, MaskedDQN) else q


def value_network(policy: Any) -> nn.Module:
    """Return the network of action values of a policy of DQN or QR-DQN, or of their quantiles."""
    network: nn.Module = policy.quantile_net if isinstance(policy, QRDQNPolicy) else policy.q_net
    return network


def mean_values(network: nn.Module, seen: Any) -> torch.Tensor:
    """Return the action values of a network, [n, A]; of quantiles, [n, N, A], their means.

    Args:
        network: A network of action values or of their quantiles.
        seen: [n, ...] observations.
    """
    found: torch.Tensor = network(seen)
    return found.mean(dim=1) if found.dim() == 3 else found


@torch.no_grad()
def _action_probabilities(model: BaseAlgorithm, seen: NDArray[np.generic], legal: Bools) -> Floats:
    """Return action weights, [n, A]; the greedy action has the largest, the first on ties."""
    policy = model.policy
    observation = policy.obs_to_tensor(seen)[0]
    if isinstance(policy, MaskableActorCriticPolicy):
        distribution = policy.get_distribution(observation, action_masks=legal).distribution
        assert isinstance(distribution, Categorical)
        # sb3-contrib masks with a logit of -1e8, which is small but not nothing.
        return np.where(legal, distribution.probs.cpu().numpy(), 0.0)
    assert isinstance(policy, ActorCriticPolicy)
    distribution = policy.get_distribution(observation).distribution
    assert isinstance(distribution, Categorical)
    return np.asarray(distribution.probs.cpu().numpy())


def _check_kind(model: BaseAlgorithm) -> None:
    """Refuse a learner whose policy is not of a known kind."""
    if isinstance(model.policy, RecurrentActorCriticPolicy):
        raise ValueError(
            f"the network is a {type(model.policy).__name__}, which depends on what it saw before, "
            f"so that it is no table of the game's states; train one without memory"
        )
    kinds = (ActorCriticPolicy, MaskableActorCriticPolicy, *OF_ACTION_VALUES)
    if not isinstance(model.policy, kinds):
        raise ValueError(
            f"the network is a {type(model.policy).__name__}; "
            f"allowed are {', '.join(kind.__name__ for kind in kinds)}"
        )
    if isinstance(model, DQN):
        # A file of one can be loaded as the other, which then plays another policy.
        told = issubclass(model.replay_buffer_class or MaskedReplayBuffer, MaskedReplayBuffer)
        if told != isinstance(model, MaskedDQN):
            one, other = ("MaskedDQN", "DQN") if told else ("DQN", "MaskedDQN")
            raise ValueError(f"the network was trained by {one}, but loaded as one of {other}")


def _mean_of_quantiles(network: Network, n_quantiles: int) -> Network:
    """Return a network of means from one that outputs n quantiles, each for all actions in turn.

    The last layer is affine, so the mean of its outputs is that of its weights.
    """
    weight, bias = network.weights[-1], network.biases[-1]
    return replace(
        network,
        weights=(*network.weights[:-1], weight.reshape(len(weight), n_quantiles, -1).mean(axis=1)),
        biases=(*network.biases[:-1], bias.reshape(n_quantiles, -1).mean(axis=0)),
    )


def _network(modules: list[nn.Module]) -> Network:
    """Return the layers of a network, all affine with one kind of activation in between."""
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


class LookupNetwork(nn.Module):
    """A network without weights to learn: it looks up the policy of the state that it is shown.

    Args:
        game: The game, of S states.
        policy: A policy of the game, such as an optimal one of a solution.

    Raises:
        ValueError: If the policy is for another game.
    """

    seen: torch.Tensor
    logits: torch.Tensor

    def __init__(self, game: TabularGame, policy: TabularPolicy) -> None:
        super().__init__()
        policy.check_is_for(game)
        seen = torch.as_tensor(game.observation[policy.player])
        self.register_buffer("seen", seen)
        self.register_buffer("logits", torch.as_tensor(policy.probabilities).log())

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the logits of the states that look most like the observations.

        Args:
            observations: [n, D] vectors.

        Returns:
            [n, A] logits, minus infinity for actions that are never taken.
        """
        nearest = torch.cdist(observations.to(self.seen), self.seen).argmin(dim=1)
        return self.logits[nearest]
