"""The rules of Yahtzee as arrays, for kernels.

**Keeps** are multisets of up to D dice, numbered by size and then in lexicographic order: 462 with
five dice of six faces, of which number 0 is the empty one and the last 252 are the *rolls*, all
dice. Rolling the dice that a keep leaves is rolling one of them D - size times, so that expectation
over rolls is a mean over faces, size by size from D down to 0 (:func:`~.turn_kernel.expect`).

**Cards** are what a turn starts from: the set of filled boxes as a bit mask, the points of the
upper section up to those of the bonus, and whether another Yahtzee has a bonus.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.envs.random_stream import inverse_cdf
from solvent.games.yahtzee.rules import (
    JOKER_POINTS,
    JOKERS,
    LOWER,
    UPPER,
    YAHTZEE,
    Yahtzee,
    points,
)

Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


class Rules(NamedTuple):
    """A form of Yahtzee; all arrays, so that a kernel takes it as one argument.

    With D dice, F faces, K keeps, R rolls, B boxes, M = 2^D - 1 actions that keep dice, and E ways
    in all to roll the dice that a keep leaves, over all keeps of less than D dice.

    Attributes:
        added: [K, F] the keep with a die of a face more; -1 where that is too many.
        less: [K, F] the keep with a die of a face less; -1 where there is none.
        size: [K] its dice.
        kept: [R, M] the keep that an action leaves of a roll; -1 if the action is illegal.
        first: [K + 1] where the ways begin to roll what a keep leaves, within E.
        way_roll: [E] the roll that comes of each way, in the order of the rules.
        threshold: [E] the inverse CDF of the ways of each keep.
        face: [R] the face of a roll of equal dice, from 0; -1 of any other.
        plain: [B, R] points of a roll in a box, by itself.
        joker: [B, R] points of a joker.
        of_face: [F] the upper box of each face; -1 if the form does not have it.
        face_of: [B] the face of an upper box, from 0; -1 for a lower one.
        dice: [R, D] the dice of each roll, in ascending order.
        number: [8] the entries below, in their order.
    """

    added: Int16s
    less: Int16s
    size: Int16s
    kept: Int16s
    first: Int32s
    way_roll: Int16s
    threshold: Int64s
    face: Int16s
    plain: Int16s
    joker: Int16s
    of_face: Int16s
    face_of: Int16s
    dice: NDArray[np.int8]
    number: Int64s


ROLLS, BONUS_AT, UPPER_BONUS, YAHTZEE_BONUS, JOKER, YAHTZEE_BOX, LOWER_MASK, TRACKS = range(8)
"""Places in :attr:`Rules.number`: the rolls of a turn, the three bonuses, the joker's place in
:data:`~.rules.JOKERS`, the box for a Yahtzee or -1, the bit mask of the lower boxes, and whether a
card says that another Yahtzee has a bonus."""


def keeps_of(dice: int, faces: int) -> list[tuple[int, ...]]:
    """All keeps, in their order.

    Args:
        dice: The most dice of a keep.
        faces: Of each.
    """
    return [
        keep
        for size in range(dice + 1)
        for keep in combinations_with_replacement(range(1, faces + 1), size)
    ]


@lru_cache(maxsize=8)
def rules_arrays(game: Yahtzee) -> Rules:
    """The arrays of a form.

    Args:
        game: The form.
    """
    dice, faces = game.dice, range(1, game.faces + 1)
    keeps = keeps_of(dice, game.faces)
    number = {keep: k for k, keep in enumerate(keeps)}
    rolls = [keep for keep in keeps if len(keep) == dice]
    base = len(keeps) - len(rolls)
    added, less = np.full((2, len(keeps), game.faces), -1, np.int16)
    for k, keep in enumerate(keeps):
        for face in faces:
            added[k, face - 1] = number.get(tuple(sorted((*keep, face))), -1)
            if face in keep:
                at = keep.index(face)
                less[k, face - 1] = number[keep[:at] + keep[at + 1 :]]
    kept = np.full((len(rolls), game.keeps), -1, np.int16)
    for r, roll in enumerate(rolls):
        seen = set()
        # The first actions keep the first dice of those that show the same.
        for action in range(game.keeps):
            keep = tuple(die for i, die in enumerate(roll) if action >> i & 1)
            if keep not in seen:
                kept[r, action] = number[keep]
            seen.add(keep)
    ways, chances, first = [], [], [0]
    for keep in keeps:
        left = dice - len(keep)
        for new in combinations_with_replacement(faces, left) if left else ():
            ways.append(number[tuple(sorted(keep + new))] - base)
            chances.append(factorial(left) / prod(map(factorial, Counter(new).values())))
            chances[-1] /= game.faces**left
        first.append(len(ways))
    boxes = game.scorecard
    plain = np.array([[points(box, roll) for roll in rolls] for box in boxes], np.int16)
    joker = plain.copy()
    for b, box in enumerate(boxes):
        joker[b] = JOKER_POINTS.get(box, joker[b])
    lower = sum(1 << b for b, box in enumerate(boxes) if box in LOWER)
    tracks = YAHTZEE in boxes and game.yahtzee_bonus > 0
    numbers = {
        ROLLS: game.rolls,
        BONUS_AT: game.bonus_at,
        UPPER_BONUS: game.upper_bonus,
        YAHTZEE_BONUS: game.yahtzee_bonus,
        JOKER: JOKERS.index(game.joker),
        YAHTZEE_BOX: boxes.index(YAHTZEE) if YAHTZEE in boxes else -1,
        LOWER_MASK: lower,
        TRACKS: tracks,
    }
    thresholds = inverse_cdf(np.array(chances), np.array(first[: base + 1]))
    return Rules(
        added=added,
        less=less,
        size=np.array([len(keep) for keep in keeps], np.int16),
        kept=kept,
        first=np.array(first, np.int32),
        way_roll=np.array(ways, np.int16),
        threshold=thresholds,
        face=np.array([roll[0] - 1 if len(set(roll)) == 1 else -1 for roll in rolls], np.int16),
        plain=plain,
        joker=joker,
        of_face=np.array(
            [boxes.index(UPPER[f]) if UPPER[f] in boxes else -1 for f in range(game.faces)],
            np.int16,
        ),
        face_of=np.array([UPPER.index(box) if box in UPPER else -1 for box in boxes], np.int16),
        dice=np.array(rolls, np.int8),
        number=np.array([int(numbers[at]) for at in range(len(numbers))], np.int64),
    )


def reachable_totals(game: Yahtzee) -> NDArray[np.bool_]:
    """[2^B, U] whether filling a set of boxes can have brought so many points in the upper section.

    U is one more than the points that earn the bonus, which stand for all that are more.

    Args:
        game: The form.
    """
    most, n = game.bonus_at, len(game.scorecard)
    reach = np.zeros((1 << n, most + 1), bool)
    reach[0, 0] = True
    for filled in range(1, 1 << n):
        b = filled.bit_length() - 1
        before = reach[filled ^ 1 << b]
        if game.scorecard[b] not in UPPER:
            reach[filled] = before
            continue
        face = UPPER.index(game.scorecard[b]) + 1
        for count in range(game.dice + 1):
            gained = min(face * count, most)
            reach[filled, gained:] |= before[: most + 1 - gained]
            reach[filled, most] |= before[max(0, most - gained) :].any()
    return reach
