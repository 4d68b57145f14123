"""The estimates that algorithms yield, and the few functions that all algorithms share.

Symbols are those of R. S. Sutton and A. G. Barto, *Reinforcement Learning: An Introduction*, second
edition, 2018. V, Q and pi are arrays over states and actions, numbered as in the game's table. An
illegal action has the value minus infinity, so that no maximum takes it, and probability 0. In
terminal states V and Q are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import shown

StepSize: TypeAlias = float | Callable[[int], float]
"""A constant, or a function of the number of updates of the entry, counting the present one."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """An algorithm's estimates after a sweep, an episode or a round.

    The algorithm keeps changing these arrays in place: copy any that you want to keep. Arrays that
    the algorithm does not estimate are None.

    Attributes:
        V: [S] value of each state to the learner, or to player 0 in a two-player game.
        Q: [S, A] value of each action.
        pi: [S, A] action probabilities of the policy that acts. In a two-player game, a pair of
            such arrays, one per player.
    """

    V: Floats | None = None
    Q: Floats | None = None
    pi: Floats | tuple[Floats, Floats] | None = None

    @property
    def values(self) -> Floats | None:
        """[S]: V, or the largest entries of Q, or None."""
        return self.Q.max(axis=1) if self.V is None and self.Q is not None else self.V


def check_one_discount(game: TabularGame, discount: float) -> None:
    """Check that values are not discounted twice.

    Args:
        game: The game to learn.
        discount: The requested discount of the next state's value.

    Raises:
        ValueError: If the game is already discounted and `discount` is not 1.
    """
    if discount != 1 and game.info.discount != 1:
        raise ValueError(
            f"discount is {shown(discount)}, but {game.info.name} ends at random for a discount of "
            f"{float(game.info.discount):g} already; leave it at 1, or make the game with "
            f"discount=1"
        )


def epsilon_greedy(Q: Floats, epsilon: float = 0.0) -> Floats:
    """Return the action probabilities of the epsilon-greedy policy.

    Args:
        Q: [..., A] value of each action, minus infinity for illegal actions.
        epsilon: Probability of a uniformly random legal action. Zero gives the greedy policy.

    Returns:
        [..., A] probabilities; actions of equal value are equally probable.
    """
    legal = Q > -np.inf
    best = Q == Q.max(axis=-1, keepdims=True)
    share, rest = (
        epsilon / legal.sum(-1, keepdims=True),
        (1 - epsilon) / best.sum(-1, keepdims=True),
    )
    return np.asarray(share * legal + rest * best)


def softmax(preferences: Floats) -> Floats:
    """Return probabilities in proportion to exp of the preferences, [..., A] -> [..., A].

    Args:
        preferences: [..., A] preferences, minus infinity for illegal actions.
    """
    weights = np.exp(preferences - preferences.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def expected(pi: Floats, Q: Floats) -> Floats:
    """Return the mean of Q under pi, [..., A] -> [...], ignoring actions of probability 0.

    Args:
        pi: [..., A] probabilities.
        Q: [..., A] values.
    """
    return np.asarray((pi * np.where(pi > 0, Q, 0.0)).sum(axis=-1))


def draw(probabilities: Floats, rng: np.random.Generator) -> int:
    """Draw an index by its probability, using one random number.

    Args:
        probabilities: [n] probability of each index.
        rng: Generator of random numbers.
    """
    cumulative = probabilities.cumsum()
    return int(cumulative.searchsorted(rng.random() * cumulative[-1], side="right"))


def sample_average(n: int) -> float:
    """Return the step size 1/n, which makes an estimate the mean of all its samples."""
    return 1 / n


def step_size(alpha: StepSize) -> Callable[[int], float]:
    """Return a step size as a function of the number of updates.

    Args:
        alpha: A constant or such a function.

    Raises:
        ValueError: If `alpha` is a constant outside (0, 1].
    """
    if callable(alpha):
        return alpha
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha is {alpha!r}; allowed are numbers in (0, 1] and functions of n")
    constant = float(alpha)
    return lambda n: constant


def table_of(policy: Floats | TabularPolicy) -> Floats:
    """Return the probabilities of a policy, [S, A].

    Args:
        policy: A :class:`~solvent.model.TabularPolicy` or its probabilities.
    """
    return policy.probabilities if isinstance(policy, TabularPolicy) else np.asarray(policy, float)
