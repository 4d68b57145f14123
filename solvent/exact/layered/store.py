"""The values of all sheets of a form, as they are solved and when they are done.

A store holds, for every sheet that is solved, its values and a record of how good they are, and for
the newest moments also the supports from which the next tick's games are started.
:class:`SheetStore` keeps all of it in memory. :class:`~.sheet_folder.SheetFolder` keeps it in a
folder, goes on where a solve was interrupted, and opens finished solutions; it is used in the same
way::

    store = SheetStore(layout)  # in memory
    store = SheetFolder.create("half", layout)  # a new folder, or one to go on with
    store = SheetFolder.open("half")  # to read

    for sheet in layout.sheets:
        if not store.has(sheet):
            read = {needed: store.read(needed) for needed in layout.reads(sheet)}
            ...
            store.write(sheet, values, supports, SheetRecord(...))
    store.finish()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.model.arrays import Floats

Supports = NDArray[np.uint32]
"""[downs + 1, lines, C, 2]: the calls that each side mixes, as bit masks, offence first."""

SLACK = 1e-9
"""Values may be beyond what is possible by so much, as they come out of computations."""


class SheetRecord(NamedTuple):
    """How a sheet was solved.

    Attributes:
        largest_gap: The largest duality gap of its matrix games.
        games: Matrix games solved.
        constant: States that needed none, since whatever is called is worth the same there.
    """

    largest_gap: float
    games: int
    constant: int


class SheetStore:
    """The sheets of a layout in memory.

    Args:
        layout: All sheets there are.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._values: dict[Sheet, Floats] = {}
        self._supports: dict[Sheet, Supports] = {}
        self._records: dict[Sheet, SheetRecord] = {}
        self._largest: dict[Sheet, float] = {}

    def has(self, sheet: Sheet) -> bool:
        """Whether a sheet is solved."""
        return sheet in self._records

    def read(self, sheet: Sheet) -> Floats:
        """[S + 2, C] the values of a sheet that is solved, not to be written to.

        Raises:
            KeyError: If it is not.
        """
        return self._values[sheet]

    def largest(self, sheet: Sheet) -> float:
        """The largest value of a sheet that is solved, whichever its sign.

        Raises:
            KeyError: If it is not.
        """
        if sheet not in self._largest:
            self._largest[sheet] = float(np.abs(self.read(sheet)).max())
        return self._largest[sheet]

    def record(self, sheet: Sheet) -> SheetRecord:
        """How a sheet was solved.

        Raises:
            KeyError: If it was not.
        """
        return self._records[sheet]

    def supports(self, sheet: Sheet) -> Supports | None:
        """The supports of a sheet; None unless it is the newest with these time-outs."""
        return self._supports.get(sheet)

    def write(
        self, sheet: Sheet, values: Floats, supports: Supports | None, record: SheetRecord
    ) -> None:
        """Keep a solved sheet, and forget the supports of the tick before.

        Args:
            sheet: Which.
            values: [S + 2, C].
            supports: [downs + 1, lines, C, 2], or None if nothing can start from them.
            record: How it was solved.

        Raises:
            ValueError: If a shape is not that of the sheet, or a value is none that is possible.
        """
        self._check(sheet, values, supports)
        values = values.view()
        values.flags.writeable = False
        self._values[sheet] = values
        if supports is not None:
            self._supports[sheet] = supports
        self._supports.pop(tick_before(sheet), None)
        self._largest.pop(sheet, None)
        self._records[sheet] = record

    def finish(self) -> None:
        """Say that all sheets are solved; supports are forgotten.

        Raises:
            ValueError: If one is missing.
        """
        self._check_complete()
        self._supports.clear()

    @property
    def finished(self) -> bool:
        """Whether all sheets are solved."""
        return len(self._records) == len(self.layout.sheets)

    @property
    def missing(self) -> Iterator[Sheet]:
        """The sheets still to be solved, in the order in which that is done."""
        return (sheet for sheet in self.layout.sheets if not self.has(sheet))

    @property
    def largest_gap(self) -> float:
        """The largest duality gap of all matrix games solved so far."""
        return max((record.largest_gap for record in self._records.values()), default=0.0)

    @property
    def games(self) -> int:
        """The matrix games solved so far."""
        return sum(record.games for record in self._records.values())

    def _check_complete(self) -> None:
        missing = next(self.missing, None)
        if missing is not None:
            raise ValueError(f"the solution is not complete: {missing} is not solved")

    def _check(self, sheet: Sheet, values: Floats, supports: Supports | None) -> None:
        layout = self.layout
        columns = layout.columns(sheet.half)
        if values.shape != (layout.rows, columns) or values.dtype != np.float64:
            raise ValueError(
                f"the values of {sheet} are {values.dtype} {values.shape}; they have to be "
                f"float64 {(layout.rows, columns)}"
            )
        impossible = self._impossible(sheet, values)
        if impossible is not None:
            raise ValueError(f"{sheet} has {impossible}")
        shape = (layout.rules.ruleset.downs + 1, layout.lines, columns, 2)
        if supports is not None and (supports.shape != shape or supports.dtype != np.uint32):
            raise ValueError(
                f"the supports of {sheet} are {supports.dtype} {supports.shape}; they have to be "
                f"uint32 {shape}"
            )

    def _impossible(self, sheet: Sheet, values: Floats) -> str | None:
        """Which value of a sheet is none that is possible, and what is; None if all are."""
        most = self.layout.most(sheet)
        least, largest = float(values.min()), float(values.max())
        if -most - SLACK <= least and largest <= most + SLACK:  # False if one is not a number.
            return None
        value = largest if largest + least > 0 else least
        return f"a value of {value:.3g}; possible are {-most:g} to {most:g}"


def tick_before(sheet: Sheet) -> Sheet:
    """The sheet from whose supports one is started: the same time-outs, a tick less on the clock.

    It need not exist.
    """
    return sheet._replace(ticks=sheet.ticks - 1)
