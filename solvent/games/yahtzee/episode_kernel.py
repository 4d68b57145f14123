"""Steps of many episodes of Yahtzee, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.envs.kernels.tabular import advance, draw_of
from solvent.games.yahtzee.arrays import BONUS_AT, ROLLS, Rules
from solvent.games.yahtzee.rules import LARGEST_POINTS
from solvent.games.yahtzee.turn_kernel import (
    bonus_after,
    extra,
    points_in,
    upper_after,
    upper_reward,
)

EPISODE = np.dtype(
    [
        ("stream", np.uint64),
        ("filled", np.int32),
        ("upper", np.int32),
        ("roll", np.int32),
        ("rolls", np.int32),
        ("bonus", np.int32),
        ("over", np.bool_),
    ],
    align=True,
)
"""Where an episode stands.

``filled`` is the bit mask of the filled boxes, ``upper`` the points in the upper section, ``roll``
the number of the roll on the table or -1, ``rolls`` how many are left in the turn, ``bonus``
whether another Yahtzee has one, and ``over`` whether the end has been reported.
"""


def width(rules: Rules, onehot: bool) -> int:
    """The entries of an observation.

    Args:
        rules: The form.
        onehot: In which form it is seen.
    """
    dice, faces, boxes = rules.dice.shape[1], len(rules.of_face), len(rules.face_of)
    upper = int(rules.number[BONUS_AT]) + 1 if onehot else boxes + 1
    return int(dice * faces + rules.number[ROLLS] + 1 + boxes + upper + 1)


@njit(cache=True, nogil=True)
def legal(rules: Rules, filled: int, roll: int, rolls: int, mask: NDArray[np.int8]) -> None:
    """The legal actions of a state; once all boxes are filled, all.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        roll: On the table, or -1.
        rolls: That are left.
        mask: [A], filled.
    """
    keeps, boxes = rules.kept.shape[1], len(rules.face_of)
    if filled == (1 << boxes) - 1:
        mask[:] = 1
        return
    if roll < 0:
        mask[:] = 0
        mask[0] = 1
        return
    for m in range(keeps):
        mask[m] = rolls > 0 and rules.kept[roll, m] >= 0
    for b in range(boxes):
        mask[keeps + b] = points_in(rules, filled, b, roll) >= 0


@njit(cache=True, nogil=True)
def observe(
    rules: Rules,
    filled: int,
    upper: int,
    bonus: int,
    roll: int,
    rolls: int,
    onehot: bool,
    seen: NDArray[np.float32],
) -> None:
    """What the player sees in a state.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        upper: Points of the upper section.
        bonus: Whether another Yahtzee has a bonus.
        roll: On the table, or -1.
        rolls: That are left.
        onehot: Whether as indicators only.
        seen: [D], filled.
    """
    faces, boxes = len(rules.of_face), len(rules.face_of)
    seen[:] = 0.0
    if roll >= 0:
        for die in range(rules.dice.shape[1]):
            seen[die * faces + rules.dice[roll, die] - 1] = 1.0
    at = rules.dice.shape[1] * faces
    seen[at + rolls] = 1.0
    at += rules.number[ROLLS] + 1
    for b in range(boxes):
        seen[at + b] = not filled >> b & 1
    at += boxes
    if onehot:
        seen[at + upper] = 1.0
    else:
        if roll >= 0:
            for b in range(boxes):
                seen[at + b] = max(points_in(rules, filled, b, roll), 0) / LARGEST_POINTS
        seen[at + boxes] = upper / max(rules.number[BONUS_AT], 1)
    seen[len(seen) - 1] = bonus


@njit(cache=True, nogil=True)
def begin(rules: Rules, chosen: NDArray[np.int64], records: NDArray[np.void]) -> None:
    """Begin episodes.

    A number is drawn, as for the start of a table.

    Args:
        rules: The form.
        chosen: [k] which.
        records: [n] of :data:`EPISODE`, changed.
    """
    for i in chosen:
        at = records[i]
        at["stream"] = advance(at["stream"])
        at["filled"], at["upper"], at["bonus"] = 0, 0, 0
        at["roll"], at["rolls"] = -1, rules.number[ROLLS]
        at["over"] = False


@njit(cache=True, nogil=True)
def step(
    rules: Rules,
    actions: NDArray[np.int64],
    records: NDArray[np.void],
    reward: NDArray[np.float64],
    terminated: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
) -> None:
    """Play an action in each episode, or begin it again if it has ended.

    Args:
        rules: The form.
        actions: [n] within 0..A-1.
        records: [n] of :data:`EPISODE`, changed.
        reward: [n], filled.
        terminated: [n], filled.
        illegal: [n], filled: whether the lowest legal action was played in its place.
    """
    keeps, boxes = rules.kept.shape[1], len(rules.face_of)
    mask = np.empty(keeps + boxes, np.int8)
    one = np.empty(1, np.int64)
    for i in range(len(records)):
        at = records[i]
        reward[i], terminated[i], illegal[i] = 0.0, False, False
        if at["over"]:
            one[0] = i
            begin(rules, one, records)
            continue
        filled, roll, action = at["filled"], at["roll"], actions[i]
        legal(rules, filled, roll, at["rolls"], mask)
        if not mask[action]:
            illegal[i] = True
            action = mask.argmax()
        at["stream"] = advance(at["stream"])
        if action < keeps:
            keep = rules.kept[roll, action] if roll >= 0 else 0
            draw = draw_of(at["stream"])
            low, high = rules.first[keep], rules.first[keep + 1] - 1
            while low < high:
                middle = (low + high) // 2
                if draw < rules.threshold[middle]:
                    high = middle
                else:
                    low = middle + 1
            at["roll"] = rules.way_roll[low]
            at["rolls"] -= 1
            continue
        box = action - keeps
        scored = points_in(rules, filled, box, roll)
        upper = upper_after(rules, at["upper"], box, scored)
        reward[i] = (
            scored + extra(rules, roll, at["bonus"]) + upper_reward(rules, at["upper"], upper)
        )
        at["filled"] = filled | 1 << box
        at["roll"] = -1
        if at["filled"] == (1 << boxes) - 1:
            at["upper"], at["bonus"], at["rolls"] = 0, 0, 0
            at["over"] = terminated[i] = True
        else:
            at["upper"], at["rolls"] = upper, rules.number[ROLLS]
            at["bonus"] = bonus_after(rules, at["bonus"], box, scored)


@njit(cache=True, nogil=True)
def look(
    rules: Rules,
    chosen: NDArray[np.int64],
    records: NDArray[np.void],
    onehot: bool,
    seen: NDArray[np.float32],
    mask: NDArray[np.int8],
) -> None:
    """What the players see and may do.

    Args:
        rules: The form.
        chosen: [k] which episodes.
        records: [n] of :data:`EPISODE`.
        onehot: In which form they see it.
        seen: [k, D], filled.
        mask: [k, A], filled.
    """
    for e in range(len(chosen)):
        at = records[chosen[e]]
        observe(
            rules, at["filled"], at["upper"], at["bonus"], at["roll"], at["rolls"], onehot, seen[e]
        )
        legal(rules, at["filled"], at["roll"], at["rolls"], mask[e])
