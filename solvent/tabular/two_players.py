"""Learning in two-player zero-sum games, by the matrix game of each state.

In each state of a two-player game both players choose at once, so a state is a matrix game,

    A(a, b) = r(s, a, b) + sum over s' of p(s' | s, a, b) V(s'),

the *stage game* of the state (L. S. Shapley, "Stochastic Games", PNAS 39, 1953). Where players take
turns it has one row or one column. The rows and columns of A are the legal actions of the state.

Each algorithm plays the stage game of every state. On a matrix it is the algorithm of its paper. On
a game, a sweep takes one step in each state and sets V to the value of the strategies so far, so
that strategies and values improve together. R. Zhang et al. 2022 ("Policy Optimization for Markov
Games: Unified Framework and Faster Convergence") study this scheme.

The steps of fictitious play, regret matching and mirror descent are compiled loops, to be read in
:mod:`solvent.baselines.stage_games`.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.baselines.stage_games import (
    STEP_SIZE,
    Both,
    FictitiousPlay,
    MirrorDescentSweeps,
    RegretMatching,
    StageGames,
    StageLearner,
)
from solvent.exact.matrix_game import solve_matrix_game
from solvent.model import GameInfo, TabularGame
from solvent.model.arrays import Floats
from solvent.model.parameters import check_rational
from solvent.tabular.interface import (
    Estimate,
    StepSize,
    check_one_discount,
    draw,
    sample_average,
    step_size,
)


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


def as_table(game: TabularGame | NDArray[Any]) -> TabularGame:
    """Return the table of a game.

    Args:
        game: The table itself, or a matrix of payoffs to the row player.
    """
    return game if isinstance(game, TabularGame) else matrix_game(game)


def _estimate(stages: StageGames) -> Estimate:
    """Return the values and strategies of both players."""
    return Estimate(V=stages.values, pi=stages.policies())


def _swept(learner: StageLearner) -> Generator[Estimate, None, None]:
    """Yield a learner's estimates after each sweep."""
    while True:
        learner.learn(1)
        yield _estimate(learner)


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
    stages = StageGames(as_table(game))
    V, x, y = stages.values, stages.by_state(0), stages.by_state(1)
    delta = np.inf
    while delta > theta:
        delta = 0.0
        for s in stages.states:
            solution = solve_matrix_game(stages.matrix(s))
            delta = max(delta, abs(solution.value - V[s]))
            V[s] = solution.value
            x[s][:], y[s][:] = solution.row_strategy, solution.column_strategy
        yield _estimate(stages)


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
    The table is only sampled. :mod:`solvent.baselines.q_learning` has a compiled version.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.
        alpha: The step size.
        explore: Probability of a uniformly random action, for each player separately.
        discount: Discount of the next state's value.
        rng: Random numbers, for both policies and the game.

    Yields:
        V and the strategies after each episode.

    Raises:
        ValueError: If the game is for one player or already discounted, or a parameter is not
            within 0..1.
    """
    check_rational(explore, "explore", 0, 1)
    game, alpha = as_table(game), step_size(alpha)
    check_one_discount(game, discount)
    stages = StageGames(game)
    V, x, y = stages.values, stages.by_state(0), stages.by_state(1)
    Q = [np.zeros((len(x[s]), len(y[s]))) for s in range(len(V))]
    N = [np.zeros(Q[s].shape, int) for s in range(len(V))]
    while True:
        s = draw(game.initial, rng)
        while not game.terminal[s]:
            a = draw((1 - explore) * x[s] + explore / len(x[s]), rng)
            b = draw((1 - explore) * y[s] + explore / len(y[s]), rng)
            row = game.row_start[s] + a * len(y[s]) + b
            first, last = game.outcome_start[row : row + 2]
            outcome = first + draw(game.probability[first:last], rng)
            s2, r = game.next_state[outcome], game.outcome_reward[outcome]
            N[s][a, b] += 1
            Q[s][a, b] += alpha(N[s][a, b]) * (r + discount * V[s2] - Q[s][a, b])
            solution = solve_matrix_game(Q[s])
            V[s] = solution.value
            x[s][:], y[s][:] = solution.row_strategy, solution.column_strategy
            s = s2
        yield _estimate(stages)


def fictitious_play(game: TabularGame | NDArray[Any]) -> Iterator[Estimate]:
    """Fictitious play: each player responds to the other's average strategy.

    G. W. Brown, "Iterative Solution of Games by Fictitious Play", 1951; the players take turns, as
    in his paper. Uniform play counts as the first strategy of both.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.

    Yields:
        V and the average strategies after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    return _swept(FictitiousPlay(as_table(game)))


def regret_matching(game: TabularGame | NDArray[Any]) -> Iterator[Estimate]:
    """Regret matching: actions are played in proportion to their positive regrets.

    S. Hart and A. Mas-Colell, "A Simple Adaptive Procedure Leading to Correlated Equilibrium",
    Econometrica 68, 2000.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.

    Yields:
        V and the average strategies after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    return _swept(RegretMatching(as_table(game), plus=False))


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
    return _swept(RegretMatching(as_table(game)))


def replicator_dynamics(
    game: TabularGame | NDArray[Any], *, h: float = 0.1, start: Both | None = None
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
        V and the current strategies after each sweep.

    Raises:
        ValueError: If the game is for one player.
    """
    stages = StageGames(as_table(game), start=start)
    V, x, y = stages.values, stages.by_state(0), stages.by_state(1)

    def flow(A: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        return x * (A @ y - x @ A @ y), y * (x @ A @ y - x @ A)

    while True:
        for s in stages.states:
            A = stages.matrix(s)
            x1, y1 = flow(A, x[s], y[s])
            x2, y2 = flow(A, x[s] + h / 2 * x1, y[s] + h / 2 * y1)
            x3, y3 = flow(A, x[s] + h / 2 * x2, y[s] + h / 2 * y2)
            x4, y4 = flow(A, x[s] + h * x3, y[s] + h * y3)
            for shares, step in (
                (x[s], x1 + 2 * x2 + 2 * x3 + x4),
                (y[s], y1 + 2 * y2 + 2 * y3 + y4),
            ):
                moved = np.maximum(shares + h / 6 * step, 0)
                shares[:] = moved / moved.sum()  # Removes the rounding error of a step.
            V[s] = x[s] @ A @ y[s]
        yield _estimate(stages)


def mirror_descent(
    game: TabularGame | NDArray[Any],
    *,
    step: float = STEP_SIZE,
    temperature: Callable[[int], float] = sample_average,
    start: Both | None = None,
) -> Iterator[Estimate]:
    """Magnetic mirror descent: the entropy is the mirror and the uniform strategy the magnet.

    S. Sokota et al., "A Unified Approach to Reinforcement Learning, Quantal Response Equilibria,
    and Two-Player Zero-Sum Games", ICLR 2023. At temperature 0 it is multiplicative weights, which
    circles around an equilibrium. With a falling temperature the strategies themselves tend to one.
    Payoffs are measured in units of their range, and the players take turns.

    Args:
        game: The table of a two-player game, or a matrix of payoffs to the row player.
        step: Step size, per range of the payoffs.
        temperature: Strength of the magnet in a sweep, from 1 on.
        start: [S, A] initial policies of both players. Uniform by default.

    Yields:
        V and the current strategies after each sweep.

    Raises:
        ValueError: If the game is for one player, or the step size is negative.
    """
    return _swept(
        MirrorDescentSweeps(as_table(game), step=step, temperature=temperature, start=start)
    )
