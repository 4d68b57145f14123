"""Where the plays of training begin: not only at the game's start.

A policy may be good on average and bad in a state that hardly any play comes to. What is at stake
in a state is known here: the difference that the choice makes there when play is optimal
afterwards. Beginning some plays where much is at stake lets a network meet those states often
enough to learn them; it is scored from the game's own start all the same. Beginning in chosen
states is known as exploring starts (Sutton and Barto 2018, *Reinforcement Learning*, section 5.3).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.exact import Solution
from solvent.model import TabularGame
from solvent.model.arrays import Floats


def stakes(game: TabularGame, solution: Solution) -> Floats:
    """What the worst legal choice loses in each state against the best one, [S].

    Args:
        game: A game in which only one player has a choice.
        solution: Of `game`.
    """
    best = np.full(game.n_states, -np.inf)
    worst = np.full(game.n_states, np.inf)
    np.maximum.at(best, game.row_state, solution.action_values)
    np.minimum.at(worst, game.row_state, solution.action_values)
    return np.where(game.terminal, 0.0, best - worst)


def begin_at_stakes(game: TabularGame, solution: Solution, share: float) -> TabularGame:
    """The same game, a share of whose plays begins in proportion to what is at stake.

    Args:
        game: A game in which only one player has a choice.
        solution: Of `game`.
        share: Of the plays, within 0..1; the others begin as they do in `game`.

    Raises:
        ValueError: If no choice makes a difference anywhere.
    """
    at_stake = stakes(game, solution)
    if not at_stake.any():
        raise ValueError(f"nothing is at stake in {game.info.name}: no choice makes a difference")
    return replace(game, initial=(1 - share) * game.initial + share * at_stake / at_stake.sum())
