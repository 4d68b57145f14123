"""What policies of football with a clock are worth, exactly, sheet by sheet.

Two players, X and Y, differ, so a sheet has two arrays of values: W[0] where X has the ball and
W[1] where Y has it, each to the side that has the ball. Changing sides goes from one to the other::

    value to the other side of column c  =  -W[other][.., C - 1 - c]

A sheet is rated like one that is solved: first what everything is worth that may follow a play,
with the time-outs that the players call, and then the states, each the expectation over both mixes.

**Best answers.** In the place of a policy may stand None: that player answers the other one's in
the best way, with calls, choices, kicks and time-outs. It knows the mixes, not what is drawn from
them. Backward in time the answer in one state is a maximum of sums, since states of a sheet lead
to other sheets only.

Memory: the sheets that others still need, twice as many as for solving.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from solvent.exact.kernels.timed_football.expectation import rate_block
from solvent.exact.kernels.timed_football.following import Following
from solvent.exact.kernels.timed_football.layout import Layout, Sheet
from solvent.exact.kernels.timed_football.policies import (
    Block,
    Players,
    RoleMixes,
    SheetPolicy,
    block_rows,
)
from solvent.exact.kernels.timed_football.sheet_kernel import blocks_of, kick_values
from solvent.exact.kernels.timed_football.solution import place_of
from solvent.exact.kernels.timed_football.tables import timed_tables
from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, SAFETY_KICK
from solvent.games.football.timed_position import TimedPosition
from solvent.model.arrays import Floats

OnSheet = Callable[[Sheet, Floats], None]
"""Is given every sheet when it is done, and its values [2, S + 2, C]."""

STATES_AT_ONCE = 100_000
"""A block has about so many at most, each of which may have mixes of its own."""

LINES_AT_ONCE = 256
"""And it has so many lines at most, so that there is work for all threads."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What X gets against Y: chances of winning with half of those of a tie, or points.

    Attributes:
        first: If X is player 0, who in most forms receives the opening kickoff.
        second: If X is player 1.
    """

    first: float
    second: float

    @property
    def average(self) -> float:
        """Over both seats."""
        return (self.first + self.second) / 2


def evaluate(
    layout: Layout,
    start: TimedPosition,
    x: SheetPolicy | None,
    y: SheetPolicy | None,
    *,
    threads: int = 2,
    on_sheet: OnSheet | None = None,
) -> Evaluation:
    """What X gets against Y from a position; None stands for a best answer.

    Args:
        layout: The form.
        start: Where, with a call or a kick to come.
        x: One policy.
        y: The other.
        threads: How many work on a sheet.
        on_sheet: See :data:`OnSheet`.

    Raises:
        ValueError: If neither is given, or the position has no call and no kick to come.
    """
    if x is None and y is None:
        raise ValueError("a best answer needs a policy that it answers; both are None")
    begins = place_of(layout, start)
    rater = _Rater(layout, (x, y), threads)
    last_reader = {needed: sheet for sheet in layout.sheets for needed in layout.reads(sheet)}
    for sheet in layout.sheets:
        rater.rate(sheet)
        if on_sheet is not None:
            on_sheet(sheet, rater.values[sheet])
        if sheet == begins.sheet:
            break
        for passed in [at for at in rater.values if last_reader.get(at) == sheet]:
            del rater.values[passed]
    # To the side that has the ball or kicks in the beginning, if it is X and if it is Y.
    of_x, of_y = rater.values[begins.sheet][:, begins.row, begins.column].tolist()
    if begins.player == 1:
        of_x, of_y = -of_y, -of_x
    even = 0.0 if layout.for_points else 0.5
    return Evaluation(first=even + of_x, second=even - of_y)


class _Rater:
    """Rates sheets in their order; `values` are those that are done and not yet taken away."""

    def __init__(self, layout: Layout, players: Players, threads: int) -> None:
        self.layout = layout
        self.players = players
        self.threads = threads
        self.tables = timed_tables(layout.rules)
        self.values: dict[Sheet, Floats] = {}
        self.following = Following(layout, self.tables, players, self.values)

    def rate(self, sheet: Sheet) -> None:
        """Add the values [2, S + 2, C] of a sheet."""
        columns = self.layout.columns(sheet.half)
        values = np.empty((2, self.layout.rows, columns))
        with ThreadPoolExecutor(self.threads) as pool:
            worth = list(pool.map(lambda side: self.following.rate(sheet, side), (0, 1)))
            for side in (0, 1):
                values[side, self.layout.kickoff_row :] = self._kicks(sheet, side, worth[side])
            states = columns * (self.tables.downs + 1)
            size = max(1, min(STATES_AT_ONCE // states, LINES_AT_ONCE))
            blocks = blocks_of(self.layout.lines, size)
            for _ in pool.map(lambda block: self._rate_block(sheet, block, worth, values), blocks):
                pass
        self.values[sheet] = values

    def _rate_block(
        self, sheet: Sheet, block: Block, worth: Sequence[Floats], values: Floats
    ) -> None:
        rows = block_rows(self.layout, block)
        mixes = [None if player is None else player.mixes(sheet, block) for player in self.players]
        rated = np.empty((len(rows), values.shape[2]))
        for side in (0, 1):
            attack, defend = mixes[side], mixes[1 - side]
            rate_block(
                self.tables.loops,
                rows,
                block[1] - block[0],
                worth[side],
                self._checked(attack and attack.attack, rated.shape),
                self._checked(defend and defend.defend, rated.shape),
                attack is None,
                defend is None,
                rated,
            )
            values[side, rows] = rated

    def _checked(self, mixes: RoleMixes | None, shape: tuple[int, ...]) -> RoleMixes:
        """Mixes in the form that the loops read; anything in place of those that are not given."""
        if mixes is None:
            return RoleMixes(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(shape, np.int32))
        if mixes.which.shape != shape:
            raise ValueError(f"a policy's `which` has shape {mixes.which.shape}; expected {shape}")
        return RoleMixes(
            np.ascontiguousarray(mixes.calls, np.float64),
            np.ascontiguousarray(mixes.choices, np.float64),
            np.ascontiguousarray(mixes.which, np.int32),
        )

    def _kicks(self, sheet: Sheet, side: int, worth: Floats) -> Floats:
        """[2, C] what being about to kick off and to kick freely are worth to a side."""
        if sheet.ticks == 0:
            return np.stack([self.following.final(sheet.half, side)] * 2)
        kicks = kick_values(self.tables.loops, worth)
        player = self.players[side]
        if player is None:
            kickoff = np.maximum(kicks[NORMAL_KICK], kicks[ONSIDE_KICK])
        else:
            chance = player.onside(sheet)
            kickoff = chance * kicks[ONSIDE_KICK] + (1 - chance) * kicks[NORMAL_KICK]
        return np.stack((kickoff, kicks[SAFETY_KICK]))
