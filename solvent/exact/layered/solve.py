"""All sheets of a form, one after another, each cut into blocks that are solved side by side.

The driver asks its *workers* to solve the blocks of one sheet, puts the answers together, adds the
rows of the kicks and gives the sheet to the store. Sheets that the store has are passed over, so an
interrupted solve goes on where it was.

**Certificate.** A value is right but for an error that is proved sheet by sheet. The value of a
matrix game moves no more than its largest entry, so

    error(sheet)  <=  largest error of the sheets it reads  +  largest duality gap  +  rounding

where the rounding of sums and of the gap itself is bounded from their length and from the largest
value that is read (:func:`proved_errors`). Bounds are not kept: whoever needs one computes it from
the sheets and their gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from solvent.exact.layered.store import SheetRecord, SheetStore, Supports
from solvent.games.football_clock.solver.layer_kernel import (
    Block,
    BlockResult,
    blocks_of,
    kick_rows,
    solve_block,
)
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.games.football_clock.solver.problem import SheetProblem, sheet_problem
from solvent.games.football_clock.solver.tables import TimedTables, timed_tables
from solvent.model.arrays import Floats

LINES_IN_BLOCK = 64
"""Lines that are solved in one piece at least; the full field has 4950."""

STATES_IN_BLOCK = 8192
"""States of one down in a block, about, where a sheet has few columns."""

OnSheet = Callable[[Sheet, SheetRecord], None]
"""Is told of every sheet when the store has it."""


class Workers(Protocol):
    """Who solves blocks: threads, or the processes of a cluster."""

    def keep(self, sheet: Sheet, values: Floats) -> None:
        """A sheet is solved, or was found solved, and will be read by others."""

    def forget(self, sheet: Sheet) -> None:
        """A sheet will be read no more."""

    def solve(
        self, problem: SheetProblem, blocks: Sequence[Block]
    ) -> Iterator[tuple[Block, BlockResult]]:
        """Solve the blocks of a sheet; they may come in any order, each once."""


class Local:
    """Threads of this process.

    Args:
        threads: How many.
    """

    def __init__(self, threads: int = 2) -> None:
        self.threads = threads

    def keep(self, sheet: Sheet, values: Floats) -> None:
        """Threads read the store's own array."""

    def forget(self, sheet: Sheet) -> None:
        """Nothing was kept."""

    def solve(
        self, problem: SheetProblem, blocks: Sequence[Block]
    ) -> Iterator[tuple[Block, BlockResult]]:
        """Solve the blocks of a sheet, in their order."""
        _ = problem.constant  # Computed here, not by every thread.
        with ThreadPoolExecutor(self.threads) as pool:
            yield from zip(
                blocks, pool.map(lambda block: solve_block(problem, *block), blocks), strict=True
            )


def solve_layout(
    layout: Layout,
    store: SheetStore,
    *,
    workers: Workers | None = None,
    on_sheet: OnSheet | None = None,
) -> None:
    """Solve every sheet that a store does not have, in the layout's order.

    Args:
        layout: The form.
        store: Where sheets go, and from where those that were solved before are read.
        workers: Who solves blocks; two threads unless given.
        on_sheet: Is told of every sheet that was solved.
    """
    workers = workers or Local()
    tables = timed_tables(layout.rules)
    last_reader = _last_readers(layout)
    kept: set[Sheet] = set()
    for sheet in layout.sheets:
        if store.has(sheet):
            continue
        for needed in layout.reads(sheet):
            if needed not in kept:
                workers.keep(needed, store.read(needed))
                kept.add(needed)
        values, supports, record = solve_sheet(layout, tables, sheet, store, workers)
        store.write(sheet, values, supports, record)
        for passed in [at for at in kept if last_reader[at] == sheet]:
            workers.forget(passed)
            kept.remove(passed)
        if on_sheet is not None:
            on_sheet(sheet, record)
    store.finish()


def solve_sheet(
    layout: Layout, tables: TimedTables, sheet: Sheet, store: SheetStore, workers: Workers
) -> tuple[Floats, Supports, SheetRecord]:
    """Solve one sheet, those that it reads being in the store.

    Returns:
        Its values [S + 2, C], the supports of its games, and how it was solved.
    """
    problem = sheet_problem(layout, tables, sheet, store.read, store.supports)
    columns = layout.columns(sheet.half)
    lines, downs = tables.lines, tables.downs
    values = np.empty((layout.rows, columns))
    supports = np.empty((downs + 1, lines, columns, 2), np.uint32)
    calls = values[: layout.kickoff_row].reshape(downs + 1, lines, columns)
    largest_gap, games, constant = 0.0, 0, 0
    size = max(LINES_IN_BLOCK, min(lines // 8, STATES_IN_BLOCK // columns))
    for (first, last), block in workers.solve(problem, blocks_of(lines, size)):
        calls[:, first:last] = block.values
        supports[:, first:last] = block.supports
        largest_gap = max(largest_gap, block.largest_gap)
        games += block.games
        constant += block.constant
    values[layout.kickoff_row :] = kick_rows(problem)
    return values, supports, SheetRecord(largest_gap, games, constant)


def proved_errors(store: SheetStore) -> dict[Sheet, float]:
    """A bound of the error of the values of every sheet, from the sheets and their gaps.

    Args:
        store: In which all are solved. Where points count all are read; chances are one half at
            most, as they are kept.
    """
    layout = store.layout
    unit = timed_tables(layout.rules).roundings * float(np.finfo(float).eps) / 2
    errors: dict[Sheet, float] = {}
    for sheet in layout.sheets:
        reads = layout.reads(sheet)
        largest = layout.most(sheet)
        if layout.for_points:
            largest = layout.most_points + max(map(store.largest, reads), default=0.0)
        before = max((errors[at] for at in reads), default=0.0)
        errors[sheet] = before + store.record(sheet).largest_gap + unit * largest
    return errors


def _last_readers(layout: Layout) -> dict[Sheet, Sheet]:
    """The sheet that is solved last of those that read a sheet."""
    return {needed: sheet for sheet in layout.sheets for needed in layout.reads(sheet)}
