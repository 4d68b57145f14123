"""The arrays of a game in the form in which a sampler reads them.

A :class:`~solvent.model.TabularGame` says which outcomes follow a state and a *legal joint*
action. A sampler wants less, and wants it at once: given a state and *any* action of the one
player who chooses, which outcomes may follow, and which of them does a random draw pick?

**Which may follow.** They are the outcomes ``span[s, a, 0] .. span[s, a, 1]``. An illegal action
has the span of the lowest legal one. Where the episode has ended, every action has the span of the
start: an environment that resets itself just goes on.

**Which is picked.** A draw k (:mod:`solvent.envs.random_stream`) picks the first outcome of the
span with k < ``threshold``: the inverse of the distribution function, in units of 2^-53. The last
threshold of a span is 2^53, so there always is one.

Shapes, with S states, A actions and N outcomes of positive probability, the start's last:

===============  ================  =============================================================
``span``         [S, A, 2] int32   first and last outcome; ``~first`` if the action is illegal
``probability``  [N] float64       of an outcome within its span
``threshold``    [N] int64         2^53 times that of the span's outcomes up to this, rounded up
``next_state``   [N] int32         the state an outcome leads to
``reward``       [N] float64       its reward to the player who chooses
``guide``        [2^m] int32       for the start: the first outcome that a draw can pick whose
                                   upper m bits are i (Chen and Asau 1974, "On generating random
                                   variates from an empirical distribution")
``terminal``     [S] bool          whether the episode has ended
``mask``         [S, A] int8       legal actions; all 1 where the episode has ended, since no action
                                   counts there
``observation``  [S, D]            float32 vectors, or [S, 1] int64 numbers of the states
===============  ================  =============================================================

**For compiled loops** the same is packed (:class:`Packed`), so that a step reads little memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from solvent.envs.random_stream import DRAWS, FIRST_BITS, inverse_cdf, packed_rows
from solvent.envs.spaces import observations
from solvent.model import TabularGame, legal_action_table
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_integer


@dataclass(frozen=True, eq=False)
class SamplingTable:
    """One player's view of a game; the module's table gives the shapes."""

    span: NDArray[np.int32]
    probability: Floats
    threshold: Ints
    next_state: NDArray[np.int32]
    reward: Floats
    guide: NDArray[np.int32]
    terminal: Bools
    mask: NDArray[np.int8]
    observation: NDArray[Any]

    @cached_property
    def start(self) -> int:
        """The first outcome of the start; the start's outcomes are the last of all."""
        return int(self.guide[0])

    @cached_property
    def packed(self) -> Packed:
        """The same for compiled loops."""
        return _pack(self)


@dataclass(frozen=True, eq=False)
class Packed:
    """What a compiled step reads of a table.

    Attributes:
        cell: [S, A] uint64, rows of :func:`solvent.envs.random_stream.packed_rows`, with bit 31
            set if the action is illegal. Where the episode has ended it is the row of the start, or
            if that is `guided`, one whose thresholds begin at 0.
        held: int64, from ``PLACES`` on the thresholds, and those of the start if it is `guided`.
            Before these are as many numbers as :class:`Place` names.
        to: [N] uint32 or uint64, where an outcome leads: from bit 0 on whether the episode has
            ended there, the state, and, from bit `shift` on, which reward it has.
        reward: [R], the different rewards.
    """

    cell: NDArray[np.uint64]
    held: Ints
    to: NDArray[Any]
    reward: Floats

    def _of(self, place: Place) -> int:
        return int(self.held[place])

    @property
    def threshold(self) -> Ints:
        """[T], of :func:`solvent.envs.random_stream.packed_rows`."""
        return self.held[PLACES : self._of(Place.STARTS)]

    @property
    def depth(self) -> int:
        """How many halvings find an outcome of any cell."""
        return self._of(Place.DEPTH)

    @property
    def shift(self) -> int:
        """How many bits of ``to`` the end and the state take."""
        return self._of(Place.SHIFT)

    @property
    def guided(self) -> bool:
        """Whether the start has so many outcomes that it is found by the table's ``guide``."""
        return len(self.held) > self._of(Place.STARTS)


class Place(IntEnum):
    """What the first numbers of ``Packed.held`` are."""

    DEPTH = 0
    SHIFT = 1
    STARTS = 2
    """Where in ``held`` the thresholds of the start begin."""


PLACES = len(Place)


def _pack(table: SamplingTable) -> Packed:
    span = table.span.reshape(-1, 2)
    illegal = span[:, 0] < 0
    begin = np.where(illegal, ~span[:, 0], span[:, 0])
    n = len(table.threshold)
    first = np.unique(np.append(begin, n))
    # A start of few outcomes is a row like any other.
    longest = np.diff(first[first <= table.start]).max(initial=1)
    guided = n - table.start > max(int(longest), 4)
    if guided:
        first = first[first <= table.start]
    threshold, row, depth = packed_rows(table.probability[: first[-1]], first)
    if guided:
        row = np.append(row, np.uint64(table.start))
    cell = row[np.searchsorted(first, begin)] | illegal.astype(np.uint64) << np.uint64(FIRST_BITS)
    reward, code = np.unique(table.reward, return_inverse=True)
    shift = len(table.terminal).bit_length() + 1
    ends = table.terminal[table.next_state]
    to = (code << shift) | (table.next_state.astype(np.int64) << 1) | ends
    width = np.uint32 if shift + len(reward).bit_length() <= 32 else np.uint64
    places = np.array([depth, shift, PLACES + len(threshold)])
    starts = table.threshold[table.start :] if guided else table.threshold[:0]
    held = np.concatenate((places, threshold, starts))
    return Packed(cell.reshape(table.mask.shape), held, to.astype(width), reward)


_views: WeakKeyDictionary[TabularGame, dict[tuple[int, str], SamplingTable]] = WeakKeyDictionary()


def sampling_table(game: TabularGame, player: int, observation: str) -> SamplingTable:
    """The table for one player; built once for a game, however many environments ask for it.

    Args:
        game: A game in which nobody but `player` ever has a choice.
        player: 0 or 1.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Raises:
        ValueError: If an argument is none of these, the other player has a choice somewhere,
            the game brings no observations although they are asked for, or it may begin in a
            state in which the episode has ended.
    """
    check_integer(player, "player", 0, 1)
    views = _views.setdefault(game, {})
    if (player, observation) not in views:
        _check(game, player)
        views[player, observation] = _build(game, player, observation)
    return views[player, observation]


def _check(game: TabularGame, player: int) -> None:
    choice = game.action_count[1 - player] > 1
    if choice.any():
        raise ValueError(
            f"player {1 - player} of {game.info.name} has a choice in state "
            f"{game.states[int(np.argmax(choice))]!r}; fold a policy of theirs into the game "
            f"with solvent.model.against"
        )
    over = game.terminal & (game.initial > 0)
    if over.any():
        state = game.states[int(np.argmax(over))]
        raise ValueError(f"{game.info.name} may begin in {state!r}, where the episode has ended")


def _build(game: TabularGame, player: int, observation: str) -> SamplingTable:
    start = np.flatnonzero(game.initial)
    probability = np.concatenate((game.probability, game.initial[start]))
    outcome = np.flatnonzero(probability > 0)
    probability = probability[outcome]
    # The start is one row more than the game has.
    row = np.concatenate((game.outcome_row, np.full(len(start), game.n_rows)))[outcome]
    first = np.searchsorted(row, np.arange(game.n_rows + 2))

    threshold = inverse_cdf(probability, first)
    sign = 1.0 if player == 0 else -1.0
    return SamplingTable(
        span=_spans(game, player, first),
        probability=probability,
        threshold=threshold,
        next_state=np.concatenate((game.next_state, start))[outcome].astype(np.int32),
        reward=np.concatenate((sign * game.outcome_reward, np.zeros(len(start))))[outcome],
        guide=_guide(threshold, int(first[game.n_rows])),
        terminal=game.terminal,
        mask=(game.mask[player] | game.terminal[:, None]).astype(np.int8),
        observation=observations(game, player, observation),
    )


def _spans(game: TabularGame, player: int, first: Ints) -> NDArray[np.int32]:
    """The array ``span``; row k has the outcomes ``first[k] : first[k+1]``."""
    mask = game.mask[player]
    played = np.maximum(legal_action_table(mask), 0)
    rank = np.cumsum(mask, axis=1) - 1
    row = game.row_start[:-1, None] + np.take_along_axis(rank, played, axis=1)
    row[game.terminal] = game.n_rows
    illegal = ~mask & ~game.terminal[:, None]
    return np.stack(
        (np.where(illegal, ~first[row], first[row]), first[row + 1] - 1), axis=2
    ).astype(np.int32)


def _guide(threshold: Ints, start: int) -> NDArray[np.int32]:
    """The array ``guide``, with at least as many entries as the start has outcomes."""
    bits = (len(threshold) - start - 1).bit_length()
    least_draw = np.arange(1 << bits) << (DRAWS.bit_length() - 1 - bits)
    return (start + np.searchsorted(threshold[start:], least_draw, side="right")).astype(np.int32)
