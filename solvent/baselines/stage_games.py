"""Learning the matrix games of all states at once, by sweeps over a table.

In each state both players choose at once, so that a state is a matrix game,

    Q(s, a, b) = r(s, a, b) + sum over s' of p(s' | s, a, b) V(s'),

the *stage game* of the state (Shapley 1953, *Stochastic games*). A sweep goes through all states,
successors first where there is such an order, computes Q from the present V, lets both players
take one step of an algorithm for matrix games, and sets V(s) to the value of the policies that it
learns. Policies and values so improve together; no stage game is solved. Zhang et al. 2022 (*Policy
optimization for Markov games: unified framework and faster convergence*) state the scheme and show
that the average policy of each state tends to an equilibrium if the algorithm has no regret.
Their V is a running mean of what the strategies get; here it is the value of the policies so far.

Where players take turns, the stage games have one row or one column, and everything holds as well.
Without cycles V is the exact value of the policies after each sweep. In cycles it follows them.

These learners are told the model. They draw no samples and no random numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from solvent.baselines.sampling import by_action, by_rank
from solvent.exact.components import components
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import check_integer

Policies = tuple[TabularPolicy, TabularPolicy]
"""Of player 0 and player 1."""


class StageTable(NamedTuple):
    """The arrays of a game for two that a sweep reads.

    Attributes:
        order: [N] the states that do not end an episode, successors first where there is such an
            order.
        row_start: [S + 1] where the joint actions of each state begin.
        first_count: [S] legal actions of player 0.
        second_count: [S] legal actions of player 1.
        outcome_start: [K + 1] where the outcomes of each joint action begin.
        next_state: [O] of each outcome.
        probability: [O] of each outcome.
        outcome_reward: [O] of each outcome, to player 0.
    """

    order: Ints
    row_start: Ints
    first_count: Ints
    second_count: Ints
    outcome_start: Ints
    next_state: Ints
    probability: Floats
    outcome_reward: Floats


class StageGames(ABC):
    """Both players of a game, learning by sweeps over its table.

    Args:
        game: A game for two; one player may have no choice.

    Attributes:
        name: What policies are called.
        sweeps: How many have been made.
        values: [S] to player 0, of the policies as they are.

    Raises:
        ValueError: If the game is for one player.
    """

    name: str

    def __init__(self, game: TabularGame) -> None:
        if game.info.players != 2:
            raise ValueError(
                f"{self.name} is for two players; {game.info.name} is a game for "
                f"{game.info.players}"
            )
        self.game = game
        self.sweeps = 0
        self.values = np.zeros(game.n_states)
        order = components(game).order
        self._table = StageTable(
            order[~game.terminal[order]], game.row_start, game.action_count[0],
            game.action_count[1], game.outcome_start, game.next_state, game.probability,
            game.outcome_reward,
        )  # fmt: skip
        first, second = (
            by_rank(TabularPolicy.uniform(game, player=player).probabilities, game.mask[player])
            for player in (0, 1)
        )
        self._strategies = first, second

    def learn(self, sweeps: int, callback: Callable[[Policies, int], object] | None = None) -> None:
        """Make so many sweeps, at least 1.

        Args:
            sweeps: How many more.
            callback: Called after each sweep with the policies and the number of sweeps so far.

        Raises:
            ValueError: If `sweeps` is no whole number, or not positive.
        """
        for _ in range(check_integer(sweeps, "sweeps", 1, 10**9)):
            self.sweeps += 1
            self._sweep()
            if callback is not None:
                callback((self.policy(0), self.policy(1)), self.sweeps)

    def policy(self, player: int = 0) -> TabularPolicy:
        """What a player has learned.

        Args:
            player: Whose policy, 0 or 1.
        """
        probabilities = by_action(self._strategies[player], self.game.mask[player])
        return TabularPolicy.of(self.game, probabilities, player=player, name=self.name)

    @abstractmethod
    def _sweep(self) -> None:
        """Take one step in each state; `sweeps` counts it already."""


@njit(cache=True)
def stage_game(table: StageTable, s: int, m: int, n: int, values: Floats) -> Floats:
    """Q(s, ., .) for the values of successors, [m, n]."""
    matrix = np.empty(m * n)
    first = table.row_start[s]
    for k in range(m * n):
        total = 0.0
        for i in range(table.outcome_start[first + k], table.outcome_start[first + k + 1]):
            reward, after = table.outcome_reward[i], values[table.next_state[i]]
            total += table.probability[i] * (reward + after)
        matrix[k] = total
    return matrix.reshape(m, n)


@njit(cache=True)
def row_values(matrix: Floats, y: Floats) -> Floats:
    """The value of each row against the mixed strategy of the column player, [m]."""
    found = np.zeros(matrix.shape[0])
    for a in range(matrix.shape[0]):
        for b in range(matrix.shape[1]):
            found[a] += matrix[a, b] * y[b]
    return found


@njit(cache=True)
def column_values(matrix: Floats, x: Floats) -> Floats:
    """The value of each column to the row player against the latter's mixed strategy, [n]."""
    found = np.zeros(matrix.shape[1])
    for a in range(matrix.shape[0]):
        for b in range(matrix.shape[1]):
            found[b] += matrix[a, b] * x[a]
    return found
