"""Dominated actions of a matrix game, and the actions that dominate them.

An action is *strictly dominated* if a mixed strategy of the player's other actions gets more
against every action of the other player. No equilibrium uses it, so it may be left out; then more
actions may be dominated in what is left, and so on. Where this ends does not depend on the order.
The question is a matrix game itself: in the matrix D of the other actions' advantages over action
i, the row player secures more than 0 exactly if i is strictly dominated, and an optimal mixed
strategy dominates it.

An action is *weakly dominated* if a mixed strategy never gets less and somewhere gets more. Leaving
it out keeps the value and at least one equilibrium, but may lose others, and where it ends may
depend on the order; here both players' dominated actions go at once, round by round (Osborne and
Rubinstein 1994, *A Course in Game Theory*, chapter 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from solvent.exact.matrix_game import solve_matrix_game
from solvent.model.arrays import Floats

SURE = 1e-9
"""A mixed strategy has to dominate by this much of the payoffs' range; pure ones exactly."""


@dataclass(frozen=True)
class Removal:
    """An action that was left out.

    Attributes:
        round: The round, from 1.
        player: 0 for the row player.
        action: Row or column of the original matrix.
        by: The mixed strategy that dominates it: actions and probabilities, which sum to 1.
    """

    round: int
    player: int
    action: int
    by: tuple[tuple[int, float], ...]

    def __str__(self) -> str:
        """One line."""
        by = " + ".join(f"{p:.3g} x {a}" if p < 1 else f"{a}" for a, p in self.by)
        return f"round {self.round}: {('row', 'column')[self.player]} {self.action} by {by}"


@dataclass(frozen=True)
class DominanceReport:
    """The result of iterated dominance.

    Attributes:
        rows: The remaining rows.
        columns: The remaining columns.
        removals: The removals in the order in which they were found.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    removals: tuple[Removal, ...]

    def __str__(self) -> str:
        """A line for each removal, and one for what is left."""
        left = f"left: rows {list(self.rows)}, columns {list(self.columns)}"
        return "\n".join([*map(str, self.removals), left])


def iterated_dominance(
    payoff: Floats, *, weak: bool = False, mixed: bool = True
) -> DominanceReport:
    """Leave out dominated actions of both players until none is left.

    Args:
        payoff: [m, n] finite payoffs to the row player; the column player gets minus them.
        weak: Whether weakly dominated actions go as well.
        mixed: Whether mixed strategies dominate, or only pure actions.

    Raises:
        ValueError: If the matrix is empty or has an entry that is not finite.
        ArithmeticError: If a linear program could not be solved.
    """
    a = np.asarray(payoff, float)
    if a.ndim != 2 or a.size == 0 or not np.isfinite(a).all():
        raise ValueError(f"a matrix game needs a finite matrix [m, n]; got shape {a.shape}")
    margin = SURE * float(a.max() - a.min())
    left = (list(range(a.shape[0])), list(range(a.shape[1])))
    removals: list[Removal] = []
    for number in range(1, sum(a.shape)):
        # Both players look at the same game; what the row player leaves out goes after the round.
        found = [
            Removal(number, player, left[player][action], _named(by, left[player]))
            for player, gains in enumerate((a[np.ix_(*left)], -a[np.ix_(*left)].T))
            for action, by in _dominated(gains, weak, mixed, margin)
        ]
        if not found:
            break
        for removal in found:
            left[removal.player].remove(removal.action)
        removals += found
    return DominanceReport(tuple(left[0]), tuple(left[1]), tuple(removals))


def _dominated(gains: Floats, weak: bool, mixed: bool, margin: float) -> list[tuple[int, Floats]]:
    """Dominated rows, each with the strategy [m] that dominates it, none of them removed."""
    found: list[tuple[int, Floats]] = []
    staying = np.ones(len(gains), bool)
    for action in range(len(gains)):
        others = np.flatnonzero(staying & (np.arange(len(gains)) != action))
        if not len(others):
            break
        strategy = _dominating(gains[others] - gains[action], weak, mixed, margin)
        if strategy is not None:
            by = np.zeros(len(gains))
            by[others] = strategy
            staying[action] = False
            # Those found before may have been dominated by this one; it gives way to what beat it.
            found = [(a, b + b[action] * (by - np.eye(len(gains))[action])) for a, b in found]
            found.append((action, by))
    return found


def _dominating(advantage: Floats, weak: bool, mixed: bool, margin: float) -> Floats | None:
    """A strategy over rows that secures an advantage, None if there is none."""
    beats = advantage.min(axis=1) >= 0 if weak else advantage.min(axis=1) > 0
    beats &= advantage.max(axis=1) > 0
    if beats.any():
        return np.asarray(np.arange(len(advantage)) == beats.argmax(), float)
    if not mixed:
        return None
    if not weak:
        game = solve_matrix_game(advantage)
        return game.row_strategy if game.value > margin else None
    program = linprog(
        c=-advantage.sum(axis=1),
        A_ub=-advantage.T,
        b_ub=np.zeros(advantage.shape[1]),
        A_eq=np.ones((1, len(advantage))),
        b_eq=[1.0],
        method="highs",
    )
    if program.status == 2:
        return None
    if program.status != 0:
        raise ArithmeticError(
            f"HiGHS did not find whether a mixed strategy dominates: {program.message}"
        )
    x = np.maximum(program.x, 0.0) / np.maximum(program.x, 0.0).sum()
    gain = x @ advantage
    return x if gain.min() >= -margin and gain.max() > margin else None


def _named(x: Floats, names: list[int]) -> tuple[tuple[int, float], ...]:
    return tuple((names[k], float(x[k])) for k in np.flatnonzero(x > 0).tolist())
