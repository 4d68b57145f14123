"""The optimal player of football with a clock, as a policy that is asked for whole blocks.

A solution holds values. The strategies of a layer's states are those of the matrix games that were
solved for it, and are solved again here when they are asked for, from what was mixed a tick nearer
to the end.

What is best is not always unique. Strategies are those that the solver finds; of time-outs, kicks
and choices that are worth the same, no time-out, the normal kick and the play. Where the game is
decided, whatever is called, both call their first.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from solvent.exact.layered.game import Block, WarmStart
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK
from solvent.games.football_clock.solver.block_kernel import (
    BlockStrategies,
    kick_values,
    solve_block,
)
from solvent.games.football_clock.solver.layout import FormLayout, Layer
from solvent.games.football_clock.solver.policies import (
    Asked,
    LayerStrategies,
    RoleStrategies,
)
from solvent.games.football_clock.solver.problem import LayerProblem, layer_problem
from solvent.games.football_clock.solver.tables import timed_tables
from solvent.model.arrays import Floats


class OptimalLayers:
    """Plays by the values of a solution.

    Args:
        layout: Of the form.
        read: Gives the values of a layer, such as :meth:`TimedSolution.values`.
    """

    def __init__(self, layout: FormLayout, read: Callable[[Layer], Floats]) -> None:
        self.layout = layout
        self.read = read
        self._tables = timed_tables(layout.rules)
        self._lock = Lock()
        self._problem: LayerProblem | None = None

    def strategies(
        self, layer: Layer, block: Block, start: WarmStart | None = None
    ) -> LayerStrategies:
        problem = self._problem_of(layer)
        rules, tables = self.layout.rules, self._tables
        shape = (tables.downs + 1, block[1] - block[0], self.layout.columns(layer.half))
        widths = rules.legal.shape[1], rules.chart.defences, len(tables.loops.option)
        strategies = BlockStrategies(*(np.zeros((*shape, width)) for width in widths))
        solved = solve_block(problem, *block, strategies, start)
        offence, defence, choices = (
            strategy.reshape(-1, strategy.shape[-1]) for strategy in strategies
        )
        which = np.arange(len(offence), dtype=np.int32).reshape(-1, shape[2])
        return LayerStrategies(
            RoleStrategies(offence, choices, which),
            RoleStrategies(defence, choices, which),
            solved.start,
            solved.largest_gap,
        )

    def onside(self, layer: Layer) -> Floats:
        problem = self._problem_of(layer)
        kicks = kick_values(problem.tables.loops, problem.worth)
        return np.asarray(kicks[ONSIDE_KICK] > kicks[NORMAL_KICK], float)

    def timeouts(self, asked: Asked) -> Floats:
        half, own, other = asked.layer.half, asked.layer.own, asked.layer.other
        called = self._worth(asked, Layer(half, asked.saved, own - 1, other))
        if asked.after or asked.untimed:
            declined = self._worth(asked, self.layout.moment(half, asked.after, own, other))
        else:
            declined = self._final(half)[asked.column]
        if asked.first and other:
            again = self._worth(asked, Layer(half, asked.saved, own, other - 1))
            declined = np.minimum(declined, again)
        return (called > declined).astype(float)

    def _worth(self, asked: Asked, moment: Layer) -> Floats:
        """[U, C] what follows is worth to the side that is asked, at a moment that is its own."""
        rows, mine = asked.row[:, None], asked.mine[:, None]
        ours, theirs = self.read(moment), self.read(moment.swapped)
        opposite = ours.shape[1] - 1 - asked.column
        return np.where(mine, ours[rows, asked.column], -theirs[rows, opposite])

    def _final(self, half: int) -> Floats:
        """[C] what the end of a half is worth to a side."""
        if half == 2:
            return self.layout.final(half)
        return self.layout.final(half, self.read(self.layout.second_half)[self.layout.kickoff_row])

    def _problem_of(self, layer: Layer) -> LayerProblem:
        """A layer's problem, kept until another layer is asked for."""
        with self._lock:
            if self._problem is None or self._problem.layer != layer:
                problem = layer_problem(self.layout, self._tables, layer, self.read)
                _ = problem.constant  # Computed here, not by every thread.
                self._problem = problem
            return self._problem
