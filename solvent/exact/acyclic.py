"""Games without cycles: their optimum in exact rationals, and the states that optimal play visits.

**Rationals.** :func:`solve_exactly` is backward induction as in :mod:`solvent.exact.decomposition`,
on the rational numbers that the table was made from. Terms of an expectation are added as integers
over a common denominator, and each sum is reduced once.

**Ends and decisions.** Let V be the values, d(s) the probability that an optimal policy visits
state s (its *occupancy measure*), and V2(s) the value of the second best action there. Then
V(s) - V2(s) is the *action gap* of s, and d(s) (V(s) - V2(s)) its *importance*: the loss at the
start if that action were taken in s instead. In games with many states, the importance of similar
decisions can be added up; the caller says which are similar (:meth:`OptimalOccupancy.decisions`).
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from solvent.exact.components import Components, components
from solvent.exact.expectimax import Number, exact_weights, expectation
from solvent.exact.solution import Solution, check_solution
from solvent.model import RationalGame, TabularGame


@dataclass(frozen=True, eq=False)
class RationalSolution:
    """An optimum in exact rationals.

    Attributes:
        value: The value to player 0, at the start distribution.
        values: [S] the value of every state.
        best: [S] the best row of each state, the first among equals; -1 at an end.
    """

    value: Fraction
    values: list[Fraction]
    best: list[int]


def solve_exactly(game: RationalGame) -> RationalSolution:
    """Find the value and a best row of every state, without any rounding.

    Raises:
        ValueError: If a state can be visited twice, or both players choose in one.
    """
    table = game.table
    parts = _acyclic(table)
    both = (table.action_count[0] > 1) & (table.action_count[1] > 1)
    if both.any():
        odd = table.states[int(np.argmax(both))]
        raise ValueError(f"{table.info.name}: both players choose in state {odd!r}")
    values, best = [Fraction(0)] * table.n_states, [-1] * table.n_states
    row_value, minimizing = _row_value(game, values), table.action_count[1] > 1
    for state in map(int, parts.order[~table.terminal[parts.order]]):
        rows = range(*table.row_start[state : state + 2].tolist())
        found = [row_value(row) for row in rows]
        values[state] = min(found) if minimizing[state] else max(found)
        best[state] = rows[found.index(values[state])]
    value = sum((p * values[s] for s, p in game.initial.items()), Fraction(0))
    return RationalSolution(value, values, best)


def _acyclic(table: TabularGame) -> Components:
    """Return the states of a game as components, each state after all its successors.

    Raises:
        ValueError: If a state can be visited twice.
    """
    parts = components(table)
    if parts.cyclic.any():
        state = int(parts.order[parts.start[int(np.argmax(parts.cyclic))]])
        raise ValueError(
            f"{table.info.name}: state {table.states[state]!r} can be visited twice; only games "
            f"without cycles are solved in rationals or followed to their ends"
        )
    return parts


def _row_value(game: RationalGame, values: list[Fraction]) -> Callable[[int], Fraction]:
    """Return a function from a row to its expected reward plus expected value of the next state.

    Args:
        game: The game.
        values: [S] the value of each state, read when the function is called.
    """
    numbers, next_state = game.numbers, game.table.next_state

    @cache
    def weights(indices: bytes) -> tuple[tuple[int, ...], int]:
        return exact_weights(numbers[i] for i in np.frombuffer(indices, np.int32))

    def value(row: int) -> Fraction:
        outcomes = slice(*game.table.outcome_start[row : row + 2].tolist())
        pairs = zip(next_state[outcomes].tolist(), game.reward[outcomes].tolist(), strict=True)
        after = [values[s] + numbers[r] if numbers[r] else values[s] for s, r in pairs]
        return Fraction(*expectation(*weights(game.probability[outcomes].tobytes()), after))

    return value


@dataclass(frozen=True, slots=True)
class DecisionGroup:
    """A group of similar decisions, or a single one.

    Attributes:
        group: The key of the group.
        importance: The sum of the decisions' importance.
        visits: Expected number of visits to the decisions' states.
        actions: Expected number of times that each action is taken there, most frequent first.
    """

    group: Any
    importance: Number
    visits: Number
    actions: tuple[tuple[int, Number], ...]


@dataclass(frozen=True, eq=False)
class OptimalOccupancy:
    """The states that an optimal policy visits.

    Attributes:
        table: The game.
        value: The value of the game.
        visits: The probability that each state is visited, by index; states without one are not.
        row: [S] the row that is taken in each state; -1 at an end.
        row_value: Maps a row to its value.
    """

    table: TabularGame
    value: Number
    visits: Mapping[int, Number]
    row: list[int]
    row_value: Callable[[int], Number]

    def ends(
        self, group: Callable[[Any], Hashable] = lambda state: state
    ) -> list[tuple[Any, Number]]:
        """Return the states in which episodes end, with their probabilities, likeliest first.

        Args:
            group: Maps a state to a key. The probabilities of states with the same key are added.
        """
        ends: dict[Hashable, Any] = defaultdict(int)
        for s, p in self.visits.items():
            if self.row[s] < 0:
                ends[group(self.table.states[s])] += p
        return sorted(ends.items(), key=lambda end: (-end[1], repr(end[0])))

    def decisions(self, group: Callable[[Any], Hashable], most: int = 10) -> list[DecisionGroup]:
        """Return the most important decisions.

        Args:
            group: Maps a state to a key. Decisions in states with the same key form a group.
            most: Largest number of groups to return.
        """
        importance: dict[Hashable, Any] = defaultdict(int)
        actions: dict[Hashable, dict[int, Any]] = defaultdict(lambda: defaultdict(int))
        for s, p in self.visits.items():
            rows = range(*self.table.row_start[s : s + 2].tolist())
            if len(rows) < 2:
                continue
            key = group(self.table.states[s])
            second = max(self.row_value(row) for row in rows if row != self.row[s])
            importance[key] += p * (self.row_value(self.row[s]) - second)
            actions[key][int(self.table.row_action[0][self.row[s]])] += p
        found = [
            DecisionGroup(
                key,
                importance[key],
                sum(taken.values()),
                tuple(sorted(taken.items(), key=lambda kv: -kv[1])),
            )
            for key, taken in actions.items()
        ]
        return sorted(found, key=lambda decision: -decision.importance)[:most]


def optimal_occupancy(
    game: TabularGame | RationalGame, solution: Solution | RationalSolution
) -> OptimalOccupancy:
    """Find the states that an optimal policy visits.

    Args:
        game: A one-player game without cycles; a :class:`RationalGame` if the solution is a
            :class:`RationalSolution`.
        solution: The solution of that game.

    Returns:
        Numbers in floats for a :class:`~solvent.exact.Solution` and in Fractions for a
        :class:`RationalSolution`.

    Raises:
        ValueError: If the game has a cycle or a second player who chooses, or only one of the two
            arguments is in rationals.
    """
    if isinstance(game, RationalGame) and isinstance(solution, RationalSolution):
        exact, numbers = game, game.numbers
        return _followed(
            OptimalOccupancy(
                game.table,
                solution.value,
                dict(game.initial),
                solution.best,
                _row_value(game, solution.values),
            ),
            lambda n: numbers[exact.probability[n]],
        )
    if isinstance(game, RationalGame) or isinstance(solution, RationalSolution):
        raise ValueError("either both the game and the solution must be in rationals, or neither")
    check_solution(solution, game)
    table, row_values = game, solution.action_values
    actions = solution.policies[0].probabilities.argmax(axis=1)
    rank = np.cumsum(table.mask[0], axis=1)[np.arange(table.n_states), actions] - 1
    return _followed(
        OptimalOccupancy(
            table,
            solution.value,
            {int(s): float(table.initial[s]) for s in np.flatnonzero(table.initial)},
            np.where(table.terminal, -1, table.row_start[:-1] + rank).tolist(),
            lambda k: float(row_values[k]),
        ),
        lambda n: float(table.probability[n]),
    )


def _followed(start: OptimalOccupancy, probability: Callable[[int], Any]) -> OptimalOccupancy:
    """Return `start` with the visits of all states that follow from its visited states."""
    table, row, visits = start.table, start.row, dict(start.visits)
    if (table.action_count[1] > 1).any():
        raise ValueError(f"{table.info.name} has a second player who chooses")
    # In reverse order, every state comes before its successors.
    for s in _acyclic(table).order[::-1].tolist():
        if s in visits and row[s] >= 0:
            for n in range(*table.outcome_start[row[s] : row[s] + 2].tolist()):
                target = int(table.next_state[n])
                visits[target] = visits.get(target, 0) + visits[s] * probability(n)
    return replace(start, visits=visits)
