"""The value of everything that may follow the plays of one layer.

What follows a play depends on where the clock is then, and on the time-outs. For each group of
successors (:mod:`solvent.games.football.packed`) there are up to three moments: no time-out is
called, the side that was on offence calls one, the other side calls one. The side that was on
offence is asked first. Whoever has a policy calls with its probability; whoever plays a best
response, as both sides do in an equilibrium, calls if that has the larger value to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from solvent.games.football.packed import NORMAL_KICK, ONSIDE_KICK, SAFETY_KICK, read_only
from solvent.games.football_clock.layout import FormLayout, Layer
from solvent.games.football_clock.policies import Asked, Players
from solvent.model.arrays import Floats, Ints

NEVER, BEST = 0.0, -1.0
"""Probabilities that a side calls a time-out: it cannot, and it calls if that is better for it."""

Seen = tuple[Floats, Floats]
"""The values of a layer [S + 2, C] to a side that has the ball, and of the swapped layer to the
other side, where that has it."""


class After(NamedTuple):
    """The continuations of plays that take the same time.

    Attributes:
        over: Whether the half is over if nobody calls a time-out.
        final: [C] the values of its end, if it may be over.
        plain: The layer that follows if nobody calls one.
        own: The layer if the side that was on offence or kicked does.
        other: The layer if the other side does.
    """

    over: bool
    final: Floats
    plain: Seen
    own: Seen
    other: Seen


NONE = read_only(np.zeros((0, 0)))
"""The values of a layer that does not exist."""

Answers = dict[tuple[int, int, int, int], Floats | float]
"""The players' answers about time-outs, stored so that each is asked once."""


@dataclass(frozen=True, eq=False)
class Moment:
    """One layer, and the values of the layers that it reads.

    Attributes:
        layout: The form.
        layer: The layer.
        read: Returns the values [S + 2, C] of a layer in which a side has the ball: 0 for X, 1 for
            Y. In an equilibrium both are the same.
        players: X and Y; None plays a best response.
        answers: The players' answers about this layer.
        columns: Columns of the layer that are wanted.
    """

    layout: FormLayout
    layer: Layer
    read: Callable[[Layer, int], Floats]
    players: Players = (None, None)
    answers: Answers = field(default_factory=dict)
    columns: slice = field(default_factory=lambda: slice(None))

    def values(self, side: int = 0) -> Floats:
        """[U, C] the values of successors to a side that was on offence or kicked."""
        layout, rules = self.layout, self.layout.rules
        shifted = np.ascontiguousarray(layout.shifted(self.layer.half)[:, self.columns])
        values = np.empty((rules.members[-1].stop, shifted.shape[1]))
        reward = float(layout.for_points)
        for g, members in enumerate(rules.members):
            found, chances = values[members], []
            plain, own, other = layout.moments_after(self.layer, rules.groups[g])
            for moment, asked in ((own, side), (other, 1 - side)):
                chance = NEVER if moment is None else self._chance(side, asked, g, shifted)
                chances.append(np.full(found.shape, chance))
            final = self.final(side) if plain is None else np.zeros(0)
            seen = (self._seen(moment, side) for moment in (plain, own, other))
            after = After(plain is None, final, *seen)
            _rate(found, rules.arrays.successor[members], shifted, reward, after, *chances)
        return values

    def kicks(self, values: Floats, side: int = 0) -> Floats:
        """Return [2, C] the values before a kickoff, and before a free kick that gives the ball up.

        With no time left nobody kicks: the half is over, and both rows are its final values.

        Args:
            values: Values of the successors to the side that kicks.
            side: 0 for X, 1 for Y.
        """
        if self.layer.ticks == 0:
            return np.stack([self.final(side)[self.columns]] * 2)
        kicks, player = kick_values(self.layout, values), self.players[side]
        normal, onside = kicks[NORMAL_KICK], kicks[ONSIDE_KICK]
        if player is None:
            kickoff = np.maximum(normal, onside)
        else:
            chance = player.onside(self.layer)
            kickoff = chance * onside + (1 - chance) * normal
        return np.stack((kickoff, kicks[SAFETY_KICK]))

    def final(self, side: int) -> Floats:
        """[C] the values of the end of the half to a side."""
        layout, half = self.layout, self.layer.half
        if half == 2:
            return layout.final(half)
        mine, others = (self.read(layout.second_half, s)[layout.kickoff_row] for s in (0, 1))
        return layout.final(half, *((mine, others) if side == 0 else (others, mine)))

    def _seen(self, moment: Layer | None, side: int) -> Seen:
        """The values of a layer to a side that has the ball, and to the other one; or none."""
        if moment is None:
            return NONE, NONE
        swapped = self.read(moment.swapped, 1 - side)
        return read_only(np.asarray(self.read(moment, side))), read_only(np.asarray(swapped))

    def _chance(self, side: int, asked: int, g: int, shifted: Ints) -> Floats | float:
        """The probability that a side calls a time-out after the plays of a group."""
        rules, player, first = self.layout.rules, self.players[asked], asked == side
        if player is None:
            return BEST
        key = id(player), side, asked, g
        if key not in self.answers:
            successor = rules.arrays.successor[rules.members[g]]
            seconds, penalty = rules.groups[g]
            after, saved, untimed = self.layout.clock.left(
                self.layer.ticks, seconds, penalty=penalty
            )
            column = shifted[successor["points"] + len(shifted) // 2]
            self.answers[key] = player.timeouts(
                Asked(
                    layer=self.layer if first else self.layer.swapped,
                    after=after,
                    saved=saved,
                    untimed=untimed,
                    first=first,
                    row=successor["row"],
                    mine=successor["same_side"] == first,
                    column=column if first else column.shape[1] - 1 - column,
                )
            )
        return self.answers[key]


def kick_values(layout: FormLayout, values: Floats) -> Floats:
    """[3, C] the value of each kick to the kicker, from the values [U, C] of successors."""
    arrays, kicks = layout.rules.arrays, []
    for first, last in pairwise(arrays.branch_start[-4:].tolist()):
        base, *others = values[arrays.branch_successor[first:last]]
        # Differences, so that a column in which all values are the same stays constant.
        chances = arrays.branch_probability[first + 1 : last]
        kicks.append(
            base + sum(p * (other - base) for p, other in zip(chances, others, strict=True))
        )
    return np.stack(kicks)


@njit(cache=True, nogil=True, error_model="numpy")
def settled(none: float, own: float, other: float, own_calls: float, other_calls: float) -> float:
    """The value to the side that was on offence when both sides are asked for a time-out in turn.

    Args:
        none: The value if nobody calls one.
        own: The value if this side does, which is asked first.
        other: The value if the other side does.
        own_calls: The probability that this side calls one, :data:`NEVER` or :data:`BEST`.
        other_calls: Calls of the other side.
    """
    declined = none
    if other_calls == BEST:
        declined = min(none, other)
    elif other_calls != NEVER:
        declined += other_calls * (other - none)
    if own_calls == BEST:
        return max(declined, own)
    if own_calls == NEVER:
        return declined
    return declined + own_calls * (own - declined)


@njit(cache=True, nogil=True, error_model="numpy")
def _value(layer: Seen, row: int, same: bool, column: int) -> float:
    """The value of a row to the side that was on offence, which has the ball there if `same`."""
    own, swapped = layer
    return own[row, column] if same else -swapped[row, swapped.shape[1] - 1 - column]  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, error_model="numpy")
def _rate(
    rated: Floats,
    successor: Ints,
    shifted: Ints,
    reward: float,
    after: After,
    own: Floats,
    other: Floats,
) -> None:
    """Write the values [U, C] of a group's successors to the side that was on offence.

    Args:
        rated: Values, written.
        successor: [U] of them.
        shifted: [2 P + 1, C] columns to which -P to P points lead.
        reward: Reward of a point.
        after: What follows them.
        own: [U, C] probabilities that this side calls a time-out, as in :func:`settled`.
        other: [U, C] the same of the other side.
    """
    for u in range(len(successor)):
        at = successor[u]
        row, same, paid = at.row, at.same_side, reward * at.points
        follows = shifted[at.points + len(shifted) // 2]
        for c in range(len(follows)):
            column = follows[c]
            ends = after.final[column] if after.over else _value(after.plain, row, same, column)
            none = paid + ends
            mine, theirs = none, none
            if own[u, c] != NEVER:
                mine = paid + _value(after.own, row, same, column)
            if other[u, c] != NEVER:
                theirs = paid + _value(after.other, row, same, column)
            rated[u, c] = settled(none, mine, theirs, own[u, c], other[u, c])
