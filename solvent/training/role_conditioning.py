"""Role conditioning: one network for two players who do not have the same actions.

If both players have the same actions and see the game from their own side, one network can play
either seat. Attack and defence have *roles*: each has its own actions. Then the network chooses
from both players' actions, of which only those of one role are legal at a time, and the role is
added to the player's observation.

A learner that keeps the seats apart has roles in every game, even if the actions have the same
names: the two seats of rock-paper-scissors are then a first and a second player, too.

Nothing else about the game changes. States and rows keep their numbers, so values, occupancies and
distributions over states mean the same in both forms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.model import TabularGame, TabularPolicy


def with_roles(game: TabularGame, *, apart: bool = False) -> TabularGame:
    """Return the same game in a form in which one network can play both seats.

    Args:
        game: A two-player game.
        apart: Whether players have roles even if their actions are the same.

    Returns:
        `game` itself if its players have no roles. Otherwise the actions of both players
        are those of player 0 and then those of player 1, and each player's observation, if there
        are any, ends with the number of the player.

    Raises:
        ValueError: If the players' observations differ in length.
    """
    names = game.info.actions
    if names[0] == names[1] and not apart:
        return game
    lengths = [seen.shape[1] for seen in game.observation]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"the players of {game.info.name} see {lengths[0]} and {lengths[1]} numbers; one "
            f"network for both needs as many"
        )
    first, second = game.mask
    both = tuple(
        np.column_stack((seen, np.full(game.n_states, player, np.float32)))
        for player, seen in enumerate(game.observation)
    )
    return replace(
        game,
        info=replace(game.info, actions=(names[0] + names[1],) * 2),
        mask=(
            np.column_stack((first, np.zeros_like(second))),
            np.column_stack((np.zeros_like(first), second)),
        ),
        observation=both,
    )


def without_roles(policy: TabularPolicy, game: TabularGame) -> TabularPolicy:
    """Convert a policy of the game with roles into one of the game itself.

    Args:
        policy: A policy for ``with_roles(game)`` from any start, `apart` or not.
        game: The game.
    """
    first, second = (mask.shape[1] for mask in game.mask)
    own = slice(first) if policy.player == 0 else slice(first, None)
    if policy.probabilities.shape[1] < first + second:
        own = slice(None)
    return TabularPolicy.of(
        game, policy.probabilities[:, own], player=policy.player, name=policy.name
    )
