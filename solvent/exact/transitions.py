"""The transitions of the rows of states, as the solvers' loops take them: one tuple."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvent.model import TabularGame
from solvent.model.arrays import Floats, Ints, concatenated_ranges


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


def fix_one(
    x_start: Ints, y_start: Ints, transitions: Transitions, fixed: Floats, player: int
) -> tuple[Ints, Ints, Floats]:
    """The rows that one player has left when the other's strategies are fixed.

    Args:
        x_start: [n+1] slices of player 0's actions.
        y_start: [n+1] slices of player 1's actions.
        transitions: The transitions of the component, a row for each pair of actions (i, j).
        fixed: [X] or [Y] the strategies.
        player: The player whose strategies these are.

    Returns:
        Slices of outcomes by the other player's actions, [Y+1] or [X+1], state by state; which
        outcome of the component each is; and its probability. An action has none where the fixed
        strategy is 0 everywhere.
    """
    _, outcome_start, _, probability = transitions
    # The rows of an action of player 0 are one for each action that player 1 has in its state.
    width = np.repeat(np.diff(y_start), np.diff(x_start))
    shift = np.repeat(y_start[:-1], np.diff(x_start)) - np.cumsum(width) + width
    x = np.repeat(np.arange(len(width)), width)
    y = np.arange(len(x)) + np.repeat(shift, width)
    own, other = (x, y) if player == 0 else (y, x)
    rows = np.flatnonzero(fixed[own] > 0)
    if player == 0:
        rows = rows[np.argsort(other[rows], kind="stable")]
    length = outcome_start[rows + 1] - outcome_start[rows]
    source = concatenated_ranges(outcome_start[rows], length)
    count = np.bincount(other[rows], minlength=(y_start if player == 0 else x_start)[-1])
    ends = np.concatenate(([0], np.cumsum(length)))
    start = ends[np.concatenate(([0], np.cumsum(count)))]
    return start, source, np.repeat(fixed[own[rows]], length) * probability[source]
