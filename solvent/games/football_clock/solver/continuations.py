"""What may follow a play is worth when both sides' rules for time-outs are known.

The side that was on offence, or that kicked, is asked first, then the other. Whoever has a policy
calls with its chance; whoever answers the other's in the best way calls if that is worth more to
it. With p and q the chances of the two, a successor is worth

    p own time-out + (1 - p) (q other's time-out + (1 - q) none)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from solvent.games.football_clock.solver.layout import FormLayout, Layer
from solvent.games.football_clock.solver.policies import Asked, Players
from solvent.games.football_clock.solver.problem import moments_after, rate_moment
from solvent.games.football_clock.solver.tables import TimedTables
from solvent.model.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Continuations:
    """Rates successors for two players.

    Attributes:
        layout: The form.
        tables: Of its rules.
        players: X and Y; None answers in the best way.
        values: [2, S + 2, C] of the layers that are rated, X or Y having the ball.
        answers: What players have said when they were asked for time-outs after the plays of one
            layer, so that each is asked once.
    """

    layout: FormLayout
    tables: TimedTables
    players: Players
    values: Mapping[Layer, Floats]
    answers: dict[tuple[int, int, int, int], Floats | float]

    def rate(self, layer: Layer, side: int) -> Floats:
        """[U, C] what successors are worth to a side that was on offence or kicked, 0 for X."""
        tables = self.tables
        shifted = np.stack(
            [self.layout.after_points(layer.half, points) for points in tables.points]
        )
        worth = np.empty((len(tables.row), shifted.shape[1]))
        for g, (seconds, untimed) in enumerate(tables.groups):
            group = slice(tables.group_start[g], tables.group_start[g + 1])
            moments = moments_after(self.layout, layer, seconds, untimed)
            rated = worth[group]
            rated[:] = self._at(moments.plain, layer.half, side, group, shifted)
            for moment, asked in ((moments.other, 1 - side), (moments.own, side)):
                if moment is not None:
                    called = self._at(moment, layer.half, side, group, shifted)
                    if self.players[asked] is None:
                        better = np.maximum if asked == side else np.minimum
                        better(rated, called, out=rated)
                    else:
                        rated += self._chance(layer, side, asked, g, shifted) * (called - rated)
        return worth

    def _at(
        self, moment: Layer | None, half: int, side: int, group: slice, shifted: Ints
    ) -> Floats:
        """[U, C] what the successors of a group are worth at a moment; None if the half is over."""
        tables = self.tables
        score = tables.score[group]
        paid = np.array(tables.points, float) * self.layout.for_points
        if moment is None:
            ends = paid[:, None] + self.final(half, side)[shifted]
            return np.asarray(ends[score])
        rated = np.empty((len(score), shifted.shape[1]))
        rate_moment(
            rated,
            tables.row[group],
            tables.same_side[group],
            score,
            shifted,
            paid,
            self.values[moment][side],
            self.values[moment.swapped][1 - side],
        )
        return rated

    def _chance(self, layer: Layer, side: int, asked: int, g: int, shifted: Ints) -> Floats | float:
        """The chance that a side with a policy calls a time-out after the plays of a group."""
        tables, clock = self.tables, self.layout.clock
        player, first = self.players[asked], asked == side
        assert player is not None
        key = id(player), side, asked, g
        if key in self.answers:
            return self.answers[key]
        group = slice(tables.group_start[g], tables.group_start[g + 1])
        seconds, untimed = tables.groups[g]
        after = clock.after(layer.ticks, seconds)
        column = shifted[tables.score[group]]
        answer = player.timeouts(
            Asked(
                layer=layer if first else layer.swapped,
                seconds=seconds,
                after=after,
                saved=clock.after(layer.ticks, clock.with_timeout(seconds)),
                untimed=after == 0 and untimed and clock.untimed_down,
                first=first,
                row=tables.row[group],
                mine=tables.same_side[group] == first,
                column=column if first else column.shape[1] - 1 - column,
            )
        )
        self.answers[key] = answer
        return answer

    def final(self, half: int, side: int) -> Floats:
        """[C] what the end of a half is worth to a side."""
        layout = self.layout
        if half == 2:
            return layout.final(half)
        begins = self.values[layout.second_half][:, layout.kickoff_row]
        return np.concatenate((begins[side], -begins[1 - side, ::-1]))
