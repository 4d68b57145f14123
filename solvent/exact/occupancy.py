"""The ends and main decisions of an optimal policy in a game for one without cycles.

With V the values, d(s) the probability that an optimal policy visits state s (its *occupancy
measure*), and V2(s) the value of the second best action there, V(s) - V2(s) is the *action gap* of
s and d(s) (V(s) - V2(s)) its *importance*: what would be lost from the start if that action were
taken in s instead. In games with many states the importance of similar ones is added up; what is
similar, the caller says.

Everything is in floats for a :class:`~solvent.exact.solution.Solution` and in Fractions for a
:class:`~solvent.exact.rational.RationalSolution`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from solvent.exact.components import components
from solvent.exact.rational import RationalSolution, row_value
from solvent.exact.solution import Solution
from solvent.exact.tree_solution import Number
from solvent.model import RationalGame, TabularGame


@dataclass(frozen=True, slots=True)
class DecisionGroup:
    """A decision, or several that are alike.

    Attributes:
        group: The key of the group.
        importance: The sum of theirs.
        visits: Expected number of visits to their states.
        actions: The frequency of each action there, the most frequent first.
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
        visits: The probability that each state is visited, by index, where it is not 0.
        row: [S] the row that is taken in each state; -1 at an end.
        row_value: The value of a row.
    """

    table: TabularGame
    value: Number
    visits: Mapping[int, Number]
    row: list[int]
    row_value: Callable[[int], Number]

    def ends(
        self, group: Callable[[Any], Hashable] = lambda state: state
    ) -> list[tuple[Any, Number]]:
        """The states in which episodes end, with their probabilities, the likeliest first.

        Args:
            group: The probabilities of states for which this gives the same are added up.
        """
        ends: dict[Hashable, Any] = defaultdict(int)
        for s, p in self.visits.items():
            if self.row[s] < 0:
                ends[group(self.table.states[s])] += p
        return sorted(ends.items(), key=lambda end: (-end[1], repr(end[0])))

    def decisions(self, group: Callable[[Any], Hashable], most: int = 10) -> list[DecisionGroup]:
        """The most important decisions.

        Args:
            group: Decisions for which this gives the same are added up.
            most: Number of decisions to return, at most.
        """
        importance: dict[Hashable, Any] = defaultdict(int)
        visits: dict[Hashable, Any] = defaultdict(int)
        actions: dict[Hashable, dict[int, Any]] = defaultdict(lambda: defaultdict(int))
        row_start = self.table.row_start
        action_of_row = self.table.row_action[0]
        for s, p in self.visits.items():
            rows = range(*row_start[s : s + 2].tolist())
            if len(rows) < 2:
                continue
            key = group(self.table.states[s])
            best = self.row_value(self.row[s])
            second = max(self.row_value(row) for row in rows if row != self.row[s])
            importance[key] += p * (best - second)
            visits[key] += p
            actions[key][int(action_of_row[self.row[s]])] += p
        found = [
            DecisionGroup(
                key,
                importance[key],
                visits[key],
                tuple(sorted(taken.items(), key=lambda kv: -kv[1])),
            )
            for key, taken in actions.items()
        ]
        return sorted(found, key=lambda decision: -decision.importance)[:most]


def optimal_occupancy(
    game: TabularGame | RationalGame, solution: Solution | RationalSolution
) -> OptimalOccupancy:
    """Follow an optimal policy from the start to its ends.

    Args:
        game: A game for one player without cycles; a :class:`RationalGame` if the solution is one
            in rationals.
        solution: The solution of that game.

    Raises:
        ValueError: If the game has a cycle or a second player who chooses, or the two arguments
            are not of one kind.
    """
    if isinstance(game, RationalGame) and isinstance(solution, RationalSolution):
        table, numbers = game.table, game.numbers
        row = solution.best.tolist()
        exact = solution
        return OptimalOccupancy(
            table,
            solution.value,
            _visits(table, row, dict(game.initial), lambda n: numbers[game.probability[n]]),
            row,
            lambda k: row_value(game, exact, k),
        )
    if isinstance(game, RationalGame) or isinstance(solution, RationalSolution):
        raise ValueError("a game in rationals goes with a solution in rationals, and only with it")
    solution.check_is_for(game)
    actions = solution.policies[0].probabilities.argmax(axis=1)
    rank = np.cumsum(game.mask[0], axis=1)[np.arange(game.n_states), actions] - 1
    row = np.where(game.terminal, -1, game.row_start[:-1] + rank).tolist()
    starts = {int(s): float(game.initial[s]) for s in np.flatnonzero(game.initial)}
    return OptimalOccupancy(
        game,
        solution.value,
        _visits(game, row, dict(starts), lambda n: float(game.probability[n])),
        row,
        lambda k: float(solution.action_values[k]),
    )


def _visits(
    table: TabularGame,
    row: list[int],
    visits: dict[int, Any],
    probability: Callable[[int], Fraction | float],
) -> dict[int, Number]:
    """Pass the probability of each visited state on to what follows."""
    parts = components(table)
    if parts.cyclic.any() or (table.action_count[1] > 1).any():
        raise ValueError(f"{table.info.name} has cycles or a second player who chooses")
    next_state = table.next_state
    outcome_start = table.outcome_start
    # The other way round, every state comes before all that it leads to.
    for s in parts.order[::-1].tolist():
        p = visits.get(s)
        if p is None or row[s] < 0:
            continue
        for n in range(*outcome_start[row[s] : row[s] + 2].tolist()):
            target = int(next_state[n])
            visits[target] = visits.get(target, 0) + p * probability(n)
    return visits
