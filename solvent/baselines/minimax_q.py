"""Minimax-Q, the tabular learner for games in which both players call at once.

M. L. Littman, "Markov Games as a Framework for Multi-Agent Reinforcement Learning", ICML 1994.
After the joint action (a, b) in state s, with reward r and next state s',

    Q(s, a, b)  <-  Q(s, a, b) + alpha * (r + V(s') - Q(s, a, b)),      V(s) = value of Q(s, ., .),

and both players' mixed strategies in s become those of the matrix game Q(s, ., .). The paper solves
it by linear programming; here it is the compiled method of
:mod:`solvent.exact.kernels.matrix_game`, from the supports of the last time. alpha is
1 / n(s, a, b)^0.8, as in :mod:`solvent.baselines.q_learning`, and there is no discount. Each player
explores on its own, with a share of calls that are uniform. Both learn from the same episodes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvent.baselines.sampling import (
    by_action,
    by_rank,
    draw_outcome,
    draw_start,
    draw_weighted,
)
from solvent.exact.kernels.matrix_game import solve_in, work_for
from solvent.exact.transitions import Transitions, transitions_of
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_integer

STEP_SIZE_EXPONENT = 0.8
EXPLORATION = 0.2


class MinimaxQ:
    """Both players of a game, learning from the moves that they play against each other.

    Args:
        game: Any table; where one player has no choice, this is Q-learning.
        seed: Equal seeds and equal numbers of moves give equal policies, however these are
            divided among calls of :meth:`learn`.

    Attributes:
        moves: How many have been played.
        values: [S] to player 0, as learned.
    """

    def __init__(self, game: TabularGame, *, seed: int = 0) -> None:
        self.game = game
        self.moves = 0
        self.values = np.zeros(game.n_states)
        self._q = np.zeros(game.n_rows)
        self._tried = np.zeros(game.n_rows, np.int64)
        self._strategies = [
            by_rank(TabularPolicy.uniform(game, player=player).probabilities, game.mask[player])
            for player in (0, 1)
        ]
        self._random = np.random.default_rng(seed)
        self._state = -1

    def learn(self, moves: int) -> None:
        """Play and learn for so many moves, at least 1.

        Raises:
            ValueError: If `moves` is no whole number, or not positive.
        """
        check_integer(moves, "moves", 1, 10**12)
        game = self.game
        self._state = _learn(
            transitions_of(game), *game.action_count, game.outcome_reward, game.terminal,
            np.cumsum(game.initial), self._random, moves, self._state, self._q, self._tried,
            self.values, self._strategies[0], self._strategies[1],
        )  # fmt: skip
        self.moves += moves

    def policy(self, player: int = 0, *, exploration: float = 0.0) -> TabularPolicy:
        """What a player has learned; uniform play in states that were never met.

        Args:
            player: Whose.
            exploration: The share of calls that stay uniform. Rarely met states have one call
                each for certain, against which the other player might keep play from ending.
        """
        mask = self.game.mask[player]
        learned = by_action(self._strategies[player], mask)
        uniform = TabularPolicy.uniform(self.game, player=player).probabilities
        probabilities = (1 - exploration) * learned + exploration * uniform
        return TabularPolicy.of(self.game, probabilities, player=player, name="minimax-q")


@njit(cache=True)
def _learn(
    transitions: Transitions,
    first_count: Ints,
    second_count: Ints,
    outcome_reward: Floats,
    terminal: Bools,
    cumulative_start: Floats,
    random: np.random.Generator,
    moves: int,
    state: int,
    q: Floats,
    tried: Ints,
    values: Floats,
    first_mix: Floats,
    second_mix: Floats,
) -> int:
    """Play so many moves from a state, -1 for a new episode; returns the state that follows."""
    row_start, outcome_start, next_state, probability = transitions
    work = work_for(first_mix.shape[1], second_mix.shape[1])
    for _ in range(moves):
        if state < 0 or terminal[state]:
            state = draw_start(cumulative_start, random.random())
        m, n = first_count[state], second_count[state]
        x, y = first_mix[state, :m], second_mix[state, :n]
        a, b = _call(x, random), _call(y, random)
        row = row_start[state] + a * n + b
        outcome = draw_outcome(outcome_start, probability, row, random.random())
        following = next_state[outcome]

        tried[row] += 1
        target = outcome_reward[outcome] + values[following]
        q[row] += (target - q[row]) / tried[row] ** STEP_SIZE_EXPONENT
        matrix = q[row_start[state] : row_start[state + 1]].reshape(m, n)
        values[state], _, _ = solve_in(work, matrix, x, y)
        state = following
    return state


@njit(cache=True)
def _call(strategy: Floats, random: np.random.Generator) -> int:
    """A call drawn from the mixed strategy, or one that explores."""
    if random.random() < EXPLORATION:
        return int(random.random() * len(strategy))
    return int(draw_weighted(strategy, random.random()))
