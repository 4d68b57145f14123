"""A compiled pass of backward induction in which one player has a fixed policy."""

from __future__ import annotations

import numpy as np
from numba import njit

from solvent.model.arrays import Bools, Floats, Ints


@njit(cache=True)
def respond(
    states: Ints,
    row_start: Ints,
    outcome_start: Ints,
    next_state: Ints,
    probability: Floats,
    outcome_reward: Floats,
    weight: Floats,
    answers: Bools,
    minimizing: bool,
) -> Floats:
    """The values when a player answers in the best way to what the other one does, [S].

    Args:
        states: All of them, each after its successors.
        row_start: As in :class:`solvent.model.TabularGame`, like the four that follow.
        outcome_start: Slices of outcomes.
        next_state: Where outcomes lead.
        probability: Of each outcome.
        outcome_reward: Of each outcome.
        weight: [K] the probability of each row where the policy that is answered decides.
        answers: [S] whether the player who answers decides.
        minimizing: Whether that is player 1.
    """
    values = np.zeros(len(row_start) - 1)
    for s in states:
        best, mean, first = 0.0, 0.0, True
        for k in range(row_start[s], row_start[s + 1]):
            if not answers[s] and weight[k] == 0:
                continue
            q = 0.0
            for n in range(outcome_start[k], outcome_start[k + 1]):
                q += probability[n] * (outcome_reward[n] + values[next_state[n]])
            mean += weight[k] * q
            if first or (q < best if minimizing else q > best):
                best, first = q, False
        values[s] = best if answers[s] else mean
    return values
