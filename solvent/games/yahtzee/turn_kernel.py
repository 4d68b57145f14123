"""One turn of Yahtzee: expectation over dice and the best choices, for many cards at once.

All arrays have the cards with the same filled boxes in their last axis, the *lanes*, so that the
innermost loops are over consecutive numbers. With j rolls left, r a roll and k a keep,

    e[j, r]  =  the value once r lies on the table,
    w[j, k]  =  the value of keeping k and rolling the others, j rolls being left after that,

    w[j, k]  =  e[j, k] if k is a roll, else the mean over faces f of w[j, k + f],
    e[0, r]  =  max over boxes of  points + value of the next card,
    e[j, r]  =  max( e[0, r],  max over keeps k in r, k other than r, of w[j-1, k] ).

The maximum over all keeps in r is taken die by die: best(k) is the larger of w(k) and best(k less a
die). A maximum has no rounding error, so this is the same number as the maximum over all keeps.
The value of the card is w[N-1, the empty keep], N being the rolls of a turn.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.games.yahtzee.arrays import (
    BONUS_AT,
    JOKER,
    LOWER_MASK,
    ROLLS,
    TRACKS,
    UPPER_BONUS,
    YAHTZEE_BONUS,
    YAHTZEE_BOX,
    Rules,
)
from solvent.model.arrays import Floats

FORCED, FREE = 0, 1

TIE = 1e-9
"""Choices whose values differ by at most this count as equally good."""


@njit(cache=True, inline="always")
def points_in(rules: Rules, filled: int, box: int, roll: int) -> int:
    """The points of a roll in a box; -1 where it may not go.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        box: Which.
        roll: Which.
    """
    if filled >> box & 1:
        return -1
    number = rules.number
    face = rules.face[roll]
    yahtzee = number[YAHTZEE_BOX]
    if face < 0 or yahtzee < 0 or not filled >> yahtzee & 1 or number[JOKER] > FREE:
        return int(rules.plain[box, roll])
    match = rules.of_face[face]
    match_open = match >= 0 and not filled >> match & 1
    is_upper = rules.face_of[box] >= 0
    if number[JOKER] == FREE:
        if match_open or is_upper:
            return int(rules.plain[box, roll])
        return int(rules.joker[box, roll])
    if match_open:
        return int(rules.plain[box, roll]) if box == match else -1
    lower = number[LOWER_MASK]
    if filled & lower != lower:
        return -1 if is_upper else int(rules.joker[box, roll])
    return int(rules.plain[box, roll])


@njit(cache=True, inline="always")
def extra(rules: Rules, roll: int, bonus: int) -> int:
    """The bonus of another Yahtzee."""
    if bonus and rules.face[roll] >= 0:
        return int(rules.number[YAHTZEE_BONUS])
    return 0


@njit(cache=True, inline="always")
def upper_after(rules: Rules, upper: int, box: int, scored: int) -> int:
    """Points of the upper section once a box is filled."""
    if rules.face_of[box] < 0:
        return upper
    return int(min(upper + scored, rules.number[BONUS_AT]))


@njit(cache=True, inline="always")
def upper_reward(rules: Rules, upper: int, after: int) -> int:
    """The bonus of the upper section, where it is reached."""
    if upper < after and after == rules.number[BONUS_AT]:
        return int(rules.number[UPPER_BONUS])
    return 0


@njit(cache=True, inline="always")
def bonus_after(rules: Rules, bonus: int, box: int, scored: int) -> int:
    """Whether another Yahtzee has a bonus once a box is filled."""
    if rules.number[TRACKS] and box == rules.number[YAHTZEE_BOX] and scored > 0:
        return 1
    return bonus


@njit(cache=True, nogil=True)
def box_values(
    rules: Rules,
    filled: int,
    bonus: int,
    totals: NDArray[np.int64],
    after: Floats,
    place: NDArray[np.int32],
    value: Floats,
) -> None:
    """What filling each box brings, the next cards included.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        totals: [L] points of the upper section of the lanes.
        after: [sets, U, 2] values of the cards with a box more.
        place: [2^B] which set of those a bit mask is; -1 when all boxes are filled.
        value: [B, V, L], filled for the open boxes, points in a lower box left out: for an upper
            box, by the dice that show its face; for the box for a Yahtzee, whether it is one.
    """
    for b in range(len(rules.face_of)):
        if filled >> b & 1:
            continue
        at = place[filled | 1 << b]
        face = rules.face_of[b]
        for v in range(value.shape[1]):
            scored = (face + 1) * v if face >= 0 else v
            then = bonus_after(rules, bonus, b, scored)
            for lane in range(len(totals)):
                upper = upper_after(rules, totals[lane], b, scored)
                got = scored if face >= 0 else 0
                total = float(got + upper_reward(rules, totals[lane], upper))
                if at >= 0:
                    total += after[at, upper, then]
                value[b, v, lane] = total


@njit(cache=True, inline="always")
def variant(rules: Rules, box: int, scored: int) -> int:
    """Which of :func:`box_values` of a box is that of its points."""
    face = rules.face_of[box]
    if face >= 0:
        return int(scored // (face + 1))
    return 1 if box == rules.number[YAHTZEE_BOX] and scored > 0 else 0


@njit(cache=True, nogil=True)
def expect(rules: Rules, rolled: Floats, kept: Floats) -> None:
    """Expectation over the dice that are rolled.

    Args:
        rules: The form.
        rolled: [R, L] values of the rolls, e.
        kept: [K, L], filled with those of the keeps, w.
    """
    lanes, faces = rolled.shape[1], rules.added.shape[1]
    base = kept.shape[0] - rolled.shape[0]
    for r in range(rolled.shape[0]):
        for lane in range(lanes):
            kept[base + r, lane] = rolled[r, lane]
    for k in range(base - 1, -1, -1):
        for lane in range(lanes):
            kept[k, lane] = kept[rules.added[k, 0], lane]
        for f in range(1, faces):
            more = rules.added[k, f]
            for lane in range(lanes):
                kept[k, lane] += kept[more, lane]
        for lane in range(lanes):
            kept[k, lane] /= faces


@njit(cache=True, nogil=True)
def choose(rules: Rules, kept: Floats, best: Floats, scored: Floats, rolled: Floats) -> None:
    """The better of filling a box and the best keep.

    Args:
        rules: The form.
        kept: [K, L] values of the keeps with a roll less left, w[j-1].
        best: [K - R, L], overwritten: the best of all keeps in a keep.
        scored: [R, L] values of filling a box, e[0].
        rolled: [R, L], filled: e[j].
    """
    lanes, faces = kept.shape[1], rules.added.shape[1]
    base = best.shape[0]
    for k in range(base):
        for lane in range(lanes):
            best[k, lane] = kept[k, lane]
        for f in range(faces):
            less = rules.less[k, f]
            if less >= 0:
                for lane in range(lanes):
                    best[k, lane] = max(best[k, lane], best[less, lane])
    for r in range(rolled.shape[0]):
        for lane in range(lanes):
            rolled[r, lane] = scored[r, lane]
        for f in range(faces):
            less = rules.less[base + r, f]
            if less >= 0:
                for lane in range(lanes):
                    rolled[r, lane] = max(rolled[r, lane], best[less, lane])


@njit(cache=True, nogil=True)
def turn_values(
    rules: Rules, filled: int, bonus: int, value: Floats, best: Floats, rolled: Floats, kept: Floats
) -> None:
    """The values of a turn.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        value: [B, V, L] of :func:`box_values`.
        best: [K - R, L], overwritten.
        rolled: [N, R, L], filled: e.
        kept: [N, K, L], filled: w.
    """
    lanes = rolled.shape[2]
    for r in range(rolled.shape[1]):
        for lane in range(lanes):
            rolled[0, r, lane] = -np.inf
        more = extra(rules, r, bonus)
        for b in range(len(rules.face_of)):
            scored = points_in(rules, filled, b, r)
            if scored < 0:
                continue
            v = variant(rules, b, scored)
            plus = float(more + (0 if rules.face_of[b] >= 0 else scored))
            for lane in range(lanes):
                rolled[0, r, lane] = max(rolled[0, r, lane], plus + value[b, v, lane])
    expect(rules, rolled[0], kept[0])
    for j in range(1, rules.number[ROLLS]):
        choose(rules, kept[j - 1], best, rolled[0], rolled[j])
        expect(rules, rolled[j], kept[j])


@njit(cache=True, nogil=True)
def best_actions(
    rules: Rules,
    filled: int,
    bonus: int,
    value: Floats,
    rolled: Floats,
    kept: Floats,
    action: NDArray[np.int16],
) -> None:
    """The actions that :func:`turn_values` is of.

    Of those that are equally good it takes the first box, and else the keep with the most dice.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        value: [B, V, L] of :func:`box_values`.
        rolled: [N, R, L] e.
        kept: [N, K, L] w.
        action: [N, R, L], filled.
    """
    keeps = rules.kept.shape[1]
    for j in range(rolled.shape[0]):
        for r in range(rolled.shape[1]):
            action[j, r, :] = -1
            more = extra(rules, r, bonus)
            for b in range(len(rules.face_of)):
                scored = points_in(rules, filled, b, r)
                if scored < 0:
                    continue
                v = variant(rules, b, scored)
                plus = float(more + (0 if rules.face_of[b] >= 0 else scored))
                for lane in range(rolled.shape[2]):
                    least = rolled[j, r, lane] - TIE
                    if action[j, r, lane] < 0 and plus + value[b, v, lane] >= least:
                        action[j, r, lane] = keeps + b
            if j == 0:
                continue
            for size in range(len(rules.dice[0]) - 1, -1, -1):
                for m in range(keeps):
                    k = rules.kept[r, m]
                    if k < 0 or rules.size[k] != size:
                        continue
                    for lane in range(rolled.shape[2]):
                        least = rolled[j, r, lane] - TIE
                        if action[j, r, lane] < 0 and kept[j - 1, k, lane] >= least:
                            action[j, r, lane] = m


@njit(cache=True, nogil=True)
def solve_sets(
    rules: Rules,
    sets: NDArray[np.int32],
    reach: NDArray[np.bool_],
    after: Floats,
    place: NDArray[np.int32],
    out: Floats,
) -> None:
    """The values of all cards with some sets of filled boxes.

    Args:
        rules: The form.
        sets: [n] bit masks of the filled boxes, all of the same number.
        reach: [2^B, U] of :func:`~.arrays.reachable_totals`.
        after: [sets, U, 2] values of the cards with a box more.
        place: [2^B] which set of those a bit mask is; -1 when all boxes are filled.
        out: [n, U, 2], filled; what cannot be reached is left as it is.
    """
    keeps, rolls = rules.added.shape[0], rules.plain.shape[1]
    turns, boxes = rules.number[ROLLS], len(rules.face_of)
    yahtzee = rules.number[YAHTZEE_BOX]
    variants = max(len(rules.dice[0]) + 1, 2)
    for i in range(len(sets)):
        filled = sets[i]
        totals = np.flatnonzero(reach[filled])
        lanes = len(totals)
        value = np.empty((boxes, variants, lanes))
        best = np.empty((keeps - rolls, lanes))
        rolled = np.empty((turns, rolls, lanes))
        kept = np.empty((turns, keeps, lanes))
        tracked = rules.number[TRACKS] and filled >> yahtzee & 1
        for bonus in range(2 if tracked else 1):
            box_values(rules, filled, bonus, totals, after, place, value)
            turn_values(rules, filled, bonus, value, best, rolled, kept)
            for lane in range(lanes):
                out[i, totals[lane], bonus] = kept[turns - 1, 0, lane]
