"""The values of a game for one player by a linear program, for tests of the solver."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from solvent.model import TabularGame
from solvent.model.arrays import Floats


def least_excessive(game: TabularGame) -> Floats:
    """[S] the least values that no row exceeds (d'Epenoux 1963; Puterman 1994, section 6.9)."""
    shape = (game.n_rows, game.n_states)
    own = csr_array((np.ones(game.n_rows), (np.arange(game.n_rows), game.row_state)), shape=shape)
    ahead = csr_array((game.probability, (game.outcome_row, game.next_state)), shape=shape)
    found = linprog(
        c=np.ones(game.n_states),
        A_ub=ahead - own,
        b_ub=-game.reward,
        bounds=np.where(game.terminal[:, None], 0.0, [[-np.inf, np.inf]]),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    values: Floats = found.x
    return values
