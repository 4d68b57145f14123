"""Exact scores of policies: probability is followed from the empty scorecard to the full one.

Layer by layer, each card has a probability. A turn's probability flows through the dice by the
choices of the policy, and on to the next cards. Cards that the policy cannot reach are left out,
and the policy is asked for all states of the turns from some cards at once. All numbers are sums
and products of positive ones, so the number of roundings on the longest way bounds the relative
error. ``docs/scripts/yahtzee.py`` computes the distribution of the final score, too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.baselines.network import NetworkPlayer
from solvent.exact import solve
from solvent.games.yahtzee.episodes import EpisodeStates, look, width
from solvent.games.yahtzee.layers import Cards, YahtzeeLayers, YahtzeeSolution
from solvent.games.yahtzee.rules import Yahtzee
from solvent.games.yahtzee.turn_kernel import ENDS, best_actions, pass_on, turn_ends
from solvent.model.arrays import Floats
from solvent.model.parameters import check_choice


class TurnChoices(NamedTuple):
    """The actions of a policy in the turns from some cards, with dice on the table.

    Both arrays are indexed by the rolls left, the roll, and the card; one of them is empty.

    Attributes:
        actions: [N, R, L] one legal action for every state.
        chances: [N, R, L, A] the probabilities of all actions, 0 for illegal ones.
    """

    actions: NDArray[np.int16] = np.empty((0, 0, 0), np.int16)
    chances: Floats = np.empty((0, 0, 0, 0))


CardPolicy = Callable[[Cards], TurnChoices]
"""A policy that returns its choices in all turns from some cards at once."""


def _best_policy(layers: YahtzeeLayers, after: Callable[[int], Floats]) -> CardPolicy:
    """Return the best actions, given the values of the layer after each layer.

    With those of a solution the policy is optimal, and breaks ties as the solution does. With
    zeros it maximizes the points of the present turn, bonuses included.
    """
    known = lru_cache(maxsize=1)(after)

    def choices(cards: Cards) -> TurnChoices:
        turn = layers.turn(cards, known(cards.filled.bit_count()))
        rules = layers.rules
        shape = rules.rolls, len(rules.dice) - rules.base, len(cards.totals)
        actions = np.empty(shape, np.int16)
        best_actions(rules, cards.filled, cards.bonus, *turn, actions)
        return TurnChoices(actions)

    return choices


def network_policy(layers: YahtzeeLayers, player: NetworkPlayer) -> CardPolicy:
    """Return the policy of a network.

    Args:
        layers: The layers of the form.
        player: The network.

    Raises:
        ValueError: If the network has other observations or actions.
    """
    network, onehot = player.network, player.observation == "onehot"
    sees = width(layers.rules, onehot), len(layers.game.info.actions[0])
    has = len(network.weights[0]), len(network.biases[-1])
    if sees != has:
        raise ValueError(
            f"{player.name} takes {has[0]} numbers and has {has[1]} actions; this form of the "
            f"game shows {sees[0]} and has {sees[1]}"
        )

    def choices(cards: Cards) -> TurnChoices:
        found = []
        for left in range(layers.game.rolls):
            seen, mask = looked(layers, cards, left, onehot=onehot)
            found.append(player.choose(network(seen), mask == 1))
        shape = len(found), -1, len(cards.totals), sees[1]
        return TurnChoices(chances=np.array(found).reshape(shape))

    return choices


def looked(
    layers: YahtzeeLayers, cards: Cards, left: int, *, onehot: bool
) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Return observations [R L, D] and legal actions [R L, A], by roll and card.

    Args:
        layers: The layers of the form.
        cards: The cards from which the turns start.
        left: Number of rolls left.
        onehot: Whether observations consist of indicators only.
    """
    rules, lanes = layers.rules, len(cards.totals)
    rolls = np.arange(rules.base, len(rules.dice), dtype=np.int32)
    n = len(rolls) * lanes
    at = EpisodeStates(
        filled=np.full(n, cards.filled, np.int32),
        upper=np.tile(cards.totals.astype(np.int32), len(rolls)),
        bonus=np.full(n, cards.bonus, np.int32),
        hand=np.repeat(rolls, lanes),
        rolls=np.full(n, left, np.int32),
    )
    seen = np.empty((n, width(rules, onehot)), np.float32)
    mask = np.empty((n, len(rules.order)), np.int8)
    look(rules, at, np.arange(n), onehot, seen, mask)
    return seen, mask


KNOWN: Mapping[str, Callable[[YahtzeeSolution], CardPolicy]] = {
    "optimal": lambda solution: _best_policy(solution.layers, solution.after),
    "greedy": lambda solution: _best_policy(
        solution.layers, lambda layer: np.zeros(solution.layers.shape(layer + 1))
    ),
}
"""The built-in policies by their names."""


@dataclass(frozen=True, eq=False)
class YahtzeeScore:
    """The value of a policy, compared with the optimum.

    Attributes:
        name: Name of the policy.
        value: Expected points of the policy.
        error: Proved bound on the error of `value`.
        solution: The solution of the form.
    """

    name: str
    value: float
    error: float
    solution: YahtzeeSolution

    @property
    def optimum(self) -> float:
        """Return the value of the game."""
        return self.solution.value

    @property
    def bounds(self) -> Mapping[str, float]:
        """Return the proved error bounds of the value and of the optimum."""
        return {
            "value proved to within": self.error,
            "optimum proved to within": self.solution.error,
        }


def score_policy(solution: YahtzeeSolution, player: NetworkPlayer | str) -> YahtzeeScore:
    """Score a policy exactly.

    Args:
        solution: The solution of the form.
        player: A network, or one of :data:`KNOWN`.

    Raises:
        ValueError: If no policy has that name, or the network is for another game.
    """
    layers = solution.layers
    if isinstance(player, NetworkPlayer):
        name, policy = player.name, network_policy(layers, player)
    else:
        name = check_choice(player, "what is scored", KNOWN)
        policy = KNOWN[name](solution)
    value = evaluate(layers, policy)
    error = _roundings(layers) * float(np.finfo(float).eps) / 2 * value * 1.01
    return YahtzeeScore(name, value, error, solution)


def evaluate(layers: YahtzeeLayers, policy: CardPolicy) -> float:
    """Return the expected points of a policy, followed through all layers.

    Args:
        layers: The layers of the form.
        policy: The policy to follow.
    """
    rules, boxes = layers.rules, len(layers.game.scorecard)
    mass: Floats = np.ones((1, 1, 1))
    parts = []
    for layer in range(boxes):
        after = np.zeros(layers.shape(layer + 1))
        for at, filled in enumerate(layers.sets[layer].tolist()):
            for bonus in range(mass.shape[2]):
                totals = np.flatnonzero(mass[at, :, bonus])
                if len(totals):
                    ends = np.empty((len(totals), boxes, ENDS))
                    turn_ends(rules, filled, bonus, *policy(Cards(filled, bonus, totals)), ends)
                    given = filled, bonus, totals, ends, mass[at, totals, bonus]
                    parts.append(pass_on(rules, *given, layers.position, after))
        mass = after
    return fsum(parts)


def _roundings(layers: YahtzeeLayers) -> int:
    """Bound the number of roundings behind any computed number.

    In a turn with R rolls, A actions and N rolls of D dice with F faces the probability of an end
    has at most N (D (F + 1) + 2 A R) roundings, A of them for probabilities that almost sum to
    1. That of a card is a sum over all ends of turns from at most B sets, U totals and 2 flags.
    The value is one more such sum.
    """
    rules, game = layers.rules, layers.game
    rolls, actions, boxes = len(rules.dice) - rules.base, len(rules.order), len(rules.plain)
    turn = game.rolls * (game.dice * (game.faces + 1) + 2 * actions * rolls)
    card = boxes * (game.bonus_at + 1) * 2 * ENDS
    return (boxes + 1) * (turn + card)


def score_player(
    game: Yahtzee, player: NetworkPlayer | str, solution: Path | None, out: Path | None
) -> YahtzeeScore:
    """Score a network or a built-in policy.

    Args:
        game: The form.
        player: A network, or one of :data:`KNOWN`.
        solution: Folder of the form's solution. If None, the form is solved.
        out: Must be None, as scores are not saved.

    Raises:
        ValueError: If no policy has that name, the network is for another game, or `out` is
            given.
        StoreError: If the solution is missing, damaged, or of another form.
    """
    if out is not None:
        raise ValueError(
            f"--out {out}: a score of {game.info.name} takes minutes at most, and nothing of it is "
            f"kept; leave --out out"
        )
    solved = solve(game) if solution is None else YahtzeeSolution.open(solution, game)
    assert isinstance(solved, YahtzeeSolution)
    return score_policy(solved, player)
