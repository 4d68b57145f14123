"""Learning in two-player zero-sum games, by the matrix game of each state.

In each state of a two-player game both players choose at once, so a state is a matrix game,

    A(a, b) = r(s, a, b) + sum over s' of p(s' | s, a, b) V(s'),

the *stage game* of the state (L. S. Shapley, "Stochastic Games", PNAS 39, 1953). Where players take
turns it has one row or one column. The rows and columns of A are the legal actions of the state.

Each algorithm plays the stage game of every state. On a matrix it is the algorithm of its paper. On
a game, a sweep takes one step in each state and sets V to the
value of the strategies so far, so that strategies and values improve together. K. Zhang et al. 2022
("Policy Optimization for Markov Games: Unified Framework and Faster Convergence") study this
scheme. The compiled twins are in :mod:`solvent.baselines`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.exact.components import components
from solvent.exact.matrix_game import solve_matrix_game
from solvent.model import GameInfo, TabularGame
from solvent.model.arrays import Floats
from solvent.tabular.interface import (
    Estimate,
    StepSize,
    draw,
    sample_average,
    softmax,
    step_size,
)

Strategies: TypeAlias = list[Floats]
"""A player's mixed strategy in each state, over the legal actions there."""


def matrix_game(
    payoffs: NDArray[Any] | Sequence[Sequence[float]], *, name: str = "matrix-game"
) -> TabularGame:
    """Return a game in which both players choose once, at the same time.

    Args:
        payoffs: [m, n] payoffs to player 0, who chooses the row; player 1 chooses the column.
        name: Name of the game.

    Returns:
        A table in which state 0 is the choice and state 1 the end.

    Raises:
        ValueError: If `payoffs` is empty or not a matrix of finite numbers.
    """
    matrix = np.asarray(payoffs, float)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"payoffs has shape {matrix.shape}; allowed is (m, n), both from 1 on")
    m, n = matrix.shape
    info = GameInfo(
        name=name,
        players=2,
        actions=(tuple(f"row {i}" for i in range(m)), tuple(f"column {j}" for j in range(n))),
        acyclic=True,
        reward_range=(float(matrix.min()), float(matrix.max())),
        sources=(),
    )
    return TabularGame(
        info=info,
        states=("choice", "end"),
        row_start=np.array([0, m * n, m * n]),
        outcome_start=np.arange(m * n + 1),
        next_state=np.ones(m * n, np.int64),
        probability=np.ones(m * n),
        outcome_reward=matrix.ravel(),
        mask=(np.array([[True], [False]]).repeat(m, 1), np.array([[True], [False]]).repeat(n, 1)),
        initial=np.array([1.0, 0.0]),
    )


class StageGame:
    """The stage games of a two-player game.

    Args:
        game: A table, or a matrix of payoffs, which is a game of one state.

    Attributes:
        game: The table.
        states: The nonterminal states, successors first where such an order exists, so that a sweep
            uses the values that it has just computed.

    Raises:
        ValueError: If the game is for one player.
    """

    def __init__(self, game: TabularGame | NDArray[Any]) -> None:
        self.game = game if isinstance(game, TabularGame) else matrix_game(game)
        if self.game.info.players != 2:
            raise ValueError(f"{self.game.info.name} is a game for 1; allowed is a game for 2")
        order = components(self.game).order
        self.states: list[int] = order[~self.game.terminal[order]].tolist()

    def matrix(self, s: int, V: Floats) -> Floats:
        """Return the stage game of a state, [m, n] payoffs to player 0.

        Args:
            s: The state.
            V: [S] values of all states to player 0.
        """
        game = self.game
        starts = game.outcome_start[game.row_start[s] : game.row_start[s + 1] + 1]
        all_of = slice(starts[0], starts[-1])
        values = game.outcome_reward[all_of] + V[game.next_state[all_of]]
        sums = np.add.reduceat(game.probability[all_of] * values, starts[:-1] - starts[0])
        return np.asarray(sums.reshape(self.shape(s)))

    def shape(self, s: int) -> tuple[int, int]:
        """Return the numbers of legal actions of both players in a state.

        Args:
            s: The state.
        """
        first, second = self.game.action_count
        return int(first[s]), int(second[s])

    def sample(self, s: int, a: int, b: int, rng: np.random.Generator) -> tuple[int, float]:
        """Draw the next state and the reward to player 0.

        Args:
            s: The state.
            a: Player 0's action, as its rank among the legal actions of player 0.
            b: Player 1's action, as its rank among the legal actions of player 1.
            rng: Generator from which the outcome is drawn.
        """
        game = self.game
        row = game.row_start[s] + a * self.shape(s)[1] + b
        first, last = game.outcome_start[row : row + 2]
        outcome = first + draw(game.probability[first:last], rng)
        return int(game.next_state[outcome]), float(game.outcome_reward[outcome])

    def uniform(self, player: int) -> Strategies:
        """Return a player's uniform strategies.

        Args:
            player: 0 or 1.
        """
        return [np.full(n, 1 / max(n, 1)) for n in self.game.action_count[player].tolist()]

    def ranked(self, player: int, policy: Floats | None) -> Strategies:
        """Return a player's strategies from a policy.

        Args:
            player: 0 or 1.
            policy: [S, A] policy, or None for the uniform one.
        """
        if policy is None:
            return self.uniform(player)
        return [row[legal] for row, legal in zip(policy, self.game.mask[player], strict=True)]

    def policies(self, x: Sequence[Floats], y: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Return both players' strategies as policies, [S, A] each.

        Args:
            x: Strategies of player 0, one per state.
            y: Strategies of player 1, one per state.
        """
        first, second = (np.zeros(mask.shape) for mask in self.game.mask)
        first[self.game.mask[0]] = np.concatenate(x)
        second[self.game.mask[1]] = np.concatenate(y)
        return first, second


Start = tuple[Floats, Floats]
"""Initial policies of both players, [S, A] each."""


def shapley_iteration(
    game: TabularGame | NDArray[Any], *, theta: float = 1e-10
) -> Iterator[Estimate]:
    """Value iteration for two players.

    L. S. Shapley, "Stochastic Games", PNAS 39, 1953: V(s) becomes the value of the stage game.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.
        theta: Stopping threshold: the last sweep changes no value by more than this.

    Yields:
        V and the optimal strategies of the stage games, after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    stage = StageGame(game)
    V, x, y = np.zeros(stage.game.n_states), stage.uniform(0), stage.uniform(1)
    delta = np.inf
    while delta > theta:
        delta = 0.0
        for s in stage.states:
            solution = solve_matrix_game(stage.matrix(s, V))
            delta = max(delta, abs(solution.value - V[s]))
            V[s], x[s], y[s] = solution.value, solution.row_strategy, solution.column_strategy
        yield Estimate(V=V, pi=stage.policies(x, y))


def minimax_q(
    game: TabularGame | NDArray[Any],
    *,
    alpha: StepSize = 0.1,
    explore: float = 0.2,
    discount: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Minimax-Q for both players, in self-play.

    M. L. Littman, "Markov Games as a Framework for Multi-Agent Reinforcement Learning", ICML 1994.
    The table is only sampled. The compiled twin is :mod:`solvent.baselines.q_learning`.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.
        alpha: The step size.
        explore: Probability of a uniformly random action, for each player separately.
        discount: Discount of the next state's value.
        rng: Random numbers, for both policies and the game.

    Yields:
        V and the strategies after each episode.

    Raises:
        ValueError: If the game is for one player.
    """
    stage, alpha = StageGame(game), step_size(alpha)
    V, x, y = np.zeros(stage.game.n_states), stage.uniform(0), stage.uniform(1)
    Q = [np.zeros(stage.shape(s)) for s in range(len(V))]
    N = [np.zeros(stage.shape(s), int) for s in range(len(V))]
    while True:
        s = draw(stage.game.initial, rng)
        while not stage.game.terminal[s]:
            a = draw((1 - explore) * x[s] + explore / len(x[s]), rng)
            b = draw((1 - explore) * y[s] + explore / len(y[s]), rng)
            s2, r = stage.sample(s, a, b, rng)
            N[s][a, b] += 1
            Q[s][a, b] += alpha(N[s][a, b]) * (r + discount * V[s2] - Q[s][a, b])
            solution = solve_matrix_game(Q[s])
            V[s], x[s], y[s] = solution.value, solution.row_strategy, solution.column_strategy
            s = s2
        yield Estimate(V=V, pi=stage.policies(x, y))


def fictitious_play(game: TabularGame | NDArray[Any]) -> Iterator[Estimate]:
    """Fictitious play: each player responds to the other's average strategy.

    G. W. Brown, "Iterative Solution of Games by Fictitious Play", 1951; the players take turns, as
    in his paper. Uniform play counts as the first strategy of both. The compiled twin is
    :mod:`solvent.baselines.stage_games`.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.

    Yields:
        V and the average strategies after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    stage = StageGame(game)
    V, x, y = np.zeros(stage.game.n_states), stage.uniform(0), stage.uniform(1)
    for t in count(1):
        for s in stage.states:
            A = stage.matrix(s, V)
            row = (A @ y[s]).argmax()
            x[s] += (np.eye(len(x[s]))[row] - x[s]) / (t + 1)
            column = (x[s] @ A).argmin()
            y[s] += (np.eye(len(y[s]))[column] - y[s]) / (t + 1)
            V[s] = x[s] @ A @ y[s]
        yield Estimate(V=V, pi=stage.policies(x, y))


def regret_matching(game: TabularGame | NDArray[Any]) -> Iterator[Estimate]:
    """Regret matching: actions are played in proportion to their positive regrets.

    S. Hart and A. Mas-Colell, "A Simple Adaptive Procedure Leading to Correlated Equilibrium",
    Econometrica 68, 2000. The compiled twin is :mod:`solvent.baselines.stage_games`.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.

    Yields:
        V and the average strategies after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    stage = StageGame(game)
    V, x_mean, y_mean = np.zeros(stage.game.n_states), stage.uniform(0), stage.uniform(1)
    regret_x, regret_y = list(map(np.zeros_like, x_mean)), list(map(np.zeros_like, y_mean))
    for t in count(1):
        for s in stage.states:
            A = stage.matrix(s, V)
            x, y = proportional(regret_x[s]), proportional(regret_y[s])
            regret_x[s] += A @ y - x @ A @ y
            regret_y[s] += x @ A @ y - x @ A
            x_mean[s] += (x - x_mean[s]) / t
            y_mean[s] += (y - y_mean[s]) / t
            V[s] = x_mean[s] @ A @ y_mean[s]
        yield Estimate(V=V, pi=stage.policies(x_mean, y_mean))


def regret_matching_plus(game: TabularGame | NDArray[Any]) -> Iterator[Estimate]:
    """Regret matching+: no regret falls below 0, so an action that becomes good returns at once.

    O. Tammelin, "Solving Large Imperfect Information Games Using CFR+", arXiv:1407.5042, 2014. The
    players take turns, and the t-th strategy counts t times in the average.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.

    Yields:
        V and the average strategies after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    stage = StageGame(game)
    V, x_mean, y_mean = np.zeros(stage.game.n_states), stage.uniform(0), stage.uniform(1)
    regret_x, regret_y = list(map(np.zeros_like, x_mean)), list(map(np.zeros_like, y_mean))
    for t in count(1):
        for s in stage.states:
            A = stage.matrix(s, V)
            x, y = proportional(regret_x[s]), proportional(regret_y[s])
            regret_x[s] = np.maximum(regret_x[s] + A @ y - x @ A @ y, 0)
            x = proportional(regret_x[s])
            regret_y[s] = np.maximum(regret_y[s] + x @ A @ y - x @ A, 0)
            y = proportional(regret_y[s])
            x_mean[s] += 2 / (t + 1) * (x - x_mean[s])
            y_mean[s] += 2 / (t + 1) * (y - y_mean[s])
            V[s] = x_mean[s] @ A @ y_mean[s]
        yield Estimate(V=V, pi=stage.policies(x_mean, y_mean))


def proportional(weights: Floats) -> Floats:
    """Return the strategy in proportion to positive weights, [n]; uniform if there are none.

    Args:
        weights: [n] weight of each action, such as its regret.
    """
    positive = np.maximum(weights, 0)
    total = positive.sum()
    return np.asarray(positive / total if total > 0 else np.full(len(weights), 1 / len(weights)))


def replicator_dynamics(
    game: TabularGame | NDArray[Any], *, h: float = 0.1, start: Start | None = None
) -> Iterator[Estimate]:
    """Replicator dynamics: an action's share grows with its advantage over the mean payoff.

    P. D. Taylor and L. B. Jonker, "Evolutionary Stable Strategies and Game Dynamics", Mathematical
    Biosciences 40, 1978; for two populations J. Hofbauer and K. Sigmund, *Evolutionary Games and
    Population Dynamics*, 1998. The differential equation is solved by the fourth-order Runge-Kutta
    method.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.
        h: Length of a time step.
        start: [S, A] initial policies of both players. Uniform by default.

    Yields:
        V and the present strategies after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    stage = StageGame(game)
    first, second = start or (None, None)
    V, x, y = np.zeros(stage.game.n_states), stage.ranked(0, first), stage.ranked(1, second)

    def flow(A: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        return x * (A @ y - x @ A @ y), y * (x @ A @ y - x @ A)

    while True:
        for s in stage.states:
            A = stage.matrix(s, V)
            x1, y1 = flow(A, x[s], y[s])
            x2, y2 = flow(A, x[s] + h / 2 * x1, y[s] + h / 2 * y1)
            x3, y3 = flow(A, x[s] + h / 2 * x2, y[s] + h / 2 * y2)
            x4, y4 = flow(A, x[s] + h * x3, y[s] + h * y3)
            # Without the rounding error of a step.
            x[s] = proportional(x[s] + h / 6 * (x1 + 2 * x2 + 2 * x3 + x4))
            y[s] = proportional(y[s] + h / 6 * (y1 + 2 * y2 + 2 * y3 + y4))
            V[s] = x[s] @ A @ y[s]
        yield Estimate(V=V, pi=stage.policies(x, y))


def mirror_descent(
    game: TabularGame | NDArray[Any],
    *,
    step: float = 4.0,
    temperature: float | Callable[[int], float] = sample_average,
    start: Start | None = None,
) -> Iterator[Estimate]:
    """Magnetic mirror descent: the entropy is the mirror and the uniform strategy the magnet.

    S. Sokota et al., "A Unified Approach to Reinforcement Learning, Quantal Response Equilibria,
    and Two-Player Zero-Sum Games", ICLR 2023. At temperature 0 it is multiplicative weights, which
    circles around an equilibrium. With a falling temperature the strategies themselves tend to one.
    Payoffs are measured in units of their range, and the players take turns. The compiled twin is
    :mod:`solvent.baselines.stage_games`.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.
        step: Step size, per range of the payoffs.
        temperature: Strength of the magnet: a constant, or a function of the sweep, from 1 on.
        start: [S, A] initial policies of both players. Uniform by default.

    Yields:
        V and the present strategies after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    stage = StageGame(game)
    first, second = start or (None, None)
    V, x, y = np.zeros(stage.game.n_states), stage.ranked(0, first), stage.ranked(1, second)
    for t in count(1):
        pull = 1 + step * (temperature(t) if callable(temperature) else temperature)
        for s in stage.states:
            A = stage.matrix(s, V)
            size = step / (np.ptp(A) or 1.0)
            # A probability that underflows could never come back.
            x[s] = softmax((np.log(np.maximum(x[s], 1e-300)) + size * (A @ y[s])) / pull)
            y[s] = softmax((np.log(np.maximum(y[s], 1e-300)) - size * (x[s] @ A)) / pull)
            V[s] = x[s] @ A @ y[s]
        yield Estimate(V=V, pi=stage.policies(x, y))
