"""Learning from each step: Sutton and Barto (2018), chapters 6, 7, 8 and 12.

The target of a step is its reward plus the current estimate of the value that follows. Algorithms
differ in that estimate: the value of the next action taken, the mean over actions, or the maximum.

A time limit cuts an episode off in a state from which it could have continued. The target then uses
the estimate of that state as usual: only terminal states have the value 0.
"""

from collections.abc import Iterator
from itertools import count

import numpy as np

from solvent.model import TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import check_integer, check_rational
from solvent.tabular.interface import (
    Env,
    Estimate,
    Indexed,
    StepSize,
    draw,
    epsilon_greedy,
    expected,
    probabilities_of,
    step_size,
)


def td(
    env: Env,
    pi: Floats | TabularPolicy,
    *,
    alpha: StepSize = 0.1,
    discount: float = 1.0,
    initial: float = 0.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Tabular TD(0), for estimating V of pi: Section 6.1.

    Args:
        env: An environment whose observation is the number of the state.
        pi: [S, A] policy to evaluate, under which episodes end.
        alpha: The step size.
        discount: Discount of the next state's value.
        initial: Initial estimate of every value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        V after each episode.
    """
    pi, alpha, world = probabilities_of(pi, env), step_size(alpha), Indexed(env, rng, discount)
    V, N = world.values(initial), np.zeros(len(world.legal), int)
    while True:
        s, done = world.reset(), False
        while not done:
            a = draw(pi[s], rng)
            s2, r, done = world.step(a)
            N[s] += 1
            V[s] += alpha(N[s]) * (r + discount * V[s2] - V[s])
            s = s2
        yield world.estimate(V=V, pi=pi)


def n_step_td(
    env: Env,
    pi: Floats | TabularPolicy,
    *,
    n: int = 4,
    alpha: StepSize = 0.1,
    discount: float = 1.0,
    initial: float = 0.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """n-step TD, for estimating V of pi: Section 7.1.

    Args:
        env: An environment whose observation is the number of the state.
        pi: [S, A] policy to evaluate, under which episodes end.
        n: Number of rewards before the bootstrapped value. With 1 this is TD(0).
        alpha: The step size.
        discount: Discount of the next state's value.
        initial: Initial estimate of every value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        V after each episode.

    Raises:
        ValueError: If n is not a whole number from 1 to 10,000.
    """
    check_integer(n, "n", 1, 10_000)
    pi, alpha, world = probabilities_of(pi, env), step_size(alpha), Indexed(env, rng, discount)
    V, N = world.values(initial), np.zeros(len(world.legal), int)
    while True:
        S, R, T = [world.reset()], [0.0], np.inf
        for t in count():
            if t < T:
                s2, r, done = world.step(draw(pi[S[t]], rng))
                S.append(s2)
                R.append(r)
                T = t + 1 if done else T
            tau = t - n + 1
            if tau >= 0:
                end = int(min(tau + n, T))
                G = sum(discount**k * r for k, r in enumerate(R[tau + 1 : end + 1]))
                G += discount ** (end - tau) * V[S[end]]
                s = S[tau]
                N[s] += 1
                V[s] += alpha(N[s]) * (G - V[s])
            if tau == T - 1:
                break
        yield world.estimate(V=V, pi=pi)


def td_lambda(
    env: Env,
    pi: Floats | TabularPolicy,
    *,
    lambda_: float = 0.9,
    alpha: float = 0.1,
    discount: float = 1.0,
    initial: float = 0.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """TD(lambda) with accumulating eligibility traces, for estimating V of pi: Section 12.2.

    The book's box has a weight vector. With one weight per state, that vector is the array V.

    Args:
        env: An environment whose observation is the number of the state.
        pi: [S, A] policy to evaluate, under which episodes end.
        lambda_: Trace-decay parameter, within 0..1. With 0 this is TD(0).
        alpha: The step size.
        discount: Discount of the next state's value.
        initial: Initial estimate of every value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        V after each episode.
    """
    check_rational(alpha, "alpha", 0, 1)
    check_rational(lambda_, "lambda_", 0, 1)
    pi, world = probabilities_of(pi, env), Indexed(env, rng, discount)
    V = world.values(initial)
    while True:
        s, done = world.reset(), False
        z = np.zeros(len(V))
        while not done:
            a = draw(pi[s], rng)
            s2, r, done = world.step(a)
            z *= discount * lambda_
            z[s] += 1
            V += alpha * (r + discount * V[s2] - V[s]) * z
            s = s2
        yield world.estimate(V=V, pi=pi)


def sarsa(
    env: Env,
    *,
    alpha: StepSize = 0.1,
    epsilon: float = 0.1,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Sarsa, on-policy TD control: Section 6.4.

    Args:
        env: An environment whose observation is the number of the state.
        alpha: The step size.
        epsilon: Probability of a uniformly random action.
        discount: Discount of the next state's value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        Q and the epsilon-greedy policy after each episode.
    """
    alpha, world = step_size(alpha), Indexed(env, rng, discount)
    Q, N = world.action_values(), np.zeros(world.legal.shape, int)
    pi = epsilon_greedy(Q, epsilon)
    while True:
        s, done = world.reset(), False
        a = draw(pi[s], rng)
        while not done:
            s2, r, done = world.step(a)
            a2 = draw(pi[s2], rng)
            N[s, a] += 1
            Q[s, a] += alpha(N[s, a]) * (r + discount * Q[s2, a2] - Q[s, a])
            pi[s] = epsilon_greedy(Q[s], epsilon)
            s, a = s2, a2
        yield world.estimate(Q=Q, pi=pi)


def n_step_sarsa(
    env: Env,
    *,
    n: int = 4,
    alpha: StepSize = 0.1,
    epsilon: float = 0.1,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """n-step Sarsa, on-policy control: Section 7.2.

    Args:
        env: An environment whose observation is the number of the state.
        n: Number of rewards before the bootstrapped value. With 1 this is Sarsa.
        alpha: The step size.
        epsilon: Probability of a uniformly random action.
        discount: Discount of the next state's value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        Q and the epsilon-greedy policy after each episode.

    Raises:
        ValueError: If n is not a whole number from 1 to 10,000.
    """
    check_integer(n, "n", 1, 10_000)
    alpha, world = step_size(alpha), Indexed(env, rng, discount)
    Q, N = world.action_values(), np.zeros(world.legal.shape, int)
    pi = epsilon_greedy(Q, epsilon)
    while True:
        S, R, T = [world.reset()], [0.0], np.inf
        A = [draw(pi[S[0]], rng)]
        for t in count():
            if t < T:
                s2, r, done = world.step(A[t])
                S.append(s2)
                R.append(r)
                A.append(draw(pi[s2], rng))
                T = t + 1 if done else T
            tau = t - n + 1
            if tau >= 0:
                end = int(min(tau + n, T))
                G = sum(discount**k * r for k, r in enumerate(R[tau + 1 : end + 1]))
                G += discount ** (end - tau) * Q[S[end], A[end]]
                s, a = S[tau], A[tau]
                N[s, a] += 1
                Q[s, a] += alpha(N[s, a]) * (G - Q[s, a])
                pi[s] = epsilon_greedy(Q[s], epsilon)
            if tau == T - 1:
                break
        yield world.estimate(Q=Q, pi=pi)


def sarsa_lambda(
    env: Env,
    *,
    lambda_: float = 0.9,
    alpha: float = 0.1,
    epsilon: float = 0.1,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Sarsa(lambda) with accumulating eligibility traces: Section 12.7.

    The book's box has a weight vector. With one weight per state-action pair, that vector is the
    array Q.

    Args:
        env: An environment whose observation is the number of the state.
        lambda_: Trace-decay parameter, within 0..1. With 0 this is Sarsa.
        alpha: The step size.
        epsilon: Probability of a uniformly random action.
        discount: Discount of the next state's value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        Q and the epsilon-greedy policy after each episode.
    """
    check_rational(alpha, "alpha", 0, 1)
    check_rational(lambda_, "lambda_", 0, 1)
    world = Indexed(env, rng, discount)
    Q = world.action_values()
    pi = epsilon_greedy(Q, epsilon)
    while True:
        s, done = world.reset(), False
        a = draw(pi[s], rng)
        z = np.zeros(Q.shape)
        while not done:
            s2, r, done = world.step(a)
            a2 = draw(pi[s2], rng)
            z *= discount * lambda_
            z[s, a] += 1
            Q += alpha * (r + discount * Q[s2, a2] - Q[s, a]) * z
            pi = epsilon_greedy(Q, epsilon)
            s, a = s2, a2
        yield world.estimate(Q=Q, pi=pi)


def expected_sarsa(
    env: Env,
    *,
    alpha: StepSize = 0.1,
    epsilon: float = 0.1,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Expected Sarsa, on-policy TD control: Section 6.6.

    Args:
        env: An environment whose observation is the number of the state.
        alpha: The step size.
        epsilon: Probability of a uniformly random action.
        discount: Discount of the next state's value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        Q and the epsilon-greedy policy after each episode.
    """
    alpha, world = step_size(alpha), Indexed(env, rng, discount)
    Q, N = world.action_values(), np.zeros(world.legal.shape, int)
    pi = epsilon_greedy(Q, epsilon)
    while True:
        s, done = world.reset(), False
        while not done:
            a = draw(pi[s], rng)
            s2, r, done = world.step(a)
            N[s, a] += 1
            Q[s, a] += alpha(N[s, a]) * (r + discount * expected(pi[s2], Q[s2]) - Q[s, a])
            pi[s] = epsilon_greedy(Q[s], epsilon)
            s = s2
        yield world.estimate(Q=Q, pi=pi)


def q_learning(
    env: Env,
    *,
    alpha: StepSize = 0.1,
    epsilon: float = 0.1,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Q-learning, off-policy TD control: Section 6.5.

    C. J. C. H. Watkins and P. Dayan, "Q-learning", Machine Learning 8, 1992.
    :mod:`solvent.baselines.q_learning` has a compiled version.

    Args:
        env: An environment whose observation is the number of the state.
        alpha: The step size.
        epsilon: Probability of a uniformly random action.
        discount: Discount of the next state's value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        Q and the epsilon-greedy policy, which acts, after each episode.
    """
    alpha, world = step_size(alpha), Indexed(env, rng, discount)
    Q, N = world.action_values(), np.zeros(world.legal.shape, int)
    pi = epsilon_greedy(Q, epsilon)
    while True:
        s, done = world.reset(), False
        while not done:
            a = draw(pi[s], rng)
            s2, r, done = world.step(a)
            N[s, a] += 1
            Q[s, a] += alpha(N[s, a]) * (r + discount * Q[s2].max() - Q[s, a])
            pi[s] = epsilon_greedy(Q[s], epsilon)
            s = s2
        yield world.estimate(Q=Q, pi=pi)


def double_q_learning(
    env: Env,
    *,
    alpha: StepSize = 0.1,
    epsilon: float = 0.1,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Double Q-learning, off-policy TD control: Section 6.7.

    One table selects the best action and the other gives its value, so that the maximum is not
    biased upwards (H. van Hasselt, "Double Q-learning", NIPS 2010).

    Args:
        env: An environment whose observation is the number of the state.
        alpha: The step size.
        epsilon: Probability of a uniformly random action.
        discount: Discount of the next state's value.
        rng: Random numbers, for the policy and the environment.

    Yields:
        The mean of both tables and its epsilon-greedy policy, after each episode.
    """
    alpha, world = step_size(alpha), Indexed(env, rng, discount)
    Q1, Q2 = world.action_values(), world.action_values()
    N1, N2 = np.zeros(Q1.shape, int), np.zeros(Q1.shape, int)
    pi = epsilon_greedy(Q1, epsilon)
    while True:
        s, done = world.reset(), False
        while not done:
            a = draw(pi[s], rng)
            s2, r, done = world.step(a)
            first = rng.random() < 0.5
            Q, other, N = (Q1, Q2, N1) if first else (Q2, Q1, N2)
            N[s, a] += 1
            target = r + discount * other[s2, Q[s2].argmax()]
            Q[s, a] += alpha(N[s, a]) * (target - Q[s, a])
            pi[s] = epsilon_greedy(Q1[s] + Q2[s], epsilon)
            s = s2
        yield world.estimate(Q=(Q1 + Q2) / 2, pi=pi)


def dyna_q(
    env: Env,
    *,
    n: int = 5,
    alpha: StepSize = 0.1,
    epsilon: float = 0.1,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Tabular Dyna-Q, which also learns from remembered steps: Section 8.2.

    The model stores the latest outcome of each state-action pair, which is exact if nothing is
    random. Remembered pairs are drawn uniformly; the book's box draws a state and then one of the
    actions taken in it.

    Args:
        env: An environment whose observation is the number of the state.
        n: Number of remembered steps after each real step. With 0 this is Q-learning.
        alpha: The step size.
        epsilon: Probability of a uniformly random action.
        discount: Discount of the next state's value.
        rng: Random numbers, for the policy, the environment and the memory.

    Yields:
        Q and the epsilon-greedy policy after each episode.

    Raises:
        ValueError: If n is not a whole number from 0 to 10,000.
    """
    check_integer(n, "n", 0, 10_000)
    alpha, world = step_size(alpha), Indexed(env, rng, discount)
    Q, N = world.action_values(), np.zeros(world.legal.shape, int)
    pi = epsilon_greedy(Q, epsilon)
    model: dict[tuple[int, int], tuple[float, int]] = {}
    seen: list[tuple[int, int]] = []

    def learn(s: int, a: int, r: float, s2: int) -> None:
        N[s, a] += 1
        Q[s, a] += alpha(N[s, a]) * (r + discount * Q[s2].max() - Q[s, a])
        pi[s] = epsilon_greedy(Q[s], epsilon)

    while True:
        s, done = world.reset(), False
        while not done:
            a = draw(pi[s], rng)
            s2, r, done = world.step(a)
            learn(s, a, r, s2)
            if (s, a) not in model:
                seen.append((s, a))
            model[s, a] = r, s2
            for k in rng.integers(len(seen), size=n).tolist():
                s_seen, a_seen = seen[k]
                learn(s_seen, a_seen, *model[seen[k]])
            s = s2
        yield world.estimate(Q=Q, pi=pi)
