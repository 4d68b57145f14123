"""Policies for Yahtzee that need not be learned, in a form of the game that has a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from solvent.baselines.baseline import Baseline
from solvent.games.yahtzee.rules import Turn, Yahtzee
from solvent.model import TabularGame, TabularPolicy


def greedy(game: TabularGame, player: int = 0) -> TabularPolicy:
    """The most points in this turn, bonuses included, whatever is left for those to come.

    Args:
        game: The table of a form.
        player: 0.
    """
    # Compiled loops take a while to import.
    from solvent.games.yahtzee.evaluation import Cards, GreedyPolicy
    from solvent.games.yahtzee.layers import YahtzeeLayers

    layers = YahtzeeLayers(Yahtzee(**dict(game.info.parameters)))
    policy = GreedyPolicy(layers)
    rolls = {tuple(dice): number for number, dice in enumerate(layers.rules.dice.tolist())}
    actions = np.argmax(game.mask[0], axis=1)  # The only one, where there is no choice.
    turns = {}
    states = cast(Sequence[Turn], game.states)
    for index, state in enumerate(states):
        if game.action_count[0][index] < 2:
            continue
        card = state._replace(dice=(), rolls=layers.game.rolls)
        if card not in turns:
            totals = np.array([state.upper])
            turns[card] = policy.choices(Cards(layers.filled(card), int(state.bonus), totals))
        actions[index] = turns[card][state.rolls, rolls[state.dice], 0]
    return TabularPolicy.deterministic(game, actions, player=player, name="greedy")


BASELINES: Mapping[str, Baseline] = {
    "greedy": Baseline(
        greedy, lambda game, player: True, "The most points in this turn, bonuses included."
    )
}
"""Of Yahtzee, by name."""
