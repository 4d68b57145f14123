"""Baselines for any game."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from solvent.exact import cached_solution
from solvent.model import TabularGame, TabularPolicy

if TYPE_CHECKING:
    from solvent.exact import Solution


def uniform(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return the uniform policy over legal actions, which has the normalized score 0."""
    return TabularPolicy.uniform(game, player=player)


def first_legal(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return the policy of the lowest legal action, which environments play for illegal ones."""
    lowest = np.argmax(game.mask[player], axis=1)
    return TabularPolicy.deterministic(game, lowest, player=player, name="first-legal")


_solved: WeakKeyDictionary[TabularGame, tuple[TabularPolicy, TabularPolicy]] = WeakKeyDictionary()


def optimal(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return the solver's policy, with the normalized score 1. A game is solved once."""
    if game not in _solved:
        remember_optimum(game, cached_solution(game))
    return _solved[game][player]


def remember_optimum(game: TabularGame, solution: Solution) -> None:
    """Store a known solution so that :func:`optimal` need not solve the game.

    Args:
        game: The game.
        solution: Solution of `game`.
    """
    solution.check_is_for(game)
    if game not in _solved:
        first, second = solution.policies
        _solved[game] = replace(first, name="optimal"), replace(second, name="optimal")
