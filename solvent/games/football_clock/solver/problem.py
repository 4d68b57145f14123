"""Everything that is needed to solve one layer.

What follows a play depends on where the clock is then, and on the time-outs. For each group of
successors (:mod:`solvent.games.football_clock.solver.tables`) there are up to three *moments*: no
time-out is called, the side that was on offence calls one, the other side calls one. The side that
was on offence is asked first, so the value of a successor to it is

    max(own time-out, min(other's time-out, none))

of those that there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from solvent.games.football_clock.solver.layout import FormLayout, Layer
from solvent.games.football_clock.solver.tables import TimedTables
from solvent.model.arrays import Bools, Floats, Ints


class MomentLayers(NamedTuple):
    """The layers to which a group of successors leads, as the side that was on offence sees them.

    Attributes:
        plain: If no time-out is called; None if the half is over then.
        own: If the side that was on offence or kicked calls one; None if it cannot.
        other: If the other side does; None if it cannot.
    """

    plain: Layer | None
    own: Layer | None
    other: Layer | None


@dataclass(frozen=True, eq=False)
class LayerProblem:
    """One layer to solve.

    Attributes:
        layer: Which.
        tables: The rules.
        moments: Of each group of successors.
        values: [S + 2, C] of each layer in `moments`, and of it with sides swapped.
        final: [C] of the half's end.
        shifted: [points, C] the column of what follows, to the offence, by the points scored.
        paid: [points] reward of the points; 0 if winning is what counts.
    """

    layer: Layer
    tables: TimedTables
    moments: tuple[MomentLayers, ...]
    values: dict[Layer, Floats]
    final: Floats
    shifted: Ints
    paid: Floats

    @cached_property
    def worth(self) -> Floats:
        """[U, C] the value of each successor to the side that was on offence or kicked."""
        tables = self.tables
        worth = np.empty((len(tables.row), len(self.final)))
        for g, moments in enumerate(self.moments):
            group = slice(tables.group_start[g], tables.group_start[g + 1])
            self._rate(worth[group], group, moments.plain)
            for call, better in ((moments.other, np.minimum), (moments.own, np.maximum)):
                if call is not None:
                    called = np.empty_like(worth[group])
                    self._rate(called, group, call)
                    better(worth[group], called, out=worth[group])
        return worth

    @cached_property
    def constant(self) -> Bools:
        """[C] the columns in which all successors have one value."""
        least, most = self._extremes
        return np.asarray(least == most)

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest value."""
        least, most = self._extremes
        return float(least.min()), float(most.max())

    @cached_property
    def _extremes(self) -> tuple[Floats, Floats]:
        """[C] the least and the largest value of each column."""
        return self.worth.min(axis=0), self.worth.max(axis=0)

    def _rate(self, worth: Floats, group: slice, moment: Layer | None) -> None:
        """Write the values of the successors of a group at a moment."""
        score = self.tables.score[group]
        if moment is None:
            ends = self.paid[:, None] + self.final[self.shifted]
            worth[:] = ends[score]
            return
        rate_moment(
            worth,
            self.tables.row[group],
            self.tables.same_side[group],
            score,
            self.shifted,
            self.paid,
            np.asarray(self.values[moment]),
            np.asarray(self.values[moment.swapped]),
        )


def layer_problem(
    layout: FormLayout, tables: TimedTables, layer: Layer, read: Callable[[Layer], Floats]
) -> LayerProblem:
    """What has to be known to solve a layer.

    Args:
        layout: To which it belongs.
        tables: Of the layout's rules.
        layer: Which.
        read: Gives the values of a layer of ``layout.reads(layer)``.
    """
    half = layer.half
    moments = tuple(moments_after(layout, layer, *group) for group in tables.groups)
    needed = {moment for group in moments for moment in group if moment is not None}
    begins = layout.second_half
    ends = any(group.plain is None for group in moments)
    next_half = read(begins)[layout.kickoff_row] if ends and half == 1 else None
    columns = layout.columns(half)
    return LayerProblem(
        layer=layer,
        tables=tables,
        moments=moments,
        values={at: read(at) for at in sorted(needed | {at.swapped for at in needed})},
        final=layout.final(half, next_half) if ends else np.zeros(columns),
        shifted=np.stack([layout.after_points(half, points) for points in tables.points]),
        paid=np.array(tables.points, float) * layout.for_points,
    )


def moments_after(layout: FormLayout, layer: Layer, seconds: int, untimed: bool) -> MomentLayers:
    """Where plays that take so long lead to, `untimed` if a half does not end on them."""
    half, ticks, own, other = layer
    clock = layout.clock
    if ticks == 0:
        return MomentLayers(None, None, None)
    after = clock.after(ticks, seconds)
    saved = clock.after(ticks, clock.with_timeout(seconds))
    over = after == 0 and not (untimed and clock.untimed_down)
    return MomentLayers(
        plain=None if over else layout.moment(half, after, own, other),
        own=Layer(half, saved, own - 1, other) if own and saved != after else None,
        other=Layer(half, saved, own, other - 1) if other and saved != after else None,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def rate_moment(
    rated: Floats,
    row: Ints,
    same_side: Bools,
    score: Ints,
    shifted: Ints,
    reward: Floats,
    values: Floats,
    swapped: Floats,
) -> None:
    """Write the values of successors to the side that was on offence, from a moment on.

    Args:
        rated: [U, C] values, written.
        row: [U] of the layer.
        same_side: [U] whether the side that was on offence has the ball or kicks.
        score: [U] index of the points.
        shifted: [points, C] columns to which the points lead.
        reward: [points] of the points scored.
        values: [S+2, C] of the moment's layer.
        swapped: [S+2, C] of the layer with the time-outs of the sides exchanged.
    """
    columns = values.shape[1]
    for u in range(len(row)):
        at, scored = row[u], score[u]
        for c in range(columns):
            follows = shifted[scored, c]
            if same_side[u]:
                rated[u, c] = reward[scored] + values[at, follows]
            else:
                rated[u, c] = reward[scored] - swapped[at, columns - 1 - follows]
