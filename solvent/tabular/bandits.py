"""Multi-armed bandits: Sutton and Barto (2018), chapter 2.

A bandit is a game of one choice, so an episode is one pull. The algorithms take any environment
with episodes of one step. If it has several states, they learn each one separately.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from solvent.model.arrays import Floats
from solvent.model.parameters import check_rational
from solvent.tabular.interface import (
    Env,
    Estimate,
    Indexed,
    StepSize,
    draw,
    epsilon_greedy,
    sample_average,
    softmax,
    step_size,
)
from solvent.tabular.two_players import matrix_game


class Bandit(gym.Env[Any, Any]):
    """A bandit whose rewards are normally distributed.

    One of the 10-armed testbed (Section 2.3) is ``Bandit(rng.normal(size=10))``.

    Args:
        means: [A] expected reward of each arm.
        deviation: Standard deviation of each reward.

    Attributes:
        means: [A] expected reward of each arm.
        game: The table of the expected rewards, for exact numbers. State 0 is the choice, state 1
            the end.

    Raises:
        ValueError: If there are no arms.
    """

    def __init__(self, means: Sequence[float] | Floats, *, deviation: float = 1.0) -> None:
        self.means = np.asarray(means, float)
        if self.means.ndim != 1 or not len(self.means):
            raise ValueError(f"means has shape {self.means.shape}; allowed is (A,), A from 1 on")
        self.deviation = deviation
        self.game = matrix_game(self.means[:, None], name="bandit")
        self.observation_space = spaces.Discrete(2)
        self.action_space = spaces.Discrete(len(self.means))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return 1, float(self.np_random.normal(self.means[action], self.deviation)), True, False, {}


def simple_bandit(
    env: Env,
    *,
    epsilon: float = 0.1,
    alpha: StepSize = sample_average,
    initial: float = 0.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Epsilon-greedy bandit algorithm: Section 2.4.

    Args:
        env: An environment of one step, whose observation is the number of the state.
        epsilon: Probability of a uniformly random action.
        alpha: The step size; 1/n gives the mean of the rewards, as in the box.
        initial: Initial estimate of every value. A high one encourages exploration (Section 2.6).
        rng: Random numbers, for the policy and the environment.

    Yields:
        Q and the epsilon-greedy policy after each pull.
    """
    alpha, world = step_size(alpha), Indexed(env, rng)
    Q, N = world.action_values(initial), np.zeros(world.legal.shape, int)
    pi = epsilon_greedy(Q, epsilon)
    while True:
        s = world.reset()
        a = draw(pi[s], rng)
        _, r, _ = world.step(a)
        N[s, a] += 1
        Q[s, a] += alpha(N[s, a]) * (r - Q[s, a])
        pi[s] = epsilon_greedy(Q[s], epsilon)
        yield world.estimate(Q=Q, pi=pi)


def ucb(env: Env, *, c: float = 2.0, rng: np.random.Generator) -> Iterator[Estimate]:
    """Upper-confidence-bound action selection: Section 2.7.

    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time Analysis of the Multiarmed Bandit
    Problem", Machine Learning 47, 2002.

    Args:
        env: An environment of one step, whose observation is the number of the state.
        c: Weight of the uncertainty in the confidence bound.
        rng: Random numbers, for ties and the environment.

    Yields:
        Q and the policy that pulls the arm with the highest bound, after each pull.
    """
    world = Indexed(env, rng)
    Q, N = world.action_values(), np.zeros(world.legal.shape, int)
    pi = epsilon_greedy(Q)
    while True:
        s = world.reset()
        a = draw(pi[s], rng)
        _, r, _ = world.step(a)
        N[s, a] += 1
        Q[s, a] += (r - Q[s, a]) / N[s, a]
        # An arm that was never pulled comes first; the t of the next pull is one more than the sum.
        bound = np.where(world.legal[s], np.inf, -np.inf)
        tried = N[s] > 0
        bound[tried] = Q[s, tried] + c * np.sqrt(np.log(N[s].sum() + 1) / N[s, tried])
        pi[s] = epsilon_greedy(bound)
        yield world.estimate(Q=Q, pi=pi)


def gradient_bandit(
    env: Env, *, alpha: float = 0.1, baseline: bool = True, rng: np.random.Generator
) -> Iterator[Estimate]:
    """Gradient bandit algorithm: Section 2.8.

    Args:
        env: An environment of one step, whose observation is the number of the state.
        alpha: The step size of the preferences, which may be above 1.
        baseline: Subtract the mean of the rewards so far from each reward. It includes this reward,
            as in the chapter's figures; later printings of the book define it without this reward.
        rng: Random numbers, for the policy and the environment.

    Yields:
        The softmax policy of the preferences after each pull.
    """
    check_rational(alpha, "alpha", 0, 10**9)
    world = Indexed(env, rng)
    H, mean, n = world.action_values(), world.values(), np.zeros(len(world.legal), int)
    pi = softmax(H)
    while True:
        s = world.reset()
        a = draw(pi[s], rng)
        _, r, _ = world.step(a)
        n[s] += 1
        mean[s] += baseline * (r - mean[s]) / n[s]
        gradient = -pi[s]
        gradient[a] += 1
        H[s] += alpha * (r - mean[s]) * gradient
        pi[s] = softmax(H[s])
        yield world.estimate(pi=pi)
