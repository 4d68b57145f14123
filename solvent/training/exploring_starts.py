"""Exploring starts: a share of training episodes that do not begin at the game's start.

A policy may be good on average and bad in states that episodes hardly ever reach. Beginning some
episodes there lets a network meet such states often enough to learn them. It is still scored from
the game's own start (Sutton and Barto 2018, *Reinforcement Learning*, section 5.3). The starts are
drawn by a weight for each state. There are two kinds of weights:

- :func:`free_choice`, the default: all states alike, or where both players act at once, all states
  in which both have a choice. It needs only the list of states. A policy that is hard to exploit
  must be right where its own episodes never go, since a best response leads it there.
- :func:`importance`, for one player and only if asked for by name: how much the choice in a state
  matters when what follows is optimal. It is computed from the solution, so that a learner that
  begins there has been told where to look (:mod:`solvent.benchmark.privilege`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.exact import Solution
from solvent.model import TabularGame
from solvent.model.arrays import Bools, Floats


def exploring_starts(game: TabularGame, share: float, weights: Floats | Bools) -> TabularGame:
    """Return the same game with a share of its starts drawn in proportion to weights.

    Args:
        game: The game.
        share: Share of these episodes, within 0..1; the others begin as they do in `game`.
        weights: [S] weight of each state, at least 0, not all of them 0.
    """
    return replace(game, initial=(1 - share) * game.initial + share * weights / weights.sum())


def importance(game: TabularGame, solution: Solution) -> Floats:
    """Return the loss of the worst legal action against the best one in each state, [S].

    Args:
        game: A game in which only one player has a choice.
        solution: Solution of `game`.

    Raises:
        ValueError: If no choice makes a difference anywhere.
    """
    best = np.full(game.n_states, -np.inf)
    worst = np.full(game.n_states, np.inf)
    np.maximum.at(best, game.row_state, solution.action_values)
    np.minimum.at(worst, game.row_state, solution.action_values)
    found = np.where(game.terminal, 0.0, best - worst)
    if not found.any():
        raise ValueError(f"in {game.info.name} no choice makes a difference, wherever it begins")
    return found


def free_choice(game: TabularGame) -> Bools:
    """Return the states in which both players choose, or if none, the nonterminal states, [S]."""
    both = act_at_once(game)
    return both if both.any() else ~game.terminal


def act_at_once(game: TabularGame) -> Bools:
    """Return a mask of the states in which both of two players have a choice, [S]."""
    first, second = game.action_count
    both: Bools = (first > 1) & (second > 1)
    return both
