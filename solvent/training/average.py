"""The average of what a learner played: the policy that self-play is known to improve.

In a game in which both act at once the best policies are mixed, and learners that answer each
other go round them: the mix is in the average of what they play, not in what they play last. That
is the theorem of fictitious play (Robinson 1951) and of learning without regret, for one matrix
game; in a game of many states the average is taken in each state. Early selves know little, so
the k-th counts k^2 times (quadratic averaging, as in discounted regret minimization: Brown and
Sandholm 2019).
"""

from __future__ import annotations

import numpy as np

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats


class AveragePolicy:
    """A mean of a player's policies in each state, in which the k-th has the weight k^2.

    Args:
        game: The game.
        player: Whose policies they are.

    Attributes:
        count: How many policies are in it.
        mean: [S, A] their mean; uniform while there are none.
    """

    def __init__(self, game: TabularGame, player: int) -> None:
        self._game, self._player = game, player
        self.count = 0
        self.mean: Floats = TabularPolicy.uniform(game, player=player).probabilities

    def add(self, policy: TabularPolicy) -> None:
        """Take one more policy into the mean.

        Args:
            policy: The player's.

        Raises:
            ValueError: If the policy is for another game.
        """
        policy.check_is_for(self._game)
        self.count += 1
        # The weights of 1..k sum to k (k + 1) (2 k + 1) / 6, of which the last has k^2.
        share = 6 * self.count / ((self.count + 1) * (2 * self.count + 1))
        self.mean += share * (policy.probabilities - self.mean)

    def restore(self, count: int, mean: Floats) -> None:
        """Go on from another average of the same kind.

        Args:
            count: How many policies are in it, at least 0.
            mean: [S, A] their mean.

        Raises:
            ValueError: If these are no policies' number and mean.
        """
        if count < 0:
            raise ValueError(f"count of the average is {count}; allowed are numbers from 0")
        TabularPolicy.of(self._game, mean, player=self._player, name="average")
        self.count, self.mean = count, np.array(mean, np.float64)

    def policy(self, name: str = "average") -> TabularPolicy:
        """The mean so far.

        Args:
            name: The policy's.
        """
        # Rounding leaves sums that are off by some units in the last place.
        total = self.mean.sum(axis=1, keepdims=True)
        mean = self.mean / np.where(total > 0, total, 1.0)
        return TabularPolicy.of(self._game, mean, player=self._player, name=name)
