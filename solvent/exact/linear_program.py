"""The optimum of a one-player game as a linear program, primal and dual.

Primal, over values v (d'Epenoux 1963; Puterman 1994, section 6.9, undiscounted):

    min  mu' v   subject to   v(s) - sum p(s'|k) v(s') >= r(k)   for every row k of every state s

Dual, over the occupancy measure x of rows (how often each is taken):

    max  r' x    subject to   sum over k of s of x(k) - sum over k of p(s|k) x(k) = mu(s),   x >= 0

It shares nothing with :func:`solvent.exact.solve` but the table, so it checks the solver. It is
slower, and exact only up to the tolerances of HiGHS. Every episode must end: if one could go on for
ever, the primal has no optimum, and an error is raised.

If an episode does stay in an end component for ever, a third program finds the loop of least
average reward (Puterman 1994, section 8.8). There x is the share of each row in the moves, and each
component has its own sum:

    min  r' x    subject to   sum over k of s of x(k) - sum over k of p(s|k) x(k) = 0,
                              sum of x(k) = 1,   x >= 0
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from solvent.model import TabularGame
from solvent.model.arrays import Floats, Ints

# The options of HiGHS.
_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class LinearProgramSolution:
    """The optima of the primal and the dual.

    Attributes:
        primal: The least value of the primal.
        dual: The largest value of the dual; equal to the primal up to tolerances.
        values: [S] v, optimal in every state.
        occupation: [K] x, how often each row is taken in expectation.
    """

    primal: float
    dual: float
    values: Floats
    occupation: Floats


def solve_linear_program(game: TabularGame) -> LinearProgramSolution:
    """Solve a one-player game by a linear program and its dual.

    All states have the same weight, so that the values are optimal in all of them and not only in
    those that an optimal policy visits.

    Args:
        game: A game in which only player 0 chooses.

    Raises:
        ValueError: If player 1 has a choice.
        ArithmeticError: If HiGHS does not reach an optimum, for instance because play need not
            end.
    """
    from scipy.optimize import linprog

    if (game.action_count[1] > 1).any():
        raise ValueError(f"{game.info.name}: player 1 has a choice; the program is for one player")
    live, shape = ~game.terminal, (game.n_rows, game.n_states)
    transition = csr_array((game.probability, (game.outcome_row, game.next_state)), shape=shape)
    own = csr_array((np.ones(game.n_rows), (np.arange(game.n_rows), game.row_state)), shape=shape)
    program = linprog(
        c=live / live.sum(),
        A_ub=(transition - own).tocsr(),
        b_ub=-game.reward,
        # The value of an end is 0.
        bounds=np.where(live[:, None], (-np.inf, np.inf), 0.0),
        method="highs",
        options=_TOLERANCES,
    )
    if program.status != 0:
        raise ArithmeticError(f"{game.info.name}: the program has no optimum: {program.message}")
    occupation = -program.ineqlin.marginals
    return LinearProgramSolution(
        float(program.fun), float(game.reward @ occupation), program.x, occupation
    )


def loops_of_least_reward(game: TabularGame, rows: Ints, label: Ints, sign: int = 1) -> Floats:
    """Choose a row for each state of some end components, such that the average reward is least.

    The components share no variables, so one program serves them all.

    Args:
        game: A game in which at most one player has a choice in the components.
        rows: The rows that never leave their component, sorted.
        label: [S] a number for each component.
        sign: 1 for the reward to player 0, -1 for the reward to player 1.

    Returns:
        [K] 1 for the chosen rows, else 0. They are optimal up to the tolerances of HiGHS, in units
        of the largest reward of their component, so their gain has yet to be evaluated.

    Raises:
        ArithmeticError: If HiGHS does not reach an optimum.
    """
    from scipy.optimize import linprog

    states, place = np.unique(game.row_state[rows], return_inverse=True)
    names, component = np.unique(label[game.row_state[rows]], return_inverse=True)
    used = np.flatnonzero(np.isin(game.outcome_row, rows))
    shape = len(states), len(rows)
    column = np.arange(len(rows))
    out = csr_array((np.ones(len(rows)), (place, column)), shape=shape)
    target = np.searchsorted(states, game.next_state[used])
    source = np.searchsorted(rows, game.outcome_row[used])
    into = csr_array((game.probability[used], (target, source)), shape=shape)
    total = csr_array((np.ones(len(rows)), (component, column)), shape=(len(names), len(rows)))
    # Tolerances are absolute, so each component's costs are scaled below 1, by a power of two.
    cost = sign * game.reward[rows]
    largest = np.zeros(len(names))
    np.maximum.at(largest, component, np.abs(cost))
    program = linprog(
        c=np.ldexp(cost, -np.frexp(largest)[1][component]),
        A_eq=vstack((out - into, total)),
        b_eq=np.concatenate((np.zeros(len(states)), np.ones(len(names)))),
        method="highs",
        options=_TOLERANCES,
    )
    if program.status != 0:
        raise ArithmeticError(
            f"{game.info.name}: the program of loops has no optimum: {program.message}"
        )
    order = np.lexsort((-program.x, place))
    _, first = np.unique(place[order], return_index=True)
    chosen = np.zeros(game.n_rows)
    chosen[rows[order[first]]] = 1.0
    return chosen
