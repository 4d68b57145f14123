"""What an algorithm knows so far, and the few lines that all algorithms share.

Symbols are those of R. S. Sutton and A. G. Barto, *Reinforcement Learning: An Introduction*, second
edition, 2018: V, Q and pi are tables over the states and the actions, whose numbers are those of
the game's table. An illegal action has the value minus infinity, so that no maximum takes it, and
the probability 0. Where an episode has ended V and Q are 0.
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
"""A constant, or a function of how often the entry has been updated, 1 at the first time."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """What an algorithm knows after a sweep, an episode or a round; None is what it has not.

    The arrays are those that the algorithm goes on to change: copy what is to be kept.

    Attributes:
        V: [S] the value of each state to the one who learns, or in a game for two to player 0.
        Q: [S, A] the value of each action.
        pi: [S, A] the probabilities of actions by which it acts; in a game for two a pair of them,
            of both players.
    """

    V: Floats | None = None
    Q: Floats | None = None
    pi: Floats | tuple[Floats, Floats] | None = None

    @property
    def values(self) -> Floats | None:
        """[S]: V, or the largest entries of Q, or None."""
        return self.Q.max(axis=1) if self.V is None and self.Q is not None else self.V


def check_one_discount(game: TabularGame, discount: float) -> None:
    """Refuse to discount twice.

    Args:
        game: What is learned.
        discount: Of the value of the next state, as it is asked for.

    Raises:
        ValueError: If the game is a discounted one, and a discount is asked for besides.
    """
    if discount != 1 and game.info.discount != 1:
        raise ValueError(
            f"discount is {shown(discount)}, but {game.info.name} ends at random for a discount of "
            f"{float(game.info.discount):g} already; leave it at 1, or make the game with "
            f"discount=1"
        )


def epsilon_greedy(Q: Floats, epsilon: float = 0.0) -> Floats:
    """The probabilities of actions that are greedy but for a share of uniform ones.

    Args:
        Q: [..., A] the value of each action, minus infinity if it is illegal.
        epsilon: The share; with 0 it is the greedy policy.

    Returns:
        [..., A]; actions of equal value are equally probable.
    """
    legal = Q > -np.inf
    best = Q == Q.max(axis=-1, keepdims=True)
    share, rest = (
        epsilon / legal.sum(-1, keepdims=True),
        (1 - epsilon) / best.sum(-1, keepdims=True),
    )
    return np.asarray(share * legal + rest * best)


def softmax(preferences: Floats) -> Floats:
    """The probabilities in proportion to exp of the preferences, [..., A] -> [..., A].

    Args:
        preferences: [..., A]; of an illegal action minus infinity.
    """
    weights = np.exp(preferences - preferences.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def expected(pi: Floats, Q: Floats) -> Floats:
    """The mean of Q under pi, [..., A] -> [...]; what is never played does not count.

    Args:
        pi: [..., A] probabilities.
        Q: [..., A] values.
    """
    return np.asarray((pi * np.where(pi > 0, Q, 0.0)).sum(axis=-1))


def draw(probabilities: Floats, rng: np.random.Generator) -> int:
    """An index drawn by its probability, from one random number.

    Args:
        probabilities: [n].
        rng: Random numbers.
    """
    cumulative = probabilities.cumsum()
    return int(cumulative.searchsorted(rng.random() * cumulative[-1], side="right"))


def sample_average(n: int) -> float:
    """The step size 1/n, with which an estimate is the mean of all its samples."""
    return 1 / n


def step_size(alpha: StepSize) -> Callable[[int], float]:
    """A step size as a function of the number of updates.

    Args:
        alpha: A constant or such a function.

    Raises:
        ValueError: If it is a constant outside (0, 1].
    """
    if callable(alpha):
        return alpha
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha is {alpha!r}; allowed are numbers in (0, 1] and functions of n")
    constant = float(alpha)
    return lambda n: constant


def table_of(policy: Floats | TabularPolicy) -> Floats:
    """The probabilities of a policy, [S, A].

    Args:
        policy: A :class:`~solvent.model.TabularPolicy` or its probabilities.
    """
    return policy.probabilities if isinstance(policy, TabularPolicy) else np.asarray(policy, float)
