"""Learning from whole episodes: Sutton and Barto (2018), chapters 5 and 13.

The return that follows a state is a sample of its value. Nothing is bootstrapped, so the estimate
of a state does not depend on the estimates of others. An episode cut off by a time limit is refused
because its return is unknown.
"""

from collections.abc import Iterator

import numpy as np

from solvent.model import TabularPolicy
from solvent.model.arrays import Bools, Floats
from solvent.model.parameters import check_rational
from solvent.tabular.interface import (
    Env,
    Estimate,
    Indexed,
    StepSize,
    epsilon_greedy,
    expected,
    probabilities_of,
    sample_average,
    softmax,
    step_size,
)


def monte_carlo_prediction(
    env: Env,
    pi: Floats | TabularPolicy,
    *,
    first_visit: bool = True,
    alpha: StepSize = sample_average,
    discount: float = 1.0,
    initial: float = 0.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Monte Carlo prediction, for estimating V of pi: Section 5.1.

    Args:
        env: An environment whose observation is the number of the state.
        pi: [S, A] policy to evaluate, under which episodes end.
        first_visit: Count only the first visit to a state in an episode instead of every visit.
        alpha: The step size; 1/n gives the mean of the returns, as in the box.
        discount: Discount per step.
        initial: Initial estimate of every value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        V after each episode.
    """
    pi, alpha, world = probabilities_of(pi, env), step_size(alpha), Indexed(env, rng, discount)
    V, N = world.values(initial), np.zeros(len(world.legal), int)
    while True:
        states, _, rewards = world.episode(pi, rng)
        first = {s: t for t, s in reversed(list(enumerate(states)))}
        G = 0.0
        for t in reversed(range(len(states))):
            s, G = states[t], discount * G + rewards[t]
            if t == first[s] or not first_visit:
                N[s] += 1
                V[s] += alpha(N[s]) * (G - V[s])
        yield world.estimate(V=V, pi=pi)


def monte_carlo_control(
    env: Env,
    *,
    epsilon: float = 0.1,
    first_visit: bool = True,
    alpha: StepSize = sample_average,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """On-policy Monte Carlo control with epsilon-soft policies: Section 5.4.

    Args:
        env: An environment whose observation is the number of the state.
        epsilon: Probability of a uniformly random action.
        first_visit: Count only the first visit to a state-action pair in an episode instead of
            every visit.
        alpha: The step size; 1/n gives the mean of the returns, as in the box.
        discount: Discount per step.
        rng: Random numbers, for the policy and the environment.

    Yields:
        Q and the epsilon-greedy policy after each episode.
    """
    alpha, world = step_size(alpha), Indexed(env, rng, discount)
    Q, N = world.action_values(), np.zeros(world.legal.shape, int)
    pi = epsilon_greedy(Q, epsilon)
    while True:
        states, actions, rewards = world.episode(pi, rng)
        pairs = list(zip(states, actions, strict=True))
        first = {pair: t for t, pair in reversed(list(enumerate(pairs)))}
        G = 0.0
        for t in reversed(range(len(pairs))):
            (s, a), G = pairs[t], discount * G + rewards[t]
            if t == first[s, a] or not first_visit:
                N[s, a] += 1
                Q[s, a] += alpha(N[s, a]) * (G - Q[s, a])
                pi[s] = epsilon_greedy(Q[s], epsilon)
        yield world.estimate(Q=Q, pi=pi)


def _check_covers(world: Indexed, b: Floats, needed: Bools) -> None:
    """Refuse a behaviour policy that never takes a needed action, [S, A].

    Returns would be weighted by ratios of 0, so estimates would tend to wrong values.
    """
    missing = needed & (b == 0) & ~world.over[:, None]
    if missing.any():
        s, a = np.argwhere(missing)[0].tolist()
        raise ValueError(
            f"b never takes action {a} in state {s}, which the target policy may take; an "
            f"off-policy method needs a behaviour policy that covers it"
        )


def importance_sampling(
    env: Env,
    pi: Floats | TabularPolicy,
    b: Floats | TabularPolicy,
    *,
    weighted: bool = False,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Ordinary or weighted importance sampling, for estimating V of pi: Section 5.5.

    Each return under b is multiplied by the ratio of the probabilities of its actions. The ordinary
    mean divides by the number of visits (5.5), the weighted mean by the sum of the ratios (5.6).
    Every visit to a state counts.

    Args:
        env: An environment whose observation is the number of the state.
        pi: [S, A] the target policy, whose values are estimated.
        b: [S, A] the behaviour policy, which acts. It must cover pi.
        weighted: Use the weighted mean instead of the ordinary one.
        discount: Discount per step.
        rng: Random numbers, for the policy and the environment.

    Yields:
        The target policy and its V after each episode.

    Raises:
        ValueError: If b never takes an action that pi takes.
    """
    pi, b, world = probabilities_of(pi, env), probabilities_of(b, env), Indexed(env, rng, discount)
    _check_covers(world, b, pi > 0)
    V, C = world.values(), np.zeros(len(world.legal))
    while True:
        states, actions, rewards = world.episode(b, rng)
        G, rho = 0.0, 1.0
        for s, a, r in zip(reversed(states), reversed(actions), reversed(rewards), strict=True):
            G = discount * G + r
            rho *= pi[s, a] / b[s, a]
            weight = rho if weighted else 1.0
            C[s] += weight
            if weight > 0:
                V[s] += (rho * G - weight * V[s]) / C[s]
        yield world.estimate(V=V, pi=pi)


def off_policy_prediction(
    env: Env,
    pi: Floats | TabularPolicy,
    b: Floats | TabularPolicy,
    *,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Off-policy Monte Carlo prediction with weighted importance sampling: Section 5.6.

    Args:
        env: An environment whose observation is the number of the state.
        pi: [S, A] the target policy, whose values are estimated.
        b: [S, A] the behaviour policy, which acts. It must cover pi.
        discount: Discount per step.
        rng: Random numbers, for the policy and the environment.

    Yields:
        The target policy, its Q and its V after each episode.

    Raises:
        ValueError: If b never takes an action that pi takes.
    """
    pi, b, world = probabilities_of(pi, env), probabilities_of(b, env), Indexed(env, rng, discount)
    _check_covers(world, b, pi > 0)
    Q, C = world.action_values(), np.zeros(world.legal.shape)
    while True:
        states, actions, rewards = world.episode(b, rng)
        G, W = 0.0, 1.0
        for s, a, r in zip(reversed(states), reversed(actions), reversed(rewards), strict=True):
            G = discount * G + r
            C[s, a] += W
            Q[s, a] += W / C[s, a] * (G - Q[s, a])
            W *= pi[s, a] / b[s, a]
            if W == 0:
                break
        yield world.estimate(V=expected(pi, Q), Q=Q, pi=pi)


def off_policy_control(
    env: Env, b: Floats | TabularPolicy, *, discount: float = 1.0, rng: np.random.Generator
) -> Iterator[Estimate]:
    """Off-policy Monte Carlo control with weighted importance sampling: Section 5.7.

    The target policy breaks ties by taking the first of the best actions.

    Args:
        env: An environment whose observation is the number of the state.
        b: [S, A] the behaviour policy, which acts. It must be able to take every legal action.
        discount: Discount per step.
        rng: Random numbers, for the policy and the environment.

    Yields:
        Q and the behaviour policy after each episode; the target policy is the greedy one.

    Raises:
        ValueError: If b never takes a legal action.
    """
    b, world = probabilities_of(b, env), Indexed(env, rng, discount)
    _check_covers(world, b, world.legal)
    Q, C = world.action_values(), np.zeros(world.legal.shape)
    while True:
        states, actions, rewards = world.episode(b, rng)
        G, W = 0.0, 1.0
        for s, a, r in zip(reversed(states), reversed(actions), reversed(rewards), strict=True):
            G = discount * G + r
            C[s, a] += W
            Q[s, a] += W / C[s, a] * (G - Q[s, a])
            if a != Q[s].argmax():
                break
            W /= b[s, a]
        yield world.estimate(Q=Q, pi=b)


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
        alpha: Step size of the preferences, which may be above 1.
        baseline: Step size of V, which is subtracted from returns. None for no baseline.
        discount: Discount per step.
        rng: Random numbers, for the policy and the environment.

    Yields:
        The policy after each episode, and V if there is a baseline.
    """
    check_rational(alpha, "alpha", 0, 10**9)
    check_rational(baseline or 0, "baseline", 0, 1)
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
        yield world.estimate(V=None if baseline is None else V, pi=pi)
