"""Planning with a model: Sutton and Barto (2018), chapter 4.

The model is the table of a game in which one player chooses. The book's boxes update V in place,
state by state. Here a sweep computes every state from the V of the previous sweep, as in M. L.
Puterman, *Markov Decision Processes*, 1994. Both converge; in-place updates are a little faster.

Without a discount, episodes under a policy may never end. By default policy iteration begins with
the uniform policy, under which episodes end if they end under any policy.
"""

from collections.abc import Iterator

import numpy as np

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats
from solvent.model.parameters import check_integer
from solvent.tabular.interface import (
    Estimate,
    check_one_discount,
    epsilon_greedy,
    expected,
    probabilities_of,
)

TIE = 1e-9
"""Smallest improvement for which policy iteration changes an action."""


def chooser(game: TabularGame) -> int:
    """Return the player who has a choice in a game.

    Args:
        game: The table.

    Raises:
        ValueError: If both players have a choice.
    """
    first, second = ((count > 1).any() for count in game.action_count)
    if first and second:
        raise ValueError(
            f"both players of {game.info.name} have a choice; solvent.model.against folds a "
            f"policy of one of them into the game"
        )
    return int(second)


def lookahead(game: TabularGame, V: Floats, discount: float = 1.0) -> Floats:
    """Return the sum over s' and r of p(s', r | s, a) (r + discount V(s')) for each action.

    Args:
        game: The table of a game in which one player chooses.
        V: [S] state values for that player.
        discount: Discount of the next state's value, from 0 to 1.

    Returns:
        [S, A] values for that player: minus infinity for illegal actions, 0 in terminal states.

    Raises:
        ValueError: If both players have a choice, the game is already discounted, or the discount
            is not within 0..1.
    """
    check_one_discount(game, discount)
    player = chooser(game)
    sign = 1 - 2 * player
    Q = np.where(game.mask[player] | game.terminal[:, None], 0.0, -np.inf)
    rows = game.expectation(sign * discount * V)
    Q[game.row_state, game.row_action[player]] = sign * rows
    return Q


def policy_evaluation(
    game: TabularGame, pi: Floats | TabularPolicy, *, discount: float = 1.0, theta: float = 1e-10
) -> Iterator[Estimate]:
    """Iterative policy evaluation, for estimating V of pi: Section 4.1.

    Args:
        game: The table of a game in which one player chooses.
        pi: [S, A] policy to evaluate. Without a discount, one under which episodes end.
        discount: Discount of the next state's value.
        theta: Stopping threshold: the last sweep changes no value by more than this.

    Yields:
        V after each sweep.

    Raises:
        ValueError: If both players have a choice.
    """
    pi, V = probabilities_of(pi), np.zeros(game.n_states)
    delta = np.inf
    while delta > theta:
        old, V = V, expected(pi, lookahead(game, V, discount))
        delta = np.abs(V - old).max()
        yield Estimate(V=V, pi=pi)


def value_iteration(
    game: TabularGame, *, discount: float = 1.0, theta: float = 1e-10
) -> Iterator[Estimate]:
    """Value iteration, for estimating the optimal policy: Section 4.4.

    Args:
        game: The table of a game in which one player chooses.
        discount: Discount of the next state's value.
        theta: Stopping threshold: the last sweep changes no value by more than this.

    Yields:
        V after each sweep, and the Q whose maximum over actions it is.

    Raises:
        ValueError: If both players have a choice.
    """
    V = np.zeros(game.n_states)
    delta = np.inf
    while delta > theta:
        Q = lookahead(game, V, discount)
        old, V = V, Q.max(axis=1)
        delta = np.abs(V - old).max()
        yield Estimate(V=V, Q=Q)


def policy_iteration(
    game: TabularGame,
    *,
    start: Floats | TabularPolicy | None = None,
    discount: float = 1.0,
    theta: float = 1e-10,
) -> Iterator[Estimate]:
    """Policy iteration, for estimating the optimal policy: Section 4.3.

    A state changes its action only for one that is better by more than rounding, so the policy
    becomes stable even where two actions are equally good (Exercise 4.4). Each evaluation begins at
    0, not at the last policy's V as in the book: if the new policy cycled forever without a reward,
    it would keep that V.

    Args:
        game: The table of a game in which one player chooses.
        start: [S, A] first policy, under which episodes end. Uniform by default.
        discount: Discount of the next state's value.
        theta: Threshold: an evaluation ends after a sweep that changes no value by more than this.

    Yields:
        The policy and its V after each evaluation.

    Raises:
        ValueError: If both players have a choice.
    """
    uniform = TabularPolicy.uniform(game, player=chooser(game))
    pi = probabilities_of(uniform if start is None else start)
    stable = False
    while not stable:
        for estimate in policy_evaluation(game, pi, discount=discount, theta=theta):
            V = estimate.V
        assert V is not None
        yield Estimate(V=V, pi=pi)

        Q = lookahead(game, V, discount)
        better = Q.max(axis=1) > expected(pi, Q) + TIE
        pi = np.where(better[:, None], epsilon_greedy(Q), pi)
        stable = not better.any()


def modified_policy_iteration(
    game: TabularGame, *, sweeps: int = 5, discount: float = 1.0, theta: float = 1e-10
) -> Iterator[Estimate]:
    """Modified policy iteration, with a few sweeps per evaluation: Puterman (1994), Section 6.5.

    M. L. Puterman and M. C. Shin, "Modified Policy Iteration Algorithms for Discounted Markov
    Decision Problems", Management Science 24, 1978. With 0 sweeps it is value iteration.

    Args:
        game: The table of a game in which one player chooses.
        sweeps: Number of evaluation sweeps after each improvement.
        discount: Discount of the next state's value.
        theta: Threshold: iteration ends when an improvement changes no value by more than this.

    Yields:
        V after the sweeps of each policy, the policy, and the Q for which it is greedy.

    Raises:
        ValueError: If both players have a choice, or `sweeps` is not a whole number from 0 to
            10,000.
    """
    check_integer(sweeps, "sweeps", 0, 10_000)
    V = np.zeros(game.n_states)
    delta = np.inf
    while delta > theta:
        Q = lookahead(game, V, discount)
        pi = epsilon_greedy(Q)
        old, V = V, Q.max(axis=1)
        delta = np.abs(V - old).max()
        for _ in range(sweeps):
            V = expected(pi, lookahead(game, V, discount))
        yield Estimate(V=V, Q=Q, pi=pi)
