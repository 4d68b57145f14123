"""The range of a number over all optimal policies of player 0, against a fixed opponent.

The optimal choices of a state are a polytope: the maximin strategies of its matrix, or the mixtures
of the best actions. A number that is a ratio of two expectations over an episode takes its least
and its largest value where each state is at a corner. For a guess of the ratio, the difference of
the numerator and so many denominators is the return of a Markov decision process; where its optimum
is 0 the guess is right (W. Dinkelbach, "On nonlinear fractional programming", Management Science
13, 1967).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Floats

WON, LOST, STEPS = np.eye(3)
"""What is counted: goals of player 0, goals of player 1, and steps."""


def maximin_corners(payoffs: Floats, value: float) -> Floats:
    """[V, A] the corners of the set of all maximin strategies of a matrix with a value."""
    size = len(payoffs)
    sides = np.concatenate((np.eye(size), payoffs.T))
    least = np.concatenate((np.zeros(size), np.full(payoffs.shape[1], value)))
    met = np.array(list(combinations(range(len(sides)), size - 1)))
    systems = np.concatenate((sides[met], np.ones((len(met), 1, size))), axis=1)
    known = np.concatenate((least[met], np.ones((len(met), 1))), axis=1)
    regular = np.abs(np.linalg.det(systems)) > 1e-9
    points = np.linalg.solve(systems[regular], known[regular][..., None])[..., 0]
    inside = points[(points @ sides.T >= least - 1e-9).all(axis=1)]
    return np.unique(inside.round(9), axis=0)


class Counts:
    """Episodes of a game in which player 0 chooses against a fixed policy.

    Args:
        table: The game; every action is legal everywhere, and a reward is a goal.
        opponent: The policy of player 1.
    """

    def __init__(self, table: TabularGame, opponent: TabularPolicy) -> None:
        self.live = np.flatnonzero(~table.terminal)
        place = np.full(table.n_states, -1)
        place[self.live] = np.arange(len(self.live))
        rows = np.repeat(np.arange(table.n_rows), np.diff(table.outcome_start))
        state, own = table.row_state[rows], table.row_action[0][rows]
        chance = table.probability * opponent.probabilities[state, table.row_action[1][rows]]
        shape = len(self.live), table.mask[0].shape[1]
        self.next = np.zeros((*shape, table.n_states))
        np.add.at(self.next, (place[state], own, table.next_state), chance)
        self.next = self.next[:, :, self.live]
        self.counted = np.zeros((*shape, 3))
        self.counted[:, :, 2] = 1
        for kind, sign in enumerate((1, -1)):
            goal = chance * (table.outcome_reward * sign > 0)
            np.add.at(self.counted[:, :, kind], (place[state], own), goal)
        self.start = table.initial[self.live]

    def totals(self, strategies: Floats) -> Floats:
        """[S, 3] the expected counts from each state on; `strategies` is [S, A]."""
        move = (strategies[:, None] @ self.next)[:, 0]
        now = (strategies[:, None] @ self.counted)[:, 0]
        return np.asarray(np.linalg.solve(np.eye(len(move)) - move, now))

    def extreme(self, corners: Sequence[Floats], top: Floats, bottom: Floats, sign: int) -> float:
        """The largest (`sign` 1) or least (-1) ratio of two sums of counts.

        Args:
            corners: [V, A] of each state, the corners of its optimal choices.
            top: The weights of the numerator.
            bottom: Those of the denominator.
            sign: 1 or -1.
        """
        every = np.concatenate(corners)
        state = np.repeat(np.arange(len(corners)), [len(one) for one in corners])
        first = np.searchsorted(state, np.arange(len(corners)))
        chosen, ratio = first, np.inf
        while True:
            totals = self.totals(every[chosen])
            begun = self.start @ totals
            before, ratio = ratio, float((begun @ top) / (begun @ bottom))
            gain = sign * (top - ratio * bottom)
            value = (every * ((self.counted + self.next @ totals) @ gain)[state]).sum(axis=1)
            better = np.maximum.reduceat(value, first) > value[chosen] + 1e-13
            if not better.any() or abs(ratio - before) < 1e-14:
                return ratio
            ranked = np.lexsort((-value, state))
            chosen = np.where(better, ranked[first], chosen)
