"""The same combats as :mod:`solvent.games.fighting_fantasy.kernel`, in exact arithmetic.

Plain integers are enough. Let a decided round be won with probability w / d and lost with
probability (d - w) / d in lowest terms, and let a test of luck l succeed with probability
s(l) / 36. A point of STAMINA buys at least one round and a point of LUCK one test, so

    V(h, o, l)  =  N(h, o, l) / (u * d^(h+o+l) * 36^l)      with whole numbers N,

u being the common denominator of the scores of all ends, 1 without weights.

Each step multiplies by a power of d instead of reducing fractions, which is what makes the
paper's whole box a matter of a second or two. It is slow, obviously right, and decides ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.games.fighting_fantasy.kernel import (
    BOTH,
    NONE,
    ON_LOST,
    ON_WON,
    STANDARD,
    checked_box,
    damage_table,
    final_scores,
)
from solvent.games.fighting_fantasy.rules import Damage, luck_succeeds


@dataclass(frozen=True, eq=False)
class RationalBox:
    """The exact solution of all combats of a box; axes as in ``CombatBox``.

    Attributes:
        differences: SKILL differences, in the order of axis 0.
        value: [D, H, O, L] objects, Fractions.
        strategy: [D, H, O, L] int8 codes; LUCK is kept where testing is equally good.
        tied: [D, H, O, L, 2] bool, whether testing after a round that was (won, lost) is exactly
            as good as keeping LUCK.
    """

    differences: tuple[int, ...]
    value: NDArray[Any]
    strategy: NDArray[np.int8]
    tied: NDArray[np.bool_]


def solve_box_exact(
    max_stamina: int = 24,
    max_opponent: int = 24,
    max_luck: int = 12,
    differences: Iterable[int] | None = None,
    damage: Damage = STANDARD,
    stamina_above: int = 0,
    luck_above: int = -1,
    round_probabilities: Sequence[Any] | None = None,
    stamina_weight: Any = 0,
    luck_weight: Any = 0,
) -> RationalBox:
    """Solve every combat of a box in exact arithmetic.

    The arguments are those of :func:`solvent.games.fighting_fantasy.kernel.solve_box`.

    Raises:
        ValueError: If an argument is out of its range.
    """
    wanted = checked_box(max_stamina, max_opponent, max_luck, differences, round_probabilities)
    scores, unit = final_scores(
        max_stamina, max_luck, stamina_above, luck_above, stamina_weight, luck_weight
    )
    shape = (len(wanted), max_stamina + 1, max_opponent + 1, max_luck + 1)
    box = RationalBox(
        differences=tuple(wanted),
        value=np.empty(shape, object),
        strategy=np.zeros(shape, np.int8),
        tied=np.zeros((*shape, 2), np.bool_),
    )
    for i, results in enumerate(wanted.values()):
        _solve_difference(results, damage_table(damage).tolist(), scores, unit, box, i)
    return box


def _solve_difference(
    results: Mapping[str, Fraction],
    damage: list[list[int]],
    scores: NDArray[Any],
    unit: int,
    box: RationalBox,
    i: int,
) -> None:
    """Fill in one SKILL difference of a box."""
    _, n_hero, n_opponent, n_luck = box.value.shape
    win = results.get("won", Fraction(0))
    d, weights = win.denominator, (win.numerator, win.denominator - win.numerator)
    success = [int(36 * luck_succeeds(luck)) for luck in range(n_luck)]
    codes = {(0, 0): NONE, (1, 1): BOTH, (0, 1): ON_LOST, (1, 0): ON_WON}
    numerators: dict[tuple[int, int, int], int] = {}
    for state in product(range(n_hero), range(n_opponent), range(n_luck)):
        hero, opponent, luck = state
        scale = d ** sum(state) * 36**luck
        if hero == 0 or opponent == 0:
            numerators[state] = scores[hero, luck] * scale
            box.value[i, *state] = Fraction(scores[hero, luck], unit)
            continue
        total, tested = 0, [0, 0]
        for r in (0, 1):
            # Over the common denominator scale / d; the other d is that of the round to come.
            keep, passed, failed = (
                numerators[target] * d ** (sum(state) - 1 - sum(target)) if target else 0
                for target in _after(state, r, damage[r])
            )
            if luck > 0:
                test = success[luck] * passed + (36 - success[luck]) * failed
                tested[r] = int(test > keep)
                box.tied[i, *state, r] = test == keep
                keep = max(test, keep)
            total += weights[r] * keep
        numerators[state] = total
        box.value[i, *state] = Fraction(total, unit * scale)
        box.strategy[i, *state] = codes[tested[0], tested[1]]


def _after(
    state: tuple[int, int, int], r: int, damage: list[int]
) -> Iterator[tuple[int, int, int] | None]:
    """Where damage leads if LUCK was kept, was tested and held, or failed; None without LUCK."""
    hero, opponent, luck = state
    for points, used in zip(damage, (0, 1, 1), strict=True):
        lost = (0, points) if r == 0 else (points, 0)
        target = max(hero - lost[0], 0), max(opponent - lost[1], 0), luck - used
        yield target if luck >= used else None
