"""The matrix game of each state, and strategies in it.

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
from solvent.model import TabularGame
from solvent.model.arrays import Floats
from solvent.tabular.payoffs import matrix_game

Strategies: TypeAlias = list[Floats]
"""A player's mixed strategy in each state, over the legal actions there."""


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
        rows = game.outcome_start[game.row_start[s] : game.row_start[s + 1] + 1]
        outcomes = slice(rows[0], rows[-1])
        terms = game.probability[outcomes] * (
            game.outcome_reward[outcomes] + V[game.next_state[outcomes]]
        )
        sums = np.add.reduceat(terms, rows[:-1] - rows[0])
        return np.asarray(sums.reshape(game.action_count[0][s], game.action_count[1][s]))

    def uniform(self, player: int) -> Strategies:
        """Return a player's uniform strategies.

        Args:
            player: 0 or 1.
        """
        return [np.full(n, 1 / max(n, 1)) for n in self.game.action_count[player].tolist()]

    def zeros(self, player: int) -> Strategies:
        """Return a zero for each legal action of a player in each state.

        Args:
            player: 0 or 1.
        """
        return [np.zeros(n) for n in self.game.action_count[player].tolist()]

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
