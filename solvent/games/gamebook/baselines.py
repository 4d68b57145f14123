"""The reader who opens a gamebook for the first time.

Such a reader knows the rules, but not what lies behind an option:

* At a choice, in a shop and when picking disciplines, every option is as good as another, and each
  is taken with equal probability.
* A fight is fought to its end, without escape and without tests of LUCK.

From uniform play it differs in fights only. It looks neither at what it has left nor at the odds,
so a book can be hard on it: what it loses against the optimum is the value of knowing the book.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from solvent.baselines import Baseline
from solvent.games.gamebook.combat import FIGHT_ON
from solvent.games.gamebook.page import Page
from solvent.model import TabularGame, TabularPolicy


def first_visit(game: TabularGame, player: int = 0) -> TabularPolicy:
    """Return the policy of a reader on a first visit.

    Args:
        game: A gamebook.
        player: The only player, 0.
    """
    pages = cast(Sequence[Page], game.states)
    in_fight = np.array([bool(page.step) for page in pages]) & ~game.terminal
    probabilities = TabularPolicy.uniform(game, player=player).probabilities.copy()
    probabilities[in_fight] = 0
    probabilities[in_fight, FIGHT_ON] = 1
    return TabularPolicy.of(game, probabilities, player=player, name="first-visit")


def _is_reader(game: TabularGame, player: int) -> bool:
    return player == 0


BASELINES: Mapping[str, Baseline] = {
    "first-visit": Baseline(
        first_visit, _is_reader, "Any option with equal probability; fights to the end."
    )
}
