"""The policies that play the other seat, and how one is chosen.

A *pool* is a list of opponents with weights. At each reset an environment draws one of them,
which then plays to the end. A pool of one needs no draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from solvent.envs.random_stream import inverse_cdf
from solvent.envs.sampling_table import SeatTable
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import shown

Opponent: TypeAlias = TabularPolicy | Sequence[TabularPolicy]
"""A policy for the other seat; where the learner takes either seat, one for each player."""

Opponents: TypeAlias = TabularPolicy | Sequence[Opponent]
"""A single opponent, or a list of them."""


@dataclass(frozen=True, eq=False)
class OpponentPool:
    """Opponents as a sampler reads them.

    Attributes:
        sides: [V] int64 thresholds from which one of the learner's seats is drawn.
        weight: [K] int64 thresholds from which one of the K opponents is drawn.
        policy: [K, C] int64 thresholds of the actions of each, C = ``SeatTable.choices``.
        opponents: [K] tuples of the policies themselves, one for each seat of the learner.
    """

    sides: Ints
    weight: Ints
    policy: Ints
    opponents: tuple[tuple[TabularPolicy, ...], ...]


def opponent_pool(
    game: TabularGame,
    table: SeatTable,
    opponents: Opponents,
    weights: Sequence[float] | None = None,
) -> OpponentPool:
    """Make a pool.

    Args:
        game: The game that is played.
        table: Table of the seats that the learner takes.
        opponents: A policy, or a list of at least one opponent.
        weights: A positive number for each opponent, in proportion to which they are drawn;
            equal ones unless given.

    Raises:
        ValueError: If there are no opponents, one of them is for another game or lacks a policy
            for a seat that it may have to take, or the weights are not as above.
    """
    listed = [opponents] if isinstance(opponents, TabularPolicy) else list(opponents)
    chances = check_weights(weights, len(listed))
    policies = [tuple(_policy(game, one, 1 - seat) for seat in table.seats) for one in listed]
    cuts = np.empty((len(listed), table.choices), np.int64)
    for k, views in enumerate(policies):
        cuts[k] = np.concatenate([_action_thresholds(game, policy) for policy in views])
    return OpponentPool(
        evenly(len(table.seats)), inverse_cdf(chances, np.array([0, len(listed)])), cuts,
        tuple(policies),
    )  # fmt: skip


def evenly(count: int) -> Ints:
    """The thresholds from which one of `count` entries is drawn, all equally likely."""
    return inverse_cdf(np.full(count, 1 / count), np.array([0, count]))


def check_weights(weights: Sequence[float] | None, count: int) -> Floats:
    """The probabilities of opponents that are drawn in proportion to weights.

    Args:
        weights: A positive number for each opponent; equal ones if None.
        count: Number of opponents.

    Returns:
        [count], with the sum 1.

    Raises:
        ValueError: If there are no opponents, or the weights are not as above.
    """
    if not count:
        raise ValueError("opponents is empty; at least one is needed")
    chances = np.ones(count) if weights is None else np.asarray(weights)
    if (
        chances.shape != (count,)
        or chances.dtype.kind not in "iuf"
        or not (np.isfinite(chances) & (chances > 0)).all()
    ):
        raise ValueError(
            f"weights is {shown(weights)}; allowed is a positive number for each of {count} "
            f"opponents"
        )
    normalized: Floats = chances / chances.sum()
    return normalized


def _policy(game: TabularGame, opponent: Opponent, player: int) -> TabularPolicy:
    """The policy that an opponent plays in the seat of a player."""
    offered = [opponent] if isinstance(opponent, TabularPolicy) else list(opponent)
    for policy in offered:
        if not isinstance(policy, TabularPolicy):
            raise ValueError(f"{policy!r} is not a TabularPolicy")
        policy.check_is_for(game)
        if policy.player == player:
            return policy
    names = ", ".join(f"{policy.name!r} of player {policy.player}" for policy in offered)
    raise ValueError(f"the opponent has to play for player {player}, but has only {names}")


_cuts: WeakKeyDictionary[TabularPolicy, Ints] = WeakKeyDictionary()


def _action_thresholds(game: TabularGame, policy: TabularPolicy) -> Ints:
    """Thresholds of a policy's legal actions, all states one after the other.

    Computed once for a policy, which may be in many environments' pools.
    """
    if policy not in _cuts:
        mask = game.mask[policy.player] & ~game.terminal[:, None]
        count = mask.sum(axis=1)
        live = np.flatnonzero(count)
        first = np.concatenate(([0], np.cumsum(count[live])))
        _cuts[policy] = inverse_cdf(policy.probabilities[mask], first)
    return _cuts[policy]
