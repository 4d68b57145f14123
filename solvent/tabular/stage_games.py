"""Matrix games: a matrix of payoffs as a game, and the matrix game of each state of a game.

In each state of a two-player game both players choose at once, so a state is a matrix game,

    A(a, b) = r(s, a, b) + sum over s' of p(s' | s, a, b) V(s'),

the *stage game* of the state (L. S. Shapley, "Stochastic Games", PNAS 39, 1953). Where players take
turns it has one row or one column. The rows and columns of A are the legal actions of the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.exact.components import components
from solvent.model import GameInfo, TabularGame
from solvent.model.arrays import Floats
from solvent.tabular.estimate import draw

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
