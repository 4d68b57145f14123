"""Learning the policy itself: Sutton and Barto (2018), chapter 13."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solvent.tabular.estimate import Estimate, softmax
from solvent.tabular.interface import Env, Indexed


def reinforce(
    env: Env,
    *,
    alpha: float = 0.1,
    baseline: float | None = None,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """REINFORCE with a softmax of tabular preferences, with or without a baseline.

    Sections 13.3 and 13.4; R. J. Williams, "Simple Statistical Gradient-Following Algorithms for
    Connectionist Reinforcement Learning", Machine Learning 8, 1992. The gradient of ln pi(a | s) in
    the preferences of s is 1 at a, minus pi(. | s).

    Args:
        env: An environment whose observation is the number of the state.
        alpha: Step size of the preferences.
        baseline: Step size of V, which is subtracted from returns. None for no baseline.
        discount: Discount per step.
        rng: Random numbers, for the policy and the environment.

    Yields:
        The policy after each episode, and V if there is a baseline.
    """
    world = Indexed(env, rng, discount)
    theta, V = world.action_values(), world.values()
    pi = softmax(theta)
    while True:
        states, actions, rewards = world.episode(pi, rng)
        G, returns = 0.0, []
        for r in reversed(rewards):
            G = discount * G + r
            returns.append(G)
        returns.reverse()
        for t, (s, a, G) in enumerate(zip(states, actions, returns, strict=True)):
            delta = G - V[s]
            if baseline is not None:
                V[s] += baseline * delta
            gradient = -pi[s]
            gradient[a] += 1
            theta[s] += alpha * discount**t * delta * gradient
            pi[s] = softmax(theta[s])
        yield Estimate(V=None if baseline is None else V, pi=pi)
