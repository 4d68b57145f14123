"""Players of football with a clock who do not look at it: one mix for each situation.

They play as in football without a clock, whatever the time and the score, kick off in the ordinary
way and call no time-outs.
"""

from __future__ import annotations

import numpy as np

from solvent.games.football.solver.responses import Mixes
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.games.football_clock.solver.policies import (
    Asked,
    Block,
    RoleMixes,
    SheetMixes,
    block_rows,
)
from solvent.model.arrays import Floats


class ClocklessSheets:
    """Plays the mixes of football without a clock.

    Args:
        layout: Of the form.
        mixes: What it calls in each situation, and which penalties it takes.
    """

    def __init__(self, layout: Layout, mixes: Mixes) -> None:
        self.layout = layout
        self._mixes = mixes

    def mixes(self, sheet: Sheet, block: Block) -> SheetMixes:
        """What it does in the states of a block of a sheet."""
        rows = block_rows(self.layout, block)
        offence, defence, choices = (mix[rows] for mix in self._mixes)
        number = np.arange(len(rows), dtype=np.int32)[:, None]
        which = np.repeat(number, self.layout.columns(sheet.half), axis=1)
        return SheetMixes(RoleMixes(offence, choices, which), RoleMixes(defence, choices, which))

    def onside(self, sheet: Sheet) -> Floats:
        """[C] zeros."""
        return np.zeros(self.layout.columns(sheet.half))

    def timeouts(self, asked: Asked) -> float:
        """It calls none."""
        return 0.0
