"""The forms of a game in which a network is trained: exploring starts, and players with roles.

**Exploring starts.** A policy may be good on average and bad in states that episodes hardly ever
reach. Beginning a share of the training episodes there lets a network meet such states often enough
to learn them. It is still scored from the game's own start (Sutton and Barto 2018, *Reinforcement
Learning*, section 5.3). The starts are drawn by a weight for each state. There are two kinds of
weights:

- :func:`free_choice`, the default: all states alike, or where both players act at once, all states
  in which both have a choice. It needs only the list of states. A policy that is hard to exploit
  must be right where its own episodes never go, since a best response leads it there.
- :func:`importance`, for one player and only if asked for by name: how much the choice in a state
  matters when what follows is optimal. It is computed from the solution, so that a learner that
  begins there has been told where to look (:mod:`solvent.benchmark.run_folder`).

**Roles.** If both players have the same actions and see the game from their own side, one network
can play either seat. Attack and defence have *roles*: each has its own actions. Then the network
chooses from both players' actions, of which only those of one role are legal at a time, and the
role is added to the player's observation. A learner that keeps the seats apart has roles in every
game, even if the actions have the same names: the two seats of rock-paper-scissors are then a first
and a second player, too.

States and rows keep their numbers, so values, occupancies and distributions over states mean the
same in all forms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvent.exact import Solution
from solvent.model import TabularGame, TabularPolicy
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
