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

from typing import NamedTuple, Protocol, Self

from solvent.exact.layered.game import Block, WarmStart
from solvent.games.football_clock.backup import RoleStrategies
from solvent.model.arrays import Bools, Floats, Ints


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
