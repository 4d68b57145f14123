"""The rules of Yahtzee as arrays, for compiled loops. They are made by asking the rules.

**Hands** are multisets of up to D dice, numbered by size and then in lexicographic order: 462 with
five dice of six faces. Number 0 is the empty hand, and the last 252 are the *rolls* of all dice.
Rolling the dice that a hand lacks is rolling one die D - size times, so that expectation over rolls
is a mean over faces, size by size.

A **card** is the state in which a turn starts: the set of filled boxes as a bit mask, the points of
the upper section up to those of the bonus, and whether another Yahtzee has a bonus.
"""

from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.envs.sampling import inverse_cdf
from solvent.games.yahtzee.rules import LOWER, UPPER, YAHTZEE, Turn, Yahtzee

Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


class RuleArrays(NamedTuple):
    """The rules of a form of Yahtzee as arrays, for compiled loops.

    With D dice, F faces, K hands, B boxes, M = 2^D - 1 actions that keep dice, A = M + B actions,
    and E ways in total, over all hands of fewer than D dice, to roll the missing dice.

    Attributes:
        added: [K, F] the hand with one more die of a face; -1 if that is too many.
        less: [K, F] the hand without one die of a face; -1 if it has none.
        kept: [K, M] the hand that an action keeps of a roll, or of no dice; -1 if it is illegal.
        first: [K + 1] the index within E of the first way to roll a hand's missing dice.
        way: [E] the roll that results from each way, in the order of the rules.
        threshold: [E] the inverse CDF of the ways of each hand.
        face: [K] the face of a roll of equal dice, from 0; -1 for any other hand.
        plain: [B, K] points of a roll in a box, while the box for a Yahtzee is open; -1 for hands
            that are not rolls.
        joker: [2, 2, B, F] points of a Yahtzee once the box for it is filled, by whether the upper
            box of its face is open, whether a lower box is, the box, and the face; -1 if it may not
            go there.
        match: [F] bit mask of the upper box of each face; 0 if the form does not have it.
        dice: [K, D] the dice of each hand, in ascending order, then zeros.
        order: [A] the actions, in the order in which ties are broken.
        base: Number of the first roll.
        rolls: Number of rolls in a turn.
        uppers: Number of boxes in the upper section; they are the first ones.
        bonus_at: Points in the upper section that earn the bonus; 0 for no bonus.
        upper_bonus: Points of that bonus.
        yahtzee_bonus: Points of another Yahtzee.
        yahtzee: Bit mask of the box for a Yahtzee; 0 if the form does not have it.
        tracked: Bit mask of the Yahtzee box if another Yahtzee may have a bonus, else 0.
        lower: Bit mask of the lower boxes.
    """

    added: Int16s
    less: Int16s
    kept: Int16s
    first: Int32s
    way: Int16s
    threshold: Int64s
    face: Int16s
    plain: Int16s
    joker: Int16s
    match: Int32s
    dice: NDArray[np.int8]
    order: Int16s
    base: int
    rolls: int
    uppers: int
    bonus_at: int
    upper_bonus: int
    yahtzee_bonus: int
    yahtzee: int
    tracked: int
    lower: int


@lru_cache(maxsize=8)
def rules_arrays(game: Yahtzee) -> RuleArrays:
    """Return the arrays of a form.

    Args:
        game: The form.
    """
    boxes, faces = game.scorecard, game.faces
    hands = [
        hand
        for size in range(game.dice + 1)
        for hand in combinations_with_replacement(range(1, faces + 1), size)
    ]
    number = {hand: k for k, hand in enumerate(hands)}
    base = sum(len(hand) < game.dice for hand in hands)
    added, less = np.full((2, len(hands), faces), -1, np.int16)
    dice = np.zeros((len(hands), game.dice), np.int8)
    kept = np.full((len(hands), game.keeps), -1, np.int16)
    plain = np.full((len(boxes), len(hands)), -1, np.int16)
    kept[0, 0] = 0
    ways: list[int] = []
    chances, first = [], [0]
    for k, hand in enumerate(hands):
        dice[k, : len(hand)] = hand
        state = Turn(hand, 1, boxes, 0, False)
        if k < base:
            for f in range(faces):
                more = number[tuple(sorted((*hand, f + 1)))]
                added[k, f], less[more, f] = more, k
            outcomes = game.rolled(state, hand)
            ways += [number[outcome.state.dice] for outcome in outcomes]
            chances += [float(outcome.probability) for outcome in outcomes]
        else:
            for action in game.legal_actions(state)[0]:
                if action < game.keeps:
                    kept[k, action] = number[game.kept(state, action)]
            plain[:, k] = list(game.scores(state).values())
        first.append(len(ways))
    bits = {box: 1 << b for b, box in enumerate(boxes)}
    yahtzee = bits.get(YAHTZEE, 0)
    return RuleArrays(
        added=added,
        less=less,
        kept=kept,
        first=np.array(first, np.int32),
        way=np.array(ways, np.int16),
        threshold=inverse_cdf(np.array(chances), np.array(first[: base + 1])),
        face=np.where((plain[0] >= 0) & (dice[:, 0] == dice[:, -1]), dice[:, 0] - 1, -1).astype(
            np.int16
        ),
        plain=plain,
        joker=_joker_points(game),
        match=np.array([bits.get(box, 0) for box in UPPER[:faces]], np.int32),
        dice=dice,
        order=np.array(game.order, np.int16),
        base=base,
        rolls=game.rolls,
        uppers=sum(box in UPPER for box in boxes),
        bonus_at=game.bonus_at,
        upper_bonus=game.upper_bonus,
        yahtzee_bonus=game.yahtzee_bonus,
        yahtzee=yahtzee,
        tracked=yahtzee if game.yahtzee_bonus else 0,
        lower=sum(bits[box] for box in boxes if box in LOWER),
    )


def _joker_points(game: Yahtzee) -> Int16s:
    """Return the points of a Yahtzee once its box is filled, as :attr:`Rules.joker`."""
    boxes = game.scorecard
    joker = np.full((2, 2, len(boxes), game.faces), -1, np.int16)
    for match, lower, face in np.ndindex(2, 2, game.faces):
        others = set(boxes) - {YAHTZEE, *(() if match else (UPPER[face],))}
        left = tuple(box for box in boxes if box in others and (lower or box in UPPER))
        for box, scored in game.scores(Turn((face + 1,) * game.dice, 0, left, 0, False)).items():
            joker[match, lower, boxes.index(box), face] = scored
    return joker


def reachable_totals(game: Yahtzee) -> NDArray[np.bool_]:
    """Return [2^B, U] whether a set of filled boxes can have given each upper-section total.

    U is one more than the points that earn the bonus, which also stand for all larger totals.

    Args:
        game: The form.
    """
    most, boxes = game.bonus_at, game.scorecard
    reach = np.zeros((1 << len(boxes), most + 1), bool)
    reach[0, 0] = True
    for b, box in enumerate(boxes):
        before, now = reach[: 1 << b], reach[1 << b : 2 << b]
        face = UPPER.index(box) + 1 if box in UPPER else 0
        for gained in {min(face * count, most) for count in range(game.dice + 1)}:
            now[:, gained:] |= before[:, : most + 1 - gained]
            now[:, most] |= before[:, most - gained :].any(axis=1)
    return reach
