"""Greed solved without a table of outcomes, in O(limit^3 / sides).

The player on turn has the score a, the other player q, the limit is M, and dice have s sides. Let
p_n(t) be the probability that n dice sum to t. If a tie counts half, the chances of winning are

    last turn    L(a, q) = max_n [ P(q < a+t <= M) + P(a+t = q) / 2 ]
    before it    V(a, q) = max( 1 - L(q, a),  max_{n>=1} sum_{t <= M-a} p_n(t) (1 - V(q, a+t)) ).

Evaluated directly, the second line costs O(M) for each state and each of O(M / s) rolls. But n dice
are one die and then n - 1 dice, so the value F_n(a) of rolling n of them against a fixed q obeys

    F_n(a) = mean over d = 1..s of F_{n-1}(a + d),        F_0(x) = 1 - V(q, x), or 0 beyond M,

a mean over a window that slides along as a falls: one addition and one subtraction for each state
and roll. Each q has a ring of the last s + 1 columns F(a).

**Order.** V(a, q) needs V(q, x) for x > a. Let m = min(a, q) fall from M to 0. For q > m, V(m, q)
needs only values with a larger minimum. Then V(a, m), for a from M down to m, needs only V(m, x)
with x > a. So the window of each q slides down without a gap. Several m are processed together, so
that a ring that is fetched from memory is used several times. For each r from M down and each of
these m, from the largest, V(r, m) is computed first, which needs V(m, r + 1), and then V(m, r),
which needs V(r, m + 1).

The last turn needs no window. With C_n(t) = P(n dice sum to at most t), the bracket in L is
C_n(M-a) - (C_n(q-a) + C_n(q-a-1)) / 2.

**Certificate.** Sliding sums accumulate rounding errors, so the finished table is substituted into
its own equations, whose right-hand sides are computed in another way: each mean from sums of 1, 2,
... positive numbers, whose relative error is at most max(s, 4) u for each die (u the unit roundoff;
N times that for rolls of up to N dice), and the last turn as a plain sum of probabilities. If both
sides differ by at most e everywhere, the values are off by at most e times the expected number of
moves.
By Wald's identity the dice rolled in a game sum to (s+1)/2 each on average, and they cannot sum to
more than 2M + s when counted until the first bust. Every roll has at least one die, and only two
moves may have none. So the expected number of moves is at most 2 (2M + s) / (s + 1) + 2 under every
policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.exact import CertificateError, SolvedTable, cached_solution
from solvent.games.greed.rules import STAND, Greed, Position, fits_a_table, most_dice
from solvent.model import Game, cached_table
from solvent.model.arrays import Floats, Ints
from solvent.model.compiled import njit
from solvent.model.parameters import check_integer, shown

TIE = 1e-12
"""Rolls whose ratings differ by at most this count as equally good."""

_most_dice: Any = njit()(most_dice)

# Number of the lower scores that are processed together.
_TOGETHER = 16


@dataclass(frozen=True, eq=False, repr=False)
class GreedSolution:
    """The solution of Greed without a table: the rating of every position, even if never reached.

    A :class:`solvent.exact.SolvedGame`. Ratings are to the player on turn, values to player 0.
    ``[a, q]`` is indexed by the score of the player on turn and the other player's score.

    ==================  =====================  ====================================================
    ``normal``          [M+1, M+1] float64     V(a, q), rating before the last turn
    ``last``            [M+1, M+1] float64     L(a, q), rating of the last turn
    ``normal_roll``     [M+1, M+1] int16       the fewest dice among the optimal rolls before it
    ``last_roll``       [M+1, M+1] int16       and in the last turn
    ==================  =====================  ====================================================

    Attributes:
        game: The rules.
        normal: See the table.
        last: See the table.
        normal_roll: See the table.
        last_roll: See the table.
        error: Proved bound on the error of every rating.
    """

    game: Greed
    normal: Floats
    last: Floats
    normal_roll: NDArray[np.int16]
    last_roll: NDArray[np.int16]
    error: float

    method = "sliding sums over the scores, by the kernel"

    def __repr__(self) -> str:
        """Return the rules and the value of the game."""
        return f"<GreedSolution of {self.game}: {self.value:.12g} ± {self.error:.1e}>"

    @property
    def value(self) -> float:
        """Return V(0, 0), the rating of the player who begins."""
        return float(self.normal[0, 0])

    @property
    def lower(self) -> float:
        """Return a proved lower bound of the value."""
        return self.value - self.error

    @property
    def upper(self) -> float:
        """Return a proved upper bound of the value."""
        return self.value + self.error

    @cached_property
    def tabled(self) -> SolvedTable | None:
        """The solution of the game's table; None if the game is too large for a table."""
        if not fits_a_table(self.game):
            return None
        table = cached_table(self.game)
        return SolvedTable(self.game, table, cached_solution(table))

    def ratings(self, score: int, other: int, *, last: bool = False) -> Floats:
        """Return the rating of each number of dice, from 0 to the largest legal one.

        Args:
            score: Score of the player on turn, within 0..limit.
            other: The other player's score, within 0..limit.
            last: Whether this is the last turn.

        Raises:
            ValueError: If a score is not within its range.
        """
        limit = self.game.limit
        check_integer(score, "score", 0, limit)
        check_integer(other, "other", 0, limit)
        pmf = sum_chances(self.game.most_dice(score), self.game.sides, limit - score)
        if last:
            after = np.sign(np.arange(score, limit + 1) - other) / 2 + 0.5
            return np.asarray(pmf @ after)
        rated = pmf @ (1 - self.normal[other, score:])
        rated[0] = 1 - self.last[other, score]
        return np.asarray(rated)

    def optimal_rolls(self, score: int, other: int, *, last: bool = False) -> list[int]:
        """Return all optimal numbers of dice, ascending (ties up to :data:`TIE`).

        Args:
            score: Score of the player on turn, within 0..limit.
            other: The other player's score, within 0..limit.
            last: Whether this is the last turn.
        """
        rated = self.ratings(score, other, last=last)
        return [int(n) for n in np.flatnonzero(rated >= rated.max() - TIE)]

    def value_of(self, state: Position) -> float:
        """Return the value of a state to player 0."""
        if state.phase == "over":
            return 0.0
        rating = self.last if state.phase == "last" else self.normal
        return _to_first(float(rating[self._scores(state)]), state.player)

    def action_values(self, state: Position, player: int) -> Mapping[int, float]:
        """Return the value to player 0 of each legal action of a player, by action."""
        if player != state.player:
            return {STAND: self.value_of(state)}
        ratings = self.ratings(*self._scores(state), last=state.phase == "last")
        return {dice: _to_first(rating, player) for dice, rating in enumerate(ratings.tolist())}

    def policy(self, state: Position, player: int) -> Mapping[int, float]:
        """Return the probability of every legal action: 1 for the fewest dice that are optimal."""
        if player != state.player:
            return {STAND: 1.0}
        rolls = self.last_roll if state.phase == "last" else self.normal_roll
        best = int(rolls[self._scores(state)])
        return {dice: float(dice == best) for dice in self.game.legal_actions(state)[player]}

    def _scores(self, state: Position) -> tuple[int, int]:
        """Return the scores of the player on turn and of the other player.

        Raises:
            ValueError: If no player is on turn in the position.
        """
        limit = self.game.limit
        if (
            state.player not in (0, 1)
            or state.phase not in ("play", "last")
            or not all(0 <= score <= limit for score in state.scores)
        ):
            raise ValueError(
                f"{shown(state)} is no position; allowed are players 0 and 1, scores from 0 to "
                f"{limit}, and the phases 'play' and 'last'"
            )
        return state.scores[state.player], state.scores[1 - state.player]


def _to_first(rating: float, player: int) -> float:
    """Return a player's rating from the view of player 0."""
    return rating if player == 0 else 1 - rating


def solved_greed(game: Game) -> GreedSolution | None:
    """Solve Greed; return None for another game.

    Args:
        game: The rules.

    Raises:
        CertificateError: If the error of the ratings could not be bounded.
    """
    return solve_greed(game.limit, game.sides) if isinstance(game, Greed) else None


def solve_greed(limit: int = 100, sides: int = 6, *, tolerance: float = 1e-8) -> GreedSolution:
    """Rate every position of Greed, and prove how accurate the ratings are.

    Args:
        limit: Largest score that is not a bust.
        sides: Sides of each die.
        tolerance: Largest error accepted.

    Raises:
        ValueError: If a parameter is out of its range.
        CertificateError: If the error could not be bounded by `tolerance`.
    """
    normal, last, normal_roll, last_roll = rate_positions(limit, sides)
    error = error_bound(normal, last, sides)
    game = Greed(limit, sides)
    solution = GreedSolution(game, normal, last, normal_roll, last_roll, error)
    if not solution.error <= tolerance:
        raise CertificateError(
            f"greed with limit {limit} and sides {sides}: the error is at most "
            f"{solution.error:.1e}, which is more than {tolerance:.1e}"
        )
    return solution


def rate_positions(
    limit: int, sides: int
) -> tuple[Floats, Floats, NDArray[np.int16], NDArray[np.int16]]:
    """Return the four tables of a :class:`GreedSolution`, in its order, without a proof.

    Raises:
        ValueError: If a parameter is out of its range.
    """
    most, size = Greed(limit, sides).most_dice(0), limit + 1
    last, normal = np.ones((size, size)), np.empty((size, size))
    last_roll, normal_roll = np.zeros((size, size), np.int16), np.empty((size, size), np.int16)
    best = np.zeros(1)
    _rate_last_turn(
        sum_chances(most, sides, limit).T.copy(),
        sides,
        (np.empty((2, size, most + 1)), *_with_bits(np.empty(most + 1)), *_with_bits(best)),
        last,
        last_roll,
    )
    ring = np.zeros((size, min(sides, limit) + 2, most + 1))
    work = *_with_bits(ring), np.zeros((size, most + 1)), *_with_bits(best)
    _rate_normal(last, sides, work, normal, normal_roll)
    return normal, last, normal_roll, last_roll


def _with_bits(array: Floats) -> tuple[Floats, Ints]:
    """Return an array, and its bits as integers."""
    return array, array.view(np.int64)


def error_bound(normal: Floats, last: Floats, sides: int) -> float:
    """Bound the error of any ratings of Greed by the residuals of their equations.

    Args:
        normal: [M+1, M+1] approximate ratings V.
        last: [M+1, M+1] approximate ratings L.
        sides: Sides of each die.
    """
    limit = len(normal) - 1
    most, size = Greed(limit, sides).most_dice(0), limit + 1
    chances = np.zeros((size + 1, most + 1))
    chances[1:] = sum_chances(most, sides, limit).T
    residual = max(
        _residual_of_last_turn(last, chances, np.empty(most + 1)),
        _residual_of_normal(normal, last, sides, most, np.zeros((5, size + sides))),
    )
    rounding = (max(min(sides, limit), 4) * most + limit + 4) * np.finfo(float).eps / 2
    moves = 2 * (2 * limit + sides) / (sides + 1) + 2
    return (residual + rounding) * moves


@njit(error_model="numpy")
def sum_chances(most: int, sides: int, room: int) -> Floats:
    """P(n dice sum to t), [most+1, room+1]; sums of positive terms only, so nothing cancels."""
    pmf = np.zeros((most + 1, room + 1))
    pmf[0, 0] = 1.0
    for n in range(1, most + 1):
        before, now = pmf[n - 1], pmf[n]
        for d in range(min(sides, room), 0, -1):
            _add(before[: room + 1 - d], now[d:])
        for t in range(room + 1):
            now[t] /= sides
    return pmf


@njit(error_model="numpy")
def _add(part: Floats, total: Floats) -> None:
    """``total += part``."""
    for t in range(len(total)):
        total[t] += part[t]


@njit(error_model="numpy")
def _rate_last_turn(
    pmf: Floats,
    sides: int,
    work: tuple[Floats, Floats, Ints, Floats, Ints],
    last: Floats,
    roll: NDArray[np.int16],
) -> None:
    """Compute L and the fewest dice that achieve it.

    The caller provides the memory, as allocating takes long to compile.

    Args:
        pmf: [M+1, N+1] chances that n dice sum to t, dice last so that inner loops run along.
        sides: s.
        work: [2, M+1, N+1] memory for C_n(t) and (C_n(t) + C_n(t-1)) / 2; [N+1] for ratings, and
            its bits; a number, and its bits.
        last: [M+1, M+1] ones, written where the other player's score is at least the own one.
        roll: [M+1, M+1] zeros, written in the same places.
    """
    sums, rated, rated_bits, best, best_bits = work
    limit, most = pmf.shape[0] - 1, pmf.shape[1] - 1
    for t in range(limit + 1):
        for n in range(most + 1):
            before = sums[0, t - 1, n] if t > 0 else 0.0
            sums[0, t, n] = before + pmf[t, n]
            sums[1, t, n] = before + pmf[t, n] / 2
    for a in range(limit + 1):
        useful = _most_dice(limit - a, sides) + 1
        for q in range(a, limit + 1):
            for n in range(useful):
                rated[n] = sums[0, limit - a, n] - sums[1, q - a, n]
            best_bits[0] = _largest(rated_bits, useful)
            last[a, q] = best[0]
            roll[a, q] = _first_from(best[0] - TIE, rated, useful)


@njit(error_model="numpy")
def _rate_normal(
    last: Floats,
    sides: int,
    work: tuple[Floats, Ints, Floats, Floats, Ints],
    normal: Floats,
    roll: NDArray[np.int16],
) -> None:
    """Compute V and the fewest dice that achieve it; arguments as for :func:`_rate`, work zeros."""
    limit = len(last) - 1
    for first in range(limit, -1, -_TOGETHER):
        final = max(first - _TOGETHER + 1, 0)
        for r in range(limit, final - 1, -1):
            for turned in range(2):
                for m in range(min(first, r - turned), final - 1, -1):
                    a, q = (m, r) if turned else (r, m)
                    _rate(a, q, last, sides, work, normal, roll)


# Inlined with all that it calls, as each call would count references to its arrays; called once,
# as each call would be compiled.
@njit(error_model="numpy", forceinline=True)
def _rate(
    a: int,
    q: int,
    last: Floats,
    sides: int,
    work: tuple[Floats, Ints, Floats, Floats, Ints],
    normal: Floats,
    roll: NDArray[np.int16],
) -> None:
    """Rate (a, q), given that row q has been rated from M down to a + 1.

    Args:
        a: Score of the player on turn.
        q: Score of the other player.
        last: L.
        sides: s.
        work: A ring, where F_n(x) of row q is at ``[q, x % (s + 2), n]`` for the last s + 1 values
            of x; its bits as whole numbers; windows, with the sum over d = 1..s of F_n(a + d) of
            row q at ``[q, n]``; the best rating, and its bits.
        normal: V, read and written.
        roll: Fewest optimal dice, written.
    """
    ring, ring_bits, window, best, best_bits = work
    limit, slots = len(last) - 1, ring.shape[1]
    slot = a % slots
    after = slot + 1 if slot + 1 < slots else 0
    beyond = slot - 1 if slot > 0 else slots - 1
    if a < limit:
        ring[q, after, 0] = 1 - normal[q, a + 1]
    rolls = min(window.shape[1] - 1, limit - a)
    _slide(ring[q, after], ring[q, beyond], window[q], ring[q, slot, 1 : rolls + 1], 1 / sides)
    ring[q, slot, 0] = 1 - last[q, a]  # Rolling none is a stand; F_0 takes its place next.
    useful = min(_most_dice(limit - a, sides), rolls) + 1
    best_bits[0] = _largest(ring_bits[q, slot], useful)
    normal[a, q] = best[0]
    roll[a, q] = _first_from(best[0] - TIE, ring[q, slot], useful)


@njit(error_model="numpy", forceinline=True)
def _slide(entering: Floats, leaving: Floats, window: Floats, rated: Floats, chance: float) -> None:
    """Move the windows on by one, and rate as many dice as `rated` has places, from one on."""
    for n in range(len(rated)):
        window[n] += entering[n] - leaving[n]
        rated[n] = window[n] * chance


@njit(error_model="numpy", forceinline=True)
def _largest(bits: Ints, count: int) -> int:
    """Return the bits of the largest of the first ratings, not all of them negative.

    Nonnegative floats are ordered as their bits are, and the compiler vectorizes the search for
    the largest integer, but not for the largest float.
    """
    largest: int = bits[0]
    for n in range(count):
        largest = bits[n] if bits[n] > largest else largest
    return largest


@njit(error_model="numpy", forceinline=True)
def _first_from(least: float, rated: Floats, count: int) -> int:
    """Return the index of the first of `count` ratings that reaches a bound."""
    first = count
    for n in range(count):
        here = n if rated[n] >= least else count
        first = here if here < first else first
    return first


@njit(error_model="numpy")
def _residual_of_last_turn(last: Floats, pmf: Floats, above: Floats) -> float:
    """Return the largest residual of L in its definition.

    Args:
        last: L.
        pmf: [M+2, N+1] chances that n dice sum to t - 1.
        above: [N+1] memory for P(a + t > q), bust left out.
    """
    limit, most = len(last) - 1, pmf.shape[1] - 1
    worst = 0.0
    for a in range(limit + 1):
        for n in range(most + 1):
            above[n] = 0.0
        for q in range(limit, a - 2, -1):
            best = 0.0
            for n in range(most + 1):
                level = pmf[q - a + 1, n]
                rated = above[n] + level / 2
                best = rated if rated > best else best
                above[n] += level
            # All scores below a are beaten alike.
            for other in range(q, q - 1 if q >= a else -1, -1):
                worst = max(worst, abs(last[a, other] - best))
    return worst


@njit(error_model="numpy")
def _residual_of_normal(normal: Floats, last: Floats, sides: int, most: int, work: Floats) -> float:
    """Return the largest residual of V in its equation.

    Args:
        normal: V.
        last: L.
        sides: s.
        most: N.
        work: [5, >= M+1 + s] zeros: memory for F_{n-1}, which is 0 beyond the limit; for sums of
            its next 1, 2, 4, ... places, each from the one before, by turns in two rows; for sums
            of its next s places; and for the best rating.
    """
    limit = len(normal) - 1
    reach, chance = min(sides, limit), 1 / sides
    worst = 0.0
    for q in range(limit + 1):
        for a in range(limit + 1):
            work[0, a] = 1 - normal[q, a]
            work[4, a] = 1 - last[q, a]
        for n in range(1, most + 1):
            end = max(limit + 1 - n, 0)  # n dice sum to at least n
            for a in range(limit + 1):
                work[3, a] = 0.0
            # Unsigned, as looking for negative indices would keep the compiler from vectors.
            here, shift, width = np.uint64(0), np.uint64(1), 1
            while True:
                if reach & width:
                    for a in range(end):
                        work[3, a] += work[here, np.uint64(a) + shift]
                    shift += np.uint64(width)
                if 2 * width > reach:
                    break
                there = np.uint64(2 if here == 1 else 1)
                for a in range(end + reach - 2 * width + 1):
                    i = np.uint64(a)
                    work[there, i] = work[here, i] + work[here, i + np.uint64(width)]
                here, width = there, 2 * width
            for a in range(limit + 1):
                mean = work[3, a] * chance
                work[0, a] = mean
                work[4, a] = mean if mean > work[4, a] else work[4, a]
        for a in range(limit + 1):
            worst = max(worst, abs(normal[a, q] - work[4, a]))
    return worst
