"""What a policy gets, exactly: its probability is followed from the empty scorecard to the full.

Layer by layer, each card has a probability, or one for every number of points so far. A turn's
probability flows through the dice (:mod:`~.flow_kernel`) as the policy has it, and on to the next
cards. Only cards that the policy can come to are looked at. All numbers are sums and products of
positive ones, so that a bound of the relative error is the number of roundings on the longest way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from solvent.games.yahtzee.flow_kernel import ENDS, flow_of_actions, flow_of_chances, pass_on
from solvent.games.yahtzee.layers import YahtzeeLayers
from solvent.games.yahtzee.rules import JOKER_POINTS, YAHTZEE
from solvent.games.yahtzee.solution import YahtzeeSolution, actions_of_turn, values_of_turn
from solvent.model.arrays import Floats


class Cards(NamedTuple):
    """Some cards with the same filled boxes.

    Attributes:
        filled: Bit mask of these.
        bonus: Whether another Yahtzee has a bonus, 0 or 1.
        totals: [L] points of the upper section of each.
    """

    filled: int
    bonus: int
    totals: NDArray[np.int64]


class CardPolicy(Protocol):
    """A policy, asked for all states of the turns from some cards at once."""

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    def choices(self, cards: Cards) -> NDArray[np.int16] | Floats:
        """What it does once dice lie on the table.

        Args:
            cards: From which the turns start.

        Returns:
            [N, R, L] its action, or [N, R, L, A] the probabilities of all actions, by the rolls
            that are left, the roll, and the card. All are legal.
        """
        ...


class OptimalPolicy:
    """An optimal policy; of choices that are equally good the one that the solution takes.

    Args:
        solution: Of the form.
    """

    name = "optimal"

    def __init__(self, solution: YahtzeeSolution) -> None:
        self.solution = solution
        self._known: tuple[int, Floats] | None = None

    def choices(self, cards: Cards) -> NDArray[np.int16]:
        """The best actions; see :class:`CardPolicy`."""
        layer = cards.filled.bit_count()
        if self._known is None or self._known[0] != layer:
            self._known = layer, self.solution.after(layer)
        turn = values_of_turn(self.solution.layers, *cards, self._known[1])
        return actions_of_turn(self.solution.layers, cards.filled, cards.bonus, turn)


class GreedyPolicy:
    """The most points in this turn, bonuses included, whatever is left for those to come.

    Args:
        layers: The form.
    """

    name = "greedy"

    def __init__(self, layers: YahtzeeLayers) -> None:
        self.layers = layers
        most = max(len(sets) for sets in layers.sets)
        self._nothing = np.zeros((most, *layers.shape(0)[1:]))

    def choices(self, cards: Cards) -> NDArray[np.int16]:
        """The actions that are best for this turn; see :class:`CardPolicy`."""
        turn = values_of_turn(self.layers, *cards, self._nothing)
        return actions_of_turn(self.layers, cards.filled, cards.bonus, turn)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a policy gets.

    Attributes:
        value: The points it has on average.
        error: Proved bound of the error of `value`.
        scores: [V] the probability of each number of points at the end; empty if that was not
            asked for.
        cards: How many cards it can come to.
    """

    value: float
    error: float
    scores: Floats
    cards: int

    @property
    def deviation(self) -> float:
        """The standard deviation of the points at the end."""
        points = np.arange(len(self.scores))
        mean = points @ self.scores
        return float(np.sqrt((points - mean) ** 2 @ self.scores))

    def quantile(self, share: float) -> int:
        """The least number of points that at most a share of the games falls below or meets.

        Args:
            share: Within 0..1; 0.5 for the median.
        """
        return int(np.searchsorted(np.cumsum(self.scores), share))


def evaluate(
    layers: YahtzeeLayers,
    policy: CardPolicy,
    *,
    scores: bool = False,
    progress: Callable[[int], Any] | None = None,
) -> Evaluation:
    """Follow a policy through all layers.

    Args:
        layers: The form.
        policy: What is played.
        scores: Whether the distribution of the points at the end is wanted, too; of the whole game
            that takes 2 GB of memory.
        progress: Called with the number of filled boxes of each layer that is done.
    """
    rules, boxes = layers.rules, len(layers.game.scorecard)
    widths = _widths(layers) if scores else [1] * (boxes + 1)
    mass = np.zeros((1, *layers.shape(0)[1:], widths[0]))
    mass[0, 0, 0, 0] = 1.0
    parts, met = [], 0
    for layer in range(boxes):
        after = np.zeros((len(layers.sets[layer + 1]), *layers.shape(0)[1:], widths[layer + 1]))
        for at, filled in enumerate(layers.sets[layer].tolist()):
            for bonus in (0, 1):
                totals = np.flatnonzero(mass[at, :, bonus].any(axis=1))
                if not len(totals):
                    continue
                met += len(totals)
                ends = np.empty((len(totals), boxes, ENDS))
                choices = policy.choices(Cards(filled, bonus, totals))
                flow: Any = flow_of_chances if choices.ndim == 4 else flow_of_actions
                flow(rules, filled, bonus, choices, ends)
                own = mass[at, totals, bonus]
                given = filled, bonus, totals, ends, own, layers.position, after
                parts.append(pass_on(rules, *given))
        mass = after
        if progress is not None:
            progress(layer)
    value = fsum(parts)
    return Evaluation(
        value=value,
        error=_roundings(layers) * float(np.finfo(float).eps) / 2 * value * 1.01,
        scores=mass.sum(axis=(0, 1, 2)) if scores else np.zeros(0),
        cards=met,
    )


def _roundings(layers: YahtzeeLayers) -> int:
    """How many roundings there are at most on the way to a number.

    In a turn with R rolls, A actions and N rolls of D dice with F faces the probability of an end
    has at most N (D (F + 1) + 2 A R) of them, of which A for probabilities that do not quite sum to
    1. That of a card is a sum over all ends of turns from at most B sets, U totals and 2 flags,
    and over all numbers of points. The value is one more such sum.
    """
    rules = layers.rules
    rolls, actions = rules.kept.shape
    dice, faces, boxes = rules.dice.shape[1], len(rules.of_face), len(rules.face_of)
    turn = layers.game.rolls * (dice * (faces + 1) + 2 * (actions + boxes) * rolls)
    card = boxes * (layers.game.bonus_at + 1) * 2 * ENDS + layers.game.most
    return int((boxes + 1) * (turn + card))


def _widths(layers: YahtzeeLayers) -> list[int]:
    """How many different numbers of points there can be, by the number of filled boxes."""
    game = layers.game
    plain = layers.rules.plain.max(axis=1).tolist()
    best = sorted(
        (
            max(most, JOKER_POINTS.get(box, 0))
            for box, most in zip(game.scorecard, plain, strict=True)
        ),
        reverse=True,
    )
    more = game.yahtzee_bonus if YAHTZEE in game.scorecard else 0
    widths = [
        sum(best[:n]) + game.upper_bonus * (n > 0) + more * max(n - 1, 0) + 1
        for n in range(len(best) + 1)
    ]
    # One wide stands for cards whose points are not told apart.
    return [max(width, 2) for width in widths]
