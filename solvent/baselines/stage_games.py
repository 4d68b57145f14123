"""Learning the matrix games of all states at once, by sweeps over a table.

In each state both players choose at once, so that a state is a matrix game,

    Q(s, a, b) = r(s, a, b) + sum over s' of p(s' | s, a, b) V(s'),

the *stage game* of the state (Shapley 1953, *Stochastic games*). A sweep goes through all states,
successors first where there is such an order, computes Q from the present V, lets both players
take one step of an algorithm for matrix games, and sets V(s) to the value of the policies that it
learns. So policies and values improve together, and no stage game is solved. Zhang et al. 2022
(*Policy optimization for Markov games: unified framework and faster convergence*) state the scheme
and show that the average policy of each state tends to an equilibrium if the algorithm has no
regret. Their V is a running mean of the strategies' payoffs; here it is the value of the policies
so far.

Where players take turns, the stage games have one row or one column, and everything holds as well.
Without cycles V is the exact value of the policies after each sweep. In cycles it lags behind them.

These learners are told the model. They draw no samples and no random numbers. There are three:
:class:`RegretMatching`, :class:`FictitiousPlay` and :class:`MirrorDescentSweeps`. Each has a
function below it that takes its step in each state and reads like the algorithm in its paper.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from solvent.exact.compilation import Transitions, transitions_of
from solvent.exact.components import components
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.compiled import njit
from solvent.model.parameters import check_integer, check_rational

STEP_SIZE = 4.0
"""Step size of mirror descent, per range of the payoffs."""

Both: TypeAlias = tuple[Floats, Floats]
"""An array of player 0 and one of player 1, such as their policies, [S, A] each."""


def by_rank(probabilities: Floats, mask: Bools) -> Floats:
    """Return policies [S, A] by rank, [S, most]: over the legal actions in ascending order."""
    count = mask.sum(axis=1)
    strategies = np.zeros((len(mask), max(int(count.max()), 1)))
    strategies[np.arange(strategies.shape[1]) < count[:, None]] = probabilities[mask]
    return strategies


def by_action(strategies: Floats, mask: Bools) -> Floats:
    """Invert :func:`by_rank`."""
    probabilities = np.zeros(mask.shape)
    probabilities[mask] = strategies[np.arange(strategies.shape[1]) < mask.sum(axis=1)[:, None]]
    return probabilities


def uniform_by_rank(game: TabularGame) -> Both:
    """Return the uniform policies of both players, by rank."""
    first, second = (
        by_rank(TabularPolicy.uniform(game, player=player).probabilities, game.mask[player])
        for player in (0, 1)
    )
    return first, second


class StageTable(NamedTuple):
    """The arrays of a game for two that a sweep reads.

    Attributes:
        order: [N] the states that do not end an episode, successors first where there is such an
            order.
        first_count: [S] number of legal actions of player 0.
        second_count: [S] number of legal actions of player 1.
        transitions: The outcomes of each joint action.
        outcome_reward: [O] reward of each outcome to player 0.
    """

    order: Ints
    first_count: Ints
    second_count: Ints
    transitions: Transitions
    outcome_reward: Floats


class StageGames:
    """The stage games of all states, with a mixed strategy of both players in each.

    Args:
        game: A game for two; one player may have no choice.
        start: [S, A] first policies of both players. Uniform by default.

    Attributes:
        game: The game.
        states: [N] the states that do not end an episode, successors first where there is such an
            order.
        strategies: [S, most] strategies of each player, over the legal actions in ascending order.
        values: [S] values of the strategies to player 0.

    Raises:
        ValueError: If the game is for one player.
    """

    def __init__(self, game: TabularGame, *, start: Both | None = None) -> None:
        if game.info.players != 2:
            raise ValueError(f"{game.info.name} is a game for 1; allowed is a game for 2")
        self.game = game
        order = components(game).order
        self.states: Ints = order[~game.terminal[order]]
        self._table = StageTable(
            self.states, *game.action_count, transitions_of(game),
            game.outcome_reward.astype(np.float64, copy=False),
        )  # fmt: skip
        self.values = np.zeros(game.n_states)
        self.strategies = uniform_by_rank(game)
        if start is not None:
            self.strategies = by_rank(start[0], game.mask[0]), by_rank(start[1], game.mask[1])

    def matrix(self, s: int) -> Floats:
        """Return the stage game of a state for the present values, [m, n] payoffs to player 0.

        Args:
            s: The state.
        """
        m, n = (count[s] for count in self.game.action_count)
        found: Floats = stage_game(self._table, s, m, n, self.values)
        return found

    def by_state(self, player: int) -> list[Floats]:
        """Return a player's strategy in each state, as views of `strategies`.

        Args:
            player: The player, 0 or 1.
        """
        counts = self.game.action_count[player]
        return [row[:n] for row, n in zip(self.strategies[player], counts, strict=True)]

    def policies(self) -> Both:
        """Return both players' strategies as policies, [S, A] each."""
        first, second = map(by_action, self.strategies, self.game.mask)
        return first, second


class StageLearner(StageGames, ABC):
    """Both players of a game, learning by sweeps over its table.

    Args:
        game: A game for two; one player may have no choice.
        start: [S, A] first policies of both players. Uniform by default.

    Attributes:
        name: Name of the policies.
        sweeps: Number of sweeps made so far.
    """

    name: str
    sweeps = 0

    def learn(self, sweeps: int) -> None:
        """Make the given number of sweeps, at least 1.

        Args:
            sweeps: Number of further sweeps.

        Raises:
            ValueError: If `sweeps` is no whole number, or not positive.
        """
        for _ in range(check_integer(sweeps, "sweeps", 1, 10**9)):
            self.sweeps += 1
            self._sweep()

    def policy(self, player: int = 0) -> TabularPolicy:
        """Return the learned policy of a player.

        Args:
            player: The player whose policy it is, 0 or 1.
        """
        return TabularPolicy.of(self.game, self.policies()[player], player=player, name=self.name)

    @abstractmethod
    def _sweep(self) -> None:
        """Take one step in each state; `sweeps` counts it already."""


@njit()
def stage_game(table: StageTable, s: int, m: int, n: int, values: Floats) -> Floats:
    """Return Q(s, ., .) for the values of successors, [m, n]."""
    row_start, outcome_start, next_state, probability = table.transitions
    matrix = np.empty(m * n)
    first = row_start[s]
    for k in range(m * n):
        total = 0.0
        for i in range(outcome_start[first + k], outcome_start[first + k + 1]):
            total += probability[i] * (table.outcome_reward[i] + values[next_state[i]])
        matrix[k] = total
    return matrix.reshape(m, n)


@njit()
def row_values(matrix: Floats, y: Floats) -> Floats:
    """Return the value of each row against the mixed strategy of the column player, [m].

    Of the transposed matrix these are the values of columns, to the row player.
    """
    found = np.zeros(matrix.shape[0])
    for a in range(matrix.shape[0]):
        for b in range(matrix.shape[1]):
            found[a] += matrix[a, b] * y[b]
    return found


class RegretMatching(StageLearner):
    """Regret matching; its policies are the averages.

    S. Hart and A. Mas-Colell, "A Simple Adaptive Procedure Leading to Correlated Equilibrium",
    Econometrica 68, 2000. The regret of an action is the payoff that it would have gained so far
    over the strategies played; each action is played in proportion to its positive regret:

        R(a)  <-  R(a) + q(a) - sum over a' of x(a') q(a'),      x(a) in proportion to max(R(a), 0),

    with q(a) the value of a against the other's mixed strategy. Of two players who do so the
    *average* strategies tend to an equilibrium of a zero-sum game, with an error of 1 / sqrt(t).

    Regret matching+ (O. Tammelin, "Solving Large Imperfect Information Games Using CFR+",
    arXiv:1407.5042, 2014) sets negative regrets to 0 at once, so that an action that becomes good
    comes back at once; the players take turns, and the t-th strategy counts t times in the average.

    Args:
        game: A game for two; one player may have no choice.
        plus: Whether to use regret matching+.

    Raises:
        ValueError: If the game is for one player.
    """

    def __init__(self, game: TabularGame, *, plus: bool = True) -> None:
        super().__init__(game)
        self.name = "regret-matching+" if plus else "regret-matching"
        self._plus = plus
        first, second = map(np.zeros_like, self.strategies)
        self._regrets = first, second

    def _sweep(self) -> None:
        _matching_sweep(
            self._table, self.values, *self._regrets, *self.strategies, self.sweeps, self._plus
        )


@njit()
def _matching_sweep(
    table: StageTable,
    values: Floats,
    first_regret: Floats,
    second_regret: Floats,
    first_average: Floats,
    second_average: Floats,
    t: int,
    plus: bool,
) -> None:
    """Take one step in each state, t from 1."""
    share = 2 / (t + 1) if plus else 1 / t
    for s in table.order:
        m, n = table.first_count[s], table.second_count[s]
        matrix = stage_game(table, s, m, n, values)
        x, y = _matched(first_regret[s, :m]), _matched(second_regret[s, :n])
        q = row_values(matrix, y)
        _add_regret(first_regret[s, :m], q, x, plus)
        if plus:
            x = _matched(first_regret[s, :m])
        q = -row_values(matrix.T, x)
        _add_regret(second_regret[s, :n], q, y, plus)
        if plus:
            y = _matched(second_regret[s, :n])
        _approach(first_average[s, :m], x, share)
        _approach(second_average[s, :n], y, share)
        values[s] = first_average[s, :m] @ row_values(matrix, second_average[s, :n])


@njit()
def _approach(average: Floats, strategy: Floats, share: float) -> None:
    """Move an average towards a strategy; a loop, as slices of arrays take long to compile."""
    for a in range(len(strategy)):
        average[a] += share * (strategy[a] - average[a])


@njit()
def _matched(regret: Floats) -> Floats:
    """Return the strategy in proportion to positive regrets; uniform if there are none."""
    positive: Floats = np.maximum(regret, 0.0)
    total = positive.sum()
    if total > 0:
        positive /= total
    else:
        positive[:] = 1 / len(regret)
    return positive


@njit()
def _add_regret(regret: Floats, q: Floats, strategy: Floats, plus: bool) -> None:
    """Add the regrets of one more step, action values being q."""
    mean = 0.0
    for a in range(len(q)):
        mean += strategy[a] * q[a]
    for a in range(len(q)):
        regret[a] += q[a] - mean
        if plus and regret[a] < 0:
            regret[a] = 0.0


class FictitiousPlay(StageLearner):
    """Fictitious play; its policies are the averages.

    G. W. Brown, "Iterative Solution of Games by Fictitious Play", in *Activity Analysis of
    Production and Allocation*, 1951. Each player plays a best response to the average of what the
    other has played. The averages tend to an equilibrium of a zero-sum game (J. Robinson, "An
    Iterative Method of Solving a Game", Annals of Mathematics 54, 1951), though slowly. As in
    Brown's paper the players take turns. Uniform play counts as the first strategy of both; of
    equally good actions the first is played.

    O. J. Vrieze and S. H. Tijs, "Fictitious Play Applied to Sequences of Games and Discounted
    Stochastic Games", International Journal of Game Theory 11, 1982, have the game of each state
    played so while its payoffs still change.
    """

    name = "fictitious-play"

    def _sweep(self) -> None:
        _fictitious_sweep(self._table, self.values, *self.strategies, self.sweeps)


@njit()
def _fictitious_sweep(
    table: StageTable,
    values: Floats,
    first_average: Floats,
    second_average: Floats,
    t: int,
) -> None:
    """Take one step in each state, t from 1."""
    share = 1 / (t + 1)
    for s in table.order:
        m, n = table.first_count[s], table.second_count[s]
        matrix = stage_game(table, s, m, n, values)
        x, y = first_average[s, :m], second_average[s, :n]
        best = row_values(matrix, y).argmax()
        x *= 1 - share
        x[best] += share
        best = row_values(matrix.T, x).argmin()
        y *= 1 - share
        y[best] += share
        values[s] = x @ row_values(matrix, y)


class MirrorDescentSweeps(StageLearner):
    """Magnetic mirror descent; its policies are the latest ones.

    S. Sokota et al., "A Unified Approach to Reinforcement Learning, Quantal Response Equilibria,
    and Two-Player Zero-Sum Games", ICLR 2023. With the uniform strategy as its magnet, a step of
    size e at the temperature h leads from the strategy x to the one in proportion to

        (x(a) exp(e q(a)))^(1 / (1 + e h)),

    with q(a) the value of the action a against the other's mixed strategy. With h = 0 this is
    multiplicative weights, which circles round an equilibrium. With h > 0 the strategies
    themselves, not their averages, tend to an equilibrium of the game in which entropy is rewarded
    at the rate h. So h falls, here as 1 / t; with 1 / sqrt(t) the policies came close more slowly.
    The players take turns. Payoffs are measured in the range of the stage game's, so that one size
    of steps suits every game and state. With networks, and from samples, the algorithm is
    ``solvent.training.MirrorDescent``.

    Args:
        game: A game for two; one player may have no choice.
        step: Step size, per range of the payoffs.
        temperature: The temperature in a sweep, from 1 on.
        start: [S, A] first policies of both players. Uniform by default.

    Raises:
        ValueError: If the game is for one player, or the step size is negative.
    """

    name = "mirror-descent"

    def __init__(
        self,
        game: TabularGame,
        *,
        step: float = STEP_SIZE,
        temperature: Callable[[int], float] = lambda sweep: 1 / sweep,
        start: Both | None = None,
    ) -> None:
        super().__init__(game, start=start)
        check_rational(step, "step", 0, 10**6)
        self._step, self._temperature = step, temperature

    def _sweep(self) -> None:
        temperature = self._temperature(self.sweeps)
        _mirror_sweep(self._table, self.values, *self.strategies, self._step, temperature)


@njit()
def _mirror_sweep(
    table: StageTable,
    values: Floats,
    first: Floats,
    second: Floats,
    size: float,
    temperature: float,
) -> None:
    """Take one step in each state."""
    for s in table.order:
        m, n = table.first_count[s], table.second_count[s]
        matrix = stage_game(table, s, m, n, values)
        span = matrix.max() - matrix.min()
        x, y = first[s, :m], second[s, :n]
        if span > 0:
            _mirror_step(x, row_values(matrix, y) / span, size, temperature)
            _mirror_step(y, -row_values(matrix.T, x) / span, size, temperature)
        values[s] = x @ row_values(matrix, y)


@njit()
def _mirror_step(strategy: Floats, q: Floats, size: float, temperature: float) -> None:
    """Move a strategy by one step, action values being q."""
    # A probability that underflows could never come back.
    logits = (np.log(np.maximum(strategy, 1e-300)) + size * q) / (1 + size * temperature)
    weights = np.exp(logits - logits.max())
    total = weights.sum()
    for a in range(len(strategy)):
        strategy[a] = weights[a] / total
