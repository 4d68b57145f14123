"""Policies of football with a clock, a layer at a time.

A policy of the whole game is far too large for a table: the second half has 250 million states, and
each would need thirty probabilities. So a policy is asked for its strategies when they are needed,
for one *block* of one layer (see :mod:`solvent.games.football_clock.layout`), and may compute them,
look them up or run a network. It is asked from several threads at once.

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

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from solvent.exact.layered.game import Block, WarmStart
from solvent.games.football_clock.layout import FormLayout, Layer
from solvent.model.arrays import Bools, Floats, Ints


class RoleStrategies(NamedTuple):
    """A side's strategies in the states of a block, as offence or as defence.

    Attributes:
        calls: [K, A] or [K, m] probabilities of the offence's actions or of the defence's calls.
        choices: [K, choices] the probability that the penalty is taken, in the order of the
            chart's choices; entries of choices that the other side takes are not read.
        which: [rows, C] the number of the strategy of a state, 0..K-1; rows as in
            :func:`block_rows`.
    """

    calls: Floats
    choices: Floats
    which: NDArray[np.int32]


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
