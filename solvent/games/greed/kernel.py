"""Greed solved without a table of outcomes, in O(limit^3 / sides).

For the player on turn with score a, the other one having q, limit M and dice of s sides, let
p_n(t) be the chance that n dice sum to t. With ties counted half, the chances to win are

    last turn    L(a, q) = max_n [ P(q < a+t <= M) + P(a+t = q) / 2 ]
    before it    V(a, q) = max( 1 - L(q, a),  max_{n>=1} sum_{t <= M-a} p_n(t) (1 - V(q, a+t)) ).

Taken at its word the second line costs O(M) for each state and each of O(M / s) rolls. But n dice
are one die after n - 1, so the value F_n(a) of rolling n of them against a fixed q obeys

    F_n(a) = mean over d = 1..s of F_{n-1}(a + d),        F_0(x) = 1 - V(q, x), or 0 beyond M,

a mean over a window that slides along as a falls: one addition and one subtraction for each state
and roll. Each q has a ring of the last s + 1 columns F(a).

**Order.** V(a, q) needs V(q, x) for x > a. Let m = min(a, q) fall from M to 0. For q > m all that
V(m, q) needs has a larger minimum; V(a, m) for a >= m, taken downwards, then needs only V(m, x)
with x > a. So each q slides its window down without a gap. Some m at a time are taken together, so
that a ring that is fetched from memory is used as often: with such m falling in steps for each r
from M down to above them, first V(r, m), which needs V(m, r + 1), then V(m, r), which needs
V(r, m + 1).

The last turn needs no window. With C_n(t) = P(n dice sum to at most t), the bracket in L is
C_n(M-a) - (C_n(q-a) + C_n(q-a-1)) / 2.

**Certificate.** Sliding sums collect rounding errors, so the finished table is put to the test of
its own equations, the right-hand sides computed by another route: each mean as a plain sum of s
positive numbers, whose relative error is at most s u for each die (u the unit roundoff; s N u in
all for rolls of up to N dice), and the last turn as a plain sum of probabilities. If the two sides
differ by at most e everywhere, the values are off by at most e times the expected number of moves.
By Wald's identity the dice rolled in a game sum to (s+1)/2 each on average, and they cannot sum to
more than 2M + s when counted until the first bust; a roll has a die, and two moves may have none.
So no way of playing lasts more than 2 (2M + s) / (s + 1) + 2 moves on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.exact.solution import CertificateError
from solvent.games.greed.rules import Greed
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import shown

TIE = 1e-12
"""Rolls whose ratings differ by at most this count as equally good."""

TOGETHER = 16
"""So many of the lesser scores are taken together."""


@dataclass(frozen=True, eq=False)
class GreedSolution:
    """The rating of every position, optimal or not to reach, to the player on turn.

    ``[a, q]`` is indexed by the score of the player on turn and the other one's.

    ==================  =====================  ====================================================
    ``normal``          [M+1, M+1] float64     V(a, q), rating before the last turn
    ``last``            [M+1, M+1] float64     L(a, q), rating of the last turn
    ``normal_roll``     [M+1, M+1] int16       the fewest dice among the optimal rolls before it
    ``last_roll``       [M+1, M+1] int16       and in the last turn
    ==================  =====================  ====================================================

    Attributes:
        limit: M, the largest score that is not a bust.
        sides: s, of each die.
        normal: See the table.
        last: See the table.
        normal_roll: See the table.
        last_roll: See the table.
        error: Proved bound of the error of every rating.
    """

    limit: int
    sides: int
    normal: Floats
    last: Floats
    normal_roll: NDArray[np.int16]
    last_roll: NDArray[np.int16]
    error: float

    def __repr__(self) -> str:
        """The rules and the value of the game."""
        return (
            f"<GreedSolution limit={self.limit} sides={self.sides}: {self.value:.12g} "
            f"± {self.error:.1e}>"
        )

    @property
    def value(self) -> float:
        """V(0, 0), the rating of the player who begins."""
        return float(self.normal[0, 0])

    @property
    def lower(self) -> float:
        """Proved lower bound of the value."""
        return self.value - self.error

    @property
    def upper(self) -> float:
        """Proved upper bound of the value."""
        return self.value + self.error

    def ratings(self, score: int, other: int, *, last: bool = False) -> Floats:
        """The rating of each number of dice from 0 to the most that can be of use.

        Args:
            score: Of the player on turn.
            other: The other player's score.
            last: Whether this is the last turn.

        Raises:
            ValueError: If a score is not within 0..limit.
        """
        for name, value in (("score", score), ("other", other)):
            if not 0 <= value <= self.limit:
                raise ValueError(f"{name} is {shown(value)}; allowed are 0 to {self.limit}")
        dice = Greed(self.limit, self.sides).most_dice(score)
        pmf = sum_chances(dice, self.sides, self.limit - score)
        if last:
            after = np.sign(np.arange(score, self.limit + 1) - other) / 2 + 0.5
            return np.asarray(pmf @ after)
        rated = pmf @ (1 - self.normal[other, score:])
        rated[0] = 1 - self.last[other, score]
        return np.asarray(rated)

    def optimal_rolls(self, score: int, other: int, *, last: bool = False) -> list[int]:
        """All numbers of dice that are optimal, ascending (ties up to :data:`TIE`).

        Args:
            score: As in :meth:`ratings`, like the two that follow.
            other: The other player's score.
            last: Whether this is the last turn.
        """
        rated = self.ratings(score, other, last=last)
        return [int(n) for n in np.flatnonzero(rated >= rated.max() - TIE)]


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
    solution = GreedSolution(
        limit=limit,
        sides=sides,
        normal=normal,
        last=last,
        normal_roll=normal_roll,
        last_roll=last_roll,
        error=error_bound(normal, last, sides),
    )
    if not solution.error <= tolerance:
        raise CertificateError(
            f"greed with limit {limit} and sides {sides}: the error is at most "
            f"{solution.error:.1e}, which is more than {tolerance:.1e}"
        )
    return solution


def rate_positions(
    limit: int, sides: int
) -> tuple[Floats, Floats, NDArray[np.int16], NDArray[np.int16]]:
    """The four tables of a :class:`GreedSolution`, in its order, without a proof.

    Raises:
        ValueError: If a parameter is out of its range.
    """
    most = Greed(limit, sides).most_dice(0)
    last, last_roll = _rate_last_turn(sum_chances(most, sides, limit), sides)
    normal, normal_roll = _rate_normal(last, sides, most)
    return normal, last, normal_roll, last_roll


def error_bound(normal: Floats, last: Floats, sides: int) -> float:
    """Bound the error of any ratings of Greed by how far they miss their equations.

    Args:
        normal: [M+1, M+1] supposed ratings V.
        last: [M+1, M+1] supposed ratings L.
        sides: Of each die.
    """
    limit = len(normal) - 1
    most = Greed(limit, sides).most_dice(0)
    residual = max(
        _residual_of_last_turn(last, sum_chances(most, sides, limit)),
        _residual_of_normal(normal, last, sides, most),
    )
    rounding = (min(sides, limit) * most + limit + 4) * np.finfo(float).eps / 2
    moves = 2 * (2 * limit + sides) / (sides + 1) + 2
    return (residual + rounding) * moves


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def _add(part: Floats, total: Floats) -> None:
    """``total += part``."""
    for t in range(len(total)):
        total[t] += part[t]


@njit(cache=True, error_model="numpy")
def _rate_last_turn(pmf: Floats, sides: int) -> tuple[Floats, NDArray[np.int16]]:
    """L [M+1, M+1] and the fewest dice that achieve it, from [N+1, M+1] chances."""
    most, limit = pmf.shape[0] - 1, pmf.shape[1] - 1
    below = np.zeros((limit + 1, most + 1))  # C_n(t), dice last so that inner loops run along
    middle = np.zeros((limit + 1, most + 1))  # (C_n(t) + C_n(t-1)) / 2
    for t in range(limit + 1):
        for n in range(1, most + 1):
            before = below[t - 1, n] if t > 0 else 0.0
            below[t, n] = before + pmf[n, t]
            middle[t, n] = before + pmf[n, t] / 2
    last = np.ones((limit + 1, limit + 1))
    roll = np.zeros((limit + 1, limit + 1), np.int16)
    rated = np.zeros(most + 1)
    for a in range(limit + 1):
        for q in range(a, limit + 1):
            rated[0] = best = 0.5 if q == a else 0.0
            for n in range(1, _most_dice(limit - a, sides) + 1):
                rated[n] = below[limit - a, n] - middle[q - a, n]
                best = max(best, rated[n])
            last[a, q] = best
            fewest = 0
            while rated[fewest] < best - TIE:
                fewest += 1
            roll[a, q] = fewest
    return last, roll


@njit(cache=True)
def _most_dice(room: int, sides: int) -> int:
    """The most dice that can be of use, of :meth:`Greed.most_dice`."""
    return -(-2 * room // (sides + 1))


@njit(cache=True, error_model="numpy")
def _rate_normal(last: Floats, sides: int, most: int) -> tuple[Floats, NDArray[np.int16]]:
    """V [M+1, M+1] and the fewest dice that achieve it, from L."""
    limit = len(last) - 1
    ring = np.zeros((limit + 1, min(sides, limit) + 2, most + 1))
    window = np.zeros((limit + 1, most + 1))
    normal = np.zeros((limit + 1, limit + 1))
    roll = np.zeros((limit + 1, limit + 1), np.int16)
    best = np.zeros(1)
    work = ring, ring.view(np.int64), window, best, best.view(np.int64)
    for first in range(limit, -1, -TOGETHER):
        final = max(first - TOGETHER + 1, 0)
        for r in range(limit, first, -1):
            for m in range(first, final - 1, -1):
                _rate(r, m, last, sides, work, normal, roll)
            for m in range(first, final - 1, -1):
                _rate(m, r, last, sides, work, normal, roll)
        for m in range(first, final - 1, -1):
            for q in range(m + 1, first + 1):
                _rate(m, q, last, sides, work, normal, roll)
            for a in range(first, m - 1, -1):
                _rate(a, m, last, sides, work, normal, roll)
    return normal, roll


# Inlined with all that it calls, as each call would count references to its arrays.
@njit(cache=True, error_model="numpy", forceinline=True)
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
        q: The other one's.
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
    best_bits[0] = _largest(ring_bits[q, slot, :useful])
    normal[a, q] = best[0]
    roll[a, q] = _first_from(best[0] - TIE, ring[q, slot, :useful])


@njit(cache=True, error_model="numpy", forceinline=True)
def _slide(entering: Floats, leaving: Floats, window: Floats, rated: Floats, chance: float) -> None:
    """Move the windows on by one, and rate as many dice as `rated` has places, from one on."""
    for n in range(len(rated)):
        window[n] += entering[n] - leaving[n]
        rated[n] = window[n] * chance


@njit(cache=True, error_model="numpy", forceinline=True)
def _largest(bits: Ints) -> int:
    """The bits of the largest of some ratings, not all of them negative.

    Floats that are not negative are ordered as their bits are, and the compiler looks for the
    largest of whole numbers several at a time, which it does not with floats.
    """
    largest: int = bits[0]
    for n in range(len(bits)):
        largest = max(largest, bits[n])
    return largest


@njit(cache=True, error_model="numpy", forceinline=True)
def _first_from(least: float, rated: Floats) -> int:
    """The first index whose rating is at least so high."""
    none = len(rated)
    first = none
    for n in range(len(rated)):
        here = n if rated[n] >= least else none
        first = here if here < first else first
    return first


@njit(cache=True)
def _residual_of_last_turn(last: Floats, pmf: Floats) -> float:
    """How far L misses its definition, [N+1, M+1] chances being given."""
    most, limit = pmf.shape[0] - 1, pmf.shape[1] - 1
    worst = 0.0
    for a in range(limit + 1):
        above = np.zeros(most + 1)  # P(a + t > q), bust left out
        for q in range(limit, -1, -1):
            best = 0.0
            for n in range(most + 1):
                level = pmf[n, q - a] if q >= a else 0.0
                best = max(best, above[n] + level / 2)
                above[n] += level
            worst = max(worst, abs(last[a, q] - best))
    return worst


@njit(cache=True)
def _residual_of_normal(normal: Floats, last: Floats, sides: int, most: int) -> float:
    """How far V misses its equation."""
    limit = len(normal) - 1
    reach = min(sides, limit)
    worst = 0.0
    after = np.zeros(limit + 1 + reach)  # F_{n-1}, and 0 beyond the limit
    sums = np.zeros(limit + 1)
    for q in range(limit + 1):
        best = 1 - last[q]
        after[: limit + 1] = 1 - normal[q]
        for n in range(1, most + 1):
            end = max(limit + 1 - n, 0)  # n dice sum to at least n
            sums[:] = 0.0
            for d in range(1, reach + 1):
                for a in range(end):
                    sums[a] += after[a + d]
            for a in range(limit + 1):
                after[a] = sums[a] / sides
                best[a] = max(best[a], after[a])
        for a in range(limit + 1):
            worst = max(worst, abs(normal[a, q] - best[a]))
    return worst
