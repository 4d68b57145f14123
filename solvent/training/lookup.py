"""A policy by state as a network, for code that takes nothing else."""

from __future__ import annotations

import torch
from torch import nn

from solvent.model import TabularGame, TabularPolicy


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
