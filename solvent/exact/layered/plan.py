"""What solving a form will take, before it is begun: room, traffic, and time.

Room and traffic follow from the layout. The time is measured on a *sample*: at some moments of the
game, a few blocks of a sheet are solved as they will be, one thread at work. The values that such a
sheet reads are not known yet, so they are made up to be like the real ones::

    value(s, c)  =  Phi((margin(c) + h(s)) / (0.9 sqrt(ticks to the end))) - 1/2

with h the points that a situation brings in the last :data:`POINTS_TICKS` ticks of a half, which
are solved for this, and Phi the normal distribution; or h itself, where points are what counts.
That shapes the payoffs, how many columns are decided, and how well games start from those of the
tick before, on all of which the time depends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from solvent.exact.layered.resources import (
    disk_bytes,
    memory_bytes,
    supports_bytes,
)
from solvent.exact.layered.solve import solve_layout
from solvent.exact.layered.store import SheetStore
from solvent.games.football_clock.solver.layer_kernel import Block, blocks_of, solve_block
from solvent.games.football_clock.solver.layout import Layout, Sheet
from solvent.games.football_clock.solver.problem import SheetProblem, sheet_problem
from solvent.games.football_clock.solver.tables import TimedTables, timed_tables
from solvent.model.arrays import Floats

POINTS_TICKS = 6
"""How long the game is that is solved to know what situations are worth, in ticks."""

SPREAD = 0.9
"""Standard deviation, in points, of how much the margin moves in a tick."""

MOMENTS = (0.15, 0.5, 0.85)
"""The shares of a half's time left at which a sheet is sampled."""

SAMPLED_BLOCKS = 4
"""How many blocks of a sheet are."""

SAMPLED_STATES = 20_000
"""How many states of a sheet are, about."""


class Sample(NamedTuple):
    """What was measured.

    Attributes:
        games: Matrix games that were solved for it.
        seconds: Of processor time that they took.
        core_seconds: Of processor time that the whole form will take, by that.
    """

    games: int
    seconds: float
    core_seconds: float


@dataclass(frozen=True)
class Plan:
    """What solving a form takes.

    Attributes:
        states: In which both sides call, in normal formation.
        games: Matrix games at most, punt formations and untimed downs included; states in which
            nothing can change any more need none.
        sheets: Of which the last write of each is a point to go on from.
        disk: Bytes of the folder, at most while it is solved.
        memory: Bytes of memory, on the machine that keeps the sheets.
        sent: Bytes that each other machine of a cluster gets, all in all.
        returned: Bytes that all of them together give back.
        sample: From which the time is estimated.
    """

    states: int
    games: int
    sheets: int
    disk: int
    memory: int
    sent: int
    returned: int
    sample: Sample


def make_plan(layout: Layout, *, in_folder: bool = True) -> Plan:
    """Count, and measure a sample, which takes some seconds.

    Args:
        layout: Of the form.
        in_folder: Whether sheets are to be kept in a folder, not in memory.
    """
    tables = timed_tables(layout.rules)
    per_sheet = layout.rules.n_situations
    supports = sum(supports_bytes(layout, sheet.half) for sheet in layout.sheets)
    return Plan(
        states=layout.states,
        games=sum(per_sheet * layout.columns(sheet.half) for sheet in layout.sheets),
        sheets=len(layout.sheets),
        disk=disk_bytes(layout) if in_folder else 0,
        memory=memory_bytes(layout, len(tables.row), in_folder=in_folder),
        sent=layout.size + supports,
        returned=layout.size + supports,
        sample=measure(layout, tables),
    )


def measure(layout: Layout, tables: TimedTables) -> Sample:
    """Solve some blocks of some sheets, and conclude from them how long all will take."""
    points = _points(layout)
    games, seconds, core_seconds = 0, 0.0, 0.0
    timeouts = layout.clock.timeouts
    for half in layout.halves:
        sampled = _sampled_blocks(layout, half)
        share = sum(last - first for first, last in sampled) / layout.lines
        moments = {max(1, round(share * layout.most_ticks)) for share in MOMENTS}
        sheets = [Sheet(half, ticks, timeouts, timeouts) for ticks in sorted(moments)]
        costs = [_cost(layout, tables, sheet, points, sampled) for sheet in sheets]
        per_sheet = [cost.once + cost.blocks / share for cost in costs]
        count = sum(sheet.half == half for sheet in layout.sheets)
        core_seconds += count * sum(per_sheet) / len(per_sheet)
        games += sum(cost.games for cost in costs)
        seconds += sum(cost.once + cost.blocks for cost in costs)
    return Sample(games, seconds, core_seconds)


def _sampled_blocks(layout: Layout, half: int) -> list[Block]:
    """Blocks all over the field."""
    states_of_line = (layout.rules.ruleset.downs + 1) * layout.columns(half)
    lines = max(1, SAMPLED_STATES // (SAMPLED_BLOCKS * states_of_line))
    blocks = blocks_of(layout.lines, lines)
    chosen = np.unique(np.linspace(0, len(blocks) - 1, SAMPLED_BLOCKS).astype(int))
    return [blocks[i] for i in chosen]


def _points(layout: Layout) -> Floats:
    """[S + 2] what a side's situations and kicks bring it in the last minutes of a half."""
    clock = replace(layout.clock, timeouts=0)
    ticks = min(POINTS_TICKS, layout.most_ticks)
    last_minutes = Layout(layout.rules, clock, "half", ticks)
    store = SheetStore(last_minutes)
    solve_layout(last_minutes, store)
    return store.read(Sheet(2, ticks, 0, 0))[:, 0]


class _Cost(NamedTuple):
    """Seconds of processor time, once a sheet and for the blocks; and the games solved."""

    once: float
    blocks: float
    games: int


def _cost(
    layout: Layout, tables: TimedTables, sheet: Sheet, points: Floats, blocks: list[Block]
) -> _Cost:
    """What a sheet's blocks take when they start from those of the tick before."""
    read = _made_up(layout, points)
    before = sheet_problem(layout, tables, sheet._replace(ticks=sheet.ticks - 1), read, _none)
    shape = (tables.downs + 1, tables.lines, layout.columns(sheet.half), 2)
    supports = np.zeros(shape, np.uint32)
    if sheet.ticks > 1:
        for first, last in blocks:
            supports[:, first:last] = solve_block(before, first, last).supports
    began = time.process_time()
    problem: SheetProblem = sheet_problem(layout, tables, sheet, read, lambda _: supports)
    _ = problem.constant
    prepared = time.process_time()
    games = sum(solve_block(problem, *block).games for block in blocks)
    return _Cost(prepared - began, time.process_time() - prepared, games)


def _none(_: Sheet) -> None:
    """No supports."""


def _made_up(layout: Layout, points: Floats) -> Callable[[Sheet], Floats]:
    """Values of a sheet as the module describes them."""

    def read(sheet: Sheet) -> Floats:
        if layout.for_points:
            return points[:, None]
        left = sheet.ticks + (layout.most_ticks if sheet.half == 1 else 0)
        lead = layout.margin(sheet.half) + points[:, None]
        return np.asarray(ndtr(lead / (SPREAD * np.sqrt(left + 1))) - 0.5)

    return read
