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
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvent.games.fighting_fantasy.rules import (
    Combat,
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
    ``action_values``   [D, H, O, L, 2, 2]      victory probability after a round that was (won,
                                                lost) if LUCK is (kept, tested); NaN where there
                                                is nothing to decide
    ``strategy``        [D, H, O, L] int8       NONE, BOTH, ON_LOST or ON_WON
    ==================  ======================  ===============================================

    With weights, a value is the expected score instead of the victory probability, and ``defeat``
    what it falls short of the largest score of the box.
    """

    differences: tuple[int, ...]
    value: Floats
    defeat: Floats
    action_values: Floats
    strategy: NDArray[np.int8]

    def victory(self, difference: int, hero: int, opponent: int, luck: int) -> float:
        """Probability of a victory that counts, or with weights the score, before a round."""
        return float(self.value[self.differences.index(difference), hero, opponent, luck])

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
    scores = final_scores(
        max_stamina, max_luck, stamina_above, luck_above, stamina_weight, luck_weight
    ).astype(float)
    advantage, either_side = _RULES[check_choice(rule, "rule", _RULES)]
    shape = (len(wanted), max_stamina + 1, max_opponent + 1, max_luck + 1)
    box = CombatBox(
        differences=tuple(wanted),
        value=np.empty(shape),
        defeat=np.empty(shape),
        action_values=np.empty((*shape, 2, 2)),
        strategy=np.empty(shape, np.int8),
    )
    _induce(
        _chances(wanted),
        np.array([float(luck_succeeds(luck)) for luck in range(max_luck + 1)]),
        damage_table(damage),
        scores,
        1 + advantage,
        either_side,
        box.value,
        box.defeat,
        box.action_values,
        box.strategy,
    )
    return box


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
) -> NDArray[Any]:
    """[H, L] objects, Fractions: the score of an end with so much STAMINA and LUCK left.

    An end without STAMINA is a defeat and scores 0. The arguments are those of :func:`solve_box`.

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
    scores = np.full((max_stamina + 1, max_luck + 1), Fraction(0), object)
    for hero, luck in np.ndindex(scores.shape):
        scores[hero, luck] = Fraction(rules.score_of(Combat(0, hero, 0, luck, "over")))
    return scores


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


@njit(cache=True)
def _induce(
    chances: Floats,
    success: Floats,
    damage: NDArray[np.int64],
    scores: Floats,
    factor: float,
    either_side: bool,
    value: Floats,
    defeat: Floats,
    action_values: Floats,
    strategy: NDArray[np.int8],
) -> None:
    n_differences, n_hero, n_opponent, n_luck = value.shape
    best = scores.max()
    code_of_test = (ON_WON, ON_LOST)
    for d in range(n_differences):
        for h in range(n_hero):
            for o in range(n_opponent):
                strategy[d, h, o] = NONE
                if h == 0 or o == 0:
                    action_values[d, h, o] = np.nan
                    for x in range(n_luck):
                        value[d, h, o, x] = scores[h, x]
                        defeat[d, h, o, x] = best - scores[h, x]
                    continue
                # LUCK outside: a test that deals no damage leads to the same STAMINAs.
                for x in range(n_luck):
                    victory_sum, defeat_sum = 0.0, 0.0
                    for r in range(2):
                        # After the damage of a round kept, tested with luck, without: k, g, b.
                        hk, ok = _after(r, h, o, damage[r, 0])
                        v, u = value[d, hk, ok, x], defeat[d, hk, ok, x]
                        v_test = u_test = np.nan
                        if x > 0:
                            hg, og = _after(r, h, o, damage[r, 1])
                            hb, ob = _after(r, h, o, damage[r, 2])
                            q, y = success[x], x - 1
                            v_test = q * value[d, hg, og, y] + (1 - q) * value[d, hb, ob, y]
                            u_test = q * defeat[d, hg, og, y] + (1 - q) * defeat[d, hb, ob, y]
                        action_values[d, h, o, x, r, 0] = v
                        action_values[d, h, o, x, r, 1] = v_test
                        # A comparison with NaN is false: without LUCK nothing is tested.
                        if either_side and u < v:
                            better = u > factor * u_test
                        else:
                            better = v_test > factor * v
                        if better:
                            v, u = v_test, u_test
                            both = strategy[d, h, o, x] != NONE
                            strategy[d, h, o, x] = BOTH if both else code_of_test[r]
                        victory_sum += chances[d, r] * v
                        defeat_sum += chances[d, r] * u
                    value[d, h, o, x] = victory_sum
                    defeat[d, h, o, x] = defeat_sum


@njit(cache=True, inline="always")
def _after(r: int, hero: int, opponent: int, points: int) -> tuple[int, int]:
    """Both STAMINAs after damage in a round that was won (r = 0) or lost (r = 1)."""
    if r == 0:
        return hero, max(opponent - points, 0)
    return max(hero - points, 0), opponent
