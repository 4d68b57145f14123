"""Policies that need to know nothing of a game but which actions are legal."""

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
    """Every legal action with equal probability: what a normalized score counts as 0."""
    return TabularPolicy.uniform(game, player=player)


def first_legal(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Always the lowest legal action, as an environment reads every illegal one."""
    lowest = np.argmax(game.mask[player], axis=1)
    return TabularPolicy.deterministic(game, lowest, player=player, name="first-legal")


_solved: WeakKeyDictionary[TabularGame, tuple[TabularPolicy, TabularPolicy]] = WeakKeyDictionary()


def optimal(game: TabularGame, player: int = 0) -> TabularPolicy:
    """The solver's policy: what a normalized score counts as 1. A game is solved once."""
    if game not in _solved:
        remember_optimum(game, cached_solution(game))
    return _solved[game][player]


def remember_optimum(game: TabularGame, solution: Solution) -> None:
    """Spare :func:`optimal` to solve a game of which somebody has a solution.

    Args:
        game: The game.
        solution: Of `game`.
    """
    solution.check_is_for(game)
    if game not in _solved:
        first, second = solution.policies
        _solved[game] = replace(first, name="optimal"), replace(second, name="optimal")
