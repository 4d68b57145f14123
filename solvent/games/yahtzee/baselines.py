"""The baselines of Yahtzee by name. What makes one is imported when one is made."""

from __future__ import annotations

from collections.abc import Mapping

from solvent.baselines import Baseline
from solvent.model import TabularGame, TabularPolicy


def greedy(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return the greedy policy of a form that has a table."""
    from solvent.games.yahtzee.scores import greedy_of_table

    return greedy_of_table(game, player)


BASELINES: Mapping[str, Baseline] = {
    "greedy": Baseline(
        greedy, lambda game, player: True, "The most points in this turn, bonuses included."
    )
}
"""The baselines of Yahtzee."""
