"""Policies that need to know nothing of a game but which actions are legal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.model import TabularGame, TabularPolicy


def uniform(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Every legal action with equal probability: what a normalized score counts as 0."""
    return TabularPolicy.uniform(game, player=player)


def first_legal(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Always the lowest legal action, as an environment reads every illegal one."""
    lowest = np.argmax(game.mask[player], axis=1)
    return TabularPolicy.deterministic(game, lowest, player=player, name="first-legal")


def optimal(game: TabularGame, player: int = 0) -> TabularPolicy:
    """The solver's policy: what a normalized score counts as 1."""
    from solvent.exact import solve

    return replace(solve(game).policies[player], name="optimal")
