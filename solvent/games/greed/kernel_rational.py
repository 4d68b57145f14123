"""The ratings of Greed in exact arithmetic, by their definition.

A die costs at least a point, so with r = (M - a) + (M - q) points left to both players a rating
is a whole number over 2 s^r: n dice that sum to t >= n divide by s^n and leave r - t points.
Integers over these denominators are compared and added without reducing fractions. It is slow,
obviously right, and decides ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.games.greed.rules import Greed
from solvent.model import ways_to_sum


@dataclass(frozen=True, eq=False)
class RationalRatings:
    """Exact ratings; ``[a, q]`` as in :class:`solvent.games.greed.kernel.GreedSolution`.

    Attributes:
        normal: [M+1, M+1] objects, Fractions: ratings before the last turn.
        last: [M+1, M+1] objects, Fractions: ratings of the last turn.
        normal_rolls: [M+1, M+1] objects: the tuple of all optimal rolls before the last turn.
        last_rolls: [M+1, M+1] objects: of all optimal rolls in it.
    """

    normal: NDArray[Any]
    last: NDArray[Any]
    normal_rolls: NDArray[Any]
    last_rolls: NDArray[Any]


def solve_greed_exact(limit: int, sides: int, *, extra_dice: int = 0) -> RationalRatings:
    """Rate every position of Greed exactly; for small limits, say up to 30.

    Args:
        limit: Largest score that is not a bust.
        sides: Sides of each die.
        extra_dice: Consider rolls of so many more dice than can be of use, to see that they are
            of none.

    Raises:
        ValueError: If `limit` or `sides` is out of its range.
    """
    game = Greed(limit, sides)
    shape = (limit + 1, limit + 1)
    ratings = RationalRatings(*(np.empty(shape, object) for _ in range(4)))
    last, normal = np.empty(shape, object), np.empty(shape, object)  # numerators over 2 s^r
    # V(a, q) needs L(q, a), and V where fewer points are left.
    diagonals = sorted(np.ndindex(shape), key=sum, reverse=True)
    for a, q in diagonals:
        dice = range(game.most_dice(a) + extra_dice + 1)
        rated = [_last_turn(game, a, q, n) for n in dice]
        _enter(rated, game, (a, q), last, ratings.last, ratings.last_rolls)
    for a, q in diagonals:
        dice = range(1, game.most_dice(a) + extra_dice + 1)
        stand = int(_whole(game, a, q) - last[q, a])
        rated = [stand, *(_roll(game, a, q, n, normal) for n in dice)]
        _enter(rated, game, (a, q), normal, ratings.normal, ratings.normal_rolls)
    return ratings


def _whole(game: Greed, a: int, q: int) -> int:
    """2 s^r, the denominator at (a, q)."""
    return int(2 * game.sides ** (2 * game.limit - a - q))


def _last_turn(game: Greed, a: int, q: int, dice: int) -> int:
    """The numerator of the rating of a roll in the last turn: 2 for each win, 1 for each tie."""
    halves = sum(
        (1 + (a + t > q) - (a + t < q)) * _ways(t, dice, game.sides)
        for t in range(dice, game.limit - a + 1)
    )
    return int(halves * _whole(game, a, q) // (2 * game.sides**dice))


def _roll(game: Greed, a: int, q: int, dice: int, normal: NDArray[Any]) -> int:
    """The numerator of the rating of a roll before the last turn."""
    numerator = 0
    for t in range(dice, game.limit - a + 1):
        rating = _whole(game, q, a + t) - normal[q, a + t]
        numerator += _ways(t, dice, game.sides) * rating * game.sides ** (t - dice)
    return numerator


def _enter(
    rated: list[int],
    game: Greed,
    at: tuple[int, int],
    numerators: NDArray[Any],
    values: NDArray[Any],
    rolls: NDArray[Any],
) -> None:
    """Write down the best of the rolls at a position, and which of them are as good."""
    numerators[at] = best = max(rated)
    values[at] = Fraction(best, _whole(game, *at))
    rolls[at] = tuple(n for n, rating in enumerate(rated) if rating == best)


_ways = cache(ways_to_sum)
