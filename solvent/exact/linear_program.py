"""The optimum of a one-player game as a linear program, primal and dual.

Primal, over values v (d'Epenoux 1963; Puterman 1994, section 6.9, undiscounted):

    min  mu' v   subject to   v(s) - sum p(s'|k) v(s') >= r(k)   for every row k of every state s

Dual, over the occupancy measure x of rows, how often each is taken:

    max  r' x    subject to   sum over k of s of x(k) - sum over k of p(s|k) x(k) = mu(s),   x >= 0

It shares nothing with :func:`solvent.exact.solve` but the table, so it checks the solver; it is
slower, and exact only up to the tolerances of HiGHS. It needs every episode to end: where one
could go round for ever the primal has no least solution, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from solvent.model import TabularGame
from solvent.model.arrays import Floats


@dataclass(frozen=True, eq=False)
class LinearProgramSolution:
    """Both sides of the program.

    Attributes:
        primal: The least value of the primal, at the start weights used.
        dual: The largest value of the dual; equal to the primal up to tolerances.
        values: [S] v, optimal in every state.
        occupation: [K] x, how often each row is taken in expectation.
    """

    primal: float
    dual: float
    values: Floats
    occupation: Floats


def solve_linear_program(game: TabularGame, start: Floats | None = None) -> LinearProgramSolution:
    """Solve a one-player game by two linear programs.

    Args:
        game: A game in which only player 0 chooses.
        start: [S] weights of the states. The default weighs all states equally, so that the
            primal's values are optimal everywhere and not only where an optimal policy leads.

    Raises:
        ValueError: If player 1 has a choice.
        ArithmeticError: If HiGHS does not reach an optimum, for instance because play need not
            end.
    """
    if (game.action_count[1] > 1).any():
        raise ValueError(f"{game.info.name}: player 1 has a choice; the program is for one player")
    live = np.flatnonzero(~game.terminal)
    place = np.full(game.n_states, -1)
    place[live] = np.arange(len(live))
    weight = np.full(game.n_states, 1 / len(live)) if start is None else np.asarray(start, float)

    inner = place[game.next_state] >= 0
    transition = csr_array(
        (game.probability[inner], (game.outcome_row[inner], place[game.next_state[inner]])),
        shape=(game.n_rows, len(live)),
    )
    own = csr_array(
        (np.ones(game.n_rows), (np.arange(game.n_rows), place[game.row_state])),
        shape=(game.n_rows, len(live)),
    )
    balance = (own - transition).tocsr()
    tolerances = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    primal = linprog(
        c=weight[live],
        A_ub=-balance,
        b_ub=-game.reward,
        bounds=(None, None),
        method="highs",
        options=tolerances,
    )
    dual = linprog(
        c=-game.reward,
        A_eq=balance.T.tocsr(),
        b_eq=weight[live],
        bounds=(0, None),
        method="highs",
        options=tolerances,
    )
    for side, program in (("primal", primal), ("dual", dual)):
        if program.status != 0:
            raise ArithmeticError(f"{game.info.name}: the {side} has no optimum: {program.message}")
    values = np.zeros(game.n_states)
    values[live] = primal.x
    return LinearProgramSolution(float(primal.fun), -float(dual.fun), values, dual.x)
