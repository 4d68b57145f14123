"""Football with a clock as a game that is layered in time, and its policies.

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

**Moments.** What follows a play depends on where the clock is then, and on the time-outs. For each
group of successors (:mod:`solvent.games.football.packed`) there are up to three moments: no
time-out is called, the side that was on offence calls one, the other side calls one. The side that
was on offence is asked first. Whoever has a policy calls with its probability; whoever plays a best
response, as both sides do in an equilibrium, calls if that has the larger value to it.

**Blocks.** A layer is cut into blocks of *lines*, pairs of yards to the goal and to go, with all
downs and the punt formation, and one block more for the kicks.

**How long it takes** is measured on values that are made up to be like the real ones::

    value(s, c)  =  Phi((margin(c) + h(s)) / (0.9 sqrt(ticks to the end))) - 1/2

with h the points that a situation is roughly worth, a straight line in the yards to the goal and in
those to go on each down, and Phi the normal distribution. Where points are what counts it is h.
That shapes the payoffs, how many columns are decided, and how well games start from others, on all
of which the time depends. What time-outs change is left out.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from solvent.exact.layered.game import (
    Block,
    BlockResult,
    LayeredGame,
    LayerPlace,
    LayerSample,
    Read,
)
from solvent.games.football.chart import Chart, csv_text, read_csv
from solvent.games.football.packed import (
    NORMAL_KICK,
    ONSIDE_KICK,
    SAFETY_KICK,
    PackedRules,
    pack_rules,
)
from solvent.games.football.ruleset import ClockRules, Ruleset
from solvent.games.football.situation import situation_at
from solvent.games.football_clock.backup import Numbers, RoleStrategies, backup, blocks_of
from solvent.games.football_clock.rules import TimedFootball, TimedPosition
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.game import Game


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
    def swapped(self) -> Self:
        """The same moment for the other side."""
        return self._replace(own=self.other, other=self.own)


class LayerStrategies(NamedTuple):
    """A player's strategies in the states of a block, on both sides of the ball.

    Attributes:
        attack: Strategies with the ball.
        defend: Strategies without it.
        gap: The largest duality gap of the matrix games that it solved.
    """

    attack: RoleStrategies
    defend: RoleStrategies
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

    def strategies(self, layer: Layer, block: Block) -> LayerStrategies:
        """Return the policy's strategies in the states of a block of a layer.

        Args:
            layer: The layer.
            block: The block of it.
        """

    def onside(self, layer: Layer) -> Floats:
        """[C] the probability of an onside kick when it kicks off; columns are the kicker's."""

    def timeouts(self, asked: Asked) -> Floats | float:
        """The probabilities of a time-out, an array that can be broadcast to [U, C]."""


Players = tuple[LayerPolicy | None, LayerPolicy | None]
"""X and Y; None stands for a best response to the other's policy."""


Moments = tuple[Layer | None, Layer | None, Layer | None]
"""The layers to which plays of one length lead, as the side that was on offence or kicked sees
them: if no time-out is called, None if the half is over then; if that side calls one, None if it
cannot; and if the other side does."""

Answers = dict[tuple[int, int, int, int], Floats | float]
"""The players' answers about time-outs, stored so that each is asked once."""


@dataclass(frozen=True, eq=False)
class LayerContext:
    """One layer, and the values of the layers that it reads.

    Attributes:
        layout: The form.
        layer: The layer.
        read: Returns the values [S + 2, C] of a layer in which a side has the ball: 0 for X, 1 for
            Y. In an equilibrium both are the same.
        players: X and Y; None plays a best response.
        answers: The players' answers about this layer.
    """

    layout: FootballLayers
    layer: Layer
    read: Callable[[Layer, int], Floats]
    players: Players = (None, None)
    answers: Answers = field(default_factory=dict)

    def values(
        self, side: int = 0, only: Numbers | None = None, columns: slice = slice(None)
    ) -> Floats:
        """[U, C] the values of successors to a side that was on offence or kicked.

        Args:
            side: 0 for X, 1 for Y.
            only: The successors that are wanted, ascending, all others being 0; all if None.
            columns: The columns that are wanted.
        """
        layout, rules = self.layout, self.layout.rules
        shifted = layout.shifted(self.layer.half)[:, columns]
        successor, last = rules.arrays.successor, rules.members[-1].stop
        values = np.empty((last, shifted.shape[1])) if only is None else np.zeros((last, 1))
        for g, members in enumerate(rules.members):
            at: Any = members
            if only is not None:
                first, end = np.searchsorted(only, (members.start, members.stop)).tolist()
                at = only[first:end]
                if not len(at):
                    continue
            values[at] = self._rated(g, side, successor[at], shifted)
        return values

    def _rated(self, g: int, side: int, successor: NDArray[Any], shifted: Ints) -> Floats:
        """The values [U, C] of successors of a group, the other side being asked last.

        Args:
            g: The group.
            side: The side that was on offence or kicked, whose values they are.
            successor: [U] of them.
            shifted: [2 P + 1, C] columns to which -P to P points lead.
        """
        plain, own, other = self.layout.moments_after(self.layer, self.layout.rules.groups[g])
        column = shifted[successor["points"] + len(shifted) // 2]
        at = successor["row"], successor["same_side"], column
        paid = float(self.layout.game.for_points) * successor["points"][:, None]

        def seen(moment: Layer) -> Floats:
            mine, theirs = self.read(moment, side), self.read(moment.swapped, 1 - side)
            return paid + values_seen(mine, theirs, *at)

        values: Floats = paid + self.final(side)[column] if plain is None else seen(plain)
        # What is decided last comes first.
        for moment, asked, better in ((other, 1 - side, np.minimum), (own, side, np.maximum)):
            if moment is not None:
                called, chance = seen(moment), self._chance(side, asked, g)
                if chance is None:
                    values = better(values, called)
                else:
                    values += chance * (called - values)
        return values

    def kicks(self, values: Floats, side: int = 0) -> Floats:
        """Return [2, C] the values before a kickoff, and before a free kick that gives the ball up.

        With no time left nobody kicks: the half is over, and both rows are its final values.

        Args:
            values: Values of the successors to the side that kicks.
            side: 0 for X, 1 for Y.
        """
        if self.layer.ticks == 0:
            return np.stack([self.final(side)] * 2)
        kicks, player = kick_values(self.layout, values), self.players[side]
        normal, onside = kicks[NORMAL_KICK], kicks[ONSIDE_KICK]
        if player is None:
            kickoff = np.maximum(normal, onside)
        else:
            chance = player.onside(self.layer)
            kickoff = chance * onside + (1 - chance) * normal
        return np.stack((kickoff, kicks[SAFETY_KICK]))

    def final(self, side: int = 0) -> Floats:
        """[C] the values of the end of the half to a side."""
        layout = self.layout
        if layout.game.for_points:
            return np.zeros(1)
        if self.layer.half == 2:
            return np.sign(layout.margin(2)) / 2
        # First the columns in which this side kicks off next, then those in which the other does.
        mine, others = (
            self.read(layout.second_half, s)[layout.kickoff_row] for s in (side, 1 - side)
        )
        return np.concatenate((mine, -others[::-1]))

    def _chance(self, side: int, asked: int, g: int) -> Floats | float | None:
        """The probability of a time-out after the plays of a group; None if it is as is best."""
        rules, player, first = self.layout.rules, self.players[asked], asked == side
        if player is None:
            return None
        key = id(player), side, asked, g
        if key not in self.answers:
            successor = rules.arrays.successor[rules.members[g]]
            shifted = self.layout.shifted(self.layer.half)
            seconds, penalty = rules.groups[g]
            left = self.layout.clock.left(self.layer.ticks, seconds, penalty=penalty)
            column = shifted[successor["points"] + len(shifted) // 2]
            self.answers[key] = player.timeouts(
                Asked(
                    self.layer if first else self.layer.swapped,
                    *left,
                    first=first,
                    row=successor["row"],
                    mine=successor["same_side"] == first,
                    column=column if first else column.shape[1] - 1 - column,
                )
            )
        return self.answers[key]


def kick_values(layout: FootballLayers, values: Floats) -> Floats:
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


def values_seen(mine: Floats, theirs: Floats, row: Ints, same: Bools, column: Ints) -> Floats:
    """The values [U, C] of rows of a layer to a side.

    Args:
        mine: [S + 2, C] the values of the layer to the side, where it has the ball.
        theirs: [S + 2, C] those of the swapped layer to the other side, where that has it.
        row: [U].
        same: [U] whether the side has the ball in the row, or kicks.
        column: [U, C] the columns, those of the side.
    """
    row, opposite = row[:, None], theirs.shape[1] - 1 - column
    return np.asarray(np.where(same[:, None], mine[row, column], -theirs[row, opposite]))


# Lines that are solved in one piece at least; the full field has 4950.
_LINES_IN_BLOCK = 64

# States of one down in a block, about, where a layer has few columns.
_STATES_IN_BLOCK = 8192

RULES = 400 << 20
"""Bytes, about, of the rules' arrays and the compiled loops."""

# Standard deviation, in points, of how much the margin moves in a tick.
_SPREAD = 0.9

# What it is roughly worth, in points, to be about to kick off, and to kick freely.
_POINTS_OF_KICKS = (-0.7, -1.3)

# The shares of a half's time left at which a layer is sampled.
_MOMENTS = (0.15, 0.5, 0.85)

# Blocks sampled of a layer, at most.
_SAMPLED_BLOCKS = 3


class LayerProblem(NamedTuple):
    """The data that the blocks of a layer share.

    Attributes:
        values: [U, C] of the successors, to the side that was on offence or kicked.
        constant: [C] the columns in which all of them are the same.
        kicks: [2, C] of being about to kick off, and to kick freely.
    """

    values: Floats
    constant: Bools
    kicks: Floats


def equilibrium(layout: FootballLayers, layer: Layer, read: Read) -> LayerContext:
    """Return a layer between two optimal sides, with what it reads.

    Args:
        layout: The form.
        layer: The layer.
        read: Gives the values of a layer that is solved.
    """
    known = cache(read)
    return LayerContext(layout, layer, lambda at, side: known(at))


@dataclass(frozen=True, eq=False)
class FootballLayers(LayeredGame):
    """The layers of one form of football with a clock, and how they are solved and kept.

    Args:
        game: The rules; their start does not matter.
    """

    game: TimedFootball

    kind = "solvent football with a clock"

    @cached_property
    def rules(self) -> PackedRules:
        """The chart and the ruleset as arrays.

        Raises:
            ValueError: If the ruleset's probabilities have no common denominator below 2^53.
        """
        return pack_rules(self.game.loaded_chart, self.game.loaded_ruleset)

    @property
    def clock(self) -> ClockRules:
        """The numbers of the clock."""
        return self.game.loaded_clock

    # Its layers, and where states stand in them

    @property
    def halves(self) -> tuple[int, ...]:
        """The halves in the order in which they are solved."""
        return (2, 1) if self.game.form == "full" else (2,)

    @property
    def kickoff_row(self) -> int:
        """The row of being about to kick off; the next is that of the free kick."""
        return self.rules.n_situations

    @property
    def lines(self) -> int:
        """Pairs of yards to the goal and to go; rows ``d * lines + line`` are one line's."""
        return self.rules.n_situations // (self.rules.ruleset.downs + 1)

    def block_rows(self, block: Block) -> Ints:
        """The rows of a block, by down, the punt formation last, and then by line."""
        downs = self.rules.ruleset.downs + 1
        return (np.arange(downs)[:, None] * self.lines + np.arange(*block)).reshape(-1)

    def columns(self, half: int) -> int:
        """C, the columns of the layers of a half."""
        return len(self.margin(half))

    def margin(self, half: int) -> Ints:
        """[C] the margin of each column, to the side whose value it is; 0 when points count."""
        if self.game.for_points:
            return np.zeros(1, np.int64)
        m = self.clock.largest_margin
        return np.tile(np.arange(-m, m + 1), 2 if self.game.form == "full" and half == 1 else 1)

    def receives(self) -> Ints:
        """[C] 1 in the columns in which the side will receive the second half's kickoff.

        They are those of the first half of a whole game.
        """
        return np.repeat((0, 1), self.columns(1) // 2)

    def column(self, half: int, margin: int, *, receives: bool = False) -> int:
        """The column of a margin, and in a whole game's first half of who receives next."""
        if self.game.for_points:
            return 0
        m = self.clock.largest_margin
        first = (2 * m + 1) if receives else 0
        return first + max(-m, min(m, margin)) + m

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """All of them, in an order in which each comes after those that it reads."""
        pairs = sorted(
            product(range(self.clock.timeouts + 1), repeat=2), key=lambda pair: (sum(pair), pair)
        )
        untimed = [(0, 0)] * self.clock.untimed_down
        moments = [
            (ticks, *pair)
            for ticks in range(self.game.start_ticks + 1)
            for pair in (pairs if ticks else untimed)
        ]
        return tuple(Layer(half, *moment) for half in self.halves for moment in moments)

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
        return Layer(2, self.game.start_ticks, self.clock.timeouts, self.clock.timeouts)

    def shifted(self, half: int) -> Ints:
        """[2 P + 1, C] the columns after -P to P points, the most that a play can score."""
        margin, m = self.margin(half), self.clock.largest_margin
        points = np.arange(-self.rules.most_points, self.rules.most_points + 1)[:, None]
        if self.game.for_points:
            return np.zeros((len(points), 1), np.int64)
        return np.asarray(np.arange(len(margin)) + np.clip(margin + points, -m, m) - margin)

    def shape(self, layer: Layer) -> tuple[int, ...]:
        return self.kickoff_row + 2, self.columns(layer.half)

    def bound(self, layer: Layer) -> float:
        """No value of a layer is larger, whichever its sign.

        Every play and every kick takes a tick or a time-out, the untimed down excepted.
        """
        if not self.game.for_points:
            return 0.5
        return float(self.rules.most_points * (layer.ticks + layer.own + layer.other + 1))

    def states(self, layer: Layer) -> int:
        return self.kickoff_row * self.columns(layer.half)

    @property
    def n_states(self) -> int:
        """The states in which both sides call, in normal formation, the untimed down left out."""
        return self.game.positions

    @property
    def opening(self) -> tuple[Layer, ...]:
        return self.layers[-1:]

    def place(self, state: TimedPosition) -> LayerPlace | None:
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
        return LayerPlace(self.moment(half, state.ticks, own, other), (row, column))

    def state_at(self, place: LayerPlace) -> TimedPosition | None:
        """Return the state in which player 0 has the ball or kicks.

        None for a kick when no time is left, since the half is over then.
        """
        half, ticks, own, other = place.layer
        row, column = place.at
        if row >= self.kickoff_row and not ticks:
            return None
        state = TimedPosition("call", half, ticks, int(self.margin(half)[column]), (own, other))
        if half == 1:
            state = state._replace(receiver=1 - int(self.receives()[column]))
        if row >= self.kickoff_row:
            return state._replace(phase=("kickoff", "free kick")[row - self.kickoff_row])
        return state._replace(**situation_at(self.rules.ruleset, row)._asdict())

    def value(self, state: TimedPosition, stored: float) -> float:
        value = stored if state.offence == 0 else 0.0 - stored
        return value if self.game.for_points else 0.5 + value

    def name(self, layer: Layer) -> str:
        return f"half{layer.half}/t{layer.ticks:03}-{layer.own}-{layer.other}"

    # Solving

    def problem(self, layer: Layer, read: Read) -> Any:
        context = equilibrium(self, layer, read)
        values = context.values()
        constant = values.min(axis=0) == values.max(axis=0)
        return LayerProblem(values, constant, context.kicks(values))

    def solve_block(self, problem: Any, block: Block) -> BlockResult:
        if block == self._kicks:
            return BlockResult(problem.kicks)
        return backup(self.rules, problem.values, block, constant=problem.constant)

    def blocks(self, layer: Layer) -> Sequence[Block]:
        lines, columns = self.lines, self.columns(layer.half)
        size = max(_LINES_IN_BLOCK, min(lines // 8, _STATES_IN_BLOCK // columns))
        return [*blocks_of(lines, size), self._kicks]

    def join(self, layer: Layer, results: Sequence[BlockResult]) -> Floats:
        values, kicks = np.empty(self.shape(layer)), self.kickoff_row
        for block, result in zip(self.blocks(layer)[:-1], results[:-1], strict=True):
            rows = self.block_rows(block)
            shape = *values.shape[:-2], len(rows), values.shape[-1]
            values[..., rows, :] = result.values.reshape(shape)
        values[..., kicks:, :] = results[-1].values
        return values

    @property
    def _kicks(self) -> Block:
        """The block after all lines."""
        return self.lines, self.lines + 1

    # Its certificate

    def rounding(self, layer: Layer, largest: Callable[[Layer], float]) -> float:
        met = self.bound(layer)
        if self.game.for_points:
            met = self.rules.most_points + max(map(largest, self.reads(layer)), default=0.0)
        return self.rules.roundings * float(np.finfo(float).eps) / 2 * met

    # Identity of a folder

    @property
    def identity(self) -> Mapping[str, Any]:
        chart, ruleset = self.rules.chart, self.rules.ruleset
        return {
            "form": self.game.form,
            "ticks": self.game.start_ticks,
            "chart": {"name": chart.name, "hash": chart.hash, "csv": csv_text(chart)},
            "ruleset": {"hash": ruleset.hash, "parameters": ruleset.parameters},
            "clock": self.clock.every,
            "rows": self.kickoff_row + 2,
            "columns": {str(half): self.columns(half) for half in self.halves},
        }

    @classmethod
    def of(cls, game: Game) -> FootballLayers | None:
        return cls(game) if isinstance(game, TimedFootball) else None

    @classmethod
    def from_identity(cls, identity: Mapping[str, Any]) -> FootballLayers:
        held, form = identity["chart"], identity["form"]
        if "table" in held:
            chart = Chart.from_table(held["table"])
        else:
            chart = read_csv(held["csv"].encode(), "the chart")
        if chart.hash != held["hash"]:
            raise ValueError(f"the hash of the chart is {chart.hash}")
        ruleset, clock = identity["ruleset"]["parameters"], ClockRules(**identity["clock"])
        # From the usual start or, on a shorter field, one yard before its end.
        to_goal = min(TimedFootball.to_goal, Ruleset.of(ruleset).field - 1)
        start = {"to_goal": to_goal} if form == "two-minutes" else {}
        game = TimedFootball(chart, form, ruleset, clock, **start)
        if game.start_ticks != identity["ticks"]:
            raise ValueError(f"the form begins with {game.start_ticks} ticks")
        return cls(game)

    @classmethod
    def compared(cls, identity: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an identity with the hash of its chart alone: charts may have other names."""
        return {**identity, "chart": identity["chart"]["hash"]}

    # Cost of solving

    @property
    def problem_bytes(self) -> int:
        """Bytes of the values of all successors, and of those with time-outs for a group."""
        widest = max(self.columns(half) for half in self.halves)
        rated = len(self.rules.arrays.successor) * widest * (2 if self.clock.timeouts else 1)
        return RULES + 8 * rated

    def samples(self) -> Sequence[LayerSample]:
        """Return sample blocks all over the field, at three moments of each half."""
        samples, timeouts = [], self.clock.timeouts
        for half in self.halves:
            ticks = {max(1, round(part * self.game.start_ticks)) for part in _MOMENTS}
            each = sum(layer.half == half for layer in self.layers) / len(ticks)
            *every, _ = self.blocks(Layer(half, 1, timeouts, timeouts))
            blocks = every[:: -(-len(every) // _SAMPLED_BLOCKS)]
            share = sum(last - first for first, last in blocks) / self.lines
            samples += [
                LayerSample(Layer(half, at, timeouts, timeouts), blocks, share, each)
                for at in sorted(ticks)
            ]
        return samples

    def guess(self, layer: Layer) -> Floats:
        """Values as the module describes them; one column where points count."""
        ruleset, (down, to_go, to_goal, _) = self.rules.ruleset, self.rules.situation.T
        behind = (down - 1) * np.minimum(to_go / ruleset.first_down, 1)
        on_field = 5 - 6 * to_goal / ruleset.field - behind / 2
        points = np.append(on_field, _POINTS_OF_KICKS)[:, None]
        if self.game.for_points:
            return points
        left = layer.ticks + (self.game.start_ticks if layer.half == 1 else 0)
        lead = self.margin(layer.half) + points
        return np.asarray(ndtr(lead / (_SPREAD * np.sqrt(left + 1))) - 0.5)
