"""Learners that are given exact values in place of their estimates, to find what estimates cost.

They are for analysis only. Their names say what they were told, and so does the record of
:func:`solvent.training.train`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from sb3_contrib.qrdqn.policies import QRDQNPolicy
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from torch import nn

from solvent.model import TabularGame
from solvent.model.arrays import Floats
from solvent.training.algorithms import Watcher
from solvent.training.learner_values import LearnerValues


class ExactAdvantages(Watcher):
    """Gives a method of policy gradients the exact advantages of its present policy.

    They take the place of the rollout's estimates, and the exact values that of its returns. States
    and actions are sampled as before. A learner under this callback is told what it cannot know:
    call it "+exact advantages".

    Args:
        game: The table that the training environments sample.
        player: The player whose policy is learned.
        observation: The network's kind of observation, as for ``extract``.
    """

    suffix: ClassVar[str] = "+exact advantages"
    values: LearnerValues

    def __init__(
        self, game: TabularGame, *, player: int = 0, observation: str | None = None
    ) -> None:
        super().__init__()
        self.game, self.player, self.observation = game, player, observation

    def _on_training_start(self) -> None:
        self.values = LearnerValues(
            self.model, self.game, player=self.player, observation=self.observation
        )

    def _on_rollout_end(self) -> None:
        assert isinstance(self.model, OnPolicyAlgorithm)
        buffer = self.model.rollout_buffer
        seen = buffer.observations.reshape(-1, *buffer.observations.shape[2:])
        states = self.values.states(seen).reshape(buffer.advantages.shape)
        actions = buffer.actions.reshape(states.shape).astype(np.int64)
        exact = self.values.value(self.values.policies()[0], estimated=True)
        value = exact.v[states]
        known = np.isfinite(value)
        buffer.advantages[known] = (exact.q[states, actions] - value)[known]
        buffer.returns[known] = value[known]


class ExactTargets(ExactAdvantages):
    """Gives a learner of action values the expected targets in place of sampled ones.

    The target of a transition is the expected reward and the expected largest action value, by the
    target network, of what may follow. The states and actions of the replay buffer stay. All
    quantiles of QR-DQN get the same target, its mean. A learner under this callback is told what it
    cannot know: call it "+exact targets".
    """

    suffix = "+exact targets"

    def _on_training_start(self) -> None:
        super()._on_training_start()
        model: Any = self.model
        quantiles = isinstance(model.policy, QRDQNPolicy)
        target = model.quantile_net_target if quantiles else model.q_net_target
        plain, known = model.replay_buffer.sample, [torch.empty(0), torch.empty(0)]

        def sample(batch_size: int, env: Any = None) -> Any:
            batch = plain(batch_size, env=env)
            present = torch.nn.utils.parameters_to_vector(target.parameters())
            if not torch.equal(known[0], present):
                known[:] = present, torch.from_numpy(self.targets(target))
            states = torch.from_numpy(self.values.states(batch.observations.cpu().numpy()))
            exact = known[1][states, batch.actions[:, 0].cpu()].to(batch.rewards)
            return batch._replace(rewards=exact[:, None], dones=torch.ones_like(batch.dones))

        model.replay_buffer.sample = sample

    def _on_rollout_end(self) -> None:
        """Leave the replay buffer as it is."""

    @torch.no_grad()
    def targets(self, network: nn.Module) -> Floats:
        """Return the expected target of each action by a target network, [S, A].

        Args:
            network: The target network.
        """
        seen, _ = self.model.policy.obs_to_tensor(self.values.rows)
        found = np.asarray(mean_values(network, seen).cpu().numpy(), float)
        return self.values.backed_up(np.where(self.values.allowed, found, -np.inf).max(axis=1))


def mean_values(network: nn.Module, seen: Any) -> torch.Tensor:
    """Return the action values of a network, [n, A]; of quantiles, [n, N, A], their means.

    Args:
        network: A network of action values or of their quantiles.
        seen: [n, ...] observations.
    """
    found: torch.Tensor = network(seen)
    return found.mean(dim=1) if found.dim() == 3 else found
