"""Where a policy leads: probability that flows through a turn, and from card to card, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.games.yahtzee.arrays import ROLLS, YAHTZEE_BONUS, Rules
from solvent.games.yahtzee.rules import LARGEST_POINTS
from solvent.games.yahtzee.turn_kernel import (
    bonus_after,
    extra,
    points_in,
    upper_after,
    upper_reward,
)
from solvent.model.arrays import Floats

ENDS = 2 * (LARGEST_POINTS + 1)
"""How a turn may end in a box: with so many points, and as many again with another Yahtzee."""


@njit(cache=True, nogil=True)
def roll_on(rules: Rules, kept: Floats, rolled: Floats) -> None:
    """Roll the dice that keeps leave, one by one.

    Args:
        rules: The form.
        kept: [K] the probability of each keep; overwritten.
        rolled: [R], filled: the probability of each roll.
    """
    faces, base = rules.added.shape[1], len(kept) - len(rolled)
    for k in range(base):
        if kept[k] > 0.0:
            share = kept[k] / faces
            for f in range(faces):
                kept[rules.added[k, f]] += share
    rolled[:] = kept[base:]


@njit(cache=True, nogil=True)
def flow_of_actions(
    rules: Rules, filled: int, bonus: int, action: NDArray[np.int16], ends: Floats
) -> None:
    """How turns end if every state has one action.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        action: [N, R, L] by the rolls that are left, the roll, and the card.
        ends: [L, B, ENDS], filled: the probability of each end.
    """
    keeps, keep_actions = len(rules.size), rules.kept.shape[1]
    kept, rolled = np.zeros(keeps), np.zeros(len(rules.face))
    for lane in range(action.shape[2]):
        ends[lane] = 0.0
        kept[:] = 0.0
        kept[0] = 1.0
        roll_on(rules, kept, rolled)
        for j in range(rules.number[ROLLS] - 1, -1, -1):
            kept[:] = 0.0
            for r in range(len(rolled)):
                if rolled[r] > 0.0:
                    a = action[j, r, lane]
                    if a < keep_actions:
                        kept[rules.kept[r, a]] += rolled[r]
                    else:
                        box = a - keep_actions
                        end = points_in(rules, filled, box, r)
                        end += ENDS // 2 if extra(rules, r, bonus) > 0 else 0
                        ends[lane, box, end] += rolled[r]
            roll_on(rules, kept, rolled)


@njit(cache=True, nogil=True)
def flow_of_chances(rules: Rules, filled: int, bonus: int, chance: Floats, ends: Floats) -> None:
    """How turns end if actions are drawn.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        chance: [N, R, L, A] their probabilities; those of illegal ones are 0.
        ends: [L, B, ENDS], filled: the probability of each end.
    """
    keeps, keep_actions = len(rules.size), rules.kept.shape[1]
    kept, rolled = np.zeros(keeps), np.zeros(len(rules.face))
    for lane in range(chance.shape[2]):
        ends[lane] = 0.0
        kept[:] = 0.0
        kept[0] = 1.0
        roll_on(rules, kept, rolled)
        for j in range(rules.number[ROLLS] - 1, -1, -1):
            kept[:] = 0.0
            for r in range(len(rolled)):
                if rolled[r] > 0.0:
                    if j > 0:
                        for a in range(keep_actions):
                            if chance[j, r, lane, a] > 0.0:
                                kept[rules.kept[r, a]] += rolled[r] * chance[j, r, lane, a]
                    for box in range(len(rules.face_of)):
                        p = chance[j, r, lane, keep_actions + box]
                        if p > 0.0:
                            end = points_in(rules, filled, box, r)
                            end += ENDS // 2 if extra(rules, r, bonus) > 0 else 0
                            ends[lane, box, end] += rolled[r] * p
            roll_on(rules, kept, rolled)


@njit(cache=True, nogil=True)
def pass_on(
    rules: Rules,
    filled: int,
    bonus: int,
    totals: NDArray[np.int64],
    ends: Floats,
    mass: Floats,
    place: NDArray[np.int32],
    after: Floats,
) -> float:
    """Move probability from cards to those that follow.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        totals: [L] points of the upper section of the cards.
        ends: [L, B, ENDS] how their turns end.
        mass: [L, W] the probability of each card; by the points so far unless W is 1.
        place: [2^B] which set of the next layer a bit mask is; -1 for the full card.
        after: [sets, U, 2, V] added to: the probability of each next card, V being 1 if W is.

    Returns:
        The points that these turns bring on average, times the probability of the cards.
    """
    boxes, half = len(rules.face_of), ENDS // 2
    by_points = after.shape[3] > 1
    points = 0.0
    for lane in range(len(totals)):
        whole, first, last = 0.0, mass.shape[1], 0
        for w in range(mass.shape[1]):
            if mass[lane, w] > 0.0:
                whole += mass[lane, w]
                first, last = min(first, w), w
        for b in range(boxes):
            if filled >> b & 1:
                continue
            at = max(place[filled | 1 << b], 0)
            for end in range(2 * half):
                p = ends[lane, b, end]
                if p == 0.0:
                    continue
                again = end >= half
                scored = end - half if again else end
                upper = upper_after(rules, totals[lane], b, scored)
                reward = scored + upper_reward(rules, totals[lane], upper)
                if again:
                    reward += rules.number[YAHTZEE_BONUS]
                points += p * whole * reward
                then = bonus_after(rules, bonus, b, scored)
                if by_points:
                    for w in range(first, last + 1):
                        after[at, upper, then, w + reward] += p * mass[lane, w]
                else:
                    after[at, upper, then, 0] += p * whole
    return points
