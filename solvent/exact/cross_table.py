"""Everybody against everybody, by exact value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvent.exact.evaluation import policy_value
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats


def cross_table(
    game: TabularGame, first: Sequence[TabularPolicy], second: Sequence[TabularPolicy]
) -> Floats:
    """The value of a game for two under every pair of policies.

    An optimal policy's row is nowhere below the game's value, and its column nowhere above it.

    Args:
        game: The game.
        first: Policies of player 0.
        second: Policies of player 1.

    Returns:
        [n, m] values at the start to player 0.

    Raises:
        ValueError: If the game is not one for two, or a policy is for another game or player.
        ImproperGameError: If play under a pair can go on for ever collecting rewards.
    """
    if game.info.players != 2:
        raise ValueError(f"{game.info.name} is a game for one; a cross table needs two players")
    for player, policies in enumerate((first, second)):
        for policy in policies:
            if policy.player != player:
                raise ValueError(
                    f"{policy.name} is a policy of player {policy.player}; "
                    f"player {player}'s are expected here"
                )
    values = [
        [game.at_start(policy_value(game, row, column)) for column in second] for row in first
    ]
    return np.array(values, dtype=float).reshape(len(first), len(second))
