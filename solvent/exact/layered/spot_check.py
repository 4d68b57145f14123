"""States solved again by the rules alone, as a check that shares no code with the solvers.

The successors of a state are enumerated from the rules, with exact probabilities. Their recorded
values make its matrix of payoffs, and a linear program solves that: a general one, HiGHS, whose
strategies are then rated in plain arithmetic, so that the value lies between what the row's
strategy guarantees and what the column's allows. The recorded value may differ by the error that
was recorded of its own layer, and by what its successors' values were rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from solvent.exact.layered.game import LayeredGame, Place
from solvent.model.arrays import Floats


class Bracket(NamedTuple):
    """Two numbers between which a value lies."""

    lower: float
    upper: float


def solved_again(
    game: LayeredGame, rules: Any, state: Any, stored: Callable[[Place], float]
) -> Bracket:
    """Solve a state from the values of its successors.

    Args:
        game: The layers, which say where values stand.
        rules: The rules of the game.
        state: The state.
        stored: Gives the recorded value at a successor's place.

    Returns:
        A bracket of the value to player 0.
    """
    known: dict[Any, Bracket] = {}

    def after(reached: Any) -> Bracket:
        if rules.is_terminal(reached):
            return Bracket(0.0, 0.0)
        if reached not in known:
            place = game.place(reached)
            if place is None:
                known[reached] = backed_up(reached)
            else:
                value = game.value(reached, stored(place))
                known[reached] = Bracket(value, value)
        return known[reached]

    def backed_up(at: Any) -> Bracket:
        legal = rules.legal_actions(at)
        payoffs: list[Floats] = []
        for bound in range(2):
            entries = [
                fsum(
                    float(outcome.probability)
                    * (float(outcome.reward) + after(outcome.state)[bound])
                    for outcome in rules.transition(at, joint)
                )
                for joint in product(*legal)
            ]
            payoffs.append(np.reshape(entries, (len(legal[0]), -1)))
        return Bracket(matrix_game(payoffs[0]).lower, matrix_game(payoffs[1]).upper)

    return backed_up(state)


def matrix_game(payoffs: Floats) -> Bracket:
    """Return a proved bracket of a matrix game's value to the row player, who maximizes."""
    least, most = float(payoffs.min()), float(payoffs.max())
    if least == most:
        return Bracket(least, most)
    scaled = (payoffs - least) / (most - least)
    row, column = _strategy(scaled), _strategy(1 - scaled.T)
    return Bracket(float((row @ payoffs).min()), float((payoffs @ column).max()))


def _strategy(payoffs: Floats) -> Floats:
    """An optimal strategy of the row player: maximize v such that every column pays v at least."""
    rows, columns = payoffs.shape
    program = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack((-payoffs.T, np.ones(columns))),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    strategy = np.maximum(program.x[:rows], 0.0)
    return np.asarray(strategy / strategy.sum())
