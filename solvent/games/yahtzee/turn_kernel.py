"""One turn of Yahtzee, compiled: its values backwards, and its probabilities forwards.

A turn leads from a card over hands and rolls to an *end*: a box, the points in it, and whether
another Yahtzee earned its bonus. An end and the card give the reward and the next card
(:func:`fill`). Backwards, for the L cards with the same filled boxes at once, j rolls being left,
let r be a roll and k a hand, and

    e[j, r]  =  the value once r lies on the table,
    w[j, k]  =  the value of keeping k and rolling the other dice, j rolls being left after that,

    w[j, k]  =  e[j, k] if k is a roll, else the mean over faces f of w[j, k + f],
    e[0, r]  =  max over boxes of  reward + value of the next card,
    e[j, r]  =  max( e[0, r],  max over hands k in r, k other than r, of w[j-1, k] ).

The maximum over all hands in r is taken die by die: e[j, k] of a hand k that is no roll is the
larger of w[j-1, k] and of e[j, k less a die]. A maximum has no rounding error, so this is the same
number as the maximum over all hands. The value of the card is w[N-1, the empty hand], N being the
rolls of a turn.

Forwards the actions of a policy are given, and probability flows the same way to the ends
(:func:`turn_ends`) and on to the next cards (:func:`pass_on`).
"""

import numpy as np
from numpy.typing import NDArray

from solvent.games.yahtzee.arrays import RuleArrays
from solvent.games.yahtzee.rules import LARGEST_POINTS
from solvent.model.arrays import Floats
from solvent.model.compiled import njit

TIE = 1e-9
"""Choices whose values differ by at most this count as equally good."""

# Added to the points of an end with another Yahtzee.
_AGAIN = LARGEST_POINTS + 1

ENDS = 2 * _AGAIN
"""The number of ends in a box."""


@njit(inline="always")
def end_of(rules: RuleArrays, filled: int, bonus: int, box: int, hand: int) -> int:
    """Return the end of a turn that fills a box with a roll; -1 if that is illegal.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        box: Index of the box.
        hand: Number of the roll, or of any other hand, for which every box is illegal.
    """
    if filled >> box & 1:
        return -1
    face = rules.face[hand]
    if face < 0 or not filled & rules.yahtzee:
        scored = int(rules.plain[box, hand])
    else:
        match = 1 if rules.match[face] & ~filled else 0
        lower = 1 if rules.lower & ~filled else 0
        scored = int(rules.joker[match, lower, box, face])
    if bonus and face >= 0 and scored >= 0:
        scored += _AGAIN
    return scored


@njit(inline="always")
def fill(rules: RuleArrays, upper: int, bonus: int, box: int, end: int) -> tuple[int, int, int]:
    """Return the reward of an end, and the next upper-section points and bonus flag.

    Args:
        rules: The form.
        upper: Points of the upper section.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        box: Index of the box.
        end: The end of the turn, from :func:`end_of`.
    """
    scored, after = end, upper
    reward = end
    if end >= _AGAIN:
        scored -= _AGAIN
        reward = scored + rules.yahtzee_bonus
    if box < rules.uppers:
        after = min(upper + scored, rules.bonus_at)
        if upper < after and after == rules.bonus_at:
            reward += rules.upper_bonus
    then = 1 if rules.tracked >> box & 1 and scored > 0 else bonus
    return reward, after, then


@njit(nogil=True)
def turn_values(
    rules: RuleArrays,
    filled: int,
    bonus: int,
    totals: NDArray[np.int64],
    after: Floats,
    place: NDArray[np.int32],
    value: Floats,
    held: Floats,
    kept: Floats,
) -> None:
    """Compute the values of the turns from some cards with the same filled boxes.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        totals: [L] points of the upper section.
        after: [sets, U, 2] values of the cards with one more filled box.
        place: [2^B] the index of each bit mask among those sets.
        value: [B, ENDS, L], filled at ends of rolls: the reward and the value of the next card.
        held: [N, K, L], filled: e, by the rolls left.
        kept: [N, K, L], filled: w, by the rolls left after the next one.
    """
    lanes = len(totals)
    held[0] = -np.inf
    known = np.zeros((len(rules.plain), ENDS), np.bool_)
    for b in range(len(rules.plain)):
        at = place[filled | 1 << b]
        for hand in range(rules.base, held.shape[1]):
            end = end_of(rules, filled, bonus, b, hand)
            if end < 0:
                continue
            if not known[b, end]:
                known[b, end] = True
                for lane in range(lanes):
                    reward, upper, then = fill(rules, totals[lane], bonus, b, end)
                    value[b, end, lane] = reward + after[at, upper, then]
            for lane in range(lanes):
                held[0, hand, lane] = max(held[0, hand, lane], value[b, end, lane])
    expect(rules, held[0], kept[0])
    for j in range(1, rules.rolls):
        choose(rules, kept[j - 1], held[0], held[j])
        expect(rules, held[j], kept[j])


@njit(nogil=True)
def expect(rules: RuleArrays, held: Floats, kept: Floats) -> None:
    """Compute the expectation over the dice that are rolled.

    Args:
        rules: The form.
        held: [K, L] values of the rolls, e.
        kept: [K, L], filled: values of keeping each hand, w.
    """
    lanes, faces = held.shape[1], rules.added.shape[1]
    for k in range(len(held) - 1, -1, -1):
        if k >= rules.base:
            for lane in range(lanes):
                kept[k, lane] = held[k, lane]
            continue
        for lane in range(lanes):
            kept[k, lane] = kept[rules.added[k, 0], lane]
        for f in range(1, faces):
            more = rules.added[k, f]
            for lane in range(lanes):
                kept[k, lane] += kept[more, lane]
        for lane in range(lanes):
            kept[k, lane] /= faces


@njit(nogil=True)
def choose(rules: RuleArrays, kept: Floats, scored: Floats, held: Floats) -> None:
    """Compute the larger of the values of filling a box and of keeping the best hand.

    Args:
        rules: The form.
        kept: [K, L] values of keeping a hand with one roll fewer left, w[j-1].
        scored: [K, L] values of filling a box with a roll, e[0].
        held: [K, L], filled: e[j].
    """
    lanes = held.shape[1]
    for k in range(len(held)):
        own = kept if k < rules.base else scored
        for lane in range(lanes):
            held[k, lane] = own[k, lane]
        for f in range(rules.less.shape[1]):
            less = rules.less[k, f]
            if less >= 0:
                for lane in range(lanes):
                    held[k, lane] = max(held[k, lane], held[less, lane])


@njit(nogil=True)
def solve_sets(
    rules: RuleArrays,
    sets: NDArray[np.int32],
    reach: NDArray[np.bool_],
    after: Floats,
    place: NDArray[np.int32],
    out: Floats,
) -> None:
    """Compute the values of all cards with some sets of filled boxes.

    Args:
        rules: The form.
        sets: [n] bit masks of the filled boxes, all with the same number of boxes.
        reach: [2^B, U] from :func:`~.arrays.reachable_totals`.
        after: [sets, U, 2] values of the cards with one more filled box.
        place: [2^B] the index of each bit mask among those sets.
        out: [n, U, 2], filled; values of cards that cannot be reached are left as they are.
    """
    boxes, hands, most = len(rules.plain), len(rules.dice), reach.shape[1]
    # Memory for the most cards that there may be: taking it anew for every set costs more time.
    ends = np.empty(boxes * ENDS * most)
    turns = np.empty((2, rules.rolls * hands * most))
    for i, filled in enumerate(sets):
        totals = np.flatnonzero(reach[filled])
        lanes = len(totals)
        value = ends[: boxes * ENDS * lanes].reshape(boxes, ENDS, lanes)
        held = turns[0, : rules.rolls * hands * lanes].reshape(rules.rolls, hands, lanes)
        kept = turns[1, : rules.rolls * hands * lanes].reshape(rules.rolls, hands, lanes)
        for bonus in range(2 if rules.tracked & filled else 1):
            # As Python passes it, so that it is compiled once.
            turn_values(
                rules, int(np.int64(filled)), bonus, totals, after, place, value, held, kept
            )
            for lane, total in enumerate(totals):
                out[i, total, bonus] = kept[rules.rolls - 1, 0, lane]


@njit(nogil=True)
def best_actions(
    rules: RuleArrays,
    filled: int,
    bonus: int,
    value: Floats,
    held: Floats,
    kept: Floats,
    action: NDArray[np.int16],
) -> None:
    """Compute the best actions of a turn; ties go to the first in :attr:`Rules.order`.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        value: [B, ENDS, L] from :func:`turn_values`, as the next two.
        held: [N, K, L] e.
        kept: [N, K, L] w.
        action: [N, R, L], filled, by the rolls left, the roll and the card.
    """
    keeps = rules.kept.shape[1]
    action[:] = -1
    for j in range(len(action)):
        for hand in range(rules.base, held.shape[1]):
            chosen = action[j, hand - rules.base]
            for a in rules.order:
                if a >= keeps:
                    end = end_of(rules, filled, bonus, a - keeps, hand)
                    if end < 0:
                        continue
                    values = value[a - keeps, end]
                elif j > 0 and rules.kept[hand, a] >= 0:
                    values = kept[j - 1, rules.kept[hand, a]]
                else:
                    continue
                for lane in range(len(chosen)):
                    if chosen[lane] < 0 and values[lane] >= held[j, hand, lane] - TIE:
                        chosen[lane] = a


@njit(nogil=True)
def turn_ends(
    rules: RuleArrays,
    filled: int,
    bonus: int,
    actions: NDArray[np.int16],
    chances: Floats,
    ends: Floats,
) -> None:
    """Compute the distribution of the ends of turns under a policy.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        actions: [N, R, L] one action for every state, by the rolls left, the roll, and the
            card; empty if the policy is stochastic.
        chances: [N, R, L, A] action probabilities, 0 for illegal actions; else empty.
        ends: [L, B, ENDS], filled: the probability of each end.
    """
    faces, keeps = rules.added.shape[1], rules.kept.shape[1]
    kept, rolled = np.empty(len(rules.dice)), np.empty(len(rules.dice) - rules.base)
    fixed = actions.size > 0
    ends[:] = 0.0
    for lane in range(len(ends)):
        kept[:] = 0.0
        kept[0] = 1.0
        for j in range(rules.rolls - 1, -1, -1):
            for k in range(rules.base):
                if kept[k] > 0.0:
                    for f in range(faces):
                        kept[rules.added[k, f]] += kept[k] / faces
            rolled[:] = kept[rules.base :]
            kept[:] = 0.0
            for r in range(len(rolled)):
                if rolled[r] == 0.0:
                    continue
                first = int(actions[j, r, lane]) if fixed else 0
                for a in range(first, first + 1 if fixed else chances.shape[3]):
                    p = rolled[r] if fixed else rolled[r] * chances[j, r, lane, a]
                    if p > 0.0 and a < keeps:
                        kept[rules.kept[rules.base + r, a]] += p
                    elif p > 0.0:
                        end = end_of(rules, filled, bonus, a - keeps, rules.base + r)
                        ends[lane, a - keeps, end] += p


@njit(nogil=True)
def pass_on(
    rules: RuleArrays,
    filled: int,
    bonus: int,
    totals: NDArray[np.int64],
    ends: Floats,
    mass: Floats,
    place: NDArray[np.int32],
    after: Floats,
) -> float:
    """Move probability from cards to their successors.

    Args:
        rules: The form.
        filled: Bit mask of the boxes that are filled.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        totals: [L] points of the upper section of the cards.
        ends: [L, B, ENDS] the probability of each end of their turns.
        mass: [L] the probability of each card.
        place: [2^B] the index of each bit mask among the next layer's sets.
        after: [sets, U, 2] added to: the probability of each next card.

    Returns:
        The expected points of these turns, weighted by the probability of the cards.
    """
    points = 0.0
    for lane in range(len(totals)):
        for b in range(len(rules.plain)):
            at = place[filled | 1 << b]
            for end in range(ENDS):
                p = ends[lane, b, end] * mass[lane]
                if p > 0.0:
                    reward, upper, then = fill(rules, totals[lane], bonus, b, end)
                    points += p * reward
                    after[at, upper, then] += p
    return points
