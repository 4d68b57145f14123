"""Exploring starts: a share of the episodes of training begins elsewhere than at the game's start.

A policy may be good on average and bad in a state that hardly any episode comes to. Beginning some
episodes there lets a network meet such states often enough to learn them; it is scored from the
game's own start all the same (Sutton and Barto 2018, *Reinforcement Learning*, section 5.3). Where
these episodes begin is said by a weight for each state. There are two:

- :func:`free_choice`, the default: all states alike, or where both players act at once, all states
  in which both have a choice. It needs the list of states and no more. A policy that is hard to
  exploit must be right where its own episodes never go, since that is where a best response leads
  it.
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
    """The same game, a share of whose episodes begins in proportion to some weights.

    Args:
        game: The game.
        share: Of the episodes, within 0..1; the others begin as they do in `game`.
        weights: [S] at least 0, not all of them 0.
    """
    return replace(game, initial=(1 - share) * game.initial + share * weights / weights.sum())


def importance(game: TabularGame, solution: Solution) -> Floats:
    """What the worst legal choice loses in each state against the best one, [S].

    Args:
        game: A game in which only one player has a choice.
        solution: Of `game`.

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
    """The states in which both players have a choice; if there are none, all that go on, [S]."""
    both = act_at_once(game)
    return both if both.any() else ~game.terminal


def act_at_once(game: TabularGame) -> Bools:
    """Where both players of a game for two have a choice, [S]."""
    first, second = game.action_count
    both: Bools = (first > 1) & (second > 1)
    return both
