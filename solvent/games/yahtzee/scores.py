"""Exact scores of networks, and of the policies that are known by name, without a rollout.

The first layer of a network is affine, and an observation is a part that depends on the dice, one
for the rolls that are left, and one for the card. So what the first layer gives is a sum of three
terms that are computed once each, and the rest of the network is evaluated for all states of the
turns from some cards at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from solvent.baselines.network import NetworkPlayer, times
from solvent.exact import solve
from solvent.games.yahtzee.episode_kernel import legal, observe, width
from solvent.games.yahtzee.evaluation import (
    CardPolicy,
    Cards,
    Evaluation,
    GreedyPolicy,
    OptimalPolicy,
    evaluate,
)
from solvent.games.yahtzee.layers import YahtzeeLayers
from solvent.games.yahtzee.rules import Yahtzee
from solvent.games.yahtzee.solution import YahtzeeSolution, opened_yahtzee
from solvent.model import project
from solvent.model.arrays import Floats
from solvent.model.parameters import check_choice

KNOWN = ("optimal", "greedy", "uniform")
"""The policies that are known by name."""


class UniformPolicy:
    """Every legal action is equally probable.

    Args:
        layers: The form.
    """

    name = "uniform"

    def __init__(self, layers: YahtzeeLayers) -> None:
        self.layers = layers

    def choices(self, cards: Cards) -> Floats:
        """Probabilities; see :class:`~.evaluation.CardPolicy`."""
        mask = legal_actions(self.layers, cards.filled)
        chances = mask / mask.sum(axis=2, keepdims=True)
        return np.repeat(chances[:, :, None], len(cards.totals), axis=2)


class NetworkPolicy:
    """A network.

    Args:
        layers: The form.
        player: The network.

    Raises:
        ValueError: If it takes other observations or has other actions.
    """

    def __init__(self, layers: YahtzeeLayers, player: NetworkPlayer) -> None:
        self.layers, self.player, self.name = layers, player, player.name
        rules, network = layers.rules, player.network
        self._onehot = player.observation == "onehot"
        sees = width(rules, self._onehot), len(layers.game.info.actions[0])
        has = len(network.weights[0]), len(network.biases[-1])
        if sees != has:
            raise ValueError(
                f"{player.name} takes {has[0]} numbers and has {has[1]} actions; this form of the "
                f"game shows {sees[0]} and has {sees[1]}"
            )
        dice = rules.dice.shape[1] * len(rules.of_face)
        self._rolls = slice(dice, dice + layers.game.rolls + 1)

    def choices(self, cards: Cards) -> NDArray[np.int16] | Floats:
        """What the network does; see :class:`~.evaluation.CardPolicy`."""
        layers, network = self.layers, self.player.network
        turns, rolls, lanes = layers.game.rolls, len(layers.rules.face), len(cards.totals)
        mask = legal_actions(layers, cards.filled).astype(bool)
        of_dice, of_card = self._seen(cards)
        first = network.weights[0]
        for_dice = of_dice @ first + network.biases[0]
        for_card = of_card @ first
        actions = np.empty((turns, rolls, lanes), np.int16)
        sampled = self.player.rule == "sampled"
        chances = np.zeros((*actions.shape, mask.shape[2]) if sampled else 0)
        for j in range(turns):
            for_rolls = first[self._rolls.start + j]
            values = for_dice[:, None] + (for_card + for_rolls)[None]
            values = values.reshape(rolls * lanes, -1)
            # A network that chooses among legal actions is asked for those that are legal anywhere.
            asked = (
                np.flatnonzero(mask[j].any(axis=0))
                if self.player.masked
                else np.arange(mask.shape[2])
            )
            if len(network.weights) > 1:
                hidden = network.before_last(values)
                last = np.ascontiguousarray(network.weights[-1][:, asked])
                values = times(hidden, last) + network.biases[-1][asked]
            else:
                values = values[:, asked]
            allowed = np.repeat(mask[j][:, asked], lanes, axis=0)
            if sampled:
                chosen = self.player.choose(values, allowed)
                chances[j][..., asked] = chosen.reshape(rolls, lanes, -1)
            else:
                actions[j] = asked[self._best(values, allowed)].reshape(rolls, lanes)
        return chances if sampled else actions

    def _best(self, outputs: NDArray[np.float32], allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
        """[k] the largest of outputs, as the network's mode is played."""
        if self.player.masked:
            best: NDArray[np.intp] = np.where(allowed, outputs, -np.inf).argmax(axis=1)
            return best
        chosen = np.zeros(outputs.shape)
        chosen[np.arange(len(outputs)), outputs.argmax(axis=1)] = 1.0
        played: NDArray[np.intp] = project(chosen, allowed).argmax(axis=1)
        return played

    def _seen(self, cards: Cards) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """[R, D] what the dice and the filled boxes show, and [L, D] what else the cards do."""
        rules, filled = self.layers.rules, cards.filled
        size = width(rules, self._onehot)
        of_dice = np.empty((len(rules.face), size), np.float32)
        for roll in range(len(of_dice)):
            observe(rules, filled, 0, 0, roll, 0, self._onehot, of_dice[roll])
        nothing = np.empty(size, np.float32)
        observe(rules, filled, 0, 0, -1, 0, self._onehot, nothing)
        of_card = np.empty((len(cards.totals), size), np.float32)
        for lane, total in enumerate(cards.totals.tolist()):
            observe(rules, filled, total, cards.bonus, -1, 0, self._onehot, of_card[lane])
        of_card -= nothing
        of_dice[:, self._rolls] = 0.0
        return of_dice, of_card


def legal_actions(layers: YahtzeeLayers, filled: int) -> NDArray[np.int8]:
    """[N, R, A] the legal actions with some boxes filled, by the rolls that are left and the roll.

    Args:
        layers: The form.
        filled: Bit mask of the filled boxes.
    """
    rules = layers.rules
    shape = layers.game.rolls, len(rules.face), len(layers.game.info.actions[0])
    mask = np.empty(shape, np.int8)
    for j in range(shape[0]):
        for roll in range(shape[1]):
            legal(rules, filled, roll, j, mask[j, roll])
    return mask


@dataclass(frozen=True, eq=False)
class YahtzeeScore:
    """What a policy gets, beside the optimum.

    Attributes:
        name: Of the policy.
        evaluation: Of it.
        solution: Of the form.
    """

    name: str
    evaluation: Evaluation
    solution: YahtzeeSolution

    @property
    def value(self) -> float:
        """The points that it has on average."""
        return self.evaluation.value

    @property
    def optimum(self) -> float:
        """The value of the game."""
        return self.solution.value

    @property
    def bounds(self) -> Mapping[str, float]:
        """To within which number the value and the optimum are proved."""
        return {
            "value proved to within": self.evaluation.error,
            "optimum proved to within": self.solution.error,
        }


def score_policy(
    solution: YahtzeeSolution, player: NetworkPlayer | str, *, scores: bool = False
) -> YahtzeeScore:
    """Score a policy exactly.

    Args:
        solution: Of the form.
        player: A network, or one of :data:`KNOWN`.
        scores: Whether the distribution of the points at the end is wanted, too.

    Raises:
        ValueError: If there is no policy of that name, or the network is for another game.
    """
    layers = solution.layers
    policy: CardPolicy
    if isinstance(player, NetworkPlayer):
        policy = NetworkPolicy(layers, player)
    else:
        check_choice(player, "what is scored", KNOWN)
        if player == "optimal":
            policy = OptimalPolicy(solution)
        else:
            policy = GreedyPolicy(layers) if player == "greedy" else UniformPolicy(layers)
    return YahtzeeScore(policy.name, evaluate(layers, policy, scores=scores), solution)


def score_player(
    game: Yahtzee, player: NetworkPlayer | str, solution: Path | None, out: Path | None
) -> YahtzeeScore:
    """Score a network, or a policy that is known by name.

    Args:
        game: The form.
        player: A network, or one of :data:`KNOWN`.
        solution: The folder of the form's solution; it is solved if None.
        out: None; nothing of a score is kept.

    Raises:
        ValueError: If there is no policy of that name, the network is for another game, or `out` is
            given.
        StoreError: If the solution is missing, damaged, or of another form.
    """
    if out is not None:
        raise ValueError(
            f"--out {out}: a score of {game.info.name} takes minutes at most, and nothing of it is "
            f"kept; leave --out out"
        )
    solved = (
        solve(game) if solution is None else opened_yahtzee(solution, dict(game.info.parameters))
    )
    assert isinstance(solved, YahtzeeSolution)
    return score_policy(solved, player)
