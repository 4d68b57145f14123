"""The optimum of an acyclic game for one player, or of two who take turns, in exact rationals.

Backward induction as in :mod:`solvent.exact.decomposition`, on the rationals behind the arrays.
Terms of an expectation are added as whole numbers over a common denominator, and each value is
reduced once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from solvent.exact.components import components, free_rows
from solvent.model import RationalGame
from solvent.model.arrays import Ints


@dataclass(frozen=True, eq=False)
class RationalSolution:
    """An optimum in exact rationals.

    Attributes:
        value: The value to player 0, at the start distribution.
        numerators: [S] of the values of the states.
        denominators: [S] of the values of the states.
        best: [S] the best row of each state, the first of equals; -1 at an end.
    """

    value: Fraction
    numerators: list[int]
    denominators: list[int]
    best: Ints

    def value_of(self, state: int) -> Fraction:
        """The value of a state, by its index."""
        return Fraction(self.numerators[state], self.denominators[state])


def solve_exactly(game: RationalGame) -> RationalSolution:
    """Find the value of every state and a best row, with no rounding anywhere.

    Raises:
        ValueError: If a state can be visited twice, or both players choose in one.
    """
    table = game.table
    parts = components(table)
    if parts.cyclic.any():
        state = int(parts.order[parts.start[int(np.argmax(parts.cyclic))]])
        raise ValueError(
            f"{table.info.name}: state {table.states[state]!r} can be visited twice; only games "
            f"without cycles are solved in rationals"
        )
    both = (table.action_count[0] > 1) & (table.action_count[1] > 1)
    if both.any():
        odd = table.states[int(np.argmax(both))]
        raise ValueError(f"{table.info.name}: both players choose in state {odd!r}")
    rows = _Rows(game)
    best = np.full(table.n_states, -1, np.int64)
    minimizing = table.action_count[1] > 1
    for state in map(int, parts.order[~table.terminal[parts.order]]):
        first, end = table.row_start[state : state + 2].tolist()
        n, d = rows.expectation(first)
        chosen = first
        for row in range(first + 1, end):
            other_n, other_d = rows.expectation(row)
            left, right = other_n * d, n * other_d
            if left < right if minimizing[state] else left > right:
                n, d, chosen = other_n, other_d, row
        common = gcd(n, d)
        rows.numerators[state], rows.denominators[state] = n // common, d // common
        best[state] = chosen
    value = sum(
        (p * Fraction(rows.numerators[s], rows.denominators[s]) for s, p in game.initial.items()),
        Fraction(0),
    )
    return RationalSolution(value, rows.numerators, rows.denominators, best)


def row_value(game: RationalGame, solution: RationalSolution | _Rows, row: int) -> Fraction:
    """The expected reward of a row and the expected value of the next state."""
    outcomes = range(*game.table.outcome_start[row : row + 2].tolist())
    return sum(
        (
            game.numbers[game.probability[n]]
            * (game.numbers[game.reward[n]] + solution.value_of(int(game.table.next_state[n])))
            for n in outcomes
        ),
        Fraction(0),
    )


class _Rows:
    """Expectations of rows, given the values of all states that they lead to."""

    def __init__(self, game: RationalGame) -> None:
        table, self.game = game.table, game
        self.numerators = [0] * table.n_states
        self.denominators = [1] * table.n_states
        self._outcome_start = table.outcome_start
        self._next = table.next_state
        self._probability = game.probability
        self._numbers = game.numbers
        self._free = free_rows(table)
        self._weights: dict[bytes, tuple[list[int], int]] = {}

    def value_of(self, state: int) -> Fraction:
        """The value of a state that is solved."""
        return Fraction(self.numerators[state], self.denominators[state])

    def expectation(self, row: int) -> tuple[int, int]:
        """Numerator and denominator, not reduced."""
        first, end = self._outcome_start[row : row + 2].tolist()
        targets = self._next[first:end].tolist()
        if not self._free[row]:
            value = row_value(self.game, self, row)
            return value.numerator, value.denominator
        if len(targets) == 1:
            return self.numerators[targets[0]], self.denominators[targets[0]]
        weights, total = self._whole_weights(first, end)
        below = [self.denominators[s] for s in targets]
        common = lcm(*below)
        numerator = 0
        for s, weight, d in zip(targets, weights, below, strict=True):
            numerator += weight * self.numerators[s] * (common // d)
        return numerator, total * common

    def _whole_weights(self, first: int, end: int) -> tuple[list[int], int]:
        """Probabilities as whole numbers and what they sum to."""
        signature = self._probability[first:end].tobytes()
        known = self._weights.get(signature)
        if known is None:
            numbers = [self._numbers[i] for i in self._probability[first:end]]
            total = lcm(*(p.denominator for p in numbers))
            weights = [p.numerator * (total // p.denominator) for p in numbers]
            if sum(weights) != total:
                raise ValueError(f"probabilities sum to {Fraction(sum(weights), total)}, not 1")
            known = self._weights[signature] = weights, total
        return known
