"""Random streams, and games and opponents as the arrays that a sampler reads.

**Streams.** Every environment has its own random stream, whether it is a single environment or one
of thousands in a compiled loop, so that both give the same episode for the same seed. A NumPy
generator for each environment could not be advanced at compiled speed.

The generator is xorshift64 (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14),
2003, shifts 13, 7, 17): a linear map of 64 bits that visits every state but 0, so its period is
2^64 - 1. A draw is the upper 53 bits, an integer k from 0 to 2^53 - 1, which represents the number
k / 2^53 in [0, 1). Draws stay integers, so that comparisons are exact everywhere. The compiled
version of :meth:`RandomStream.draw` is in :mod:`solvent.envs.kernels`.

A draw picks from a distribution by its inverse CDF: the first entry whose *threshold*, the
distribution function in units of 2^-53 (:func:`inverse_cdf`), is larger than the draw. The last
threshold is 2^53, so there always is one.

**Tables.** A :class:`~solvent.model.TabularGame` lists the outcomes of each state and *legal joint*
action. A sampler is given a state and *any* action of a learner. It has to find the row of possible
outcomes, and then the outcome that a random draw picks. Both are look-ups of integers.

**Outcomes** (:class:`OutcomeTable`) are the same for both seats. Row k of the game is packed into
one number that says where the row's outcomes and thresholds are (:func:`packed_rows`);
:func:`unpacked_row` unpacks it. The last row is the *start*: its outcomes are the states in which
an episode may begin.

**Seats** (:class:`SeatTable`). A transition takes an action of each player. The same table serves
one-player games, in which the other player always has a single action, turn-based games, in which
the player who waits has a single action, and simultaneous games. A *view* is a seat from which the
game is seen: 0, 1, or both in this order. Arrays that depend on the seat are stacked: row
``v * S + s`` belongs to state s as view v sees it. The player in the seat is called the *learner*
here, and the other one the *opponent*. If the learner plays its legal action number a and the
opponent its number b, the outcomes are those of row ``first + a * own + b * other``.

Shapes, with S states, V views, A actions and K rows:

===================  ==================  =====================================================
``row``              [K+1] uint64        packed rows, the start's last
``threshold``        [T] int64           of the packed rows
``to``               [M] uint            target of each outcome: bit 0 is set if the state is
                                         terminal, the other bits below ``shift`` are the state,
                                         and those from ``shift`` on the index of the reward. Rows
                                         with the same single outcome share its entry
``reward``           [R] float64         the distinct rewards to player 0
``node``             [V*S, 6] int32      `first`, `own` and `other` as above; first entry of the
                                         opponent's actions in a policy (see below) and how
                                         many there are, 0 after the end; and the player to act:
                                         0 the learner, maybe with the opponent, 1 the opponent
                                         alone, 2 nobody
``rank``             [V*S, A] int        the number of an action among the learner's legal ones;
                                         -1 if it is illegal, and number 0 is played instead
``mask``             [V*S, A] int8       the learner's legal actions; all 1 after the end,
                                         when no action has an effect
``observation``      [V*S, D]            the learner's observations: float32 vectors, or [V*S, 1]
                                         int64 numbers of the states
``sign``             [V] float64         1 for seat 0, -1 for seat 1
``bonus``            [V] float64         added to the learner's reward at the end of an episode of
                                         a two-player game
===================  ==================  =====================================================

**The opponent's policy** is one list of thresholds for its legal actions in all states, first
against view 0, then against view 1.

**Rewards.** Player 1 receives the negative of player 0's rewards and, at the end, the lowest
plus the highest return of the game (``info.reward_range``, if it is finite). So the return of an
episode has the same range from either seat. If a victory counts 1, a tie 1/2 and a defeat 0, both
seats receive these numbers, and their sum is constant instead of 0. Otherwise a learner that takes
both seats could not distinguish a victory in one from a defeat in the other.

**A pool** is a list of opponents with weights. At each reset an environment draws one of them for
the whole episode. A pool of one needs no draw.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from solvent.model import GameInfo, TabularGame, TabularPolicy, one_hot
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.cache import Packed, kept
from solvent.model.parameters import check_choice, check_integer, shown
from solvent.model.tabular import check_policy, remembered

DRAWS = 1 << 53
"""The number of possible draws; all are equally likely."""

_64_BITS = (1 << 64) - 1


def first_state(generator: np.random.Generator) -> int:
    """Draw the initial state of a stream from an environment's ``np_random``; never 0.

    From 0 the generator would only ever reach 0.
    """
    return int(generator.integers(1, 1 << 64, dtype=np.uint64))


class RandomStream:
    """A stream of draws.

    Attributes:
        state: 64 bits, not 0.
    """

    __slots__ = ("state",)

    def __init__(self, state: int) -> None:
        self.state = state

    def draw(self) -> int:
        """Return the next draw, within 0..2^53 - 1."""
        x = self.state
        x ^= (x << 13) & _64_BITS
        x ^= x >> 7
        x ^= (x << 17) & _64_BITS
        self.state = x
        return x >> 11


def inverse_cdf(probability: Floats, first: Ints) -> Ints:
    """Return the thresholds of many distributions, 2^53 times their distribution functions.

    Thresholds are rounded up. An entry of probability 0 has the same threshold as the entry before
    it (0 if it is the first), so no draw picks it. From the last positive entry on the threshold is
    2^53, however the probabilities were rounded.

    Args:
        probability: [N], the entries of all distributions.
        first: [K+1]; distribution k has the entries ``first[k] : first[k+1]``, at least one.

    Returns:
        The thresholds, [N] int64.
    """
    length = np.diff(first)
    threshold = np.empty(len(probability), np.int64)
    # Each distribution is added up by itself, as differences of one long cumulative sum would lose
    # digits. Distributions of the same length are taken together.
    for n in np.unique(length):
        entries = first[:-1][length == n, None] + np.arange(n)
        threshold[entries] = inverse_cdf_rows(probability[entries])
    return threshold


def inverse_cdf_rows(probability: Floats) -> Ints:
    """Return the thresholds of distributions of equal length, a row each, [K, n] int64."""
    cumulative = np.cumsum(probability, axis=1)
    complete = cumulative >= cumulative[:, -1:]
    return np.where(complete, DRAWS, np.minimum(np.ceil(cumulative * DRAWS), DRAWS)).astype(
        np.int64
    )


FIRST_BITS, CUT_BITS = 31, 27
"""The numbers of bits of a packed row for the start of its outcomes and of its thresholds."""


def packed_rows(probability: Floats, first: Ints) -> tuple[Ints, NDArray[np.uint64]]:
    """Return many distributions in the form that compiled loops read.

    Equal distributions share their thresholds: a dice game has far fewer distributions than rows,
    few enough to stay in a processor's first cache. The thresholds of a distribution of n entries
    are padded with 2^53, which no draw reaches, to a power of two of at least 4. So a search takes
    the same number of steps for every draw.

    A packed row is one number. Its bits are `first` (0 to 30), free (31), the index of the first
    threshold (32 to 58), and the binary logarithm of the number of thresholds (from 59).

    Args:
        probability: [N], the entries of all distributions.
        first: [K+1]; distribution k has the entries ``first[k] : first[k+1]``, at least one.

    Returns:
        The thresholds, and the rows [K].

    Raises:
        ValueError: If there are too many entries for these bits.
    """
    length = np.diff(first)
    row = np.empty(len(length), np.uint64)
    # No row has place 0, so that a row can be marked by thresholds that begin there.
    threshold, end = [np.full(1, DRAWS)], 1
    for n in np.unique(length).tolist():
        level = max(2, (n - 1).bit_length())
        rows = np.flatnonzero(length == n)
        example, which = _distinct(probability[first[rows, None] + np.arange(n)])
        cuts = np.full((len(example), 1 << level), DRAWS)
        cuts[:, :n] = inverse_cdf_rows(example)
        row[rows] = first[rows] | (end + (which << level) << FIRST_BITS + 1)
        row[rows] |= np.uint64(level << 59)
        threshold.append(cuts.ravel())
        end += cuts.size
    if first[-1] >= 1 << FIRST_BITS or end >= 1 << CUT_BITS:
        raise ValueError(
            f"the table has {first[-1]} outcomes and {end} thresholds; "
            f"allowed are up to 2^{FIRST_BITS} and 2^{CUT_BITS}"
        )
    return np.concatenate(threshold), row


def _distinct(rows: Floats) -> tuple[Floats, Ints]:
    """Return the distinct rows of an array [K, n], and the index of each row among them, [K]."""
    words = rows.view(np.uint64)
    # Sorting a hash of each row is much faster than sorting rows.
    odd = np.random.default_rng(0).integers(1 << 63, size=words.shape[1], dtype=np.uint64) * 2 + 1
    digest = ((words ^ (words >> np.uint64(29))) * odd).sum(axis=1, dtype=np.uint64)
    _, example, which = np.unique(digest, return_index=True, return_inverse=True)
    if not (words[example][which] == words).all():
        _, example, which = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return rows[example], which.ravel()


OBSERVATIONS = ("vector", "onehot", "index")

_encoded = remembered(one_hot)


def observed(game: TabularGame, player: int, observation: str) -> NDArray[Any]:
    """Return the observations of a player in the form of a vector environment's batch.

    Args:
        game: The game.
        player: 0 or 1.
        observation: ``"vector"`` as the rules give it, ``"onehot"`` as
            :func:`solvent.model.one_hot` does, or ``"index"``, the number of the state.

    Returns:
        [S, D] float32, or [S] int64 for ``"index"``.

    Raises:
        ValueError: If an argument is not allowed, or the game has no such observations.
    """
    check_integer(player, "player", 0, 1)
    check_choice(observation, "observation", OBSERVATIONS)
    if observation == "index":
        return np.arange(game.n_states, dtype=np.int64)
    if len(game.observation) <= player:
        raise ValueError(
            f"{game.info.name} has no observations for player {player}; "
            f"observation='index' needs none"
        )
    if observation == "vector":
        return np.ascontiguousarray(game.observation[player])
    return _encoded(game).observation[player]


def kind_that_fits(
    space: spaces.Space[Any], game: TabularGame, player: int, default: str = "vector"
) -> str:
    """Return the kind of observation that fits a policy's observation space.

    Args:
        space: The observation space of the policy.
        game: The game.
        player: The observing player, 0 or 1.
        default: The kind to prefer if it fits, and to return if none does.

    Returns:
        ``"vector"``, ``"onehot"`` or ``"index"``.

    Raises:
        ValueError: If `default` is another kind.
    """
    check_choice(default, "observation", OBSERVATIONS)
    for kind in (default, *OBSERVATIONS):
        if kind == "index":
            fits = space == spaces.Discrete(game.n_states)
        else:
            # Only the shape is compared, as normalized observations have other bounds.
            has_vectors = isinstance(space, spaces.Box) and player < len(game.observation)
            fits = has_vectors and space.shape == observed(game, player, kind).shape[1:]
        if fits:
            return kind
    return default


def observation_space(observation: NDArray[Any]) -> spaces.Space[Any]:
    """Return the space of some observations, [S, D]: int64 numbers of states, or float32 vectors.

    Vectors are within [-1, 1], or within [0, 1] if no entry is negative.
    """
    width = observation.shape[1]
    if observation.dtype == np.int64:
        return spaces.Discrete(int(observation.max()) + 1)
    low = -1.0 if (observation < 0).any() else 0.0
    return spaces.Box(low, 1.0, (width,), np.float32)


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
        """Return the state to which an entry of ``to`` leads, and player 0's reward."""
        code = self.to.item(entry)
        return (code & (1 << self.shift) - 1) >> 1, self.reward.item(code >> self.shift)


@dataclass(frozen=True, eq=False)
class SeatTable:
    """A game as its players see it; the module's table gives the shapes."""

    seats: tuple[int, ...]
    node: NDArray[np.int32]
    rank: NDArray[Any]
    mask: NDArray[np.int8]
    observation: NDArray[Any]
    sign: Floats
    bonus: Floats


@remembered
def outcome_table(game: TabularGame) -> OutcomeTable:
    """Return the outcomes of a game; packed once, and cached on disk if that took long.

    Args:
        game: The game.

    Raises:
        ValueError: If the game may begin in a state in which the episode has ended.
    """
    over = game.terminal & (game.initial > 0)
    if over.any():
        state = game.states[int(np.argmax(over))]
        raise ValueError(f"{game.info.name} may begin in {state!r}, where the episode has ended")
    shift = game.n_states.bit_length() + 1
    return kept(
        {"what": "sampled outcomes", "model": game.model_hash},
        lambda: _build_outcomes(game, shift),
        lambda table: Packed({}, {n: a for n, a in vars(table).items() if n != "shift"}),
        lambda packed: OutcomeTable(shift=shift, **packed.arrays),
    )


@remembered
def seat_table(
    game: TabularGame, seats: tuple[int, ...], observation: str, alone: bool = False
) -> SeatTable:
    """Return the table for some seats; built once for a game.

    Args:
        game: The game.
        seats: ``(0,)``, ``(1,)`` or ``(0, 1)``.
        observation: ``"vector"``, ``"onehot"`` or ``"index"``.
        alone: Whether only the player in the seat may have a choice; otherwise the game has to be
            for two.

    Raises:
        ValueError: If another player has a choice or the game is for one, `observation` is not
            allowed or the game has no such observations, or the two seats differ in the number of
            actions or the length of observations.
    """
    choice = game.action_count[1 - seats[0]] > 1
    if alone and choice.any():
        raise ValueError(
            f"player {1 - seats[0]} of {game.info.name} has a choice in state "
            f"{game.states[int(np.argmax(choice))]!r}; fold a policy of theirs into the game "
            f"with solvent.model.against"
        )
    if not alone and game.info.players != 2:
        raise ValueError(f"{game.info.name} is a game for one; it has no opponents")
    masks = [game.mask[seat] for seat in seats]
    seen = [observed(game, s, observation).reshape(game.n_states, -1) for s in seats]
    _check_alike(game, "actions", masks)
    _check_alike(game, "entries in an observation", seen)
    counts = [game.action_count[1 - seat] * ~game.terminal for seat in seats]
    # The opponent's actions against all views are in one list.
    firsts = np.split(np.cumsum(np.concatenate(counts)) - np.concatenate(counts), len(seats))
    bonus = bonus_of(game.info)
    return SeatTable(
        seats=seats,
        node=np.concatenate([_node(game, s, own) for s, own in zip(seats, firsts, strict=True)]),
        rank=np.concatenate([_rank(mask) for mask in masks]),
        mask=np.concatenate([mask | game.terminal[:, None] for mask in masks]).astype(np.int8),
        observation=np.concatenate(seen) if len(seats) > 1 else seen[0],
        sign=np.array([1.0 - 2.0 * seat for seat in seats]),
        bonus=np.array([seat * bonus for seat in seats], float),
    )


def unpacked_row(row: int) -> tuple[int, int, int]:
    """Unpack an entry of ``row``: its first outcome, first threshold, and number of thresholds."""
    return row & _FIRST, row >> 32 & _CUT, 1 << (row >> 59)


def bonus_of(info: GameInfo) -> float:
    """Return player 1's bonus at the end: the lowest plus the highest return, 0 if not finite."""
    low, high = info.reward_range
    return low + high if np.isfinite(low) and np.isfinite(high) else 0.0


def _check_alike(game: TabularGame, name: str, arrays: Sequence[NDArray[Any]]) -> None:
    """Raise a ValueError unless the seats' arrays [S, …] are equally wide, for one learner."""
    widths = [array.shape[1] for array in arrays]
    if len(set(widths)) > 1:
        raise ValueError(
            f"the seats of {game.info.name} have {widths[0]} and {widths[1]} {name}; "
            f"one learner for both needs as many"
        )


def _node(game: TabularGame, seat: int, choice: Ints) -> NDArray[np.int32]:
    """Return the array ``node`` of one view; `choice` [S] is its fourth column."""
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
    # Rewards are compared by their bits, which distinguish 0 from -0.
    bits = game.outcome_reward.view(f"u{game.outcome_reward.itemsize}")
    different = np.unique(np.append(bits, bits.dtype.type(0)))
    state = np.concatenate((game.next_state, start)).astype(np.int64)
    code = np.searchsorted(different, np.append(bits, np.zeros(len(start), bits.dtype)))
    small = shift + len(different).bit_length() <= 32
    to: NDArray[Any] = code << shift | state << 1 | game.terminal[state]
    to = to.astype(np.uint32 if small else np.uint64)

    # Rows with the same single outcome share its entry.
    length = np.diff(first)
    alone = length == 1
    single, which = np.unique(to[first[:-1][alone]], return_inverse=True)
    at = len(single) + np.cumsum(length * ~alone) - length
    at[alone] = which
    to = np.concatenate((single, to[np.repeat(~alone, length)]))
    row = (row & ~np.uint64(_FIRST)) | at.astype(np.uint64)
    reward = different.view(game.outcome_reward.dtype).astype(np.float64)
    return OutcomeTable(row, threshold, to, reward, shift)


Opponent: TypeAlias = TabularPolicy | Sequence[TabularPolicy]
"""A policy for the other seat; where the learner takes either seat, one for each player."""

Opponents: TypeAlias = TabularPolicy | Sequence[Opponent]
"""A single opponent, or a list of them."""


class Pool(NamedTuple):
    """Opponents as a sampler reads them.

    Attributes:
        sides: [V] int64 thresholds from which one of the learner's seats is drawn.
        weight: [K] int64 thresholds from which one of the K opponents is drawn.
        policy: [K, C] int64 thresholds of the C actions of each.
    """

    sides: Ints
    weight: Ints
    policy: Ints


def opponent_pool(
    game: TabularGame,
    table: SeatTable,
    opponents: Opponents,
    weights: Sequence[float] | None = None,
) -> tuple[Pool, tuple[tuple[TabularPolicy, ...], ...]]:
    """Make a pool, and list the policies in it, one for each seat of the learner.

    Args:
        game: The game that is played.
        table: Table of the seats that the learner takes.
        opponents: A policy, or a list of at least one opponent.
        weights: A positive number for each opponent, in proportion to which it is drawn; None
            draws uniformly.

    Raises:
        ValueError: If there are no opponents, one of them is for another game or lacks a policy
            for a seat that it may have to take, or the weights are not as above.
    """
    listed = _listed(opponents)
    drawn = weighted_thresholds(weights, len(listed))
    policies = [tuple(_policy(game, one, 1 - seat) for seat in table.seats) for one in listed]
    cuts = [np.concatenate([_action_thresholds(one, game) for one in views]) for views in policies]
    sides = weighted_thresholds(None, len(table.seats))
    return Pool(sides, drawn, np.stack(cuts)), tuple(policies)


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def weighted_thresholds(weights: Sequence[float] | None, count: int) -> Ints:
    """Return the thresholds from which opponents, or seats, are drawn in proportion to weights.

    Args:
        weights: A positive number for each; None for equal weights.
        count: Number of opponents or seats.

    Returns:
        [count].

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
    return inverse_cdf_rows(chances[None] / chances.sum()).ravel()


def _policy(game: TabularGame, opponent: Opponent, player: int) -> TabularPolicy:
    """Return the policy that an opponent plays in the seat of a player."""
    offered: Sequence[TabularPolicy] = _listed(opponent)
    for policy in offered:
        check_policy(policy, game)
        if policy.player == player:
            return policy
    names = ", ".join(f"{policy.name!r} of player {policy.player}" for policy in offered)
    raise ValueError(f"the opponent has to play for player {player}, but has only {names}")


@remembered
def _action_thresholds(policy: TabularPolicy, game: TabularGame) -> Ints:
    """Return the thresholds of a policy's legal actions, state after state.

    They are computed once for each policy, since it may be in many pools.
    """
    mask = game.mask[policy.player] & ~game.terminal[:, None]
    count = mask.sum(axis=1)
    live = np.flatnonzero(count)
    first = np.concatenate(([0], np.cumsum(count[live])))
    return inverse_cdf(policy.probabilities[mask], first)
