"""Playing a table in compiled loops, for learners that need moves by the million.

Action probabilities are kept by rank: [S, most] over the legal actions of a state in ascending
order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvent.model.arrays import Bools, Floats, Ints


def by_rank(probabilities: Floats, mask: Bools) -> Floats:
    """Return policies [S, A] as action probabilities over the legal actions, [S, most]."""
    count = mask.sum(axis=1)
    strategies = np.zeros((len(mask), max(int(count.max()), 1)))
    strategies[np.arange(strategies.shape[1]) < count[:, None]] = probabilities[mask]
    return strategies


def by_action(strategies: Floats, mask: Bools) -> Floats:
    """Invert :func:`by_rank`."""
    probabilities = np.zeros(mask.shape)
    probabilities[mask] = strategies[np.arange(strategies.shape[1]) < mask.sum(axis=1)[:, None]]
    return probabilities


@njit(cache=True)
def draw_weighted(weights: Floats, draw: float) -> int:
    """Return an index from a draw in [0, 1); the probabilities sum to 1."""
    chosen = -1
    for k in range(len(weights)):
        if weights[k] > 0:
            chosen = k
            draw -= weights[k]
            if draw < 0:
                break
    return chosen


@njit(cache=True)
def draw_outcome(outcome_start: Ints, probability: Floats, row: int, draw: float) -> int:
    """Return one of the outcomes of a row."""
    first, last = outcome_start[row], outcome_start[row + 1]
    return int(first + draw_weighted(probability[first:last], draw))


@njit(cache=True)
def draw_start(cumulative_start: Floats, draw: float) -> int:
    """Return a state, drawn from the running sum of the start distribution."""
    return int(np.searchsorted(cumulative_start, draw * cumulative_start[-1], side="right"))
