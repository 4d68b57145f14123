"""The figure of the page on Yahtzee, ``docs/textbook/yahtzee-scores.svg``.

    python docs/scripts/yahtzee.py

draws how probable every final score is, computed exactly, which takes a minute and 3 GB of memory.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from solvent.games.yahtzee.layers import Cards, YahtzeeSolution
from solvent.games.yahtzee.rules import Yahtzee
from solvent.games.yahtzee.scores import KNOWN
from solvent.games.yahtzee.turn_kernel import ENDS, TIE, end_of, fill, turn_ends
from solvent.model.arrays import Floats
from solvent.report.panel import ALGORITHMS, Axis, Panel, write_pictures

FOLDER = Path(__file__).parents[1] / "textbook"
LARGEST = 500
"""The largest score that is drawn."""


def evaluations() -> Mapping[str, Floats]:
    """The distributions of what the policies get that are known without learning."""
    solution = YahtzeeSolution.of(Yahtzee())
    return {name: distribution(solution, name) for name in ("optimal", "greedy")}


@njit
def pass_points_on(
    rules: Any, filled: int, bonus: int, totals: Any, ends: Any, mass: Any, place: Any, after: Any
) -> None:
    """Move probability from cards to their successors, for every number of points so far.

    As :func:`solvent.games.yahtzee.turn_kernel.pass_on`, whose ``mass`` and ``after`` have one more
    axis here, the points so far: [L, V] and [sets, U, 2, V].
    """
    for lane in range(len(totals)):
        possible = np.flatnonzero(mass[lane])
        for b in range(len(rules.plain)):
            at = place[filled | 1 << b]
            for end in range(ENDS):
                p = ends[lane, b, end]
                if p > 0.0:
                    reward, upper, then = fill(rules, totals[lane], bonus, b, end)
                    for w in possible:
                        after[at, upper, then, w + reward] += p * mass[lane, w]


def distribution(solution: YahtzeeSolution, name: str) -> Floats:
    """[V] the probability of each final score.

    Args:
        solution: The solution of a form of Yahtzee.
        name: The name of a policy, one of :data:`~solvent.games.yahtzee.scores.KNOWN`.
    """
    layers, policy = solution.layers, KNOWN[name](solution)
    game, rules, boxes = layers.game, layers.rules, len(layers.game.scorecard)
    best = np.maximum(rules.plain.max(axis=1), rules.joker.max(axis=(0, 1, 3)))
    most = np.cumsum(np.sort(best)[::-1] + game.yahtzee_bonus) + game.upper_bonus
    mass = np.ones((1, 1, 1, 1))
    for layer in range(boxes):
        after = np.zeros((*layers.shape(layer + 1), most[layer] + 1))
        for at, filled in enumerate(layers.sets[layer].tolist()):
            for bonus in range(mass.shape[2]):
                totals = np.flatnonzero(mass[at, :, bonus].any(axis=1))
                if len(totals):
                    cards = Cards(filled, bonus, totals)
                    ends = np.empty((len(totals), boxes, ENDS))
                    turn_ends(rules, filled, bonus, *policy(cards), ends)
                    given = rules, *cards, ends, mass[at, totals, bonus], layers.position
                    pass_points_on(*given, after)
        mass = after
    return np.asarray(mass.sum(axis=(0, 1, 2)))


def mean_and_deviation(scores: Floats) -> tuple[float, float]:
    """The mean and the standard deviation of a distribution of points."""
    points = np.arange(len(scores))
    mean = points @ scores
    return float(mean), float(np.sqrt((points - mean) ** 2 @ scores))


@njit
def moments_of_turn(
    rules: Any,
    filled: int,
    bonus: int,
    totals: Any,
    values: Any,
    moments: Any,
    place: Any,
    held: Any,
    kept: Any,
    sign: int,
) -> Any:
    """[L] the largest (`sign` 1) or least (-1) second moment of the points from some cards on.

    With points p now and R later, E(p + R)² = p² + 2 p E(R) + E(R²), and E(R) is the same for all
    choices that are equally good. So the second moment is itself an optimum by backward induction,
    over those choices alone.
    """
    rolls, lanes = range(rules.base, held.shape[1]), len(totals)
    scored = np.full(held.shape[1:], -np.inf)
    for r in rolls:
        for b in range(len(rules.plain)):
            end = end_of(rules, filled, bonus, b, r)
            if end < 0:
                continue
            at = place[filled | 1 << b]
            for lane in range(lanes):
                now, upper, then = fill(rules, totals[lane], bonus, b, end)
                later, rest = values[at, upper, then], moments[at, upper, then]
                if now + later >= held[0, r, lane] - TIE:
                    moment = sign * (now * now + 2 * now * later + rest)
                    scored[r, lane] = max(scored[r, lane], moment)
    best = scored.copy()
    means = best.copy()
    for left in range(1, len(held) + 1):
        means[:] = best
        for k in range(rules.base - 1, -1, -1):
            means[k] = 0.0
            for f in range(rules.added.shape[1]):
                means[k] += means[rules.added[k, f]] / rules.added.shape[1]
        if left == len(held):
            break
        for r in rolls:
            for lane in range(lanes):
                least = held[left, r, lane] - TIE
                best[r, lane] = scored[r, lane] if held[0, r, lane] >= least else -np.inf
                for keep in rules.kept[r]:
                    if keep >= 0 and kept[left - 1, keep, lane] >= least:
                        best[r, lane] = max(best[r, lane], means[keep, lane])
    return sign * means[0]


def deviations(solution: YahtzeeSolution) -> tuple[float, float]:
    """The least and the largest standard deviation of the final score, over all optimal policies.

    Args:
        solution: The solution of a form of Yahtzee.
    """
    layers = solution.layers
    found = []
    for sign in (-1, 1):
        moments: Floats = np.zeros(layers.shape(len(layers.layers)))
        for layer in layers.layers:
            values, now = solution.after(layer), np.zeros(layers.shape(layer))
            for at, filled in enumerate(layers.sets[layer].tolist()):
                totals = np.flatnonzero(layers.reach[filled])
                for bonus in (0, 1):
                    turn = layers.turn(Cards(filled, bonus, totals), values)
                    given = layers.rules, filled, bonus, totals, values, moments, layers.position
                    now[at, totals, bonus] = moments_of_turn(*given, turn.held, turn.kept, sign)
            moments = now
        found.append(float(np.sqrt(moments[0, 0, 0] - solution.value**2)))
    return found[0], found[1]


def picture(found: Mapping[str, Floats]) -> str:
    """The distributions of the final score as one SVG.

    Args:
        found: By the policy's name.
    """
    highest = max(100 * one.max() for one in found.values())
    panel = Panel(
        "Final scores of Yahtzee for one",
        "probability (%)",
        Axis(0.0, LARGEST),
        Axis(0.0, 1.05 * highest),
        "points",
    )
    for (name, one), colour in zip(found.items(), ALGORITHMS, strict=False):
        scores = 100 * one[: LARGEST + 1]
        text = f"{name}: {mean_and_deviation(one)[0]:.2f} on average"
        panel.line(np.arange(len(scores)).tolist(), scores.tolist(), colour, text, dashed=False)
        panel.key(text, colour, "M-8-1h16v2h-16z")
    return panel.alone()


if __name__ == "__main__":
    write_pictures(FOLDER, {"yahtzee-scores.svg": picture(evaluations())})
