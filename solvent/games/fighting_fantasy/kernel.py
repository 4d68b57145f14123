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
from solvent.model.arrays import Floats
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
    ends = (scores / unit).astype(float)
    shape = (max_stamina + 1, max_opponent + 1, max_luck + 1, len(wanted))
    # Victory and defeat, [H, O, 2, 1 + L, D]: a test of LUCK leads one place back, without LUCK
    # to NaN.
    tables = np.empty((*shape[:2], 2, 1 + shape[2], shape[3]))
    tables[:, :, :, 0] = np.nan
    tables[0, :, 0, 1:] = 0
    tables[:, 0, 0, 1:] = ends[:, :, None]
    tables[0, :, 1, 1:] = ends.max()
    tables[:, 0, 1, 1:] = ends.max() - ends[:, :, None]
    strategy = np.empty(shape, np.int8)
    strategy[0] = strategy[:, 0] = NONE
    rounds = np.empty((4, *shape[2:]))
    rounds[:2] = _chances(wanted).T[:, None]
    rounds[2] = _success(shape[2])[:, None]
    rounds[3] = 1 - rounds[2]
    points = shape[2] * shape[3]
    _induce(
        tables.reshape(-1),
        strategy.reshape(-1),
        rounds.reshape(4, points),
        np.empty((2, points)),
        np.empty((2, points), np.int64),
        damages,
        shape,
        # A test that deals no damage leads to the same STAMINAs, with less LUCK.
        points if damages.min() > 0 else shape[3],
        1 + advantage,
        float(either_side),
    )
    return CombatBox(
        differences=tuple(wanted),
        value=np.moveaxis(tables[:, :, 0, 1:], -1, 0),
        defeat=np.moveaxis(tables[:, :, 1, 1:], -1, 0),
        strategy=np.moveaxis(strategy, -1, 0),
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
    flat: Floats,
    strategy: NDArray[np.int8],
    rounds: Floats,
    test: Floats,
    better: NDArray[np.int64],
    damage: NDArray[np.int64],
    shape: tuple[int, int, int, int],
    together: int,
    factor: float,
    either: float,
) -> None:
    """Solve all combats; the points of all LUCKs and differences lie side by side.

    They are P = L D places, by LUCK and then by difference, so that a test leads D places back.
    Victory and defeat have D more at the front, which hold NaN: without LUCK nothing can be tested.

    Each loop writes one array, so that the compiler can find out that nothing overlaps, and indices
    are unsigned, which needs no look for negative ones: so it uses vector instructions. Memory
    comes from outside and is not cut, as allocating and slicing take long to compile.

    Args:
        flat: [H O 2 (D + P)] victory and defeat, known where STAMINA is 0, written elsewhere.
        strategy: [H O P] written.
        rounds: [4, P] that a round that is not drawn is won, and lost, and that a test of LUCK
            holds, and fails.
        test: [2, P] memory for the values of testing.
        better: [2, P] memory for whether that is better.
        damage: [2, 3] of :func:`damage_table`.
        shape: H, O, L and D.
        together: How many points to solve at once.
        factor: How many times better a test has to be.
        either: 1 if the smaller of victory and defeat decides, 0 if victory does.
    """
    n_hero, n_opponent, n_luck, n_differences = shape
    points, least = n_luck * n_differences, np.uint64(n_differences)
    width = np.uint64(n_differences + points)
    for h in range(1, n_hero):
        for o in range(1, n_opponent):
            here = np.uint64(2 * (h * n_opponent + o)) * width + least
            for first in range(0, points, together):
                for r in range(2):
                    kept = _place(r, h, o, damage[r, 0], n_opponent) * width + least
                    passed = _place(r, h, o, damage[r, 1], n_opponent) * width
                    failed = _place(r, h, o, damage[r, 2], n_opponent) * width
                    for side in range(2):
                        at = np.uint64(side) * width
                        for i in range(first, first + together):
                            k = np.uint64(i)
                            test[side, k] = (
                                rounds[2, k] * flat[passed + at + k]
                                + rounds[3, k] * flat[failed + at + k]
                            )
                    # A comparison with NaN is false: without LUCK nothing is tested.
                    for i in range(first, first + together):
                        k = np.uint64(i)
                        victory, defeat = flat[kept + k], flat[kept + width + k]
                        by_victory = test[0, k] > factor * victory
                        by_defeat = defeat > factor * test[1, k]
                        better[r, k] = by_defeat if defeat < either * victory else by_victory
                    for side in range(2):
                        at = np.uint64(side) * width
                        for i in range(first, first + together):
                            k = np.uint64(i)
                            part = rounds[r, k] * (
                                test[side, k] if better[r, k] else flat[kept + at + k]
                            )
                            flat[here + at + k] = part if r == 0 else flat[here + at + k] + part
            for i in range(points):
                won, lost = better[0, i], better[1, i]
                strategy[(h * n_opponent + o) * points + i] = (
                    ON_WON * won + ON_LOST * lost + (BOTH - ON_WON - ON_LOST) * won * lost
                )


@njit(cache=True)
def _place(r: int, hero: int, opponent: int, points: int, n_opponent: int) -> np.uint64:
    """Where [H, O, 2] goes on after damage in a round won (r = 0) or lost (r = 1)."""
    left = (opponent if r == 0 else hero) - points
    left = left if left > 0 else 0
    return np.uint64(2 * (hero * n_opponent + left if r == 0 else left * n_opponent + opponent))
