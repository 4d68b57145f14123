"""The arrays of a game in the form in which a sampler reads them.

A :class:`~solvent.model.TabularGame` lists the outcomes of each state and *legal joint* action. A
sampler is given a state and *any* action of a learner and needs the outcomes that may follow, and
the one of them that a random draw picks. Both are found by looking up whole numbers.

**Outcomes** (:class:`OutcomeTable`) do not depend on who looks. Row k of the game is one number
that says where the row's outcomes and their thresholds are
(:func:`solvent.envs.random_stream.packed_rows`); :func:`place_of` reads it. The last row is the
*start*: its outcomes are the states in which an episode may begin.

**Seats** (:class:`SeatTable`). Nobody is folded into chance: a transition takes an action of each
player. The table serves games for one, in which the other player has one action everywhere, games
in turns, in which the player who waits has one action, and simultaneous games alike. A *view* is a
seat from which the game is seen: 0, 1, or both in this order. Arrays that depend on the seat are
stacked: row ``v * S + s`` belongs to state s as view v sees it. The player in the seat is the
*learner* here, the other one the *opponent*. If the learner plays its legal action number a and the
opponent its number b, the outcomes are those of row ``first + a * own + b * other``.

Shapes, with S states, V views, A actions and K rows:

===================  ==================  =====================================================
``row``              [K+1] uint64        packed rows, the start's last
``threshold``        [T] int64           of the packed rows
``to``               [M] uint            where an outcome leads: bit 0 says whether the episode
                                         has ended there, the bits below ``shift`` are the state,
                                         the others say which reward it has. Rows of a single
                                         outcome share it with those that have an equal one
``reward``           [R] float64         the different rewards to player 0
``node``             [V*S, 6] int32      `first`, `own` and `other` as above; first entry of the
                                         opponent's actions in a policy (see below) and how
                                         many there are, 0 after the end; and who is to act: 0
                                         the learner, maybe with the opponent, 1 the opponent
                                         alone, 2 nobody
``rank``             [V*S, A] int        the number of an action among the learner's legal ones;
                                         -1 if it is illegal, when number 0 is played
``mask``             [V*S, A] int8       the learner's legal actions; all 1 after the end,
                                         since no action counts there
``observation``      [V*S, D]            what the learner sees: float32 vectors, or [V*S, 1]
                                         int64 numbers of the states
``sign``             [V] float64         1 for seat 0, -1 for seat 1
``bonus``            [V] float64         added to the learner's reward where an episode of a game
                                         for two ends
===================  ==================  =====================================================

**The opponent's policy** is one list of thresholds: its legal actions in all states, first as
view 0 meets it, then as view 1 does; ``choices`` is the length of the list.

**Rewards.** Player 1 receives the negative of player 0's rewards and, at the end, the least
plus the largest return of the game (``info.reward_range``, if it is finite). So the return
of an episode lies in the same range from either seat: a game that gives 1 for a victory, 1/2 for a
tie and 0 for a defeat does so to both, and only the sum of the two is constant instead of 0. A
learner that takes both seats could otherwise not tell a victory in one from a defeat in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from solvent.envs.random_stream import CUT_BITS, FIRST_BITS, packed_rows
from solvent.envs.spaces import observations
from solvent.model import GameInfo, TabularGame
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.cache import Packed, kept
from solvent.model.parameters import check_integer

LEARNER, OPPONENT, NOBODY = 0, 1, 2
"""Codes of the player to act."""

_FIRST, _CUT = (1 << FIRST_BITS) - 1, (1 << CUT_BITS) - 1


@dataclass(frozen=True, eq=False)
class OutcomeTable:
    """The possible outcomes of each joint action; the module's table gives the shapes."""

    row: NDArray[np.uint64]
    threshold: Ints
    to: NDArray[Any]
    reward: Floats
    shift: int

    def outcome(self, entry: int) -> tuple[int, float]:
        """The state to which an entry of ``to`` leads, and player 0's reward."""
        code = self.to.item(entry)
        return (code & (1 << self.shift) - 1) >> 1, self.reward.item(code >> self.shift)


@dataclass(frozen=True, eq=False)
class SeatTable:
    """A game as its players see it; the module's table gives the shapes."""

    seats: tuple[int, ...]
    n_states: int
    node: NDArray[np.int32]
    rank: NDArray[Any]
    mask: NDArray[np.int8]
    observation: NDArray[Any]
    sign: Floats
    bonus: Floats
    choices: int


_outcomes: WeakKeyDictionary[TabularGame, OutcomeTable] = WeakKeyDictionary()
_seats: WeakKeyDictionary[TabularGame, dict[tuple[tuple[int, ...], str], SeatTable]]
_seats = WeakKeyDictionary()


def outcome_table(game: TabularGame) -> OutcomeTable:
    """The outcomes of a game; packed once, and kept on disk if that took long.

    Args:
        game: The game.

    Raises:
        ValueError: If the game may begin in a state in which the episode has ended.
    """
    if game not in _outcomes:
        over = game.terminal & (game.initial > 0)
        if over.any():
            state = game.states[int(np.argmax(over))]
            raise ValueError(
                f"{game.info.name} may begin in {state!r}, where the episode has ended"
            )
        shift = game.n_states.bit_length() + 1
        _outcomes[game] = kept(
            {"what": "sampled outcomes", "model": game.model_hash},
            lambda: _build_outcomes(game, shift),
            lambda table: Packed({}, {n: a for n, a in vars(table).items() if n != "shift"}),
            lambda packed: OutcomeTable(shift=shift, **packed.arrays),
        )
    return _outcomes[game]


def seat_table(game: TabularGame, seats: tuple[int, ...], observation: str) -> SeatTable:
    """The table for some seats; built once for a game, however many environments ask for it.

    Args:
        game: The game.
        seats: ``(0,)``, ``(1,)`` or ``(0, 1)``.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Raises:
        ValueError: If `observation` is none of these or the game brings no observations, or two
            seats differ in the number of actions or the length of observations.
    """
    tables = _seats.setdefault(game, {})
    if (seats, observation) not in tables:
        tables[seats, observation] = _build_seats(game, seats, observation)
    return tables[seats, observation]


def table_for_one(game: TabularGame, player: int, observation: str) -> SeatTable:
    """The table of a game in which one player chooses.

    Args:
        game: The game.
        player: The player who chooses.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Raises:
        ValueError: As :func:`seat_table`, or if the other player has a choice somewhere.
    """
    check_integer(player, "player", 0, 1)
    choice = game.action_count[1 - player] > 1
    if choice.any():
        raise ValueError(
            f"player {1 - player} of {game.info.name} has a choice in state "
            f"{game.states[int(np.argmax(choice))]!r}; fold a policy of theirs into the game "
            f"with solvent.model.against"
        )
    return seat_table(game, (player,), observation)


def table_for_two(game: TabularGame, seats: tuple[int, ...], observation: str) -> SeatTable:
    """The table for some seats of a game for two, as :func:`seat_table` gives it.

    Args:
        game: The game.
        seats: ``(0,)``, ``(1,)`` or ``(0, 1)``.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Raises:
        ValueError: As :func:`seat_table`, or if the game is for one player.
    """
    if game.info.players != 2:
        raise ValueError(f"{game.info.name} is a game for one; it has no opponents")
    return seat_table(game, seats, observation)


def place_of(row: int) -> tuple[int, int, int]:
    """Unpack an entry of ``row``: its first outcome, first threshold, and number of thresholds."""
    return row & _FIRST, row >> 32 & _CUT, 1 << (row >> 59)


def bonus_of(info: GameInfo) -> float:
    """Player 1's reward at the end: the least plus the largest return, if finite."""
    low, high = info.reward_range
    return low + high if np.isfinite(low) and np.isfinite(high) else 0.0


def _build_seats(game: TabularGame, seats: tuple[int, ...], observation: str) -> SeatTable:
    masks = [game.mask[seat] for seat in seats]
    seen = [observations(game, seat, observation) for seat in seats]
    _check_alike(game, "actions", masks)
    _check_alike(game, "entries in an observation", seen)
    counts = [game.action_count[1 - seat] * ~game.terminal for seat in seats]
    # The opponents' actions of all views in one list.
    choice = np.split(np.cumsum(np.concatenate(counts)) - np.concatenate(counts), len(seats))
    bonus = bonus_of(game.info)
    return SeatTable(
        seats=seats,
        n_states=game.n_states,
        node=np.concatenate([_node(game, s, own) for s, own in zip(seats, choice, strict=True)]),
        rank=np.concatenate([_rank(mask) for mask in masks]),
        mask=np.concatenate([mask | game.terminal[:, None] for mask in masks]).astype(np.int8),
        observation=np.concatenate(seen) if len(seats) > 1 else seen[0],
        sign=np.array([1.0 - 2.0 * seat for seat in seats]),
        bonus=np.array([seat * bonus for seat in seats]),
        choices=int(sum(count.sum() for count in counts)),
    )


def _check_alike(game: TabularGame, name: str, arrays: Sequence[NDArray[Any]]) -> None:
    """Raise a ValueError unless one learner can take each seat, whose arrays [S, …] these are."""
    widths = [array.shape[1] for array in arrays]
    if len(set(widths)) > 1:
        raise ValueError(
            f"the seats of {game.info.name} have {widths[0]} and {widths[1]} {name}; "
            f"one learner for both needs as many"
        )


def _node(game: TabularGame, seat: int, choice: Ints) -> NDArray[np.int32]:
    """The array ``node`` of one view; `choice` [S] is its fourth column."""
    own, other = game.action_count[seat], game.action_count[1 - seat]
    one = np.ones_like(own)
    # Rows are ordered by player 0's action, then by player 1's.
    strides = (other, one) if seat == 0 else (one, own)
    waiting = np.where(game.on_turn(seat), LEARNER, OPPONENT)
    actor = np.where(game.terminal, NOBODY, waiting)
    columns = (game.row_start[:-1], *strides, choice, other * ~game.terminal, actor)
    return np.stack(columns, axis=1).astype(np.int32)


def _rank(mask: Bools) -> NDArray[Any]:
    small = np.int8 if mask.shape[1] <= 128 else np.int32
    return np.where(mask, np.cumsum(mask, axis=1) - 1, -1).astype(small)


def _build_outcomes(game: TabularGame, shift: int) -> OutcomeTable:
    start = np.flatnonzero(game.initial)
    first = np.append(game.outcome_start, len(game.probability) + len(start))
    threshold, row = packed_rows(np.concatenate((game.probability, game.initial[start])), first)
    # As words, which tell 0 from -0.
    bits = game.outcome_reward.view(f"u{game.outcome_reward.itemsize}")
    different = np.unique(np.append(bits, bits.dtype.type(0)))
    state = np.concatenate((game.next_state, start)).astype(np.int64)
    code = np.searchsorted(different, np.append(bits, np.zeros(len(start), bits.dtype)))
    small = shift + len(different).bit_length() <= 32
    to: NDArray[Any] = code << shift | state << 1 | game.terminal[state]
    to = to.astype(np.uint32 if small else np.uint64)

    # Rows of a single outcome share it.
    length = np.diff(first)
    alone = length == 1
    single, which = np.unique(to[first[:-1][alone]], return_inverse=True)
    at = len(single) + np.cumsum(length * ~alone) - length
    at[alone] = which
    to = np.concatenate((single, to[np.repeat(~alone, length)]))
    row = (row & ~np.uint64(_FIRST)) | at.astype(np.uint64)
    reward = different.view(game.outcome_reward.dtype).astype(np.float64)
    return OutcomeTable(row, threshold, to, reward, shift)
