"""Every Fighting Fantasy combat of a box of statistics, solved at once.

Backward induction over (hero's STAMINA, opponent's STAMINA, LUCK), one pass for each SKILL
difference. Draws are conditioned out, as :mod:`solvent.games.fighting_fantasy.rules` explains, so
all that a state leads to has less STAMINA somewhere and the loops can simply count upwards:

    V(h, o, l)  =  p_w / (1 - p_d) * best after a won round  +  p_l / (1 - p_d) * best after a lost
    after a won round:   keep   V(h, o - 2, l)
                         test   q(l) V(h, o - 4, l - 1) + (1 - q(l)) V(h, o - 1, l - 1)
    after a lost round:  keep   V(h - 2, o, l)
                         test   q(l) V(h - 1, o, l - 1) + (1 - q(l)) V(h - 3, o, l - 1)

**When to test.** Many of the two action values are exactly equal, and where victory is all but
certain many differ by less than a float near 1 can show. Two rules:

``"exact"``
    LUCK is tested iff that is better, however little, and kept on ties. What a value falls short
    of the largest possible score, without weights the defeat probability 1 - V, is carried along
    in a recursion of its own and decides where it is the smaller of the two, so the small number is
    never a difference of large ones. Differences below a relative
    1e-12 are rounding. On the whole box of the paper these are the decisions that
    :mod:`solvent.games.fighting_fantasy.kernel_rational` proves.
``"paper"``
    Johnston 2022, section 2.3: LUCK is tested iff p_y > (1 + 1e-10) p_n. Near certain victory
    this keeps LUCK in 8,910 of the paper's 157,248 points where testing is better, all of them at
    a SKILL difference of 1 or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.games.fighting_fantasy.rules import (
    Damage,
    FightingFantasy,
    check_rounds,
    decided,
    decided_round,
    luck_succeeds,
)
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import check_choice, check_integer

NONE, BOTH, ON_LOST, ON_WON = 0, 1, 2, 3
"""Strategy codes of Johnston 2022, Fig. 3: after which rounds LUCK is tested."""

STANDARD = Damage()

_RULES = {"exact": (1e-12, True), "paper": (1e-10, False)}
"""Relative advantage that a test needs, and whether the smaller of victory and defeat decides."""


@dataclass(frozen=True, eq=False)
class CombatBox:
    """The solution of all combats of a box.

    Shapes, with D SKILL differences, H, O and L one more than the largest STAMINAs and LUCK, so
    that statistics are indices; STAMINA 0 is the end of a combat:

    ==================  ======================  ===============================================
    ``differences``     D integers              SKILL differences, in the order of axis 0; a single
                                                0 where probabilities of a round were given
    ``value``           [D, H, O, L]            victory probability before a round's outcome
    ``defeat``          [D, H, O, L]            1 - value, accurate where it is small
    ``strategy``        [D, H, O, L] int8       NONE, BOTH, ON_LOST or ON_WON
    ``damage``          [2, 3] int64            STAMINA that rounds cost, of :func:`damage_table`
    ==================  ======================  ===============================================

    With weights, a value is the expected score instead of the victory probability, and ``defeat``
    what it falls short of the largest score of the box.
    """

    differences: tuple[int, ...]
    value: Floats
    defeat: Floats
    strategy: NDArray[np.int8]
    damage: NDArray[np.int64]

    def victory(self, difference: int, hero: int, opponent: int, luck: int) -> float:
        """Probability of a victory that counts, or with weights the score, before a round."""
        return float(self.value[self.differences.index(difference), hero, opponent, luck])

    @cached_property
    def action_values(self) -> Floats:
        """[D, H, O, L, 2, 2] victory probability after a round, by how it ended and by action.

        After a round that was (won, lost), if LUCK is (kept, tested); NaN where there is nothing to
        decide. Computed from the values when it is first asked for.
        """
        # In the memory order of the values, which ends with differences.
        shape = (*np.moveaxis(self.value, 0, -1).shape, 2, 2)
        result = np.moveaxis(np.full(shape, np.nan), 3, 0)
        success = _success(shape[2])[1:]
        for r, axis in ((0, 2), (1, 1)):
            stamina = np.arange(shape[axis - 1])
            kept, passed, failed = (
                np.take(self.value, np.maximum(stamina - points, 0), axis)[:, 1:, 1:]
                for points in self.damage[r]
            )
            result[:, 1:, 1:, :, r, 0] = kept
            result[:, 1:, 1:, 1:, r, 1] = (
                success * passed[..., :-1] + (1 - success) * failed[..., :-1]
            )
        return result

    @property
    def round_values(self) -> Floats:
        """[D, H, O, L, 2] victory probability after a round that was (won, lost)."""
        tested = np.stack(
            [np.isin(self.strategy, (BOTH, code)) for code in (ON_WON, ON_LOST)], axis=-1
        )
        return np.where(tested, self.action_values[..., 1], self.action_values[..., 0])


def solve_box(
    max_stamina: int = 24,
    max_opponent: int = 24,
    max_luck: int = 12,
    differences: Iterable[int] | None = None,
    damage: Damage = STANDARD,
    rule: str = "exact",
    stamina_above: int = 0,
    luck_above: int = -1,
    round_probabilities: Sequence[Any] | None = None,
    stamina_weight: Any = 0,
    luck_weight: Any = 0,
) -> CombatBox:
    """Solve every combat with STAMINAs and LUCK up to the given ones.

    Args:
        max_stamina: Largest STAMINA of the hero, within 1..99.
        max_opponent: Largest STAMINA of the opponent, within 1..99.
        max_luck: Largest LUCK, within 0..99.
        differences: Hero's SKILL minus the opponent's, each within -20..20; -10 to 10 if left out.
        damage: STAMINA that rounds cost.
        rule: ``"exact"`` or ``"paper"``; see the module.
        stamina_above: A victory counts only with more STAMINA than this left.
        luck_above: A victory counts only with more LUCK than this left.
        round_probabilities: Instead of differences, (p_w, p_d, p_l) of every round, as for
            :class:`~solvent.games.fighting_fantasy.rules.FightingFantasy`.
        stamina_weight: Added to the score for each point of STAMINA left at a victory that counts.
        luck_weight: Added to the score for each point of LUCK left at such a victory.

    Raises:
        ValueError: If an argument is out of its range.
    """
    wanted = checked_box(max_stamina, max_opponent, max_luck, differences, round_probabilities)
    scores, unit = final_scores(
        max_stamina, max_luck, stamina_above, luck_above, stamina_weight, luck_weight
    )
    advantage, either_side = _RULES[check_choice(rule, "rule", _RULES)]
    damages = damage_table(damage)
    tables, strategy = _induce(
        _chances(wanted),
        _success(max_luck + 1),
        damages,
        (scores / unit).astype(float),
        max_opponent,
        1 + advantage,
        either_side,
    )
    shape = (max_stamina + 1, max_opponent + 1, max_luck + 1, len(wanted))
    return CombatBox(
        differences=tuple(wanted),
        value=np.moveaxis(tables[:, :, 0].reshape(shape), -1, 0),
        defeat=np.moveaxis(tables[:, :, 1].reshape(shape), -1, 0),
        strategy=np.moveaxis(strategy.reshape(shape), -1, 0),
        damage=damages,
    )


def checked_box(
    max_stamina: int,
    max_opponent: int,
    max_luck: int,
    differences: Iterable[int] | None,
    given: Sequence[Any] | None,
) -> dict[int, Mapping[str, Fraction]]:
    """Check the extent of a box and return how a decided round ends, by SKILL difference.

    Args:
        max_stamina: As for :func:`solve_box`, like all that follow.
        max_opponent: Largest STAMINA of the opponent.
        max_luck: Largest LUCK.
        differences: Hero's SKILL minus the opponent's, or None.
        given: Probabilities of a round, or None.

    Raises:
        ValueError: If an argument is out of its range, or both of the last two are given.
    """
    check_integer(max_stamina, "max_stamina", 1, 99)
    check_integer(max_opponent, "max_opponent", 1, 99)
    check_integer(max_luck, "max_luck", 0, 99)
    if given is None:
        wanted = range(-10, 11) if differences is None else differences
        return {d: decided_round(check_integer(d, "difference", -20, 20)) for d in wanted}
    if differences is not None:
        raise ValueError(
            f"differences is {differences!r} and round_probabilities {given!r}; give one of them"
        )
    return {0: decided(check_rounds(given))}


def final_scores(
    max_stamina: int,
    max_luck: int,
    stamina_above: int,
    luck_above: int,
    stamina_weight: Any,
    luck_weight: Any,
) -> tuple[NDArray[Any], int]:
    """The score of an end with so much STAMINA and LUCK left, [H, L] whole numbers, and their unit.

    An end without STAMINA is a defeat and scores 0. The arguments are those of :func:`solve_box`.

    Returns:
        Python's integers, and how many of them make up a score of 1.

    Raises:
        ValueError: If an argument is out of its range.
    """
    rules = FightingFantasy(
        stamina=max_stamina,
        luck=max_luck,
        stamina_above=stamina_above,
        luck_above=luck_above,
        stamina_weight=stamina_weight,
        luck_weight=luck_weight,
    )
    hero, luck = np.ogrid[: max_stamina + 1, : max_luck + 1]
    one, per_stamina, per_luck = rules.score_units
    scores = one + per_stamina * hero.astype(object) + per_luck * luck.astype(object)
    return np.where((hero > stamina_above) & (luck > luck_above), scores, 0), one


def damage_table(damage: Damage) -> NDArray[np.int64]:
    """[2, 3] STAMINA lost after a round (won, lost): LUCK kept, test passed, test failed."""
    return np.array(
        [
            (damage.won, damage.won_lucky, damage.won_unlucky),
            (damage.lost, damage.lost_lucky, damage.lost_unlucky),
        ]
    )


def _chances(rounds: Mapping[int, Mapping[str, Fraction]]) -> Floats:
    """[D, 2] probability that a round that is not drawn is won, and lost."""
    return np.array([[float(p.get(end, 0)) for end in ("won", "lost")] for p in rounds.values()])


def _success(luck: int) -> Floats:
    """[luck] probability that a test holds with a LUCK of 0, 1, ..."""
    return np.array([float(luck_succeeds(points)) for points in range(luck)])


@njit(cache=True, error_model="numpy")
def _induce(
    chances: Floats,
    success: Floats,
    damage: NDArray[np.int64],
    scores: Floats,
    max_opponent: int,
    factor: float,
    either_side: bool,
) -> tuple[Floats, NDArray[np.int8]]:
    """Solve all combats; the points of all LUCKs and differences lie side by side.

    They are K = (L + 1) D places, by LUCK and then by difference, so that a test leads D places
    back. The first D places hold NaN: without LUCK nothing can be tested.

    Args:
        chances: [D, 2] that a round that is not drawn is won, and lost.
        success: [L] that a test of LUCK holds.
        damage: [2, 3] of :func:`damage_table`.
        scores: [H, L] of an end.
        max_opponent: Largest STAMINA of the opponent.
        factor: How many times better a test has to be.
        either_side: Whether the smaller of victory and defeat decides.

    Returns:
        Victory and defeat [H, O, 2, K], and the strategy [H, O, K - D].
    """
    n_hero, n_opponent = len(scores), max_opponent + 1
    n_luck, n_differences = len(success), len(chances)
    points = n_luck * n_differences
    width = n_differences + points
    tables = np.empty((n_hero, n_opponent, 2, width))
    strategy = np.empty((n_hero, n_opponent, points), np.int8)
    least, best = np.uint64(n_differences), scores.max()
    chance, holds, fails = np.empty((2, points)), np.empty(points), np.empty(points)
    for x in range(n_luck):
        for d in range(n_differences):
            k = x * n_differences + d
            chance[0, k], chance[1, k] = chances[d, 0], chances[d, 1]
            holds[k], fails[k] = success[x], 1 - success[x]
    # A test that deals no damage leads to the same STAMINAs, with less LUCK.
    together = points if damage.min() > 0 else n_differences
    flat, test, better = tables.reshape(-1), np.empty(2 * width), np.empty((2, points), np.int64)
    for h in range(n_hero):
        for o in range(n_opponent):
            tables[h, o, :, :n_differences] = np.nan
            if h == 0 or o == 0:
                for k in range(points):
                    score = scores[h, k // n_differences]
                    tables[h, o, 0, n_differences + k] = score
                    tables[h, o, 1, n_differences + k] = best - score
                    strategy[h, o, k] = NONE
                continue
            for first in range(0, points, together):
                for r in range(2):
                    _add_round(
                        flat,
                        np.uint64(width),
                        _place(r, h, o, damage[r, 0], n_opponent, width) + least,
                        _place(r, h, o, damage[r, 1], n_opponent, width),
                        _place(r, h, o, damage[r, 2], n_opponent, width),
                        _place(r, h, o, 0, n_opponent, width) + least,
                        r == 0,
                        np.uint64(first),
                        together,
                        chance[r],
                        holds,
                        fails,
                        factor,
                        either_side,
                        test,
                        better[r],
                    )
            _encode(better[0], better[1], strategy[h, o])
    return tables[:, :, :, n_differences:], strategy


@njit(cache=True, inline="always")
def _place(r: int, hero: int, opponent: int, points: int, n_opponent: int, width: int) -> np.uint64:
    """Where [H, O, 2, width] goes on after damage in a round won (r = 0) or lost (r = 1)."""
    if r == 0:
        opponent = max(opponent - points, 0)
    else:
        hero = max(hero - points, 0)
    return np.uint64(2 * (hero * n_opponent + opponent) * width)


@njit(cache=True, error_model="numpy")
def _add_round(
    flat: Floats,
    width: np.uint64,
    kept: np.uint64,
    passed: np.uint64,
    failed: np.uint64,
    here: np.uint64,
    begin: bool,
    first: np.uint64,
    points: int,
    chance: Floats,
    holds: Floats,
    fails: Floats,
    factor: float,
    either_side: bool,
    test: Floats,
    better: Ints,
) -> None:
    """Add a round's part to the probabilities of victory and, one width further, of defeat.

    Each loop writes one array, so that the compiler can find out that nothing overlaps, and indices
    are unsigned, which needs no look for negative ones: so it uses vector instructions.

    Args:
        flat: [H O 2 K] victory and defeat.
        width: K.
        kept: Where lies what follows if LUCK is kept.
        passed: Where lies what follows a test that held.
        failed: Where lies what follows a test that failed.
        here: Where to write.
        begin: Whether nothing has been written there yet.
        first: The first point.
        points: How many, from there.
        chance: [K - D] of the round.
        holds: [K - D] that a test holds.
        fails: [K - D] that it fails.
        factor: How many times better a test has to be.
        either_side: Whether the smaller of victory and defeat decides.
        test: [2 K] the value of testing, written.
        better: [K - D] whether that is better, written.
    """
    for side in range(2):
        at = np.uint64(side) * width
        for i in range(points):
            k = first + np.uint64(i)
            test[at + k] = holds[k] * flat[passed + at + k] + fails[k] * flat[failed + at + k]
    # A comparison with NaN is false: without LUCK nothing is tested.
    if either_side:
        for i in range(points):
            k = first + np.uint64(i)
            victory, defeat = flat[kept + k], flat[kept + width + k]
            by_victory = test[k] > factor * victory
            by_defeat = defeat > factor * test[width + k]
            better[k] = by_defeat if defeat < victory else by_victory
    else:
        for i in range(points):
            k = first + np.uint64(i)
            better[k] = test[k] > factor * flat[kept + k]
    for side in range(2):
        at = np.uint64(side) * width
        for i in range(points):
            k = first + np.uint64(i)
            part = chance[k] * (test[at + k] if better[k] else flat[kept + at + k])
            flat[here + at + k] = part if begin else flat[here + at + k] + part


@njit(cache=True, error_model="numpy")
def _encode(won: Ints, lost: Ints, strategy: NDArray[np.int8]) -> None:
    """Strategy codes from whether LUCK is tested after a won and after a lost round."""
    both = BOTH - ON_WON - ON_LOST
    for k in range(len(strategy)):
        strategy[k] = ON_WON * won[k] + ON_LOST * lost[k] + both * won[k] * lost[k]
