"""Games made of arrays and of other games, and policies made legal.

Everything here maps arrays to arrays and knows no rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from solvent.model.arrays import Bools, Floats, Ints, concatenated_ranges
from solvent.model.discount import discounted
from solvent.model.game import GameInfo
from solvent.model.tabular import TabularGame, TabularPolicy, check_policy


def from_arrays(
    P: Any,
    R: Any,
    *,
    discount: Any = 1,
    start: Any = None,
    terminal: Sequence[int] = (),
    actions_first: bool | None = None,
    name: str = "arrays",
) -> TabularGame:
    """Return the game of a Markov decision process that is given as two arrays.

    >>> P = [[[0.5, 0.5], [0, 1]], [[0, 1], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]]
    >>> from_arrays(P, [[5, 10, 0], [-1, 3, 2]], discount=0.9)
    <TabularGame arrays: 3 states, 6 rows, 15 outcomes>

    Args:
        P: Probabilities of the next state, [A, S, S] as for mdptoolbox, or [S, A, S] as for
            QuantEcon.
        R: Rewards, [S], [S, A], or of the shape of `P`. An action with the reward -inf is illegal;
            a state without a legal action ends the episode.
        discount: Factor by which a reward shrinks with every move before it, above 0 and up to 1.
            A discounted table has one more state, the last, in which the discount ends an episode.
        start: [S] the distribution over states in which an episode begins; uniform if left out.
        terminal: Indices of further states that end the episode.
        actions_first: Whether the first axis of `P` is that of actions; needed only if there are as
            many actions as states.
        name: Name for tables and messages.

    Raises:
        ValueError: If shapes do not fit each other, or as for :class:`TabularGame`.
    """
    chance, reward = np.asarray(P, float), np.asarray(R, float)
    shape = chance.shape
    if len(shape) != 3 or shape[2] not in shape[:2]:
        raise ValueError(f"P has shape {shape}; expected [A, S, S] or [S, A, S]")
    if actions_first is None and shape[0] == shape[1]:
        raise ValueError(f"P has shape {shape}; say with actions_first= which axis has the actions")
    if shape[1] == shape[2] if actions_first is None else actions_first:
        chance = chance.transpose(1, 0, 2)
        reward = reward.transpose(1, 0, 2) if reward.ndim == 3 else reward
    s, a, _ = chance.shape
    if reward.shape not in ((s,), (s, a), (s, a, s)):
        raise ValueError(f"R has shape {np.shape(R)}; expected [{s}], [{s}, {a}] or that of P")
    reward = np.broadcast_to(reward.reshape(*reward.shape, *[1] * (3 - reward.ndim)), (s, a, s))
    legal = np.asarray(~np.isneginf(reward).any(axis=2))
    legal[list(terminal)] = False
    present = legal[:, :, None] & (chance != 0)
    table = TabularGame(
        info=GameInfo(
            name=name,
            players=1,
            actions=(tuple(map(str, range(a))),),
            acyclic=False,
            reward_range=(-np.inf, np.inf),
            sources=("arrays",),
            observation_labels=("state",),
        ),
        states=tuple(range(s)),
        row_start=np.concatenate(([0], np.cumsum(legal.sum(axis=1)))),
        outcome_start=np.concatenate(([0], np.cumsum(present.sum(axis=2)[legal]))),
        next_state=np.nonzero(present)[2],
        probability=chance[present],
        outcome_reward=reward[present],
        mask=(legal, np.asarray(legal.any(axis=1))[:, None]),
        initial=np.full(s, 1 / s) if start is None else np.asarray(start, float),
        observation=((np.arange(s, dtype=np.float32) / max(s - 1, 1))[:, None],),
    )
    return discounted(table, discount)


def against(game: TabularGame, policy: TabularPolicy) -> TabularGame:
    """Fold a player's policy into chance: the game that is left for the other player.

    One mechanism serves both an environment for one learner with a fixed opponent and exact
    policy evaluation and best response: each is the solution of a folded game.

    Args:
        game: The game, of S states.
        policy: Policy of the player to be folded in, who stays in the game with one action
            everywhere.

    Returns:
        A game with the same states, start and observations. Its row for a state and an action
        of the other player has an outcome for every outcome of each row that was merged into it
        with positive weight.

    Raises:
        ValueError: If the policy is for another game.
    """
    check_policy(policy, game)
    folded, other = policy.player, 1 - policy.player
    weight = policy.normalized()[game.row_state, game.row_action[folded]]

    # A row of the new game: a state and the rank of the other player's action in it.
    mask_other = game.mask[other]
    rank = np.cumsum(mask_other, axis=1)[game.row_state, game.row_action[other]] - 1
    row_start = np.concatenate(([0], np.cumsum(game.action_count[other] * ~game.terminal)))
    new_row = row_start[game.row_state] + rank

    kept = np.flatnonzero(weight > 0)
    kept = kept[np.argsort(new_row[kept], kind="stable")]
    length = np.diff(game.outcome_start)[kept]
    source = concatenated_ranges(game.outcome_start[kept], length)
    counts = np.bincount(new_row[kept], length, minlength=int(row_start[-1])).astype(np.int64)
    mask_folded = ~game.terminal[:, None]
    masks = (mask_folded, mask_other) if folded == 0 else (mask_other, mask_folded)
    return TabularGame(
        info=game.info,
        states=game.states,
        row_start=row_start,
        outcome_start=np.concatenate(([0], np.cumsum(counts))),
        next_state=game.next_state[source],
        probability=game.probability[source] * np.repeat(weight[kept], length),
        outcome_reward=game.outcome_reward[source],
        mask=masks,
        initial=game.initial,
        observation=game.observation,
        turn=game.turn,
    )


def legal_action_table(mask: Bools) -> Ints:
    """The action that is played when an action is chosen: itself if legal, else the lowest legal.

    Args:
        mask: [S, A] bool.

    Returns:
        [S, A] int64; -1 where the episode has ended and nothing is legal.
    """
    lowest = np.where(mask.any(axis=1), mask.argmax(axis=1), -1)
    return np.where(mask, np.arange(mask.shape[1]), lowest[:, None])


def project(probabilities: Floats, mask: Bools) -> Floats:
    """Make any distribution over actions one over legal actions, as the environments do.

    The weight of every illegal action moves to the lowest legal one, so that the projected
    policy is exactly what an environment plays when it is given the original one.

    Args:
        probabilities: [S, A], rows sum to 1 where the episode goes on.
        mask: [S, A] bool.

    Returns:
        [S, A] float64, 0 in rows without a legal action.
    """
    illegal = np.where(mask, 0.0, probabilities).sum(axis=1)
    projected = np.where(mask, probabilities, 0.0)
    live = np.flatnonzero(mask.any(axis=1))
    projected[live, mask[live].argmax(axis=1)] += illegal[live]
    return projected


def reachable(game: TabularGame) -> TabularGame:
    """Drop the states that cannot be reached from the start; the others keep their order."""
    seen = game.initial > 0
    frontier = np.flatnonzero(seen)
    while len(frontier):
        rows = concatenated_ranges(game.row_start[frontier], np.diff(game.row_start)[frontier])
        outcomes = concatenated_ranges(game.outcome_start[rows], np.diff(game.outcome_start)[rows])
        successors = np.unique(game.next_state[outcomes])
        frontier = successors[~seen[successors]]
        seen[frontier] = True

    kept = np.flatnonzero(seen)
    if len(kept) == game.n_states:
        return game
    new_index = np.cumsum(seen) - 1
    row_count = np.diff(game.row_start)[kept]
    rows = concatenated_ranges(game.row_start[kept], row_count)
    outcome_count = np.diff(game.outcome_start)[rows]
    outcomes = concatenated_ranges(game.outcome_start[rows], outcome_count)
    return TabularGame(
        info=game.info,
        states=tuple(game.states[i] for i in kept.tolist()),
        row_start=np.concatenate(([0], np.cumsum(row_count))),
        outcome_start=np.concatenate(([0], np.cumsum(outcome_count))),
        next_state=new_index.astype(game.next_state.dtype)[game.next_state[outcomes]],
        probability=game.probability[outcomes],
        outcome_reward=game.outcome_reward[outcomes],
        mask=(game.mask[0][kept], game.mask[1][kept]),
        initial=game.initial[kept],
        observation=tuple(o[kept] for o in game.observation),
        turn=None if game.turn is None else game.turn[kept],
    )


def one_hot(game: TabularGame) -> TabularGame:
    """Replace every entry of the observations by an indicator of its value.

    Each entry takes finitely many values over the states; each of them becomes one input that
    is 0 or 1. Entries that never change are dropped. Networks learn tables with steps and bands
    far faster from this than from scaled numbers.

    Players whose observations are of one length share the values, so that an input means the
    same to both and one network can play for both.

    Returns:
        The same game (same model hash) with observations [S, D'] float32.
    """
    same = len({observation.shape[1] for observation in game.observation}) == 1
    encoded = []
    for observation in game.observation:
        seen = np.concatenate(game.observation) if same else observation
        columns = [
            column[:, None] == np.unique(values)[None, :]
            for column, values in zip(observation.T, seen.T, strict=True)
            if values.min() < values.max()
        ]
        if columns:
            encoded.append(np.concatenate(columns, axis=1).astype(np.float32))
        else:
            encoded.append(np.ones((game.n_states, 1), np.float32))
    return replace(game, observation=tuple(encoded))


def repeatable_state(table: TabularGame) -> int | None:
    """A state that has a cycle ahead, or None if no state can be visited twice in one episode."""
    source = table.row_state[table.outcome_row]
    # Take away states all of whose successors are away; what stays has a cycle ahead.
    away = table.terminal.copy()
    while not away.all():
        blocked = np.zeros(table.n_states, bool)
        blocked[source[~away[table.next_state]]] = True
        if (~blocked == away).all():
            return int(np.argmax(blocked))
        away = ~blocked
    return None


def extreme_returns(table: TabularGame) -> tuple[float, float, int]:
    """The least and largest return of an episode, and the most moves, in a game without cycles."""
    low, high = np.zeros(table.n_states), np.zeros(table.n_states)
    moves = np.zeros(table.n_states, np.int64)
    source = table.row_state[table.outcome_row]
    terms = table.outcome_reward
    while True:
        lower, upper, more = np.zeros_like(low), np.zeros_like(high), np.zeros_like(moves)
        lower[~table.terminal], upper[~table.terminal] = np.inf, -np.inf
        np.minimum.at(lower, source, terms + low[table.next_state])
        np.maximum.at(upper, source, terms + high[table.next_state])
        np.maximum.at(more, source, 1 + moves[table.next_state])
        if (lower == low).all() and (upper == high).all() and (more == moves).all():
            break
        low, high, moves = lower, upper, more
    starts = table.initial > 0
    return float(low[starts].min()), float(high[starts].max()), int(moves[starts].max())
