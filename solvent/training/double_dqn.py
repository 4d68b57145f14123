"""Double Q-learning with networks."""

from __future__ import annotations

from stable_baselines3 import DQN
from torch import Tensor


class DoubleDQN(DQN):
    """DQN whose targets take the action that the learning network prefers.

    The largest of several noisy estimates is too large on average. If one network chooses the
    action and the other, the target network, says its value, that bias shrinks (van Hasselt, Guez
    and Silver 2016, *Deep reinforcement learning with double Q-learning*).
    """

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        target = self.q_net_target

        def of_preferred(seen: Tensor) -> Tensor:
            """Return the target network's value of the action that the other prefers, [n, 1]."""
            value: Tensor = target(seen).gather(1, self.q_net(seen).argmax(dim=1, keepdim=True))
            return value

        # The maximum that DQN takes is over this one action.
        self.q_net_target = of_preferred  # type: ignore[assignment]
        try:
            super().train(gradient_steps, batch_size)
        finally:
            self.q_net_target = target
