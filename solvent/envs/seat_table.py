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

Shapes, with S states, V views, A actions, K rows, N outcomes and B starts:

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
``next_state``       [N] int32           the state an outcome leads to
``reward``           [N] float           its reward to player 0
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
class SeatTable:
    """A game of two as its players see it; the module's table gives the shapes."""

    seats: tuple[int, ...]
    n_states: int
    node: NDArray[np.int32]
    rank: NDArray[Any]
    row: NDArray[np.uint64]
    threshold: Ints
    next_state: NDArray[np.int32]
    reward: NDArray[Any]
    start_state: NDArray[np.int32]
    start_threshold: Ints
    mask: NDArray[np.int8]
    observation: NDArray[Any]
    sign: Floats
    bonus: Floats
    choices: int


@dataclass(frozen=True, eq=False)
class _Joint:
    """What does not depend on the seat."""

    row: NDArray[np.uint64]
    threshold: Ints
    next_state: NDArray[np.int32]
    start_state: NDArray[np.int32]
    start_threshold: Ints


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
    joint = _joints[game]
    masks = [game.mask[seat] for seat in seats]
    seen = [observations(game, seat, observation) for seat in seats]
    check_alike(game, masks, seen)
    counts = [game.action_count[1 - seat] * ~game.terminal for seat in seats]
    # The opponents' actions of all views in one list.
    choice = np.cumsum(np.concatenate(counts)) - np.concatenate(counts)
    bonus = bonus_of(game.info)
    return SeatTable(
        seats=seats,
        n_states=game.n_states,
        node=np.concatenate(
            [
                _node(game, seat, choice[v * game.n_states : (v + 1) * game.n_states])
                for v, seat in enumerate(seats)
            ]
        ),
        rank=np.concatenate([_rank(mask) for mask in masks]),
        row=joint.row,
        threshold=joint.threshold,
        next_state=joint.next_state,
        reward=game.outcome_reward,
        start_state=joint.start_state,
        start_threshold=joint.start_threshold,
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
        (),
        lambda: _build_joint(game),
        lambda joint: Packed({}, vars(joint)),
        lambda packed: _Joint(**packed.arrays),
    )


def _build_joint(game: TabularGame) -> _Joint:
    threshold, row, _ = packed_rows(game.probability, game.outcome_start)
    start = np.flatnonzero(game.initial)
    return _Joint(
        row=row,
        threshold=threshold,
        next_state=np.ascontiguousarray(game.next_state, np.int32),
        start_state=start.astype(np.int32),
        start_threshold=inverse_cdf(game.initial[start], np.array([0, len(start)])),
    )
