"""Tabular Q-learning, the standard of comparison for a network, and Minimax-Q.

C. J. C. H. Watkins and P. Dayan, "Q-learning", Machine Learning 8, 1992. Episodes are sampled from
the game's own table. After action a in state s, with reward r and next state s',

    Q(s, a)  <-  Q(s, a) + alpha * (r + max Q(s', .) - Q(s, a)),     alpha = 1 / n(s, a)^0.8,

where n(s, a) counts how often a has been tried in s. The exponent is within (1/2, 1], where the
iteration converges, and below 1, where it does so polynomially fast (E. Even-Dar and Y. Mansour,
"Learning rates for Q-learning", JMLR 5, 2003). Behaviour is epsilon-greedy. There is no discount.
"""

from abc import ABC, abstractmethod

import numpy as np

from solvent.baselines.stage_games import by_action, uniform_by_rank
from solvent.exact.compilation import Transitions, transitions_of
from solvent.exact.matrix_game import solve_in, work_for
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.compiled import njit
from solvent.model.parameters import check_integer

STEP_SIZE_EXPONENT = 0.8
EPSILON = 0.3
EXPLORATION = 0.2
"""The share of calls of Minimax-Q that are uniform."""


def q_learning(
    game: TabularGame, player: int = 0, *, steps: int = 10_000_000, seed: int = 0
) -> TabularPolicy:
    """Learn from `steps` sampled moves and return the greedy policy.

    Args:
        game: A game in which only `player` ever has a choice.
        player: The player that learns, 0 or 1.
        steps: Number of moves, at least 1.
        seed: Seed of the random numbers. Equal seeds give equal policies.

    Raises:
        ValueError: If the other player has a choice, or `steps` is out of range.
    """
    learner = QLearning(game, player, seed=seed)
    learner.learn(check_integer(steps, "steps", 1, 10**12))
    return learner.policy()


class Sampled(ABC):
    """A learner from the moves of its own episodes, which it draws from a table.

    Args:
        game: The table.
        seed: Equal seeds and equal numbers of moves give equal policies, however these are divided
            among calls of :meth:`learn`.
        epsilon: Share of moves that are uniform.
        exponent: Exponent of the step size, within (1/2, 1].

    Attributes:
        game: The table.
        moves: Number of moves played so far.
    """

    def __init__(self, game: TabularGame, seed: int, epsilon: float, exponent: float) -> None:
        self.game, self.moves = game, 0
        self._settings = epsilon, exponent
        self._q = np.zeros(game.n_rows)
        self._tried = np.zeros(game.n_rows, np.int64)
        self._random = np.random.default_rng(seed)
        self._state = -1

    def learn(self, moves: int) -> None:
        """Play and learn from the given number of moves, at least 1.

        Raises:
            ValueError: If `moves` is no whole number, or not positive.
        """
        self._state = self._play(check_integer(moves, "moves", 1, 10**12))
        self.moves += moves

    @abstractmethod
    def _play(self, moves: int) -> int:
        """Play moves from the present state, -1 for a new episode, and return the next state."""

    def _table(self) -> tuple[Transitions, Bools, Floats]:
        """Return the transitions, the terminal states, and the running sum of the starts.

        Terminal starts are left out, as nothing can be learned from them.

        Raises:
            ValueError: If every episode has ended where it starts.
        """
        game = self.game
        starts = np.where(game.terminal, 0.0, game.initial)
        if not starts.any():
            raise ValueError(f"{game.info.name} has no start from which an episode goes on")
        table = transitions_of(game)._replace(
            next_state=game.next_state.astype(np.int64, copy=False)
        )
        return table, game.terminal, np.cumsum(starts)


class QLearning(Sampled):
    """One player of a game, learning from the moves of its own episodes.

    Args:
        game: A game in which only `player` ever has a choice.
        player: The player that learns, 0 or 1.
        seed: Equal seeds and equal numbers of moves give equal policies, however these are divided
            among calls of :meth:`learn`.
        epsilon: Share of moves that are uniform.
        exponent: Exponent of the step size, within (1/2, 1].
        initial: Initial value of every action, in the learner's own payoff.

    Attributes:
        moves: Number of moves played so far.

    Raises:
        ValueError: If the other player has a choice.
    """

    def __init__(
        self,
        game: TabularGame,
        player: int = 0,
        *,
        seed: int = 0,
        epsilon: float = EPSILON,
        exponent: float = STEP_SIZE_EXPONENT,
        initial: float = 0.0,
    ) -> None:
        self._player = check_integer(player, "player", 0, 1)
        if (game.action_count[1 - player] > 1).any():
            raise ValueError(
                f"q-learning is for one player who learns, but player {1 - player} has a choice in "
                f"{game.info.name}; fold a policy for that player into the game with "
                f"solvent.model.against"
            )
        super().__init__(game, seed, epsilon, exponent)
        self._q += initial

    def _play(self, moves: int) -> int:
        reward = (1 - 2 * self._player) * self.game.outcome_reward.astype(np.float64)
        return _learn(
            *self._table(), reward, self._random, moves, self._state, self._q, self._tried,
            *self._settings,
        )  # fmt: skip

    def policy(self) -> TabularPolicy:
        """Return the greedy policy; ties go to the lowest action."""
        game, player = self.game, self._player
        table = np.full(game.mask[player].shape, -np.inf)
        table[game.row_state, game.row_action[player]] = self._q
        actions = table.argmax(axis=1)
        return TabularPolicy.deterministic(game, actions, player=player, name="q-learning")


@njit()
def _learn(
    transitions: Transitions,
    terminal: Bools,
    cumulative_start: Floats,
    outcome_reward: Floats,
    random: np.random.Generator,
    moves: int,
    state: int,
    q: Floats,
    tried: Ints,
    epsilon: float,
    exponent: float,
) -> int:
    """Play moves from a state, -1 for a new episode, and return the next state."""
    row_start, outcome_start, next_state, probability = transitions
    for _ in range(moves):
        if state < 0 or terminal[state]:
            state = draw_start(cumulative_start, random.random())
        first, last = row_start[state], row_start[state + 1]
        if random.random() < epsilon:
            row = first + np.int64(random.random() * (last - first))
        else:
            row = first + np.argmax(q[first:last])

        outcome = draw_outcome(outcome_start, probability, row, random.random())
        following = next_state[outcome]

        target = outcome_reward[outcome]
        if not terminal[following]:
            target += q[row_start[following] : row_start[following + 1]].max()
        tried[row] += 1
        q[row] += (target - q[row]) / tried[row] ** exponent
        state = following
    return state


class MinimaxQ(Sampled):
    """Both players of a game, learning by Minimax-Q from the moves that they play.

    M. L. Littman, "Markov Games as a Framework for Multi-Agent Reinforcement Learning", ICML 1994.
    After the joint action (a, b) in state s, with reward r and next state s',

        Q(s, a, b)  <-  Q(s, a, b) + alpha * (r + V(s') - Q(s, a, b)),   V(s) = value of Q(s, ., .),

    and both players' mixed strategies in s become those of the matrix game Q(s, ., .). The paper
    solves it by linear programming; here it is the compiled method of
    :mod:`solvent.exact.matrix_game`, from the supports of the last time. alpha is
    1 / n(s, a, b)^0.8, and there is no discount. Each player explores on its own, with a share of
    calls that are uniform. Both learn from the same episodes.

    Args:
        game: Any table; where one player has no choice, this is Q-learning.
        seed: Equal seeds and equal numbers of moves give equal policies, however these are
            divided among calls of :meth:`learn`.
        epsilon: Share of calls that are uniform.
        exponent: Exponent of the step size, within (1/2, 1].

    Attributes:
        moves: Number of moves played so far.
        values: [S] learned values to player 0.
    """

    def __init__(
        self,
        game: TabularGame,
        *,
        seed: int = 0,
        epsilon: float = EXPLORATION,
        exponent: float = STEP_SIZE_EXPONENT,
    ) -> None:
        super().__init__(game, seed, epsilon, exponent)
        self.values = np.zeros(game.n_states)
        self._strategies = uniform_by_rank(game)

    def _play(self, moves: int) -> int:
        return _learn_minimax(
            *self._table(), self.game.outcome_reward.astype(np.float64), self._random, moves,
            self._state, self._q, self._tried, *self.game.action_count, self.values,
            *self._strategies, *self._settings,
        )  # fmt: skip

    def policy(self, player: int = 0, *, exploration: float = 0.0) -> TabularPolicy:
        """Return the learned policy of a player; uniform in states that were never met.

        Args:
            player: The player whose policy it is, 0 or 1.
            exploration: The share of calls that stay uniform. In rarely met states the policy makes
                the same call each time, so the other player might keep play from ending.
        """
        mask = self.game.mask[player]
        learned = by_action(self._strategies[player], mask)
        uniform = TabularPolicy.uniform(self.game, player=player).probabilities
        probabilities = (1 - exploration) * learned + exploration * uniform
        return TabularPolicy.of(self.game, probabilities, player=player, name="minimax-q")


@njit()
def _learn_minimax(
    transitions: Transitions,
    terminal: Bools,
    cumulative_start: Floats,
    outcome_reward: Floats,
    random: np.random.Generator,
    moves: int,
    state: int,
    q: Floats,
    tried: Ints,
    first_count: Ints,
    second_count: Ints,
    values: Floats,
    first_mix: Floats,
    second_mix: Floats,
    epsilon: float,
    exponent: float,
) -> int:
    """Play moves from a state, -1 for a new episode, and return the next state."""
    row_start, outcome_start, next_state, probability = transitions
    work = work_for(first_mix.shape[1], second_mix.shape[1])
    for _ in range(moves):
        if state < 0 or terminal[state]:
            state = draw_start(cumulative_start, random.random())
        m, n = first_count[state], second_count[state]
        x, y = first_mix[state, :m], second_mix[state, :n]
        a, b = _call(x, epsilon, random), _call(y, epsilon, random)
        row = row_start[state] + a * n + b
        outcome = draw_outcome(outcome_start, probability, row, random.random())
        following = next_state[outcome]

        tried[row] += 1
        target = outcome_reward[outcome] + values[following]
        q[row] += (target - q[row]) / tried[row] ** exponent
        matrix = q[row_start[state] : row_start[state + 1]].reshape(m, n)
        values[state], _ = solve_in(work, matrix, x, y)
        state = following
    return state


@njit()
def _call(strategy: Floats, epsilon: float, random: np.random.Generator) -> int:
    """Draw an action from the mixed strategy, or an exploring one."""
    if random.random() < epsilon:
        return int(random.random() * len(strategy))
    return int(draw_weighted(strategy, random.random()))


@njit()
def draw_weighted(weights: Floats, draw: float) -> int:
    """Return an index from a draw in [0, 1); the probabilities sum to 1."""
    chosen = -1
    for k in range(len(weights)):
        if weights[k] > 0:
            chosen = k
            draw -= weights[k]
            if draw < 0:
                break
    return chosen


@njit()
def draw_outcome(outcome_start: Ints, probability: Floats, row: int, draw: float) -> int:
    """Return one of the outcomes of a row."""
    first, last = outcome_start[row], outcome_start[row + 1]
    return int(first + draw_weighted(probability[first:last], draw))


@njit()
def draw_start(cumulative_start: Floats, draw: float) -> int:
    """Return a state, drawn from the running sum of the start distribution."""
    return int(np.searchsorted(cumulative_start, draw * cumulative_start[-1], side="right"))
