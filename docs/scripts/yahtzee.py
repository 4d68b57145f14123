"""The figure of the page on Yahtzee, ``docs/textbook/yahtzee-scores.svg``.

    python docs/scripts/yahtzee.py

draws how probable every final score is, computed exactly, which takes a minute and 3 GB of memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from solvent.games.yahtzee.evaluation import Evaluation
from solvent.games.yahtzee.rules import Yahtzee
from solvent.games.yahtzee.scores import score_policy
from solvent.games.yahtzee.solution import YahtzeeSolution, solved_yahtzee, values_of_turn
from solvent.games.yahtzee.turn_kernel import (
    TIE,
    bonus_after,
    extra,
    points_in,
    upper_after,
    upper_reward,
)
from solvent.model.arrays import Floats
from solvent.report.colours import ALGORITHMS
from solvent.report.panel import Axis, Panel, write_pictures

FOLDER = Path(__file__).parents[1] / "textbook"
LARGEST = 500
"""The largest score that is drawn."""


def evaluations() -> Mapping[str, Evaluation]:
    """What the policies get that are known without learning, with their distributions."""
    solution = solved_yahtzee(Yahtzee())
    return {
        name: score_policy(solution, name, scores=True).evaluation for name in ("optimal", "greedy")
    }


@njit
def moments_of_turn(
    rules: Any,
    filled: int,
    bonus: int,
    totals: Any,
    values: Any,
    moments: Any,
    place: Any,
    rolled: Any,
    kept: Any,
    sign: int,
) -> Any:
    """[L] the largest (`sign` 1) or least (-1) second moment of the points from some cards on.

    With points p now and R later, E(p + R)² = p² + 2 p E(R) + E(R²), and E(R) is the same for all
    choices that are equally good. So the second moment is itself an optimum by backward induction,
    over those choices alone.
    """
    rolls, lanes = rolled.shape[1], len(totals)
    base = kept.shape[1] - rolls
    scored = np.full((rolls, lanes), -np.inf)
    for r in range(rolls):
        for b in range(len(rules.face_of)):
            points = points_in(rules, filled, b, r)
            if points < 0:
                continue
            at, then = place[filled | 1 << b], bonus_after(rules, bonus, b, points)
            for lane in range(lanes):
                upper = upper_after(rules, totals[lane], b, points)
                now = points + extra(rules, r, bonus) + upper_reward(rules, totals[lane], upper)
                later = values[at, upper, then] if at >= 0 else 0.0
                rest = moments[at, upper, then] if at >= 0 else 0.0
                if now + later >= rolled[0, r, lane] - TIE:
                    moment = sign * (now * now + 2 * now * later + rest)
                    scored[r, lane] = max(scored[r, lane], moment)
    best, means = scored.copy(), np.empty((kept.shape[1], lanes))
    for left in range(1, rolled.shape[0] + 1):
        means[base:] = best
        for k in range(base - 1, -1, -1):
            means[k] = 0.0
            for f in range(rules.added.shape[1]):
                means[k] += means[rules.added[k, f]] / rules.added.shape[1]
        if left == rolled.shape[0]:
            break
        for r in range(rolls):
            for lane in range(lanes):
                least = rolled[left, r, lane] - TIE
                best[r, lane] = scored[r, lane] if rolled[0, r, lane] >= least else -np.inf
                for keep in rules.kept[r]:
                    if keep >= 0 and kept[left - 1, keep, lane] >= least:
                        best[r, lane] = max(best[r, lane], means[keep, lane])
    return sign * means[0]


def deviations(solution: YahtzeeSolution) -> tuple[float, float]:
    """The least and the largest standard deviation of the final score, over all optimal policies.

    Args:
        solution: Of any form.
    """
    layers = solution.layers
    found = []
    for sign in (-1, 1):
        moments: Floats = np.zeros((1, *layers.shape(0)[1:]))
        for layer in layers.layers:
            values, now = solution.after(layer), np.zeros(layers.shape(layer))
            for at, filled in enumerate(layers.sets[layer].tolist()):
                totals = np.flatnonzero(layers.reach[filled])
                for bonus in (0, 1):
                    turn = values_of_turn(layers, filled, bonus, totals, values)
                    given = layers.rules, filled, bonus, totals, values, moments, layers.position
                    now[at, totals, bonus] = moments_of_turn(*given, turn.rolled, turn.kept, sign)
            moments = now
        found.append(float(np.sqrt(moments[0, 0, 0] - solution.value**2)))
    return found[0], found[1]


def picture(found: Mapping[str, Evaluation]) -> str:
    """The distributions of the final score as one SVG.

    Args:
        found: By the policy's name.
    """
    highest = max(100 * one.scores.max() for one in found.values())
    panel = Panel(
        "Final scores of Yahtzee for one",
        "probability (%)",
        Axis(0.0, LARGEST),
        Axis(0.0, 1.05 * highest),
        "points",
    )
    for (name, one), colour in zip(found.items(), ALGORITHMS, strict=False):
        scores = 100 * one.scores[: LARGEST + 1]
        text = f"{name}: {one.value:.2f} on average"
        panel.line(np.arange(len(scores)).tolist(), scores.tolist(), colour, text, dashed=False)
        panel.key(text, colour, "M-8-1h16v2h-16z")
    return panel.alone()


if __name__ == "__main__":
    write_pictures(FOLDER, {"yahtzee-scores.svg": picture(evaluations())})
