"""The layout of the states of football with a clock, and policies that play a layer at a time.

**Layers.** A *layer* holds the states in which a certain half has a certain time left and both
sides certain numbers of time-outs: an array [S + 2, C] of values to the side that has the ball.

=========== =======================================================================================
row         the side whose value it is
=========== =======================================================================================
0 .. S-1    has the ball in a situation, numbered as in :mod:`solvent.games.football.packed`, those
            in punt formation included
S           is about to kick off
S + 1       is about to give the ball up by a free kick
=========== =======================================================================================

The columns are the margins of that side, from -m to m; in the first half of a whole game they are
that twice, first if it will kick off to begin the second half, then if it will receive. When points
are what counts there is one column. Changing sides is reversing the columns::

    value to the other side of column c  =  -value of column C - 1 - c

since values are the chance of winning plus half that of a tie, less one half; or points.

**Order.** Time goes down with every play unless a time-out stops it, and then there are fewer
time-outs. So layers are solved from the end of the game backward, those of one moment by the number
of time-outs left, and the states of one layer are independent of each other, but that the last down
in normal formation leads to punt formation in the same layer.

**Blocks.** The work on a layer is cut by *lines*, pairs of yards to the goal and to go; a block is
a range of lines with all downs and the punt formation.

**Policies.** A policy of the whole game is far too large for a table: the second half has 250
million states, and each would need thirty probabilities. So a policy is asked for its strategies
when they are needed, for one *block* of one layer, and may compute them, look them up or run a
network. It is asked from several threads at once.

**Calls.** :class:`RoleStrategies` is a list of strategies and, for every state, the number of one
of them. An agent that does not look at the clock has as many strategies as there are situations and
repeats their numbers in every column; one that is different everywhere counts the states through.

**Whose columns.** A layer and its columns are always those of the side that *has the ball*, also
where the policy is asked what it does on defence: ``layer.own`` are the time-outs of the offence
then, and column c is the offence's margin. Only in :class:`Asked` they are those of the side that
is asked for a time-out.

**Time-outs** are asked for after every result and kick, when the dice are seen: first the side
that was on offence or kicked, and if it declines the other, each only if it has one left and if a
time-out would change the clock (``asked.saved != asked.after``). The answer is a probability for
each of the *successors*, all that may follow a play that takes a certain time (see
:mod:`solvent.games.football.packed`), and for every column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np

from solvent.exact.layered.game import Block, LayeredGame, Place, WarmStart
from solvent.games.football.packed import PackedRules
from solvent.games.football.ruleset import ClockRules
from solvent.games.football.situation import situation_at
from solvent.games.football_clock.backup import RoleStrategies
from solvent.games.football_clock.rules import TIMED_FORMS, TimedPosition
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_choice, check_integer


class Layer(NamedTuple):
    """States with the same half, time and time-outs.

    Attributes:
        half: 1 or 2; 2 in every form but ``"full"``.
        ticks: Ticks left in the half; 0 is the untimed down, where time-outs no longer matter.
        own: Time-outs of the side that has the ball or kicks.
        other: Time-outs of the other side.
    """

    half: int
    ticks: int
    own: int
    other: int

    @property
    def swapped(self) -> Layer:
        """The same moment for the other side."""
        return self._replace(own=self.other, other=self.own)


Moments = tuple[Layer | None, Layer | None, Layer | None]
"""The layers to which plays of one length lead, as the side that was on offence or kicked sees
them: if no time-out is called, None if the half is over then; if that side calls one, None if it
cannot; and if the other side does."""


@dataclass(frozen=True, eq=False)
class FormLayout(LayeredGame):
    """The layers of one form of the game, and where its states stand in them.

    Args:
        rules: Chart and ruleset.
        clock: The clock and the largest margin.
        form: One of :data:`~.rules.TIMED_FORMS`.
        ticks: Left at the start of the last half that is solved; all of it unless given. For
            ``"two-minutes"`` that is the last stop of the clock, the two-minute warning.

    Raises:
        ValueError: If the form is unknown, or the ruleset's times do not fit the clock.
    """

    rules: PackedRules
    clock: ClockRules
    form: str
    ticks: int | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit."""
        check_choice(self.form, "form", TIMED_FORMS)
        self.clock.check_fits(self.rules.ruleset)
        if self.ticks is not None:
            check_integer(self.ticks, "ticks", 1, self.clock.half_ticks)

    @property
    def halves(self) -> tuple[int, ...]:
        """The halves in the order in which they are solved."""
        return (2, 1) if self.form == "full" else (2,)

    @property
    def for_points(self) -> bool:
        """True if points count, not winning."""
        return self.form == "half"

    @property
    def most_ticks(self) -> int:
        """Left at the beginning of the form's halves."""
        if self.ticks is not None:
            return self.ticks
        return self.clock.last_ticks if self.form == "two-minutes" else self.clock.half_ticks

    @property
    def kickoff_row(self) -> int:
        """The row of being about to kick off; the next is that of the free kick."""
        return self.rules.n_situations

    @property
    def lines(self) -> int:
        """Pairs of yards to the goal and to go; rows ``d * lines + line`` are one line's."""
        return self.rules.n_situations // (self.rules.ruleset.downs + 1)

    def columns(self, half: int) -> int:
        """C, the columns of the layers of a half."""
        if self.for_points:
            return 1
        margins = 2 * self.clock.largest_margin + 1
        return 2 * margins if self.form == "full" and half == 1 else margins

    def margin(self, half: int) -> Ints:
        """[C] the margin of each column, to the side whose value it is; 0 when points count."""
        if self.for_points:
            return np.zeros(1, np.int64)
        m = self.clock.largest_margin
        return np.tile(np.arange(-m, m + 1), self.columns(half) // (2 * m + 1))

    def receives(self, half: int) -> Ints:
        """[C] 1 in the columns in which the side will receive the second half's kickoff."""
        columns = self.columns(half)
        return (np.arange(columns) >= columns // 2).astype(np.int64) * int(
            self.form == "full" and half == 1
        )

    def column(self, half: int, margin: int, *, receives: bool = False) -> int:
        """The column of a margin, and in a whole game's first half of who receives next."""
        if self.for_points:
            return 0
        m = self.clock.largest_margin
        first = (2 * m + 1) if receives and self.form == "full" and half == 1 else 0
        return first + max(-m, min(m, margin)) + m

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """All of them, in an order in which each comes after those that it reads."""
        pairs = sorted(
            product(range(self.clock.timeouts + 1), repeat=2), key=lambda pair: (sum(pair), pair)
        )
        found = []
        for half in self.halves:
            if self.clock.untimed_down:
                found.append(Layer(half, 0, 0, 0))
            for ticks in range(1, self.most_ticks + 1):
                found += [Layer(half, ticks, *pair) for pair in pairs]
        return tuple(found)

    def moment(self, half: int, ticks: int, own: int, other: int) -> Layer:
        """The layer of a moment; on the untimed down time-outs no longer matter."""
        return Layer(half, ticks, own, other) if ticks else Layer(half, 0, 0, 0)

    def moments_after(self, layer: Layer, group: tuple[int, bool]) -> Moments:
        """Return where the plays of a layer lead that take the same time.

        Args:
            layer: Layer before the play.
            group: Seconds taken, and whether it is a penalty of the defence.
        """
        half, ticks, own, other = layer
        after, saved, untimed = self.clock.left(ticks, group[0], penalty=group[1])
        matters = saved != after
        return (
            self.moment(half, after, own, other) if after or untimed else None,
            Layer(half, saved, own - 1, other) if own and matters else None,
            Layer(half, saved, own, other - 1) if other and matters else None,
        )

    def reads(self, layer: Layer) -> tuple[Layer, ...]:
        """The layers of which the values are needed to solve one, in the order of :attr:`layers`.

        At the end of a whole game's first half that is the beginning of the second.
        """
        moments = [self.moments_after(layer, group) for group in self.rules.groups]
        found = {moment for group in moments for moment in group if moment is not None}
        found |= {moment.swapped for moment in found}
        if layer.half == 1 and any(plain is None for plain, _, _ in moments):
            found.add(self.second_half)
        return tuple(sorted(found, key=lambda at: (-at.half, at.ticks, at.own + at.other, at)))

    @property
    def second_half(self) -> Layer:
        """The layer whose kickoff begins the second half."""
        return Layer(2, self.most_ticks, self.clock.timeouts, self.clock.timeouts)

    def shifted(self, half: int) -> Ints:
        """[2 P + 1, C] the columns after -P to P points, the most that a play can score."""
        margin, m = self.margin(half), self.clock.largest_margin
        points = np.arange(-self.rules.most_points, self.rules.most_points + 1)[:, None]
        if self.for_points:
            return np.zeros((len(points), 1), np.int64)
        return np.asarray(np.arange(len(margin)) + np.clip(margin + points, -m, m) - margin)

    def final(self, half: int, mine: Floats | None = None, others: Floats | None = None) -> Floats:
        """Return the values of a half's end to a side, whoever has the ball, [C].

        Args:
            half: The half that ends.
            mine: After the first half of a whole game, the row of :attr:`second_half` of being
                about to kick off, if it is this side, [2m+1].
            others: Values if it is the other side; by default those of `mine`.
        """
        if self.for_points:
            return np.zeros(1)
        if half == 2:
            return np.sign(self.margin(half)) / 2
        assert mine is not None
        return np.concatenate((mine, -(mine if others is None else others)[::-1]))

    def shape(self, layer: Layer) -> tuple[int, ...]:
        return self.kickoff_row + 2, self.columns(layer.half)

    def bound(self, layer: Layer) -> float:
        """No value of a layer is larger, whichever its sign.

        Every play and every kick takes a tick or a time-out, the untimed down excepted.
        """
        if not self.for_points:
            return 0.5
        return float(self.rules.most_points * (layer.ticks + layer.own + layer.other + 1))

    def states(self, layer: Layer) -> int:
        return self.kickoff_row * self.columns(layer.half)

    @property
    def n_states(self) -> int:
        """The states in which both sides call, in normal formation, the untimed down left out."""
        normal = self.lines * self.rules.ruleset.downs
        columns = sum(self.columns(half) for half in self.halves)
        return normal * columns * self.most_ticks * (self.clock.timeouts + 1) ** 2

    @property
    def opening(self) -> tuple[Layer, ...]:
        return self.layers[-1:]

    def place(self, state: TimedPosition) -> Place | None:
        """Return where the value of a call or a kick stands; None in other phases."""
        side, half = state.offence, state.half
        if state.phase == "call":
            row = self.rules.index(state.situation)
        elif state.phase in ("kickoff", "free kick"):
            row = self.kickoff_row + (state.phase == "free kick")
        else:
            return None
        lead = state.margin if side == 0 else -state.margin
        column = self.column(half, lead, receives=state.receiver == side)
        own, other = state.timeouts[side], state.timeouts[1 - side]
        return Place(self.moment(half, state.ticks, own, other), (row, column))

    def state_at(self, place: Place) -> TimedPosition | None:
        """Return the state in which player 0 has the ball or kicks.

        None for a kick when no time is left, since the half is over then.
        """
        half, ticks, own, other = place.layer
        row, column = place.at
        if row >= self.kickoff_row and not ticks:
            return None
        state = TimedPosition("call", half, ticks, int(self.margin(half)[column]), (own, other))
        if half == 1:
            state = state._replace(receiver=1 - int(self.receives(half)[column]))
        if row >= self.kickoff_row:
            return state._replace(phase=("kickoff", "free kick")[row - self.kickoff_row])
        return state._replace(**situation_at(self.rules.ruleset, row)._asdict())

    def value(self, state: TimedPosition, stored: float) -> float:
        value = stored if state.offence == 0 else 0.0 - stored
        return value if self.for_points else 0.5 + value


class LayerStrategies(NamedTuple):
    """A player's strategies in the states of a block, on both sides of the ball.

    Attributes:
        attack: Strategies with the ball.
        defend: Strategies without it.
        start: Data from which the tick before can start; None if there is none.
        gap: The largest duality gap of the matrix games that it solved.
    """

    attack: RoleStrategies
    defend: RoleStrategies
    start: WarmStart | None = None
    gap: float = 0.0


class Asked(NamedTuple):
    """A side is asked for a time-out after plays that take the same time; U successors.

    Attributes:
        layer: Half, time before the play, and the time-outs of the side that is asked (`own`) and
            of the other one.
        after: Ticks left after it without a time-out.
        saved: Ticks left after it with one.
        untimed: Whether an untimed down follows if no one calls a time-out; `after` is 0 then.
        first: Whether it is the side that was on offence or that kicked.
        row: [U] of the layer, that follows.
        mine: [U] whether the side that is asked has the ball in it, or kicks.
        column: [U, C] the columns that follow from all columns of the offence before the play, the
            points counted; they are those of the side that is asked.
    """

    layer: Layer
    after: int
    saved: int
    untimed: bool
    first: bool
    row: Ints
    mine: Bools
    column: Ints


class LayerPolicy(Protocol):
    """A player of football with a clock, made for one layout."""

    def strategies(
        self, layer: Layer, block: Block, start: WarmStart | None = None
    ) -> LayerStrategies:
        """Return the policy's strategies in the states of a block of a layer.

        Args:
            layer: The layer.
            block: The block of it.
            start: Data left by the same states a tick nearer to the end; None if there is none.
        """

    def onside(self, layer: Layer) -> Floats:
        """[C] the probability of an onside kick when it kicks off; columns are the kicker's."""

    def timeouts(self, asked: Asked) -> Floats | float:
        """The probabilities of a time-out, an array that can be broadcast to [U, C]."""


Players = tuple[LayerPolicy | None, LayerPolicy | None]
"""X and Y; None stands for a best response to the other's policy."""


def block_rows(layout: FormLayout, block: Block) -> Ints:
    """The rows of a block, by down, the punt formation last, and then by line."""
    downs = layout.rules.ruleset.downs + 1
    return (np.arange(downs)[:, None] * layout.lines + np.arange(*block)).reshape(-1)
