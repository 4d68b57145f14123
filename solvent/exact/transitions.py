"""The transitions of the rows of states, as the solvers' compiled loops take them: one tuple."""

from __future__ import annotations

from typing import NamedTuple

from solvent.model import TabularGame
from solvent.model.arrays import Floats, Ints


class Transitions(NamedTuple):
    """Rows of S states, K in all, with N outcomes; named as in :class:`solvent.model.TabularGame`.

    Attributes:
        row_start: [S+1] slices of the rows of each state.
        outcome_start: [K+1] slices of the outcomes of each row.
        next_state: [N] the state to which each outcome leads.
        probability: [N] the probability of each outcome in its row.
    """

    row_start: Ints
    outcome_start: Ints
    next_state: Ints
    probability: Floats


def transitions_of(game: TabularGame) -> Transitions:
    """Those of a whole game."""
    return Transitions(game.row_start, game.outcome_start, game.next_state, game.probability)
