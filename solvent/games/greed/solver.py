"""Greed solved without a table of outcomes, in O(limit^3 / sides).

The player on turn has the score a, the other player q, the limit is M, and dice have s sides. Let
p_n(t) be the probability that n dice sum to t. If a tie counts half, the chances of winning are

    last turn    L(a, q) = max_n [ P(q < a+t <= M) + P(a+t = q) / 2 ]
    before it    V(a, q) = max( 1 - L(q, a),  max_{n>=1} sum_{t <= M-a} p_n(t) (1 - V(q, a+t)) ).

Evaluated directly, the second line costs O(M) for each state and each of O(M / s) rolls. But n dice
are one die and then n - 1 dice, so the value F_n(a) of rolling n of them against a fixed q obeys

    F_n(a) = mean over d = 1..s of F_{n-1}(a + d),        F_0(x) = 1 - V(q, x), or 0 beyond M,

a mean over a window that slides along as a falls: one addition and one subtraction for each state
and roll. Each q has a ring of the last s + 1 values of F_n.

**Order.** V(a, q) needs V(q, x) for x > a, whose scores have a larger sum. So a + q falls from 2M
to 0, all positions with one sum are rated at once, and the window of each q slides down without a
gap.

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

import numpy as np
from numpy.typing import NDArray

from solvent.exact import CertificateError, SolvedTable, cached_solution
from solvent.games.greed.rules import STAND, Greed, Position, fits_a_table
from solvent.model import Game, cached_table
from solvent.model.arrays import Floats
from solvent.model.parameters import check_integer, shown

TIE = 1e-12
"""Rolls whose ratings differ by at most this count as equally good."""

# Number of positions that the certificate looks at together; what is computed stays in the cache.
_TOGETHER = 20_000


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

    method = "sliding sums over the scores"

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
    game = Greed(limit, sides)
    most = game.most_dice(0)
    last, last_roll = _rate_last_turn(sum_chances(most, sides, limit))
    normal, normal_roll = _rate_normal(last, sides, most)
    error = error_bound(normal, last, sides)
    if not error <= tolerance:
        raise CertificateError(
            f"greed with limit {limit} and sides {sides}: the error is at most {error:.1e}, which "
            f"is more than {tolerance:.1e}"
        )
    return GreedSolution(game, normal, last, normal_roll, last_roll, error)


def error_bound(normal: Floats, last: Floats, sides: int) -> float:
    """Bound the error of any ratings of Greed by the residuals of their equations.

    Args:
        normal: [M+1, M+1] approximate ratings V.
        last: [M+1, M+1] approximate ratings L.
        sides: Sides of each die.
    """
    limit = len(normal) - 1
    most = Greed(limit, sides).most_dice(0)
    residual = max(
        _residual_of_last_turn(last, sum_chances(most, sides, limit)),
        _residual_of_normal(normal, last, sides, most),
    )
    rounding = (max(min(sides, limit), 4) * most + limit + 4) * np.finfo(float).eps / 2
    moves = 2 * (2 * limit + sides) / (sides + 1) + 2
    return float((residual + rounding) * moves)


def sum_chances(most: int, sides: int, room: int) -> Floats:
    """P(n dice sum to t), [most+1, room+1]; sums of positive terms only, so nothing cancels."""
    pmf = np.zeros((most + 1, room + 1))
    pmf[0, 0] = 1.0
    for n in range(1, most + 1):
        for d in range(min(sides, room), 0, -1):
            pmf[n, d:] += pmf[n - 1, : room + 1 - d]
        pmf[n] /= sides
    return pmf


def _rate_last_turn(pmf: Floats) -> tuple[Floats, NDArray[np.int16]]:
    """Return L and the fewest dice that achieve it.

    Args:
        pmf: [N+1, M+1] chances that n dice sum to t.
    """
    size = pmf.shape[1]
    at_most = pmf.cumsum(axis=1)
    middle = at_most - pmf / 2
    last, roll = np.ones((size, size)), np.zeros((size, size), np.int16)
    for a in range(size):
        rated = at_most[:, size - 1 - a, None] - middle[:, : size - a]
        last[a, a:] = rated.max(axis=0)
        roll[a, a:] = (rated >= last[a, a:] - TIE).argmax(axis=0)
    return last, roll


def _rate_normal(last: Floats, sides: int, most: int) -> tuple[Floats, NDArray[np.int16]]:
    """Return V and the fewest dice that achieve it.

    Args:
        last: L.
        sides: s.
        most: N.
    """
    limit = len(last) - 1
    slots = min(sides, limit) + 1
    # F_n(d - q) of row q is at [d % slots, q, n], for the last s + 1 values of d; windows have the
    # sums over the last s of them.
    ring, window = np.zeros((slots, limit + 1, most + 1)), np.zeros((limit + 1, most))
    normal, roll = np.empty_like(last), np.empty(last.shape, np.int16)
    for d in range(2 * limit, -1, -1):
        q = np.arange(max(d - limit, 0), min(d, limit) + 1)
        rows = slice(q[0], q[-1] + 1)
        entering, rated = ring[(d + 1) % slots, rows], ring[d % slots, rows]
        window[rows] += entering[:, :-1] - rated[:, :-1]
        np.multiply(window[rows], 1 / sides, out=rated[:, 1:])
        rated[:, 0] = 1 - last[q, d - q]  # Rolling none is a stand; F_0 takes its place next.
        best = rated.max(axis=1)
        normal[d - q, q] = best
        roll[d - q, q] = (rated >= best[:, None] - TIE).argmax(axis=1)
        rated[:, 0] = 1 - best[::-1]
    return normal, roll


def _residual_of_last_turn(last: Floats, pmf: Floats) -> float:
    """Return the largest residual of L in its definition.

    Args:
        last: L.
        pmf: [N+1, M+1] chances that n dice sum to t.
    """
    size, worst = len(last), 0.0
    for a in range(size):
        above = pmf[:, size - 1 - a :: -1].cumsum(axis=1)[:, ::-1]
        level = pmf[:, : size - a] / 2
        level[:, :-1] += above[:, 1:]
        # All scores below a are beaten alike.
        best = np.append(np.full(a, above[:, 0].max()), level.max(axis=0))
        worst = max(worst, float(np.abs(last[a] - best).max()))
    return worst


def _residual_of_normal(normal: Floats, last: Floats, sides: int, most: int) -> float:
    """Return the largest residual of V in its equation.

    Args:
        normal: V.
        last: L.
        sides: s.
        most: N.
    """
    limit, worst = len(normal) - 1, 0.0
    together = max(1, _TOGETHER // (limit + 1))
    for first in range(0, limit + 1, together):
        rows = slice(first, first + together)
        rolled, best = 1 - normal[rows], 1 - last[rows]
        for _ in range(most):
            rolled = _next_sums(rolled, min(sides, limit)) / sides
            np.maximum(best, rolled, out=best)
        worst = max(worst, float(np.abs(normal[:, rows].T - best).max()))
    return worst


def _next_sums(terms: Floats, count: int) -> Floats:
    """Return the sum of the next `count` entries of each row, which end with zeros, [n, M+1].

    Sums of 1, 2, 4, ... entries are made from one another, and added up to one of `count`.
    """
    size, sums = terms.shape[1], np.pad(terms, ((0, 0), (0, count)))
    total, shift, width = np.zeros_like(terms), 1, 1
    while True:
        if count & width:
            total += sums[:, shift : shift + size]
            shift += width
        if 2 * width > count:
            return total
        sums = sums[:, :-width] + sums[:, width:]
        width *= 2
