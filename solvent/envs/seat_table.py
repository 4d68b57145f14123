"""The arrays of a game for two in the form in which a sampler reads them, from one or both seats.

Here nobody is folded into chance: a transition takes an action of each player. The table serves
alternating games, in which the player who waits has one action, and simultaneous ones alike.

A *view* is a seat from which the game is seen: 0, 1, or both in this order. What depends on the
seat is stacked: row ``v * S + s`` belongs to state s as view v sees it. The player in the seat is
the *learner* here, the other one the *opponent*.

**Which outcomes may follow.** The joint action in which the learner plays its legal action number
a and the opponent its number b is row ``first + a * own + b * other`` of the game, with the
numbers of ``node``. Where the row's outcomes and their thresholds are, ``row`` says in one number
(:func:`solvent.envs.random_stream.packed_rows`); :func:`place_of` reads it.

Shapes, with S states, V views, A actions, K rows and B starts:

===================  ==================  =====================================================
``node``             [V*S, 6] int32      `first`, `own` and `other` as above; first entry of the
                                         opponent's actions in a policy (see below) and how
                                         many there are, 0 after the end; and who is to act: 0
                                         the learner, maybe with the opponent, 1 the opponent
                                         alone, 2 nobody
``rank``             [V*S, A] int        the number of an action among the learner's legal ones;
                                         -1 if it is illegal, when number 0 is played
``row``              [K] uint64          of the packed rows
``threshold``        [T] int64           of the packed rows
``to``               [M] uint            where an outcome leads: the lower ``shift`` bits are the
                                         state, the others say which reward it has. Rows of a
                                         single outcome share it with those that have an equal one
``reward``           [R] float64         the different rewards to player 0
``start_state``      [B] int32           where an episode may begin
``start_threshold``  [B] int64           how likely
``mask``             [V*S, A] int8       the learner's legal actions; all 1 after the end,
                                         since no action counts there
``observation``      [V*S, D]            what the learner sees: float32 vectors, or [V*S, 1]
                                         int64 numbers of the states
``sign``             [V] float64         1 for seat 0, -1 for seat 1
``bonus``            [V] float64         added to the learner's reward where an episode ends
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

from solvent.envs.random_stream import CUT_BITS, FIRST_BITS, inverse_cdf, packed_rows
from solvent.envs.spaces import observations
from solvent.model import GameInfo, TabularGame
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.cache import Packed, kept

LEARNER, OPPONENT, NOBODY = 0, 1, 2
"""Who is to act."""

_FIRST, _CUT = (1 << FIRST_BITS) - 1, (1 << CUT_BITS) - 1


@dataclass(frozen=True, eq=False)
class _Joint:
    """What does not depend on the seat."""

    row: NDArray[np.uint64]
    threshold: Ints
    to: NDArray[Any]
    reward: Floats
    start_state: NDArray[np.int32]
    start_threshold: Ints


@dataclass(frozen=True, eq=False)
class SeatTable(_Joint):
    """A game of two as its players see it; the module's table gives the shapes."""

    seats: tuple[int, ...]
    n_states: int
    node: NDArray[np.int32]
    rank: NDArray[Any]
    mask: NDArray[np.int8]
    observation: NDArray[Any]
    sign: Floats
    bonus: Floats
    choices: int

    @property
    def shift(self) -> int:
        """How many bits of ``to`` the state takes."""
        return self.n_states.bit_length()

    def outcome(self, entry: int) -> tuple[int, float]:
        """What an entry of ``to`` says: the state that follows, and player 0's reward."""
        code, shift = self.to.item(entry), self.shift
        return code & (1 << shift) - 1, self.reward.item(code >> shift)


_joints: WeakKeyDictionary[TabularGame, _Joint] = WeakKeyDictionary()
_tables: WeakKeyDictionary[TabularGame, dict[tuple[tuple[int, ...], str], SeatTable]]
_tables = WeakKeyDictionary()


def seat_table(game: TabularGame, seats: tuple[int, ...], observation: str) -> SeatTable:
    """The table for some seats; built once for a game, however many environments ask for it.

    Args:
        game: A game for two.
        seats: ``(0,)``, ``(1,)`` or ``(0, 1)``.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.

    Raises:
        ValueError: If the game is for one player, `observation` is none of these or the game
            brings no observations, the game may begin in a state in which the episode has ended, or
            two seats differ in the number of actions or the length of observations.
    """
    tables = _tables.setdefault(game, {})
    if (seats, observation) not in tables:
        _check(game)
        tables[seats, observation] = _build(game, seats, observation)
    return tables[seats, observation]


def place_of(row: int) -> tuple[int, int, int]:
    """What an entry of ``row`` says: the first outcome, the first threshold, how many of these."""
    return row & _FIRST, row >> 32 & _CUT, 1 << (row >> 59)


def _check(game: TabularGame) -> None:
    if game.info.players != 2:
        raise ValueError(f"{game.info.name} is a game for one; solvent.envs.TabularEnv plays it")
    over = game.terminal & (game.initial > 0)
    if over.any():
        state = game.states[int(np.argmax(over))]
        raise ValueError(f"{game.info.name} may begin in {state!r}, where the episode has ended")


def bonus_of(info: GameInfo) -> float:
    """What player 1 receives at the end: the least plus the largest return, if finite."""
    low, high = info.reward_range
    return low + high if np.isfinite(low) and np.isfinite(high) else 0.0


def check_alike(
    game: TabularGame, masks: Sequence[NDArray[Any]], observations: Sequence[NDArray[Any]]
) -> None:
    """Check that one learner can take each of some seats.

    Args:
        game: The game.
        masks: [S, A] of each seat.
        observations: [S, D] of each seat.

    Raises:
        ValueError: If two of them differ in A or in D.
    """
    for name, arrays in (("actions", masks), ("entries in an observation", observations)):
        widths = [array.shape[1] for array in arrays]
        if len(set(widths)) > 1:
            raise ValueError(
                f"the seats of {game.info.name} have {widths[0]} and {widths[1]} {name}; "
                f"one learner for both needs as many"
            )


def _build(game: TabularGame, seats: tuple[int, ...], observation: str) -> SeatTable:
    if game not in _joints:
        _joints[game] = _joint(game)
    masks = [game.mask[seat] for seat in seats]
    seen = [observations(game, seat, observation) for seat in seats]
    check_alike(game, masks, seen)
    counts = [game.action_count[1 - seat] * ~game.terminal for seat in seats]
    # The opponents' actions of all views in one list.
    choice = np.cumsum(np.concatenate(counts)) - np.concatenate(counts)
    bonus = bonus_of(game.info)
    return SeatTable(
        **vars(_joints[game]),
        seats=seats,
        n_states=game.n_states,
        node=np.concatenate(
            [
                _node(game, seat, choice[v * game.n_states : (v + 1) * game.n_states])
                for v, seat in enumerate(seats)
            ]
        ),
        rank=np.concatenate([_rank(mask) for mask in masks]),
        mask=np.concatenate([mask | game.terminal[:, None] for mask in masks]).astype(np.int8),
        observation=np.concatenate(seen) if len(seats) > 1 else seen[0],
        sign=np.array([1.0 - 2.0 * seat for seat in seats]),
        bonus=np.array([seat * bonus for seat in seats]),
        choices=int(sum(count.sum() for count in counts)),
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


def _joint(game: TabularGame) -> _Joint:
    """What does not depend on the seat, kept on disk if it took long."""
    return kept(
        {"what": "joint actions", "model": game.model_hash},
        lambda: _build_joint(game),
        lambda joint: Packed({}, vars(joint)),
        lambda packed: _Joint(**packed.arrays),
    )


def _build_joint(game: TabularGame) -> _Joint:
    threshold, row, _ = packed_rows(game.probability, game.outcome_start)
    row, to, reward = _shared_outcomes(game, row)
    start = np.flatnonzero(game.initial)
    return _Joint(
        row=row,
        threshold=threshold,
        to=to,
        reward=reward,
        start_state=start.astype(np.int32),
        start_threshold=inverse_cdf(game.initial[start], np.array([0, len(start)])),
    )


def _shared_outcomes(
    game: TabularGame, row: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[Any], Floats]:
    """The arrays ``row``, ``to`` and ``reward``, of rows that count all outcomes one by one."""
    # As words, which tell 0 from -0.
    bits = game.outcome_reward.view(f"u{game.outcome_reward.itemsize}")
    different = np.unique(bits)
    shift = game.n_states.bit_length()
    small = shift + len(different).bit_length() <= 32
    to: NDArray[Any] = np.searchsorted(different, bits).astype(np.uint32 if small else np.uint64)
    to <<= shift
    to |= game.next_state.astype(to.dtype)

    length = np.diff(game.outcome_start)
    alone = length == 1
    single, which = np.unique(to[game.outcome_start[:-1][alone]], return_inverse=True)
    first = len(single) + np.cumsum(length * ~alone) - length
    first[alone] = which
    to = np.concatenate((single, to[np.repeat(~alone, length)]))
    row = (row & ~np.uint64(_FIRST)) | first.astype(np.uint64)
    reward = different.view(game.outcome_reward.dtype).astype(np.float64)
    return row, to, reward
