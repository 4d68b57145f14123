"""What the calls and kicks of one row are worth in all columns of a layer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvent.games.football_clock.solver.block_kernel import rate_mixed_cells, rate_results
from solvent.games.football_clock.solver.layout import FormLayout, Layer
from solvent.games.football_clock.solver.problem import LayerProblem, layer_problem
from solvent.games.football_clock.solver.solution import TimedSolution
from solvent.games.football_clock.solver.tables import TimedTables
from solvent.model.arrays import Floats, Ints


class RowCalls(NamedTuple):
    """The calls of a situation in all columns, worth to the offence as values are stored.

    Attributes:
        contested: [C, k, m] of the first k legal actions against each call of the defence.
        certain: [C, others] of the other legal actions, which are worth the same against all: the
            field goal and the declaration of punt formation, in this order, where they are legal.
    """

    contested: Floats
    certain: Floats


def solved_problem(solution: TimedSolution, tables: TimedTables, layer: Layer) -> LayerProblem:
    """A layer of a solution, with all that follows it."""
    return layer_problem(solution.layout, tables, layer, solution.values)


def row_calls(layout: FormLayout, problem: LayerProblem, row: int, declared: Floats) -> RowCalls:
    """Rate the calls of a situation.

    Args:
        layout: The form.
        problem: The layer.
        row: The situation.
        declared: [C] the values of the same line in punt formation, read on the last down.
    """
    loops, worth = problem.tables.loops, problem.worth
    situations = layout.rules.n_situations
    results = (len(loops.branch_start) - 1) // situations
    by_row = np.zeros((results + len(loops.mixed_start) - 1, worth.shape[1]))
    rate_results(loops, row, results, worth, by_row)
    for chosen, options, chooser in zip(
        loops.chosen_result, loops.option, loops.chooser, strict=True
    ):
        better = np.maximum if chooser == 0 else np.minimum
        by_row[chosen] = better(*by_row[options])
    rate_mixed_cells(loops, results, by_row)
    by_row[results - 1] = declared
    calls: Ints = loops.row_call[loops.row_start[row] : loops.row_start[row + 1]]
    contested = int(loops.contested[row])
    return RowCalls(
        contested=np.ascontiguousarray(np.moveaxis(by_row[loops.cell[calls[:contested]]], -1, 0)),
        certain=by_row[loops.cell[calls[contested:], 0]].T.copy(),
    )
